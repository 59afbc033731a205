"""Follows the code of libtorch_npu.so under a condition: a product, and functions that CANN lacks.

What a kernel can reach (static_calls.py) holds the ways of every product, of older CANNs and of internal formats. Which of them
is taken is decided in the code, by questions of few kinds: what the product is, whether a function was found by its name, whether
CANN's graph engine is asked for, and whether a tensor has a plain format. Here their answers are known. So: the instructions of
a function are interpreted, registers and memory hold what follows from those answers and nothing else, and a branch that they
decide is followed on one side. A function that is looked up and not found either ends in an exception, or the code goes on in
another way: that tells what is needed, and what is an alternative.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import re
import struct
from typing import NamedTuple

import capstone
import numpy as np
from static_calls import Binary

_LOOKUP = "_Z16GetOpApiFuncAddrPKc"
_GRAPH_CALL = "_ZN6at_npu6native9OpCommand3RunEv"
_NEVER_RETURN = re.compile(
    r"__cxa_(throw|rethrow|throw_bad_array_new_length|bad_cast|bad_typeid)|_Unwind_Resume|__stack_chk_fail|abort|_ZSt9terminatev|"
    r"_ZSt\d+__throw_\w+|_ZN3c106detail\d+torch(CheckFail|InternalAssertFail)\w*"
)
_SUFFIXES = re.compile("Get(Max)?WorkspaceSize$")
_WRAPPER = re.compile(r"OpInterface\w*\.cpp")

_REGISTERS = {}  # every name of a register: (that of the whole, bytes)
for _whole, _names in {
    **{f"r{c}x": f"r{c}x e{c}x {c}x {c}l" for c in "abcd"},
    **{f"r{c}i": f"r{c}i e{c}i {c}i {c}il" for c in "sd"},
    **{f"r{c}p": f"r{c}p e{c}p {c}p {c}pl" for c in "bs"},
    **{f"r{i}": f"r{i} r{i}d r{i}w r{i}b" for i in range(8, 16)},
}.items():
    _REGISTERS.update({name: (_whole, size) for name, size in zip(_names.split(), (8, 4, 2, 1))})
_KEPT_BY_CALLS = frozenset("rbx rbp rsp r12 r13 r14 r15".split())
_MEMORY = re.compile(r"(?:(byte|word|dword|qword) ptr )?\[(\w+)(?: ([+-]) (0x[0-9a-f]+|\d+))?\]$")
_CONDITIONS = {
    "e": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "g": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "l": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "a": lambda a, b: a % (1 << 64) > b % (1 << 64),
    "ae": lambda a, b: a % (1 << 64) >= b % (1 << 64),
    "b": lambda a, b: a % (1 << 64) < b % (1 << 64),
    "be": lambda a, b: a % (1 << 64) <= b % (1 << 64),
    "s": lambda a, b: a - b < 0,
    "ns": lambda a, b: a - b >= 0,
}
_VISITS = 60  # of a block: each time less is known, so this is not met
_FRAME = 1 << 60  # where the stack begins: no address of the library
_LEAVE_FLAGS = ("mov", "lea", "push", "pop", "nop", "set", "cmov", "endbr", "j", "call", "not")


class Value(NamedTuple):
    """A number that is known. `of`: the functions whose presence it follows from, none if from another answer; None: no answer."""

    number: int
    of: frozenset[str] | None = None


class Condition(NamedTuple):
    product: int  # as torch_npu numbers it
    absent: frozenset[str] = frozenset()


class Outcome(NamedTuple):
    """What a function does under a condition."""

    callees: frozenset[int]
    strings: frozenset[str]
    needed: frozenset[str]  # absent functions for the lack of which it throws
    asked: frozenset[str]  # functions whose presence decided something
    returns: Value | None  # where that follows from the answers


class Paths:
    def __init__(self, binary: Binary):
        self.binary = binary
        self._text, self._text_offset, _ = binary.sections[".text"]
        self._disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self._symbols, entries = _symbols(binary)
        self._lookup, self.graph_call = self._symbols[_LOOKUP], self._symbols[_GRAPH_CALL]
        self._never_return = {a for a, name in entries.items() if _NEVER_RETURN.fullmatch(name)}
        self._guard = {a for a, name in entries.items() if name == "__cxa_guard_acquire"}
        self._callers: dict[int, set[int]] = collections.defaultdict(set)
        for function, targets in binary.references.items():
            for target in targets:
                self._callers[target].add(function)
        self._find_answers()
        self._code: dict[int, _Code] = {}
        self._outcomes: dict[tuple[int, Condition], Outcome] = {}
        self._running: set[int] = set()

    def _instructions(self, function: int) -> list[tuple[int, int, str, str]]:
        start, end = (a - self._text + self._text_offset for a in (function, self.binary.end(function)))
        return list(self._disassembler.disasm_lite(self.binary.data[start:end], function))

    def _calls(self, function: int) -> list[int]:
        return [int(o, 16) for _, _, m, o in self._instructions(function) if m == "call" and o.startswith("0x")]

    def _find_answers(self) -> None:
        """The functions that ask: what comes first in the functions that choose between CANN's two kinds of operators."""
        wrappers = [f for f, found in self.binary.strings.items() if any(_WRAPPER.search(text) for _, text in found)]
        calls = {f: self._calls(f) for f in wrappers}
        first = collections.Counter(c[0] for c in calls.values() if c)
        compiles = first.most_common(1)[0][0]  # "is what asks for the graph engine off?"
        following = collections.Counter(c[1] for c in calls.values() if len(c) > 1 and c[0] == compiles)
        plain = following.most_common(1)[0][0]  # "is this tensor's format plain?"
        chosen = [c for c in calls.values() if len(c) > 1 and c[0] == compiles]
        logs = collections.Counter(next((x for x in c[1:] if x != plain), 0) for c in chosen).most_common(1)[0][0]
        self._yes = {compiles}
        for c in chosen:
            self._yes.update(c[1 : c.index(logs)] if logs in c else ())
        self._product_cell = self._find_product_cell()
        self._readers = self._functions_that_read(self._product_cell)

    def _find_product_cell(self) -> int:
        """The variable that holds the product: -1 at first, and written by the function that names itself so."""
        writers = [f for f, found in self.binary.strings.items() if any(text == "SetSocVersion" for _, text in found)]
        cells = {
            target
            for function in writers
            for _, _, mnemonic, (kind, target) in cells_of(self._instructions(function))
            if mnemonic == "mov" and kind == "store" and self._initial(target) == -1
        }
        if len(cells) != 1:
            raise SystemExit(f"which variable holds the product? {sorted(map(hex, cells))}")
        return cells.pop()

    def _initial(self, cell: int) -> int | None:
        start, offset, length = self.binary.sections[".data"]
        if not start <= cell < start + length - 3:
            return None
        return int(struct.unpack_from("<i", self.binary.data, offset + cell - start)[0])

    def _functions_that_read(self, cell: int) -> set[int]:
        base, offset, length = self.binary.sections[".text"]
        text = np.frombuffer(self.binary.data, np.uint8, length, offset).astype(np.int32)
        displacements = text[:-3] | text[1:-2] << 8 | text[2:-1] << 16 | text[3:] << 24
        ends = np.arange(len(displacements), dtype=np.int64) + (base + 4)
        found: set[int] = set()
        for behind in (0, 1, 4):  # bytes of an immediate operand
            at = ends[displacements + ends == cell - behind]
            found |= set(self.binary.function_of(at).tolist())
        return found

    def text_at(self, address: int) -> str | None:
        for section in (".rodata.str1.1", ".rodata.str1.8", ".rodata"):
            start, at, size = self.binary.sections.get(section, (0, 0, 0))
            if start <= address < start + size:
                where = at + address - start
                end = self.binary.data.find(b"\0", where, where + 200)
                return self.binary.data[where:end].decode("latin1") if end > where else None
        return None

    def code(self, function: int) -> _Code:
        if function not in self._code:
            self._code[function] = _Code(self, function)
        return self._code[function]

    def asks(self, function: int) -> bool:
        """Whether the answers change what a function does."""
        called = self.binary.references.get(function, ())
        return self._lookup in called or any(c in self._yes or c in self._readers for c in called) or function in self._readers

    def names_of(self, function: int) -> frozenset[str]:
        """Functions of CANN that a function looks up, or may."""
        found = (_SUFFIXES.sub("", text) for _, text in self.binary.strings.get(function, ()))
        return frozenset(name for name in found if name.startswith("acl") and name.isalnum())

    def mentions(self, function: int, names: tuple[str, ...]) -> bool:
        """Whether the code of a function has one of these names, in its strings or in its instructions."""
        if any(text in names for _, text in self.binary.strings.get(function, ())):
            return True
        start, end = (a - self._text + self._text_offset for a in (function, self.binary.end(function)))
        return any(name[:8].encode() in self.binary.data[start:end] for name in names)

    def outcome(self, function: int, condition: Condition) -> Outcome:
        if not self.asks(function):
            strings = frozenset(text for _, text in self.binary.strings.get(function, ()))
            return Outcome(frozenset(self.binary.references.get(function, ())), strings, frozenset(), frozenset(), None)
        called = self.binary.references.get(function, ())
        depends = function in self._readers or any(c in self._readers for c in called)
        key = function, Condition(condition.product if depends else 0, condition.absent & self.names_of(function))
        if key not in self._outcomes:
            if function in self._running:  # it calls itself, in the end
                return Outcome(frozenset(), frozenset(), frozenset(), frozenset(), None)
            self._running.add(function)
            code = self.code(function) if depends else _Code(self, function)  # kept for the other products
            self._outcomes[key] = code.run(condition)
            self._running.discard(function)
        return self._outcomes[key]

    def returned(self, function: int, condition: Condition) -> Value | None:
        """What a function returns, if that follows from the product."""
        if function in self._yes:
            return Value(1, frozenset())
        if function in self._readers:
            return self.outcome(function, condition).returns
        return None

    def reached(self, kernels: list[int], condition: Condition) -> Reached:
        seen, open_ = set(kernels), list(kernels)
        strings: set[str] = set()
        needed: set[str] = set()
        asked: set[str] = set()
        graph: set[int] = set()
        while open_:
            function = open_.pop()
            outcome = self.outcome(function, condition)
            strings |= outcome.strings
            needed |= outcome.needed
            asked |= outcome.asked
            if self.graph_call in outcome.callees:
                graph.add(function)
            for target in outcome.callees:
                if target not in seen:
                    seen.add(target)
                    open_.append(target)
        return Reached(strings, needed, asked, graph)


class Reached(NamedTuple):
    """What a kernel does under a condition, with all that it calls."""

    strings: set[str]
    needed: set[str]
    asked: set[str]
    graph: set[int]  # the functions that call an operator of the graph engine


def cells_of(instructions):
    """Stores to and loads from variables: (address, size, mnemonic, ("store" or "load", the variable's address))."""
    for address, size, mnemonic, operands in instructions:
        for position, operand in enumerate(operands.split(", ")):
            found = _MEMORY.match(operand)
            if found and found[2] == "rip":
                yield address, size, mnemonic, ("load" if position else "store", address + size + _signed(found[3], found[4]))


def _signed(sign: str | None, digits: str | None) -> int:
    number = int(digits or "0", 0)
    return -number if sign == "-" else number


def _symbols(binary: Binary) -> tuple[dict[str, int], dict[int, str]]:
    """Exported functions by name; the entries of the linkage table, and exported functions, by address."""
    data = binary.data
    _, symbols, size = binary.sections[".dynsym"]
    _, names, _ = binary.sections[".dynstr"]

    def symbol(index: int) -> tuple[str, int]:
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, symbols + 24 * index)
        return data[names + name : data.index(b"\0", names + name)].decode(), value

    exported = dict(symbol(i) for i in range(size // 24))
    by_address = {address: name for name, address in exported.items() if address}
    slots = {}
    for section, kind in ((".rela.plt", None), (".rela.dyn", 6)):
        _, offset, length = binary.sections[section]
        for i in range(length // 24):
            slot, info, _ = struct.unpack_from("<QQq", data, offset + 24 * i)
            if kind is None or info & 0xFFFFFFFF == kind:
                slots[slot] = symbol(info >> 32)[0]
    for section in (".plt", ".plt.got"):
        base, offset, length = binary.sections.get(section, (0, 0, 0))
        for i in range(length - 6):
            if data[offset + i : offset + i + 2] == b"\xff\x25":  # jmp through a slot
                slot = base + i + 6 + struct.unpack_from("<i", data, offset + i + 2)[0]
                if slot in slots:
                    by_address[(base + i) // 16 * 16 if section == ".plt" else base + i] = slots[slot]
                    if section == ".plt.got":
                        by_address[(base + i) // 16 * 16] = slots[slot]
    return {name: a for name, a in exported.items() if a}, by_address


class _State:
    """What is known before an instruction. Memory: of the stack by its distance from the frame, of variables by address."""

    __slots__ = ("registers", "memory", "flags", "text")

    def __init__(self):
        self.registers: dict[str, Value] = {}
        self.memory: dict[tuple[str, int], Value] = {}
        self.flags: tuple[Value, Value] | None = None
        self.text: str | None = None  # the name of a function that was last put into a string

    def copy(self) -> _State:
        other = _State()
        other.registers, other.memory = dict(self.registers), dict(self.memory)
        other.flags, other.text = self.flags, self.text
        return other

    def join(self, other: _State) -> bool:
        """Keeps what both know; whether that is less than before."""
        changed = False
        for mine, theirs in ((self.registers, other.registers), (self.memory, other.memory)):
            for key in [k for k, v in mine.items() if k not in theirs or theirs[k].number != v.number]:
                del mine[key]
                changed = True
            for key, value in mine.items():
                if value != theirs[key]:
                    of = None if value.of is None and theirs[key].of is None else (value.of or frozenset()) | (theirs[key].of or frozenset())
                    if of != value.of:
                        mine[key] = Value(value.number, of)
                        changed = True
        for slot in ("flags", "text"):
            if getattr(self, slot) is not None and getattr(self, slot) != getattr(other, slot):
                setattr(self, slot, None)
                changed = True
        return changed


class _Code:
    """A function's instructions, in blocks."""

    def __init__(self, paths: Paths, function: int):
        self.paths = paths
        self.start = function
        self.end = paths.binary.end(function)
        self.instructions = paths._instructions(function)
        self.index = {address: i for i, (address, *_) in enumerate(self.instructions)}
        self.strings = dict(paths.binary.strings.get(function, ()))
        loaded = {target for _, _, m, (_, target) in cells_of(self.instructions) if m == "movzx"}
        taken = {target for _, _, m, (_, target) in cells_of(self.instructions) if m == "lea"}
        self.guards = loaded & taken
        self._split()
        self._find_returning()

    def _split(self) -> None:
        leaders = {self.start}
        for address, size, mnemonic, operands in self.instructions:
            if mnemonic[0] == "j":
                leaders.add(address + size)
                if operands.startswith("0x"):
                    leaders.add(int(operands, 16))
            elif mnemonic == "ret" or self._ends(mnemonic, operands):
                leaders.add(address + size)
        self.leaders = {a for a in leaders if a in self.index}

    def _ends(self, mnemonic: str, operands: str) -> bool:
        return mnemonic == "call" and operands.startswith("0x") and int(operands, 16) in self.paths._never_return

    def _find_returning(self) -> None:
        """The blocks from which the function can be left without an exception."""
        before: dict[int, set[int]] = collections.defaultdict(set)
        leave: set[int] = set()
        block = self.start
        for address, size, mnemonic, operands in self.instructions:
            if address in self.leaders:
                block = address
            following = address + size
            if mnemonic == "ret":
                leave.add(block)
            elif mnemonic[0] == "j":
                target = int(operands, 16) if operands.startswith("0x") else None
                if target in self.leaders:
                    before[target].add(block)
                elif target is None or mnemonic == "jmp":
                    leave.add(block)
                if mnemonic != "jmp":
                    before[following].add(block)
            elif following in self.leaders and not self._ends(mnemonic, operands):
                before[following].add(block)
        self.returning = set(leave)
        open_ = list(leave)
        while open_:
            for one in before[open_.pop()]:
                if one not in self.returning:
                    self.returning.add(one)
                    open_.append(one)

    # ---- interpretation ----

    def run(self, condition: Condition) -> Outcome:
        self._condition = condition
        self._callees: set[int] = set()
        self._texts: set[str] = set()
        self._needed: set[str] = set()
        self._asked: set[str] = set()
        self._returned: list[Value | None] = []
        entry = _State()
        entry.registers["rsp"] = Value(_FRAME)
        states = {self.start: entry}
        open_ = [self.start]
        visits: collections.Counter[int] = collections.Counter()
        while open_:
            leader = open_.pop()
            visits[leader] += 1
            if visits[leader] > _VISITS:
                continue
            for target, state in self._follow(leader, states[leader].copy()):
                if target not in states:
                    states[target] = state
                    open_.append(target)
                elif states[target].join(state) and target not in open_:
                    open_.append(target)
        numbers = {None if value is None else value.number for value in self._returned}
        value = self._returned[0] if len(numbers) == 1 else None
        return Outcome(
            frozenset(self._callees), frozenset(self._texts), frozenset(self._needed), frozenset(self._asked), value
        )

    def _follow(self, leader: int, state: _State):
        """Interprets a block; the blocks behind it with what is known there."""
        i = self.index[leader]
        while i < len(self.instructions):
            address, size, mnemonic, operands = self.instructions[i]
            following = address + size
            if address in self.strings:
                self._texts.add(self.strings[address])
            if mnemonic == "ret":
                self._returned.append(state.registers.get("rax"))
                return
            if mnemonic == "jmp":
                if operands.startswith("0x"):
                    target = int(operands, 16)
                    if target in self.index:
                        yield target, state
                    else:
                        self._callees.add(target)
                        self._returned.append(None)
                else:
                    for target in self._table(state):
                        yield target, state.copy()
                return
            if mnemonic[0] == "j" and operands.startswith("0x"):
                yield from self._branch(mnemonic[1:], int(operands, 16), following, state)
                return
            if mnemonic == "call":
                if self._ends(mnemonic, operands):
                    return
                self._call(operands, state)
            else:
                self._step(address, size, mnemonic, operands, state)
            if following in self.leaders:
                yield following, state
                return
            i += 1

    def _branch(self, condition: str, target: int, following: int, state: _State):
        known = state.flags
        if known is None or condition not in _CONDITIONS:
            sides = [target, following]
        else:
            a, b = known
            taken = _CONDITIONS[condition](a.number, b.number)
            side = target if taken else following
            of = _of(a, b) or frozenset()
            lacking = of & self._condition.absent
            if lacking and side in self.index and side not in self.returning:
                self._needed |= lacking
            self._asked |= of
            sides = [side]
        for side in sides:
            if side in self.index:
                yield side, state.copy()
            else:
                self._callees.add(side)
                self._returned.append(None)

    def _table(self, state: _State) -> list[int]:
        """The targets of a jump through a table, whose address a register holds."""
        found = []
        base, offset, length = self.paths.binary.sections[".rodata"]
        for value in state.registers.values():
            if base <= value.number < base + length:
                at = value.number
                while at + 4 <= base + length:
                    target = value.number + struct.unpack_from("<i", self.paths.binary.data, offset + at - base)[0]
                    if target not in self.index:
                        break
                    found.append(target)
                    at += 4
        for target in found:
            self.leaders.add(target)
        return found or sorted(self.leaders)

    def _call(self, operands: str, state: _State) -> None:
        paths = self.paths
        result = None
        if operands.startswith("0x"):
            target = int(operands, 16)
            argument = state.registers.get("rdi")
            if target == paths._lookup:
                text = paths.text_at(argument.number) if argument is not None else state.text
                if text is not None and text.startswith("acl"):
                    name = _SUFFIXES.sub("", text)
                    result = Value(0 if name in self._condition.absent else 1, frozenset({name}))
            elif target in paths._guard:
                result = Value(1, frozenset())
            else:
                self._callees.add(target)
                result = paths.returned(target, self._condition)
        for name in [r for r in state.registers if r not in _KEPT_BY_CALLS]:
            del state.registers[name]
        if result is not None:
            state.registers["rax"] = result
        state.flags = None

    def _place(self, operand: str, address: int, size: int, state: _State):
        """The memory that an operand means, as a key of the state's memory."""
        found = _MEMORY.match(operand)
        if found is None:
            return None
        offset = _signed(found[3], found[4])
        if found[2] == "rip":
            return "variable", address + size + offset
        base = state.registers.get(_REGISTERS.get(found[2], ("",))[0])
        if base is None or base.number < 4096:
            return None
        return "stack" if base.number > _FRAME // 2 else "variable", base.number + offset

    def _read(self, operand: str, address: int, size: int, state: _State) -> Value | None:
        register = _REGISTERS.get(operand)
        if register is not None:
            return state.registers.get(register[0])
        if operand[0].isdigit() or operand[0] == "-":
            return Value(int(operand, 0))
        place = self._place(operand, address, size, state)
        if place is None:
            return None
        if place[0] == "variable":
            if place[1] == self.paths._product_cell:
                return Value(self._condition.product, frozenset())
            if place[1] in self.guards and operand.startswith("byte"):
                return Value(0, frozenset())
        return state.memory.get(place)

    def _write(self, operand: str, value: Value | None, address: int, size: int, state: _State) -> None:
        register = _REGISTERS.get(operand)
        if register is not None:
            if value is None:
                state.registers.pop(register[0], None)
            else:
                state.registers[register[0]] = value
            return
        place = self._place(operand, address, size, state)
        if place is not None:
            if value is not None and value.of is not None:
                state.memory[place] = value
            else:
                state.memory.pop(place, None)

    def _step(self, address: int, size: int, mnemonic: str, operands: str, state: _State) -> None:
        parts = operands.split(", ")
        if not mnemonic.startswith(_LEAVE_FLAGS):
            state.flags = None
        if mnemonic in ("mov", "movzx", "movsx", "movsxd", "movabs"):
            self._write(parts[0], self._read(parts[1], address, size, state), address, size, state)
        elif mnemonic == "lea":
            found = _MEMORY.match(parts[1])
            value = None
            if found is not None:
                offset = _signed(found[3], found[4])
                if found[2] == "rip":
                    value = Value(address + size + offset)
                    if self.paths.binary.is_function(value.number):
                        self._callees.add(value.number)
                    text = self.strings.get(address)
                    if text is not None and text.startswith("aclnn") and text.isalnum():
                        state.text = text
                else:
                    base = state.registers.get(_REGISTERS.get(found[2], ("",))[0])
                    if base is not None and base.of is None:
                        value = Value(base.number + offset)
            self._write(parts[0], value, address, size, state)
        elif mnemonic in ("push", "pop"):
            top = state.registers.get("rsp")
            if top is not None:
                state.registers["rsp"] = Value(top.number + (-8 if mnemonic == "push" else 8))
            if mnemonic == "pop":
                self._write(parts[0], None, address, size, state)
            elif top is not None:
                state.memory.pop(("stack", top.number - 8), None)
        elif mnemonic in ("cmp", "test"):
            a, b = (self._read(part, address, size, state) for part in parts)
            if mnemonic == "test":
                if a is not None and b is not None:
                    state.flags = Value(a.number & b.number, _of(a, b)), Value(0)
            elif a is not None and b is not None:
                state.flags = a, b
        elif mnemonic.startswith("set"):
            value = None
            if state.flags is not None and mnemonic[3:] in _CONDITIONS:
                a, b = state.flags
                value = Value(int(_CONDITIONS[mnemonic[3:]](a.number, b.number)), _of(a, b))
            self._write(parts[0], value, address, size, state)
        elif mnemonic in ("add", "sub", "and", "or", "xor") and len(parts) == 2:
            if mnemonic == "xor" and parts[0] == parts[1]:
                self._write(parts[0], Value(0), address, size, state)
                return
            a, b = (self._read(part, address, size, state) for part in parts)
            value = None
            if a is not None and b is not None:
                x, y = a.number, b.number
                number = {"add": x + y, "sub": x - y, "and": x & y, "or": x | y, "xor": x ^ y}[mnemonic]
                value = Value(number, _of(a, b))
                state.flags = value, Value(0)
            elif mnemonic == "and" and any(v is not None and v.number == 0 and v.of is not None for v in (a, b)):
                value = Value(0, (a if a is not None else b).of)
                state.flags = value, Value(0)
            if parts[0] == "rsp" and mnemonic == "and":  # aligned
                value = Value(_FRAME - (1 << 40))
            self._write(parts[0], value, address, size, state)
        elif mnemonic.startswith(("nop", "endbr")):
            pass
        else:
            self._write(parts[0], None, address, size, state)
            if mnemonic in ("cpuid", "mul", "div", "idiv", "imul", "cqo", "cdq", "cdqe", "cwde"):
                state.registers.pop("rax", None)
                state.registers.pop("rdx", None)


def _of(a: Value, b: Value) -> frozenset[str] | None:
    return None if a.of is None and b.of is None else (a.of or frozenset()) | (b.of or frozenset())
