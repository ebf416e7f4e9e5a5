"""Arms: what a variation of a run takes away or adds, and how it is known that it acted."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.runs import Environment


class Role(StrEnum):
    """What an arm plays in a diagnosis (the table of roles in README)."""

    BASELINE = "baseline"
    BYPASS = "bypass"
    EXACT = "exact"
    PER_CASE = "per-case"
    ISOLATE = "isolate"
    POISON_N = "poison-n"
    POISON_0 = "poison-0"
    SERIAL = "serial"
    SWAP = "swap"


class Isolation(StrEnum):
    """Whether the selected cases share one process."""

    TOGETHER = "together"
    ALONE = "alone"


class Acted(StrEnum):
    """How well it is known that an arm did what its role says."""

    PROVEN = "proven"  # a counter or a banner says so
    PLAUSIBLE = "plausible"  # its variables' names stand in the binary or its libraries
    UNPROVEN = "unproven"  # nothing speaks for it
    INERT = "inert"  # a counter contradicts it, or no file that could read its variables knows their names


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterRule:
    """What a counter must read under an arm that acted, `hits = 0` under bypass.

    `sufficient` is False where it speaks for a part of the arm only: a NaN fill on top of a bypass.
    """

    counter: str
    equals: int
    sufficient: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One concrete environment, arguments and isolation that plays a role."""

    role: Role
    environment: Environment = Environment()
    arguments: tuple[str, ...] = ()
    isolation: Isolation = Isolation.TOGETHER
    proof: CounterRule | None = None
    shared: tuple[str, ...] = ()  # variables that all arms set, to print counters: no switch of this one


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A pool counter that the target prints; `pattern` is a regular expression with one group of digits."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatorProfile:
    """The switches of one allocator.

    `markers` are variable names any of which, found in the target, selects the profile; `variables` are
    all that it reads (removed from the inherited environment); `stats` makes it print its `counters`.
    """

    name: str
    title: str
    source: str
    markers: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    stats: Environment = Environment()
    counters: tuple[Counter, ...] = ()
