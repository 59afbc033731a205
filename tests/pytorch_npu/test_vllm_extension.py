"""The operators of vllm-ascend's extension where it does not load: by a file that is no library and has signatures as the extension has."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
import torch_npu
from torch._subclasses import FakeTensorMode

from portacl.torch import _extension

BLANKS = " " * 25  # as the texts of the extension have them
TEXTS = [
    "moe_gating_top_k(Tensor x, int k, int k_group, int group_count, int group_select_mode, int renorm, int norm_type, bool out_flag, "
    "float routed_scaling_factor, float eps,Tensor? bias_opt=None)-> (Tensor y ,Tensor expert_idx, Tensor out)",
    f"npu_moe_init_routing_custom(Tensor x, Tensor expert_idx, *, Tensor? scale=None, Tensor? offset=None, int active_num=-1,{BLANKS}"
    f"int expert_capacity=-1, int expert_num=-1, int drop_pad_mode=0, int expert_tokens_num_type=0,{BLANKS}bool expert_tokens_num_flag="
    f"False, int quant_mode=0, int[2] active_expert_range=[],{BLANKS}int row_idx_type=0) -> (Tensor, Tensor, Tensor, Tensor)",
    "npu_add_rms_norm_bias(Tensor x1, Tensor x2, Tensor gamma, Tensor? beta=None, float epsilon=1e-6)-> (Tensor y ,Tensor rstd, Tensor x)",
    "npu_gemma_rms_norm(Tensor x, Tensor gamma, float epsilon=1e-6)-> (Tensor y ,Tensor rstd)",
    "npu_apply_top_k_top_p(Tensor logits, Tensor? p=None, Tensor? k=None) -> Tensor",
    f"get_masked_input_and_mask(Tensor input,{BLANKS}int org_vocab_start_index,{BLANKS}int org_vocab_end_index,{BLANKS}"
    f"int num_org_vocab_padding,{BLANKS}int added_vocab_start_index,{BLANKS}int added_vocab_end_index) -> (Tensor masked_input, Tensor mask)",
    "bgmv_shrink(Tensor! x, Tensor! weight, Tensor! indices, Tensor! y, float scale) -> ()",
    f"bgmv_expand(Tensor! x, Tensor! weight, Tensor! indices, Tensor! y,{BLANKS}int slice_offset, int slice_size) -> Tensor",
    "sgmv_shrink(Tensor! x, Tensor! weight, Tensor! lora_indices, Tensor! seq_len, Tensor! y, float scale) -> ()",
    f"sgmv_expand(Tensor! x, Tensor! weight, Tensor! lora_indices, Tensor! seq_len, Tensor! y,{BLANKS}int slice_offset, int slice_size)"
    " -> Tensor",
    "batch_matmul_transpose(Tensor tensor_a, Tensor tensor_b, Tensor tensor_c, str? format_mode=None, str? quant_mode=None) -> ()",
    "npu_sparse_flash_attention(Tensor query, Tensor key, Tensor value, Tensor sparse_indices, float scale_value, int sparse_block_size, *, "
    "Tensor? block_table=None, Tensor? actual_seq_lengths_query=None, Tensor? actual_seq_lengths_kv=None, Tensor? query_rope=None, "
    "Tensor? key_rope=None, str layout_query='BSND', str layout_kv='BSND', int sparse_mode=3) -> Tensor",
    "compressor(Tensor x, Tensor(a!) state_cache, Tensor? cu_seqlens, int cmp_ratio) -> Tensor",
    "device_print(str msg) -> ()",
]


def write(folder: Path, texts: list[str]) -> None:
    package = folder / "vllm_ascend"
    package.mkdir()
    (package / "__init__.py").touch()
    data = b"\0".join([b"no library".ljust(128), b"a text", *(text.encode() for text in texts), b"f(x)", b""])
    (package / f"vllm_ascend_C{importlib.machinery.EXTENSION_SUFFIXES[0]}").write_bytes(data)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ModuleType, list[str]]]:
    """The module, and what the user was told at its import."""
    folder = tmp_path_factory.mktemp("packages")
    write(folder, TEXTS)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.syspath_prepend(folder)
        module = importlib.import_module("vllm_ascend.vllm_ascend_C")
        yield module, [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
        for name in ("vllm_ascend", "vllm_ascend.vllm_ascend_C"):
            del sys.modules[name]


@pytest.fixture
def operators(told: tuple[ModuleType, list[str]]) -> torch._ops._OpNamespace:
    return torch.ops._C_ascend


def exact_norm(x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor | None) -> torch.Tensor:
    total = (x1 + x2).double()
    scaled = total / (total.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gamma.double()
    return scaled if beta is None else scaled + beta.double()


class TestImport:
    def test_is_told(self, told: tuple[ModuleType, list[str]]):
        module, sentences = told
        assert len(sentences) == 1
        assert sentences[0].startswith("vllm-ascend's extension does not load (") and "vllm_ascend_C" in sentences[0]
        assert f"of its {len(TEXTS)} operators portacl computes {len(TEXTS) - 2}, and the others raise NotImplementedError" in sentences[0]
        assert not hasattr(module, "init_module")  # of the allocator for the sleep mode, which vllm-ascend then leaves off

    def test_of_a_file_without_signatures(self, program, tmp_path: Path):
        write(tmp_path, [])
        out, err, status = program(
            f"""
            import sys
            sys.path.insert(0, {str(tmp_path)!r})
            try:
                import vllm_ascend.vllm_ascend_C
            except ImportError as error:
                print(error, "because", error.__cause__)
            """
        )
        assert status == 0, err
        assert "invalid ELF header" in out and out.rstrip().endswith("has no signatures of operators")

    def test_signatures(self):
        found = _extension.read_signatures(b"\0".join([b"\x7fELF", *(text.encode() for text in TEXTS), b"g() -> x y", b"no (Tensor) -> 1", b""]))
        assert list(found)[: len(TEXTS)] == [text.split("(")[0] for text in TEXTS]
        assert found["bgmv_shrink"] == "bgmv_shrink(Tensor! x, Tensor! weight, Tensor! indices, Tensor! y, float scale) -> ()"
        assert found["bgmv_expand"].endswith("Tensor! y, int slice_offset, int slice_size) -> Tensor")

    def test_the_others_are_refused_by_name(self, operators):
        for call in (lambda: operators.device_print("x"), lambda: operators.compressor(torch.ones(2).npu(), torch.ones(2).npu(), None, 4)):
            with pytest.raises(NotImplementedError, match=r"whose operator _C_ascend::(device_print|compressor) is, does not load \(.*no function"):
                call()
        assert operators.npu_gemma_rms_norm(torch.ones(1, 16).npu(), torch.ones(16).npu())[0].sum().item() == pytest.approx(32)


class TestNorm:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("has_beta", [True, False])
    def test_numbers(self, operators, dtype: torch.dtype, has_beta: bool):
        x1, x2 = torch.randn(2, 3, 5, 64).to(dtype)
        gamma, beta = torch.randn(2, 64).to(dtype)
        y, rstd, x = operators.npu_add_rms_norm_bias(x1.npu(), x2.npu(), gamma.npu(), beta.npu() if has_beta else None, 1e-6)
        assert torch.equal(x.cpu(), x1 + x2) and rstd.shape == (3, 5, 1) and rstd.dtype is torch.float32
        want = exact_norm(x1, x2, gamma, beta if has_beta else None)
        tolerance = {torch.float32: 2e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
        torch.testing.assert_close(y.cpu().double(), want, rtol=tolerance, atol=tolerance)
        if not has_beta:
            assert torch.equal(y.cpu(), torch_npu.npu_add_rms_norm(x1.npu(), x2.npu(), gamma.npu(), 1e-6)[0].cpu())

    def test_views(self, operators):
        x = torch.randn(6, 128)
        gamma = torch.ones(64)
        y, _, _ = operators.npu_add_rms_norm_bias(x.npu()[1::2, 64:], x.npu()[1::2, :64], gamma.npu())
        torch.testing.assert_close(y.cpu().double(), exact_norm(x[1::2, 64:], x[1::2, :64], gamma, None), rtol=2e-6, atol=2e-6)

    def test_after_what_is_queued(self, operators):
        """The call goes to the stream by itself, behind what torch_npu's queue still holds."""
        x, gamma = torch.zeros(256, 256).npu(), torch.ones(256).npu()
        for _ in range(200):
            x = x + 1
        y, _, total = operators.npu_add_rms_norm_bias(x, x, gamma)
        z = total + 1
        assert torch.equal(total.cpu(), torch.full((256, 256), 400.0)) and torch.equal(z.cpu(), torch.full((256, 256), 401.0))
        torch.testing.assert_close(y.cpu(), torch.ones(256, 256))

    def test_in_a_graph(self, operators):
        x, gamma = torch.randn(4, 64), torch.randn(64)
        held, graph = x.npu(), torch.npu.NPUGraph()
        weight = gamma.npu()
        operators.npu_add_rms_norm_bias(held, held, weight)
        torch.npu.synchronize()
        with torch.npu.graph(graph):
            y, _, _ = operators.npu_add_rms_norm_bias(held, held, weight)
        other = torch.randn(4, 64)
        held.copy_(other)
        graph.replay()
        torch.testing.assert_close(y.cpu().double(), exact_norm(other, other, gamma, None), rtol=2e-6, atol=2e-6)

    def test_traced(self, operators):
        with FakeTensorMode():
            x = torch.empty(3, 5, 64, device="npu")
            y, rstd, total = operators.npu_add_rms_norm_bias(x, x, torch.empty(64, device="npu"))
            assert (y.shape, rstd.shape, total.shape) == ((3, 5, 64), (3, 5, 1), (3, 5, 64)) and y.device.type == "npu"
            assert operators.moe_gating_top_k(torch.empty(4, 8, device="npu"), 2, 1, 1, 0, 0, 0, False, 1.0, 1e-20)[1].shape == (4, 2)

    def test_what_is_refused(self, operators):
        x, gamma = torch.randn(4, 64).npu(), torch.randn(63).npu()
        with pytest.raises(RuntimeError, match="(?s)aclnnAddRmsNormBias returned 561002: .*parameter gamma with shape"):
            operators.npu_add_rms_norm_bias(x, x, gamma)
        with pytest.raises(RuntimeError, match="a tensor of torch.complex64 has no type of CANN here"):
            operators.npu_add_rms_norm_bias(x.to(torch.complex64), x, gamma)
        assert torch.equal(operators.npu_add_rms_norm_bias(x, x, torch.ones(64).npu())[2].cpu(), (x + x).cpu())

    def test_gemma(self, operators):
        x, gamma = torch.randn(3, 64), torch.randn(64)
        got = operators.npu_gemma_rms_norm(x.npu(), gamma.npu(), 1e-6)[0].cpu()
        torch.testing.assert_close(got.double(), exact_norm(x, torch.zeros_like(x), 1 + gamma, None), rtol=2e-6, atol=2e-6)


class TestExperts:
    @pytest.mark.parametrize("renormalised", [False, True])
    def test_gating(self, operators, renormalised: bool):
        logits = torch.randn(5, 8)
        arguments = {"k_group": 1, "group_count": 1, "group_select_mode": 0, "renorm": int(renormalised), "norm_type": 0, "out_flag": True}
        y, experts, out = operators.moe_gating_top_k(
            logits.npu(), k=3, **arguments, routed_scaling_factor=1.0, eps=1e-20, bias_opt=None
        )
        shares = torch.softmax(logits.double(), -1)
        want = shares.topk(3)
        weights = want.values / want.values.sum(-1, keepdim=True) if renormalised else want.values
        assert torch.equal(experts.cpu().long(), want.indices)
        torch.testing.assert_close(y.cpu().double(), weights, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(out.cpu().double(), shares, rtol=1e-5, atol=1e-6)

    def test_gating_with_a_bias(self, operators):
        """Sigmoid, as DeepSeek's: the bias decides which experts, not their weights."""
        logits, bias = torch.randn(5, 8), torch.randn(8)
        y, experts, _ = operators.moe_gating_top_k(logits.npu(), 2, 1, 1, 0, 0, 1, False, 1.0, 1e-20, bias.npu())
        shares = torch.sigmoid(logits.double())
        chosen = (shares + bias.double()).topk(2).indices
        assert torch.equal(experts.cpu().long(), chosen)
        weights = shares.gather(1, chosen)
        torch.testing.assert_close(y.cpu().double(), weights / weights.sum(-1, keepdim=True), rtol=1e-5, atol=1e-6)

    def test_routing(self, operators):
        x = torch.randn(4, 16)
        experts = torch.tensor([[3, 1], [0, 3], [1, 2], [3, 0]], dtype=torch.int32)
        rows, places, counts, _ = operators.npu_moe_init_routing_custom(
            x.npu(), experts.npu(), active_num=8, expert_num=4, expert_tokens_num_type=1, expert_tokens_num_flag=True,
            active_expert_range=[0, 4], quant_mode=-1,
        )  # fmt: skip
        order = torch.argsort(experts.flatten(), stable=True)
        assert torch.equal(rows.cpu(), x[order // 2])
        assert torch.equal(places.cpu().long(), torch.argsort(order))
        assert counts.cpu().tolist() == [2, 2, 1, 3]

    def test_default_that_is_not_torch_npus(self, operators):
        """The extension quantises where nothing is said, torch_npu does not."""
        x, experts = torch.randn(2, 16), torch.zeros(2, 1, dtype=torch.int32)
        scale = torch.full((1,), 8.0)
        arguments = {"active_num": 2, "expert_num": 1, "expert_tokens_num_type": 1, "expert_tokens_num_flag": True}
        offset = torch.zeros(1)
        rows = operators.npu_moe_init_routing_custom(
            x.npu(), experts.npu(), scale=scale.npu(), offset=offset.npu(), active_expert_range=[0, 1], **arguments
        )[0]
        assert rows.dtype is torch.int8
        assert torch.equal(rows.cpu(), (x * 8).round().clamp(-128, 127).to(torch.int8))


def test_sparse_attention(operators):
    """The first form of the extension: without the mode that torch_npu asks for, and with one result."""
    query, rope = torch.randn(1, 4, 3, 512).to(torch.bfloat16).npu(), torch.randn(1, 4, 3, 64).to(torch.bfloat16).npu()
    keys, key_rope = torch.randn(1, 10, 1, 512).to(torch.bfloat16).npu(), torch.randn(1, 10, 1, 64).to(torch.bfloat16).npu()
    indices = torch.tensor([[0, 1, -1], [3, 0, 2], [4, -1, 1], [1, 2, 3]], dtype=torch.int32).view(1, 4, 1, 3).npu()
    got = operators.npu_sparse_flash_attention(query, keys, keys, indices, 0.05, 2, query_rope=rope, key_rope=key_rope, sparse_mode=0)
    want = torch_npu.npu_sparse_flash_attention(
        query, keys, keys, indices, 0.05, query_rope=rope, key_rope=key_rope, sparse_block_size=2, sparse_mode=0, attention_mode=2
    )[0]
    assert isinstance(got, torch.Tensor) and torch.equal(got.cpu(), want.cpu())


class TestSampling:
    LOGITS = torch.tensor([[0.0, 3.0, 1.0, 2.0], [1.0, -1.0, 0.5, 4.0]])

    def kept(self, operators, **limits: torch.Tensor) -> list[list[int]]:
        got = operators.npu_apply_top_k_top_p(self.LOGITS.npu(), **{name: one.npu() for name, one in limits.items()}).cpu()
        assert torch.equal(got[got != -torch.inf], self.LOGITS[got != -torch.inf])
        return [row.isfinite().nonzero().flatten().tolist() for row in got]

    def test_top_k(self, operators):
        assert self.kept(operators, k=torch.tensor([1, 3], dtype=torch.int32)) == [[1], [0, 2, 3]]

    def test_top_p(self, operators):
        assert self.kept(operators, p=torch.tensor([0.6, 0.99])) == [[1], [0, 2, 3]]

    def test_both(self, operators):
        assert self.kept(operators, k=torch.tensor([3, 2], dtype=torch.int32), p=torch.tensor([0.8, 0.5])) == [[1, 3], [3]]


class TestKernels:
    """What the extension computes by kernels of its own, against loops."""

    def test_products_of_batches(self, operators):
        a, b = torch.randn(5, 3, 8).to(torch.bfloat16), torch.randn(3, 8, 4).to(torch.bfloat16)
        c = torch.empty(5, 3, 4, dtype=torch.bfloat16).npu()
        operators.batch_matmul_transpose(a.npu(), b.npu(), c)
        want = torch.stack([a[:, i].double() @ b[i].double() for i in range(3)], 1)
        torch.testing.assert_close(c.cpu().double(), want, rtol=1e-2, atol=1e-2)

    def test_tokens_of_this_part_of_the_vocabulary(self, operators):
        tokens = torch.tensor([0, 9, 10, 19, 20, 100, 104, 105])
        masked, mask = operators.get_masked_input_and_mask(tokens.npu(), 10, 20, 2, 100, 105)
        assert masked.cpu().tolist() == [0, 0, 0, 9, 0, 12, 16, 0]  # added words stand behind 10 words and 2 of padding
        assert mask.cpu().tolist() == [True, True, False, False, True, False, False, True]

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("by_sequence", [False, True])
    def test_adapters(self, operators, dtype: torch.dtype, by_sequence: bool):
        x, down, up = torch.randn(5, 16).to(dtype), torch.randn(3, 1, 4, 16).to(dtype), torch.randn(3, 1, 6, 4).to(dtype)
        adapters, lengths = [2, 0, -1], [2, 1, 2]
        rows = [adapter for adapter, length in zip(adapters, lengths) for _ in range(length)]
        given = (torch.tensor(adapters).npu(), torch.tensor(lengths).npu()) if by_sequence else (torch.tensor(rows).npu(),)
        shrink, expand = (operators.sgmv_shrink, operators.sgmv_expand) if by_sequence else (operators.bgmv_shrink, operators.bgmv_expand)
        low, y = torch.zeros(5, 4).npu(), torch.ones(5, 9, dtype=dtype).npu()
        shrink(x.npu(), down.npu(), *given, low, 0.5)
        result = expand(low, up.npu(), *given, y, 2, 6)
        want_low, want = torch.zeros(5, 4, dtype=torch.float64), torch.ones(5, 9, dtype=torch.float64)
        for row, adapter in enumerate(rows):
            if adapter >= 0:
                want_low[row] = 0.5 * down[adapter, 0].double() @ x[row].double()
                want[row, 2:8] += up[adapter, 0].double() @ want_low[row]
        torch.testing.assert_close(low.cpu().double(), want_low, rtol=1e-4, atol=1e-4)
        tolerance = {torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
        torch.testing.assert_close(y.cpu().double(), want, rtol=tolerance, atol=tolerance)
        assert torch.equal(result.cpu(), y.cpu())


class TestWhereItLoads:
    def test_its_libraries(self):
        """What the extensions of vllm-ascend 0.18.0 and 0.23.0 are linked with, by name and by symbol."""
        for name in ("ascend_dump", "ascendalog", "c_sec", "error_manager", "ge_common_base", "mmpa", "profapi", "register", "unified_dlog"):
            ctypes.CDLL(f"lib{name}.so")
        library = ctypes.CDLL("libplatform.so")
        for name in (
            *("CheckLogLevel", "DlogRecord", "_Z10DlogRecordiiPKcz", "AlogCheckDebugLevel", "AlogRecord", "MsprofStr2Id", "strcpy_s"),
            "_ZN2fe13PlatFormInfos13GetLocalMemBwERKNS_12LocalMemTypeERm",
            "_ZN2fe13PlatFormInfos15GetLocalMemSizeERKNS_12LocalMemTypeERm",
            "_ZN2fe13PlatFormInfos20SetCoreNumByCoreTypeERKSs",
            "_ZN2fe13PlatFormInfos22GetPlatformResWithLockERKSsS2_RSs",
            "_ZN2fe19PlatformInfoManager10GeInstanceEv",
            "_ZN2fe19PlatformInfoManager16GetPlatformInfosESsRNS_13PlatFormInfosERNS_13OptionalInfosE",
            "_ZN2fe19PlatformInfoManager24InitRuntimePlatformInfosERKSs",
            "_ZN2fe19PlatformInfoManager31GetRuntimePlatformInfosByDeviceERKjRNS_13PlatFormInfosEb",
            "_ZN2fe19PlatformInfoManager8InstanceEv",
            "_ZNK2fe13PlatFormInfos10GetCoreNumEv",
        ):
            assert hasattr(library, name)
        for name in (
            *("aclrtBinaryGetFunctionByEntry", "aclrtBinaryUnLoad", "aclrtGetHardwareSyncAddr", "aclrtLaunchKernelWithHostArgs"),
            *("aclrtRegStreamStateCallback", "rtDevBinaryUnRegister", "rtFunctionGetMetaInfo", "rtFunctionGetMetaInfoSize"),
            *("rtKernelLaunchWithFlagV2", "rtKernelLaunchWithHandle", "rtKernelLaunchWithHandleV2", "rtRegStreamStateCallback"),
            *("rtRegisterAllKernel", "rtVectorCoreKernelLaunchWithHandle"),
        ):
            assert getattr(library, name)() == 207000
        assert library._ZN2fe19PlatformInfoManager24InitRuntimePlatformInfosERKSs(None, None) == 1
        size = ctypes.c_uint64(7)
        library._ZN2fe13PlatFormInfos15GetLocalMemSizeERKNS_12LocalMemTypeERm(None, ctypes.byref(ctypes.c_int(0)), ctypes.byref(size))
        assert size.value == 0
        threads = Path("/proc/self/task")
        assert (threads / str(library.mmGetTid())).is_dir()

    def test_its_log_is_portacls(self, program):
        source = "import ctypes; ctypes.CDLL('libplatform.so').DlogRecord(1, 3, b'of %s %d', b'kernel', 5)"
        out, err, status = program(source, ASCEND_LOG_PRINT_TO_STDOUT="1")
        assert status == 0 and "of kernel 5" in out + err

    def test_its_kernels_are_replaced(self, program):
        """An extension that loaded, by a library of Python that defines some of its operators."""
        out, err, status = program(
            """
            from portacl.torch import _extension
            library = torch.library.Library("_C_ascend", "DEF")
            library.define("mla_preprocess(Tensor x) -> Tensor")
            library.define("get_masked_input_and_mask(Tensor input, int a, int b, int c, int d, int e) -> (Tensor, Tensor)")
            library.define("swap_blocks(Tensor x) -> Tensor")
            for name in ("mla_preprocess", "get_masked_input_and_mask", "swap_blocks"):
                library.m.impl(name, "PrivateUse1", lambda *args: args[0], False)  # as C++ does
            _extension.replace_kernels()
            here = torch.arange(3).npu()
            print(torch.ops._C_ascend.get_masked_input_and_mask(here, 1, 2, 0, 2, 2)[1].tolist())
            print(torch.ops._C_ascend.swap_blocks(here).tolist())
            try:
                torch.ops._C_ascend.mla_preprocess(here)
            except NotImplementedError as error:
                print(error)
            """
        )
        assert status == 0, err
        assert out.splitlines() == [
            "[True, False, True]",
            "[0, 1, 2]",
            "_C_ascend::mla_preprocess is a kernel of vllm-ascend's extension, machine code of a device that is not there, "
            "and portacl has no function for it",
        ]
