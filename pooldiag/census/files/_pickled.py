"""Reads a pickle as data. Nothing is imported, and nothing called but the functions that the caller names.

`pickle.Unpickler` is not used: even with an allow-list, a few bytes can make it allocate without bound.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pooldiag.census.files.format import shown
from pooldiag.census.layouts import CensusError

STEP_LIMIT = 2_000_000  # opcodes: tens of thousands of tensors
_SCALARS = (str, bytes, int, float, bool, type(None))

_CONSTANTS = {b"N": None, b"\x88": True, b"\x89": False, b")": ()}
_EMPTY: Mapping[bytes, Callable[[], object]] = {b"}": dict, b"]": list, b"\x8f": list}  # the last is a set
_NUMBERS = {b"J": "<i", b"K": "<B", b"M": "<H", b"G": ">d"}
_TEXTS = {b"\x8c": "<B", b"X": "<I", b"\x8d": "<Q"}  # by opcode: how the length is written
_BYTES = {b"U": "<B", b"T": "<I", b"C": "<B", b"B": "<I", b"\x8e": "<Q", b"\x96": "<Q"}
_TUPLES = {b"\x85": 1, b"\x86": 2, b"\x87": 3}
_PUTS = {b"q": "<B", b"r": "<I"}
_GETS = {b"h": "<B", b"j": "<I"}
_PUSHES = frozenset().union(_EMPTY, _NUMBERS, _TEXTS, _BYTES, _TUPLES, _GETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Something that the pickle names, `module.name`, and that the caller knows."""

    name: str


@dataclass(slots=True, kw_only=True)
class Unpickler:
    """A machine for the opcodes that are needed for data. `known` are the names that may occur, `calls` what to call.

    A persistent id becomes what `load` makes of it. A state that is set on an object is passed by.
    """

    data: bytes
    known: frozenset[str]
    calls: Mapping[str, Callable[..., object]]
    load: Callable[[object], object]
    path: str
    at: int = 0
    stack: list[object] = field(default_factory=list)
    below: list[list[object]] = field(default_factory=list)  # the stacks of open marks
    memo: dict[int, object] = field(default_factory=dict)

    def run(self) -> object:
        """Return the object; raise CensusError for a damaged pickle, or one that asks for more than data."""
        try:
            for _ in range(STEP_LIMIT):
                opcode = self._take(1)
                if opcode == b".":
                    return self.stack.pop()
                self._step(opcode)
        except (IndexError, KeyError, TypeError, ValueError, RecursionError, struct.error) as error:
            raise CensusError(f"{self.path}: data.pkl is damaged at byte {self.at}") from error
        raise CensusError(f"{self.path}: data.pkl goes on after {STEP_LIMIT} steps")

    def _take(self, size: int) -> bytes:
        data = self.data[self.at : self.at + size]
        if len(data) < size:
            raise ValueError("the end")
        self.at += size
        return data

    def _number(self, form: str) -> int:
        return int(struct.unpack(form, self._take(struct.calcsize(form)))[0])

    def _line(self) -> str:
        end = self.data.index(b"\n", self.at)
        return self._take(end + 1 - self.at)[:-1].decode("utf-8")

    def _step(self, opcode: bytes) -> None:
        if opcode in _PUTS:
            self.memo[self._number(_PUTS[opcode])] = self.stack[-1]
        elif opcode in _PUSHES:
            self.stack.append(self._pushed(opcode))
        elif opcode in _CONSTANTS:
            self.stack.append(_CONSTANTS[opcode])
        else:
            self._act(opcode)

    def _pushed(self, opcode: bytes) -> object:
        if form := _NUMBERS.get(opcode):
            return struct.unpack(form, self._take(struct.calcsize(form)))[0]
        if opcode in _TEXTS:
            return self._take(self._number(_TEXTS[opcode])).decode("utf-8", "surrogatepass")
        if opcode in _GETS:
            return self.memo[self._number(_GETS[opcode])]
        if opcode in _TUPLES:
            return tuple(self._popped(_TUPLES[opcode]))
        if opcode in _EMPTY:
            return _EMPTY[opcode]()
        return self._take(self._number(_BYTES[opcode]))

    def _act(self, opcode: bytes) -> None:  # noqa: C901, PLR0912 - a case for each
        match opcode:
            case b"(":
                self.below.append(self.stack)
                self.stack = []
            case b"t":
                items = self._since_mark()
                self.stack.append(tuple(items))
            case b"R":
                self._reduce()
            case b"Q":
                self.stack.append(self.load(self.stack.pop()))
            case b"0" | b"b":  # the latter sets a state
                self.stack.pop()
            case b"s":
                self._set(self._popped(2))
            case b"u":
                self._set(self._since_mark())
            case b"a":
                self._extend(self._popped(1))
            case b"e" | b"\x90":  # the latter adds to a set
                self._extend(self._since_mark())
            case b"c":
                self._name(self._line(), self._line())
            case b"\x93":
                self._name(*self._popped(2))
            case b"\x94":
                self.memo[len(self.memo)] = self.stack[-1]
            case b"\x8a":
                self.stack.append(int.from_bytes(self._take(self._number("<B")), "little", signed=True))
            case b"\x80":  # protocol
                self._take(1)
            case b"\x95":  # frame
                self._take(8)
            case _:
                raise CensusError(f"{self.path}: data.pkl has an opcode that tensors are not made of: {opcode!r}")

    def _popped(self, count: int) -> list[object]:
        if len(self.stack) < count:
            raise IndexError("the stack is empty")
        items = self.stack[-count:]
        del self.stack[-count:]
        return items

    def _since_mark(self) -> list[object]:
        items = self.stack
        self.stack = self.below.pop()
        return items

    def _extend(self, items: list[object]) -> None:
        target = self.stack[-1]
        if not isinstance(target, list):
            raise TypeError("no list")
        target.extend(items)

    def _set(self, items: list[object]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict):
            raise TypeError("no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Hashing anything else could follow tuples in tuples until Python's own stack is at its end.
            if not isinstance(key, _SCALARS):
                raise TypeError("a key that is no scalar")
            target[key] = value

    def _name(self, module: object, name: object) -> None:
        whole = f"{module}.{name}" if isinstance(module, str) and isinstance(name, str) else "?"
        if whole not in self.known and whole not in self.calls:
            raise CensusError(
                f"{self.path}: data.pkl asks for {shown(whole)}, which no dense tensor is made of; nothing was run",
                hint="save the tensors alone: torch.save(model.state_dict(), …)",
            )
        self.stack.append(Named(name=whole))

    def _reduce(self) -> None:
        function, arguments = self._popped(2)
        if not isinstance(function, Named) or not isinstance(arguments, tuple):
            raise TypeError("no call")
        self.stack.append(self.calls[function.name](*arguments))
