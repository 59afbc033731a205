"""Reads libtorch_npu.so without running it: which aclnn functions can the kernel of each operator reach?

The binary has no symbols, but what is needed survives in its code: every registration with PyTorch's dispatcher loads the
operator's name and the addresses of its kernel, every call of an operator of CANN loads the name that it looks up, and the
exception tables tell where each function begins. So: function boundaries from .eh_frame_hdr; calls, jumps and address
loads from .text (x86-64 encodings; a match counts only where it lands exactly on a function or on a string); then, from
each registered kernel, everything that can be reached.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import re
import struct

import numpy as np

_SUFFIX = "GetWorkspaceSize"
_CUSTOM = re.compile(r"npu::\w+(\.\w+)?")


class Binary:
    """Functions, references between them and the strings they load."""

    def __init__(self, path: str):
        with open(path, "rb") as file:
            self.data = file.read()
        self._read_sections()
        self._read_functions()
        self._read_references()

    def _read_sections(self) -> None:
        data = self.data
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18)[0] != 62:
            raise SystemExit("the wheel's libtorch_npu.so is not for x86-64: make the table from that one")
        table, size, count, names = (
            struct.unpack_from("<Q", data, 40)[0],
            *struct.unpack_from("<HHH", data, 58),
        )
        raw = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
        name_table = raw[names][4]
        self.sections = {}
        for name, _, _, address, offset, length in raw:
            end = data.index(b"\0", name_table + name)
            self.sections[data[name_table + name : end].decode()] = (address, offset, length)

    def _read_functions(self) -> None:
        address, offset, _ = self.sections[".eh_frame_hdr"]
        count = struct.unpack_from("<I", self.data, offset + 8)[0]
        table = np.frombuffer(self.data, "<i4", 2 * count, offset + 12).reshape(count, 2)
        self.starts = np.sort(table[:, 0].astype(np.int64) + address)

    def function_of(self, addresses: np.ndarray) -> np.ndarray:
        return self.starts[np.searchsorted(self.starts, addresses, "right") - 1]

    def is_function(self, addresses: np.ndarray) -> np.ndarray:
        index = np.clip(np.searchsorted(self.starts, addresses), 0, len(self.starts) - 1)
        return self.starts[index] == addresses

    def _read_references(self) -> None:
        base, offset, length = self.sections[".text"]
        text = np.frombuffer(self.data, np.uint8, length, offset)

        def target(positions: np.ndarray, displacement: int) -> np.ndarray:
            value = sum(text[positions + displacement + i].astype(np.int64) << (8 * i) for i in range(4))
            value = np.where(value >= 1 << 31, value - (1 << 32), value)
            return base + positions + displacement + 4 + value

        jumps = []
        for opcode in (0xE8, 0xE9):  # call, jmp
            jumps.append((np.nonzero(text[:-8] == opcode)[0], 1))
        jumps.append((np.nonzero((text[:-8] == 0x0F) & ((text[1:-7] & 0xF0) == 0x80))[0], 2))  # jcc
        lea = np.nonzero(
            ((text[:-8] == 0x48) | (text[:-8] == 0x4C)) & (text[1:-7] == 0x8D) & ((text[2:-6] & 0xC7) == 0x05)
        )[0]
        sources, targets = [], []
        for positions, displacement in jumps:
            to = target(positions, displacement)
            hit = self.is_function(to)
            sources.append(base + positions[hit])
            targets.append(to[hit])
        loaded = target(lea, 3)
        hit = self.is_function(loaded)
        order = np.argsort(lea[hit])
        self.load_source = (base + lea[hit])[order]  # where a function's address is loaded, ascending
        self.load_target = loaded[hit][order]
        source = np.concatenate([*sources, self.load_source])
        to = np.concatenate([*targets, self.load_target])
        self.references: dict[int, set[int]] = collections.defaultdict(set)
        for a, b in zip(self.function_of(source).tolist(), to.tolist()):
            if a != b:
                self.references[a].add(b)
        self.times_loaded = collections.Counter(self.load_target.tolist())
        self.strings: dict[int, list[tuple[int, str]]] = collections.defaultdict(list)  # function: (where, text)
        for section in (".rodata.str1.1", ".rodata.str1.8", ".rodata"):
            start, at, size = self.sections.get(section, (0, 0, 0))
            inside = (loaded >= start) & (loaded < start + size)
            places = base + lea[inside]
            for place, where, function in zip(
                places.tolist(), (at + loaded[inside] - start).tolist(), self.function_of(places).tolist()
            ):
                end = self.data.find(b"\0", where, where + 200)
                if end > where:
                    self.strings[function].append((place, self.data[where:end].decode("latin1")))
        for found in self.strings.values():
            found.sort()

    def _loads(self, start: int, end: int) -> list[int]:
        """Functions whose address is loaded in [start, end), less those that everything loads."""
        i, j = np.searchsorted(self.load_source, [start, end])
        return [t for t in self.load_target[i:j].tolist() if self.times_loaded[t] <= 8]

    def end(self, function: int) -> int:
        index = int(np.searchsorted(self.starts, function, "right"))
        return int(self.starts[index]) if index < len(self.starts) else 1 << 62

    def registrations(self, names: set[str]) -> dict[str, list[int]]:
        """The kernels of the operators that one initialiser registers: the one that knows most of these names."""
        registrars = {}  # functions that register a single operator
        for function, found in self.strings.items():
            known = {text for _, text in found if text in names}
            if len(known) == 1 and len(found) <= 2:
                registrars[function] = known.pop()
        score = collections.Counter()
        for function, targets in self.references.items():
            known = {registrars[t] for t in targets if t in registrars}
            known |= {text for _, text in self.strings.get(function, ()) if text in names}
            score[function] = len(known)
        initialiser = score.most_common(1)[0][0]
        kernels: dict[str, list[int]] = {}
        for place, text in self.strings.get(initialiser, ()):
            if text in names:  # registered in place: boxed and unboxed kernel are loaded just before the name
                kernels[text] = self._loads(place - 400, place)[-2:]
        for function in self.references[initialiser]:
            if function in registrars:
                kernels.setdefault(registrars[function], []).extend(self._loads(function, self.end(function)))
        return kernels

    def reachable(self, roots: list[int]) -> set[int]:
        seen, open_ = set(roots), list(roots)
        while open_:
            for target in self.references.get(open_.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    open_.append(target)
        return seen

    def strings_reached(self, roots: list[int]) -> set[str]:
        return {text for function in self.reachable(roots) for _, text in self.strings.get(function, ())}

    def functions(self) -> list[str]:
        """Every function of CANN's operators that is looked up by name, without GetWorkspaceSize."""
        known = {text for found in self.strings.values() for _, text in found}
        return sorted(functions_among(known))


def functions_among(strings: set[str]) -> set[str]:
    """Those that are looked up in both of their phases."""
    return {text for text in strings if text.startswith("acl") and text + _SUFFIX in strings}


def custom_operators_among(strings: set[str]) -> set[str]:
    """Operators of torch_npu's own that are called through the dispatcher."""
    return {text for text in strings if _CUSTOM.fullmatch(text)}
