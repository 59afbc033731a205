"""Graphs: what torch_npu captures on portacl gives the same bits at every replay, and what no graph can hold is refused."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
import json
import threading
from types import SimpleNamespace

import pytest
import torch
import torch_npu
from torch import nn

from portacl.torch import _interpreted
from portacl_start import triton


def captured(work, **options):
    """What `work` returns, and the graph that computes it anew."""
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, **options):
        result = work()
    return graph, result


def replayed(graph: torch.npu.NPUGraph) -> None:
    graph.replay()
    torch.npu.synchronize()


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(12, 24), nn.LayerNorm(24), nn.GELU(), nn.Linear(24, 5)).npu()


class TestForward:
    def test_replays_take_what_lies_at_the_recorded_addresses(self):
        model, x = network(), torch.zeros(7, 12).npu()
        with torch.no_grad():
            model(x)
            graph, y = captured(lambda: model(x))
            for _ in range(3):
                fresh = torch.randn(7, 12)
                x.copy_(fresh)
                replayed(graph)
                assert torch.equal(y, model(fresh.npu()))

    def test_nothing_is_computed_before_the_replay(self):
        x = torch.ones(4).npu()
        graph, _ = captured(lambda: x.add_(1))
        torch.npu.synchronize()
        assert torch.equal(x.cpu(), torch.ones(4))
        replayed(graph)
        replayed(graph)
        assert torch.equal(x.cpu(), torch.full((4,), 3.0))

    @pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
    def test_modes(self, mode):
        x = torch.ones(4).npu()
        graph, y = captured(lambda: x * 3, capture_error_mode=mode)
        replayed(graph)
        assert torch.equal(y.cpu(), torch.full((4,), 3.0))

    def test_graphs_share_a_pool(self):
        pool = torch.npu.graph_pool_handle()
        x = torch.ones(1000).npu()
        first, y = captured(lambda: x * 2, pool=pool)
        second, z = captured(lambda: y + 1, pool=pool)
        assert first.pool() == second.pool() == pool
        replayed(first)
        replayed(second)
        assert torch.equal(z.cpu(), torch.full((1000,), 3.0))
        first.reset()
        second.reset()

    def test_streams_join_by_events(self):
        x, side = torch.ones(100).npu(), torch.npu.Stream()

        def work():
            a = x * 2
            side.wait_stream(torch.npu.current_stream())
            with torch.npu.stream(side):
                b = a + 1
            c = a * 10
            torch.npu.current_stream().wait_stream(side)
            return b + c

        graph, y = captured(work)
        replayed(graph)
        assert torch.equal(y.cpu(), torch.full((100,), 23.0))

    def test_pinned_memory_and_back(self):
        source, target = torch.zeros(8).pin_memory(), torch.zeros(8).pin_memory()
        x = torch.zeros(8).npu()

        def work():
            x.copy_(source, non_blocking=True)
            target.copy_(x * 2, non_blocking=True)

        graph, _ = captured(work)
        source.fill_(4)
        replayed(graph)
        assert torch.equal(target, torch.full((8,), 8.0))

    def test_dumped_as_a_trace(self, tmp_path):
        x = torch.ones(4).npu()
        graph, _ = captured(lambda: torch.relu(x))
        graph.debug_dump(str(tmp_path / "graph.json"))
        names = [event["name"] for event in json.loads((tmp_path / "graph.json").read_text())]
        assert names == ["aclnnRelu"]
        assert json.loads((tmp_path / "graph.aligned.json").read_text())


class TestCaptures:
    def test_begun_and_ended_by_hand_and_again(self):
        """After `reset` an NPUGraph captures anew."""
        x, stream, graph = torch.ones(4).npu(), torch.npu.Stream(), torch.npu.NPUGraph()
        for factor in (5.0, 6.0):
            with torch.npu.stream(stream):
                assert not torch.npu.is_current_stream_capturing()
                graph.capture_begin()
                assert torch.npu.is_current_stream_capturing()
                y = x * factor
                graph.capture_end()
            replayed(graph)
            assert torch.equal(y.cpu(), torch.full((4,), factor))
            graph.reset()

    def test_of_a_thread(self):
        x, results = torch.ones(4).npu(), []

        def work():
            torch.npu.set_device(0)
            graph, y = captured(lambda: x + 7, capture_error_mode="thread_local")
            replayed(graph)
            results.append(y.cpu())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert torch.equal(results[0], torch.full((4,), 8.0))

    def test_events_order_two_streams(self):
        x, side = torch.ones(4).npu(), torch.npu.Stream()
        first, second = torch.npu.Event(), torch.npu.Event()

        def work():
            a = x * 2
            first.record()
            side.wait_event(first)
            with torch.npu.stream(side):
                b = a + 1
                second.record(side)
            torch.npu.current_stream().wait_event(second)
            return a + b

        graph, y = captured(work, stream=torch.npu.Stream())
        x.fill_(3)
        replayed(graph)
        assert torch.equal(y.cpu(), torch.full((4,), 13.0))

    def test_tensors_are_saved_at_every_replay(self, tmp_path):
        x = torch.ones(4).npu()
        graph, _ = captured(lambda: torch.ops.npu.save_npugraph_tensor(x + 3, save_path=str(tmp_path / "t.pt")))
        for value in (1.0, 2.0):
            x.fill_(value)
            replayed(graph)
            (saved,) = tmp_path.iterdir()
            assert torch.equal(torch.load(saved).cpu(), torch.full((4,), value + 3))

    def test_tensors_are_printed_at_every_replay(self, capsys):
        x = torch.ones(2).npu()
        graph, _ = captured(lambda: torch.ops.npu.print_npugraph_tensor(x + 3, tensor_name="sum"))
        for value in (1.0, 2.0):
            x.fill_(value)
            replayed(graph)
            assert capsys.readouterr().out == f"sum=tensor([{value + 3:.0f}., {value + 3:.0f}.]), shape=(2,), dtype=torch.float32\n"


class TestTraining:
    def test_the_whole_step(self):
        """Forward, loss, gradients and the optimiser's step in one graph: the same bits as without it."""
        results = []
        for graphed in (False, True):
            torch.manual_seed(3)
            model = network()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            x, y = torch.zeros(6, 12).npu(), torch.zeros(6, 5).npu()

            def step(model=model, optimizer=optimizer, x=x, y=y):
                optimizer.zero_grad(set_to_none=True)
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
                return loss

            warmup = torch.npu.Stream()
            with torch.npu.stream(warmup):
                for _ in range(3):
                    step()
            torch.npu.current_stream().wait_stream(warmup)
            if graphed:
                graph, loss = captured(step)
            losses = []
            for i in range(5):
                torch.manual_seed(100 + i)
                x.copy_(torch.randn(6, 12))
                y.copy_(torch.randn(6, 5))
                if graphed:
                    graph.replay()
                else:
                    loss = step()
                losses.append(loss.item())
            results.append((losses, [p.detach().cpu() for p in model.parameters()]))
        assert results[0][0] == results[1][0]
        assert all(torch.equal(a, b) for a, b in zip(results[0][1], results[1][1]))

    def test_graphed_callables(self):
        torch.manual_seed(3)
        plain, graphed = network(), network()
        graphed.load_state_dict(plain.state_dict())
        sample = torch.randn(6, 12).npu().requires_grad_()
        graphed = torch.npu.make_graphed_callables(graphed, (sample,))
        for _ in range(3):
            x = torch.randn(6, 12).npu()
            one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
            want, got = plain(one), graphed(other)
            assert torch.equal(got, want)
            want.square().sum().backward()
            got.square().sum().backward()
            assert torch.equal(one.grad, other.grad)
            for a, b in zip(plain.parameters(), graphed.parameters()):
                assert torch.equal(a.grad, b.grad)
                a.grad = b.grad = None  # what a graph computes lies in its own memory, and nothing may be added to that


class TestRandomNumbers:
    def test_every_replay_draws_anew_and_as_seeded(self):
        ones = torch.ones(1000).npu()
        graph, (drawn, dropped, normal) = captured(
            lambda: (torch.rand(50, device="npu"), nn.functional.dropout(ones, 0.5), torch.randn(50, device="npu"))
        )

        def three():
            seen = []
            for _ in range(3):
                replayed(graph)
                seen.append(torch.cat([drawn.cpu(), dropped.cpu(), normal.cpu()]))
            return seen

        torch.npu.manual_seed(7)
        first = three()
        assert not torch.equal(first[0], first[1])
        assert not torch.equal(first[1], first[2])
        torch.npu.manual_seed(7)
        assert all(torch.equal(a, b) for a, b in zip(first, three()))
        assert 400 < int((dropped.cpu() == 2).sum()) < 600

    def test_as_eager_calls_draw(self):
        graph, drawn = captured(lambda: torch.rand(50, device="npu"))
        torch.npu.manual_seed(7)
        replayed(graph)
        got = [drawn.cpu(), torch.rand(50, device="npu").cpu()]
        torch.npu.manual_seed(7)
        want = [torch.rand(50, device="npu").cpu() for _ in range(2)]
        assert all(torch.equal(a, b) for a, b in zip(got, want))


class TestUpdates:
    def test_a_group_of_tasks_is_replaced(self):
        x, other = torch.full((4,), 2.0).npu(), torch.full((4,), 5.0).npu()
        out = torch.zeros(4).npu()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            stream = torch.npu.current_stream()
            torch.npu.graph_task_group_begin(stream)
            torch.mul(x, x, out=out)
            group = torch.npu.graph_task_group_end(stream)
            total = out + 1
        replayed(graph)
        assert torch.equal(total.cpu(), torch.full((4,), 5.0))
        updates = torch.npu.Stream()
        with torch.npu.stream(updates):
            torch.npu.graph_task_update_begin(updates, group)
            torch.mul(x, other, out=out)
            torch.npu.graph_task_update_end(updates)
        torch.npu.synchronize()
        replayed(graph)
        assert torch.equal(total.cpu(), torch.full((4,), 11.0))

    def test_external_events_order_an_update_before_the_task(self):
        x, other = torch.full((4,), 2.0).npu(), torch.full((4,), 5.0).npu()
        out = torch.zeros(4).npu()
        event, updates = torch.npu.ExternalEvent(), torch.npu.Stream()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            stream = torch.npu.current_stream()
            event.wait(stream)
            event.reset(stream)
            torch.npu.graph_task_group_begin(stream)
            torch.mul(x, x, out=out)
            group = torch.npu.graph_task_group_end(stream)
        for operand, want in ((other, 10.0), (x, 4.0)):
            graph.replay()
            with torch.npu.stream(updates):
                torch.npu.graph_task_update_begin(updates, group)
                torch.mul(x, operand, out=out)
                torch.npu.graph_task_update_end(updates)
                event.record(updates)
            torch.npu.synchronize()
            assert torch.equal(out.cpu(), torch.full((4,), want))

    def test_lengths_of_paged_attention_are_replaced(self):
        """As vllm-ascend captures it: a group of one task with a workspace that was asked for, and lengths of the CPU in every update."""
        generator = torch.Generator().manual_seed(3)
        q, k, v = (torch.randn(shape, generator=generator).half() for shape in ((2, 4, 32), (4, 16, 2, 32), (4, 16, 2, 32)))
        table, out = torch.arange(4).reshape(2, 2).int().npu(), torch.zeros_like(q).npu()
        fixed = {
            "query": q.npu(), "key_cache": k.npu(), "value_cache": v.npu(), "num_kv_heads": 2, "num_heads": 4, "scale_value": 0.2,
            "block_table": table, "out": out,
        }  # fmt: skip

        def attend(counts):
            lengths = torch.tensor(counts, dtype=torch.int32)
            workspace = torch_npu._npu_paged_attention_get_workspace(**fixed, context_lens=lengths)
            torch_npu._npu_paged_attention(**fixed, context_lens=lengths, workspace=workspace)

        def wanted(counts):
            keys, values = (x.double().reshape(2, 32, 2, 32).repeat_interleave(2, 2) for x in (k, v))
            rows = [
                torch.einsum("hn,nhd->hd", torch.softmax(torch.einsum("hd,nhd->hn", q[i].double() * 0.2, keys[i, :n]), -1), values[i, :n])
                for i, n in enumerate(counts)
            ]
            return torch.stack(rows)

        graph, updates = torch.npu.NPUGraph(), torch.npu.Stream()
        with torch.npu.graph(graph):
            stream = torch.npu.current_stream()
            torch.npu.graph_task_group_begin(stream)
            attend((3, 20))
            group = torch.npu.graph_task_group_end(stream)
        for counts in (None, (9, 32), (16, 1)):
            if counts is not None:
                with torch.npu.stream(updates):
                    torch.npu.graph_task_update_begin(updates, group)
                    attend(counts)
                    torch.npu.graph_task_update_end(updates)
                torch.npu.synchronize()
            replayed(graph)
            assert torch.allclose(out.cpu().double(), wanted(counts or (3, 20)), rtol=2e-3, atol=2e-3)

    def test_lengths_of_fused_attention_are_replaced(self):
        """Captured with a workspace that is enough for all lengths; an update brings others."""
        tokens, heads, size = 48, 2, 32
        q, k, v, dy = (torch.randn(tokens, heads, size, dtype=torch.float16).npu().requires_grad_(i < 3) for i in range(4))
        first, second, third = (torch.tensor(ends) for ends in ([16, 32, 48], [1, 40, 48], [0, 3, 48]))

        def attend(ends):
            out = torch_npu.npu_fusion_attention_v3(
                q, k, v, heads, "TND", scale=0.2, actual_seq_qlen=ends, actual_seq_kvlen=ends
            )
            return out[0], out[1], out[2]

        graph = torch.npu.NPUGraph()
        with torch.no_grad():
            with torch.npu.graph(graph, auto_dispatch_capture=True):
                captured_out = attend(first)
            for ends in (second, third, first):
                graph.update(cpu_update_input=[{"actual_seq_qlen": ends, "actual_seq_kvlen": ends}])
                replayed(graph)
                for found, want in zip(captured_out, attend(ends)):
                    assert torch.equal(found, want)
        most = torch_npu._npu_fusion_attention_v3_get_max_workspace
        sizes = {most(q, k, v, heads, "TND", actual_seq_qlen=one, actual_seq_kvlen=one).numel() for one in (first, second, third)}
        assert len(sizes) == 1
        out, greatest, total = attend(second)
        most_of_grad = torch_npu._npu_fusion_attention_grad_v3_get_max_workspace
        sizes = {
            most_of_grad(
                q, k, v, dy, heads, "TND", softmax_max=greatest, softmax_sum=total, attention_in=out, actual_seq_qlen=one, actual_seq_kvlen=one
            ).numel()
            for one in (first, second, third)
        }
        assert len(sizes) == 1


class TestConditions:
    """torch.cond in a capture: both branches are recorded, and a replay does the one that the predicate asks for."""

    @staticmethod
    def captured_cond(work):
        modes = importlib.import_module("torch_npu.npu._npugraph_conditional_nodes")
        with modes.NPUGraphCaptureControlFlowOpDispatchMode():
            return captured(work)

    @staticmethod
    def cond(predicate, then, otherwise, *operands):
        return torch.ops.higher_order.cond(predicate, then, otherwise, operands)

    def test_the_predicate_of_the_replay_decides(self):
        predicate, x = torch.tensor(False).npu(), torch.arange(5.0).npu()
        graph, (y,) = self.captured_cond(
            lambda: self.cond(predicate, lambda a: [a + 1], lambda a: [torch.relu(a - 2) * 10], x)
        )
        for want in (True, False, False, True):
            fresh = torch.randn(5)
            x.copy_(fresh)
            predicate.fill_(want)
            replayed(graph)
            assert torch.equal(y.cpu(), fresh + 1 if want else torch.relu(fresh - 2) * 10)

    def test_a_predicate_that_the_graph_computes(self):
        x, steps = torch.zeros(3).npu(), torch.zeros((), dtype=torch.int64).npu()

        def work():
            steps.add_(1)
            (y,) = self.cond(x.sum() > 4, lambda a: [a.neg()], lambda a: [a + 2], x)
            x.copy_(y)

        graph, _ = self.captured_cond(work)
        seen = []
        for _ in range(4):
            replayed(graph)
            seen.append(x[0].item())
        assert seen == [2.0, -2.0, 0.0, 2.0]
        assert steps.item() == 4

    def test_branches_with_branches_of_their_own(self):
        outer, inner = torch.tensor(False).npu(), torch.tensor(False).npu()
        x = torch.ones(4).npu()

        def then(a):
            return self.cond(inner, lambda b: [b * 2], lambda b: [b * 3], a + 1)

        graph, (y,) = self.captured_cond(lambda: self.cond(outer, then, lambda a: [a * 5], x))
        for one in (False, True):
            for two in (False, True):
                outer.fill_(one)
                inner.fill_(two)
                replayed(graph)
                want = (4.0 if two else 6.0) if one else 5.0
                assert torch.equal(y.cpu(), torch.full((4,), want))

    def test_a_branch_with_a_second_stream(self):
        predicate, x = torch.tensor(True).npu(), torch.ones(4).npu()
        side = torch.npu.Stream()

        def then(a):
            side.wait_stream(torch.npu.current_stream())
            with torch.npu.stream(side):
                b = a * 7
            torch.npu.current_stream().wait_stream(side)
            return [b + 1]

        graph, (y,) = self.captured_cond(lambda: self.cond(predicate, then, lambda a: [a - 1], x))
        for want in (8.0, 0.0):
            predicate.fill_(want == 8.0)
            replayed(graph)
            assert torch.equal(y.cpu(), torch.full((4,), want))

    def test_eager_calls_are_warmed_up_in_a_capture(self):
        modes = importlib.import_module("torch_npu.npu._npugraph_conditional_nodes")
        x = torch.arange(3.0).npu()
        with modes.ControlFlowOpWarmupDispatchMode():
            for want in (True, False):
                result = torch.cond(torch.tensor(want).npu(), lambda a: a + 1, lambda a: a * 10, (x,))
                assert torch.equal(result.cpu(), torch.arange(3.0) + 1 if want else torch.arange(3.0) * 10)

    def test_dumped_with_the_tasks_of_the_branches(self, tmp_path):
        predicate, x = torch.tensor(True).npu(), torch.ones(4).npu()
        graph, _ = self.captured_cond(lambda: self.cond(predicate, lambda a: [a.neg()], lambda a: [a.exp()], x))
        graph.debug_dump(str(tmp_path / "graph.json"))
        events = json.loads((tmp_path / "graph.json").read_text())
        conditions = [event for event in events if event["args"]["Task Type"] == "CONDITION"]
        assert len(conditions) == 2
        of_part = {event["name"]: event["pid"] for event in events}
        assert of_part["aclnnNeg"] == f"graph {conditions[0]['args']['Graphs'][0]}"
        assert of_part["aclnnExp"] == f"graph {conditions[1]['args']['Graphs'][0]}"

    def test_what_a_branch_may_not_do_ends_the_capture(self):
        predicate, x = torch.tensor(True).npu(), torch.ones(4).npu()
        with pytest.raises(RuntimeError) as raised:
            self.captured_cond(lambda: self.cond(predicate, lambda a: [a + a.sum().item()], lambda a: [a], x))
        chain, error = "", raised.value
        while error is not None:
            chain, error = chain + str(error), error.__context__
        assert "aclrt" in chain, chain
        graph, (y,) = self.captured_cond(lambda: self.cond(predicate, lambda a: [a + 1], lambda a: [a], x))
        replayed(graph)
        assert torch.equal(y.cpu(), torch.full((4,), 2.0))

    def test_a_collective_in_a_branch_is_refused(self, program, tmp_path):
        source = f"""
            import torch.distributed as dist
            from torch_npu.npu._npugraph_conditional_nodes import NPUGraphCaptureControlFlowOpDispatchMode as Mode
            dist.init_process_group("hccl", init_method="file://{tmp_path}/meeting", rank=0, world_size=1)
            predicate, x = torch.tensor(True).npu(), torch.ones(4).npu()
            dist.all_reduce(x)
            def then(a):
                dist.all_reduce(a)
                return [a + 1]
            try:
                with Mode(), torch.npu.graph(torch.npu.NPUGraph()):
                    torch.ops.higher_order.cond(predicate, then, lambda a: [a], (x,))
            except RuntimeError as error:
                print(error.__context__)
            graph = torch.npu.NPUGraph()
            with torch.npu.graph(graph):
                y = x + 1
                dist.all_reduce(y)
            graph.replay()
            print(y.sum().item())
            dist.destroy_process_group()
        """
        output, errors, status = program(source)
        assert status == 0, errors
        assert "HcclAllReduce: a part of a graph that is done on a condition records no collectives" in output
        assert output.endswith("8.0\n")


class TestRefusals:
    """Each names what is refused; the next capture works."""

    @pytest.fixture(autouse=True)
    def the_next_capture_works(self):
        yield
        x = torch.ones(4).npu()
        graph, y = captured(lambda: x + 1)
        replayed(graph)
        assert torch.equal(y.cpu(), torch.full((4,), 2.0))

    def test_an_operator_that_falls_back(self):
        x = torch.full((4,), 1.5).npu()
        with pytest.raises(RuntimeError, match=r"aten\.lgamma\.\w+ cannot be captured in a graph"):
            captured(lambda: torch.lgamma(x))

    @pytest.mark.parametrize(
        "work, function",
        [
            pytest.param(lambda x: x.cpu(), "aclrt", id="cpu"),
            pytest.param(lambda x: x.sum().item(), "aclrt", id="item"),
            pytest.param(lambda x: torch.npu.synchronize(), "aclrtSynchronizeDevice", id="synchronize"),
            pytest.param(lambda x: torch.npu.current_stream().synchronize(), "aclrtSynchronizeStream", id="stream"),
            pytest.param(lambda x: x.nonzero(), "aten.nonzero.default cannot be captured", id="nonzero"),
            pytest.param(lambda x: x.masked_select(x > 0), "aten.masked_select.default cannot", id="masked_select"),
            pytest.param(lambda x: x.unique(), "aten._unique2.default cannot", id="unique"),
        ],
    )
    def test_what_waits_for_the_stream(self, work, function):
        x = torch.ones(4).npu()
        with pytest.raises(RuntimeError) as raised:
            captured(lambda: work(x))
        chain = str(raised.value) + str(raised.value.__context__)
        assert function in chain, chain


def test_backend_npugraphs():
    model = network()
    compiled = torch.compile(model, backend="npugraphs")
    with torch.no_grad():
        for _ in range(4):
            x = torch.randn(6, 12).npu()
            assert torch.equal(compiled(x), model(x))


def test_a_graph_that_lives_as_long_as_the_program_ends_with_it(program):
    source = """
        x = torch.ones(4).npu()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            y = x + 1
        graph.replay()
        print(y.sum().item())
    """
    output, errors, status = program(source, PORTACL_CHECK="1")
    assert status == 0, errors
    assert output.endswith("8.0\n")


class TestInterpretedKernels:
    """As triton's interpreter is called: it copies operands to the CPU, computes, and copies them back."""

    @staticmethod
    def interpreter(scale, x, y, *, shift):
        x_host, y_host = x.cpu(), y.cpu()
        y_host.copy_(x_host * scale + shift.cpu())
        y.data.copy_(y_host.to(y.device).data)

    def launch(self, x, y, shift):
        return _interpreted.launch(self.interpreter, 3, (x, y), {"shift": shift})

    def test_outside_a_graph(self):
        x, y = torch.randn(4), torch.zeros(4).npu()
        self.launch(x.npu(), y, torch.ones(4).npu())
        assert torch.equal(y.cpu(), x * 3 + 1)

    def test_in_a_graph(self):
        """At every replay, in its place between the operators, on views too."""
        x, table, shift = torch.zeros(4).npu(), torch.zeros(3, 8).npu(), torch.ones(4).npu()
        with torch.inference_mode():

            def work():
                doubled = x * 2
                self.launch(doubled, table[1, 2:6], shift)
                return table + 1

            graph, result = captured(work)
        assert torch.equal(table.cpu(), torch.zeros(3, 8))
        for _ in range(3):
            fresh = torch.randn(4)
            x.copy_(fresh)
            replayed(graph)
            want = torch.ones(3, 8)
            want[1, 2:6] += fresh * 2 * 3 + 1
            assert torch.equal(result.cpu(), want)

    def test_waiting_for_replays(self):
        """What waits while the interpreter is still to be called: copies, and operators whose result has a shape that depends on values."""
        x, y = torch.ones(4).npu(), torch.zeros(4).npu()

        def work():
            for _ in range(20):
                self.launch(x, y, y)

        graph, _ = captured(work)
        for wait in (lambda: y.cpu(), lambda: y.nonzero(), lambda: y.sum().item(), lambda: y.copy_(torch.ones(4)), torch.npu.synchronize):
            graph.replay()
            wait()
        assert torch.equal(y.cpu(), torch.full((4,), 61.0))

    def test_a_gather(self):
        class Handle:
            def __init__(self, data, dtype):
                self.data, self.dtype = data, dtype

        interpreter = SimpleNamespace(InterpreterBuilder=type("Builder", (), {}), TensorHandle=Handle)
        triton._gather(interpreter)
        for axis in (0, 1):
            source, index = torch.randn(4, 4), torch.randint(4, (4, 4))
            handles = Handle(source.numpy(), SimpleNamespace(scalar="fp32")), Handle(index.int().numpy(), None)
            made = interpreter.InterpreterBuilder().create_gather(*handles, axis)
            assert torch.equal(torch.from_numpy(made.data), source.gather(axis, index))
            assert made.dtype == "fp32"

    def test_an_error_is_the_callers(self):
        def fails(executor, x):
            raise ValueError("here")

        with pytest.raises(ValueError, match="here"):
            _interpreted.launch(fails, None, (torch.ones(1).npu(),), {})
        assert _interpreted.launch(lambda executor, x: x, None, (5,), {}) == 5
