"""The target and its test cases: what there is, in which order, and which of them are asked for."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class OrderKind(StrEnum):
    """How a framework can be asked to order its cases."""

    FILE = "file"
    NAME = "name"
    SUITE = "suite"
    REVERSE = "reverse"  # file order from its end, of a framework that takes any order
    RAND = "rand"
    SEQUENCE = "sequence"  # as the user wrote it down; nobody can ask for it by this name


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A running order, as a framework is asked for it; `seed` counts only with RAND."""

    kind: OrderKind = OrderKind.FILE
    seed: int | None = None

    def __str__(self) -> str:
        """Say the order in words: `file order`, `rand order, seed 7`, `sequence`."""
        if self.kind is OrderKind.SEQUENCE:
            return str(self.kind)
        return f"{self.kind} order" + (f", seed {self.seed}" if self.kind is OrderKind.RAND else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One test case, as its framework lists it.

    Names are not unique: a case is known by all fields together, `twin` counting (from 0) those that
    agree in all others. `name` holds no raw bytes: what is not UTF-8 stands escaped in it, and
    `name_bytes` has the bytes.
    """

    name: str
    suite: str = ""
    file: str = ""
    line: int | None = None
    skipped: bool = False
    twin: int = 0
    name_bytes: bytes | None = None

    @property
    def place(self) -> str | None:
        """The source line of the case, `file.cpp:12`; None when the framework does not say it."""
        return f"{self.file}:{self.line}" if self.file and self.line is not None else None

    @property
    def raw_name(self) -> str:
        """The name as it is passed on: bytes that are not UTF-8 stand as lone surrogates, as in all arguments."""
        return self.name if self.name_bytes is None else self.name_bytes.decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All cases of a target in running order, skipped ones included.

    `tells_skipped` is False where the framework does not say which of them are skipped.
    """

    cases: tuple[Case, ...]
    framework_version: str | None = None
    tells_skipped: bool = True

    @property
    def runnable(self) -> tuple[Case, ...]:
        """The cases that a run without a filter starts."""
        return tuple(case for case in self.cases if not case.skipped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some cases, in running order, and how their framework is asked for them, in its own words.

    Without words: everything.
    """

    cases: tuple[Case, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The test binary as named by the user: `path` is absolute, `shown` the way a shell in `shell_directory` names it.

    It runs in `directory`.
    """

    path: Path
    shown: str
    arguments: tuple[str, ...] = ()
    directory: Path
    shell_directory: Path
    framework: str
