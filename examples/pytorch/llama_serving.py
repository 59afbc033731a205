"""Serves a llama-like network: prompts of several lengths at once, then greedy tokens, keys and values in paged caches.

The same tokens come out of the network without caches, which computes every sequence anew for each token; so do the same bits of all logits.
"""

# SPDX-License-Identifier: Apache-2.0
import argparse
import hashlib
import sys
import time

import torch
import torch_npu

LAYERS, HEADS, GROUPS, HEAD, HIDDEN, NUMBERS = 2, 2, 1, 64, 256, 211
WIDTH = HEADS * HEAD
BLOCK, BLOCKS = 16, 32
PROMPTS, TOKENS = (5, 33, 16), 64
DTYPE = torch.bfloat16


class Caches:
    """Keys and values of all layers: pages of BLOCK slots, handed out in no order as sequences grow."""

    def __init__(self, sequences):
        shape = (BLOCKS, BLOCK, GROUPS, HEAD)
        self.layers = [tuple(torch.zeros(shape, dtype=DTYPE) for _ in range(2)) for _ in range(LAYERS)]
        self.free = [block * 7 % BLOCKS for block in range(BLOCKS)]
        self.tables = [[] for _ in range(sequences)]

    def slots(self, sequence, first, end):
        """Where the tokens of a sequence go."""
        table = self.tables[sequence]
        while len(table) * BLOCK < end:
            table.append(self.free.pop())
        return [table[place // BLOCK] * BLOCK + place % BLOCK for place in range(first, end)]

    def table(self):
        longest = max(len(table) for table in self.tables)
        return torch.tensor([table + [0] * (longest - len(table)) for table in self.tables], dtype=torch.int32)


class Llama:
    """RMSNorm, rotary positions, grouped attention, SwiGLU; tokens of all sequences lie one behind the other."""

    def __init__(self):
        generator = torch.Generator().manual_seed(1)

        def drawn(*shape):
            # Whole numbers, so that they are the same on every machine.
            whole = torch.randint(-128, 129, shape, generator=generator, device="cpu")
            return (whole.to("npu").float() / 128 / shape[-1] ** 0.5).to(DTYPE)

        self.token = drawn(NUMBERS, WIDTH) * 8
        self.layers = [
            {
                "norms": [torch.ones(WIDTH, dtype=DTYPE) for _ in range(2)],
                "qkv": drawn((HEADS + 2 * GROUPS) * HEAD, WIDTH),
                "out": drawn(WIDTH, WIDTH),
                "up": drawn(2 * HIDDEN, WIDTH),
                "down": drawn(WIDTH, HIDDEN),
            }
            for _ in range(LAYERS)
        ]
        self.norm, self.head = torch.ones(WIDTH, dtype=DTYPE), drawn(NUMBERS, WIDTH) * 4
        speed = torch.exp2(torch.arange(HEAD // 2, dtype=torch.float32) * (-2 * 13.0 / HEAD))
        angles = torch.outer(torch.arange(max(PROMPTS) + TOKENS, dtype=torch.float32), torch.cat([speed, speed]))
        self.cos, self.sin = torch.cos(angles).to(DTYPE), torch.sin(angles).to(DTYPE)
        # What attention reads of masks in its mode 3: a triangle, whatever the lengths.
        self.mask = torch.triu(torch.ones(2048, 2048, dtype=torch.int8), diagonal=1)

    def logits(self, tokens, places, ends, lengths=None, caches=None, slots=None):
        """Those behind the last token of each sequence. `ends` is where the tokens of each end, `lengths` how many keys each has in the caches;
        without caches the keys are those of the tokens."""
        cos, sin = (part[places].view(-1, 1, 1, HEAD) for part in (self.cos, self.sin))
        x = self.token[tokens]
        normed, added = None, None
        for number, layer in enumerate(self.layers):
            if added is None:
                normed, _ = torch_npu.npu_rms_norm(x, layer["norms"][0], 1e-5)
            else:
                normed, _, x = torch_npu.npu_add_rms_norm(added, x, layer["norms"][0], 1e-5)
            q, k, v = (normed @ layer["qkv"].T).view(-1, HEADS + 2 * GROUPS, HEAD).split([HEADS, GROUPS, GROUPS], dim=1)
            q, k = (torch_npu.npu_rotary_mul(part.unsqueeze(1), cos, sin).squeeze(1) for part in (q, k))
            how = {"num_heads": HEADS, "num_key_value_heads": GROUPS, "scale": HEAD**-0.5, "input_layout": "TND", "sparse_mode": 3}
            how |= {"atten_mask": self.mask, "actual_seq_lengths": ends, "actual_seq_lengths_kv": ends}
            if caches is not None:
                keys, values = caches.layers[number]
                torch_npu.npu_scatter_pa_kv_cache(k.contiguous(), v.contiguous(), keys, values, slots, cache_mode="Norm")
                k, v = (cache.view(BLOCKS, BLOCK, GROUPS * HEAD) for cache in (keys, values))
                how |= {"actual_seq_lengths_kv": lengths, "block_table": caches.table(), "block_size": BLOCK}
            else:
                k, v = k.contiguous(), v.contiguous()
            attended, _ = torch_npu.npu_fused_infer_attention_score(q.contiguous(), k, v, **how)
            added = attended.reshape(-1, WIDTH) @ layer["out"].T
            normed, _, x = torch_npu.npu_add_rms_norm(added, x, layer["norms"][1], 1e-5)
            added = torch_npu.npu_swiglu(normed @ layer["up"].T) @ layer["down"].T
        normed, _, _ = torch_npu.npu_add_rms_norm(added, x, self.norm, 1e-5)
        return normed[[end - 1 for end in ends]] @ self.head.T


def prompts():
    generator = torch.Generator().manual_seed(2)
    return [torch.randint(NUMBERS, (length,), generator=generator, device="cpu").tolist() for length in PROMPTS]


def sums(counts):
    return [sum(counts[: i + 1]) for i in range(len(counts))]


def flat(lists):
    return [one for part in lists for one in part]


def served(network, tokens):
    """The sequences and their logits, through caches: all of the prompts first, then a token of each at a time."""
    sequences, caches, steps = prompts(), Caches(len(PROMPTS)), []
    first = [0] * len(sequences)
    for _ in range(tokens):
        ends = [len(sequence) for sequence in sequences]
        slots = flat(caches.slots(number, *part) for number, part in enumerate(zip(first, ends)))
        logits = network.logits(
            torch.tensor(flat(sequence[begin:] for sequence, begin in zip(sequences, first))),
            torch.tensor(flat(range(*part) for part in zip(first, ends))),
            sums([end - begin for begin, end in zip(first, ends)]),
            ends,
            caches,
            torch.tensor(slots, dtype=torch.int32),
        )
        steps.append(logits)
        for sequence, chosen in zip(sequences, logits.argmax(-1).tolist()):
            sequence.append(chosen)
        first = ends
    return sequences, steps


def computed_anew(network, tokens):
    """The same without caches."""
    sequences, steps = prompts(), []
    for _ in range(tokens):
        lengths = [len(sequence) for sequence in sequences]
        places = torch.tensor(flat(range(length) for length in lengths))
        logits = network.logits(torch.tensor(flat(sequences)), places, sums(lengths))
        steps.append(logits)
        for sequence, chosen in zip(sequences, logits.argmax(-1).tolist()):
            sequence.append(chosen)
    return sequences, steps


def run(tokens=TOKENS):
    """What was served, its hash, whether it is what comes without caches, and the seconds that both took."""
    with torch.device("npu"), torch.no_grad():
        network = Llama()
        start = time.perf_counter()
        sequences, steps = served(network, tokens)
        middle = time.perf_counter()
        others, others_steps = computed_anew(network, tokens)
        end = time.perf_counter()
    same = sequences == others and all(torch.equal(a, b) for a, b in zip(steps, others_steps))
    digest = hashlib.sha256(repr(sequences).encode())
    for logits in steps:
        digest.update(logits.float().cpu().numpy().tobytes())
    return sequences, digest.hexdigest(), same, (middle - start, end - middle)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=TOKENS, help=f"to generate for each prompt, at most {TOKENS}")
    given = parser.parse_args()
    sequences, value, same, seconds = run(given.tokens)
    for length, sequence in zip(PROMPTS, sequences):
        print(f"{length} tokens, then {' '.join(str(one) for one in sequence[length:])}")
    print(f"{seconds[0] / given.tokens * 1e3:.1f} ms a step through caches, {seconds[1] / given.tokens * 1e3:.1f} ms without; {value[:16]}")
    print("right: the same tokens and logits without caches" if same else "WRONG: other tokens or logits without caches")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
