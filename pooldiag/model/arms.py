"""Arms: what a variation of a run takes away or adds, and how it is known that it acted."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.runs import Environment


class Role(StrEnum):
    """What an arm plays in a diagnosis (the table of roles in docs/attribute.md)."""

    BASELINE = "baseline"
    BYPASS = "bypass"
    EXACT = "exact"
    PER_CASE = "per-case"
    POISON_N = "poison-n"
    POISON_0 = "poison-0"
    SERIAL = "serial"
    ISOLATE = "isolate"
    QUARANTINE = "quarantine"
    GUARD = "guard"
    PAD = "pad"
    FRESH_STATE = "fresh-state"
    USED_STATE = "used-state"  # fresh-state again, in the folder that its last run left
    PLACEBO = "placebo"


OWN_ROLES = (Role.BASELINE, Role.ISOLATE, Role.FRESH_STATE, Role.USED_STATE, Role.PLACEBO)
"""What every target can play, without a switch of its allocator."""

SWITCHED_ROLES = tuple(role for role in Role if role not in OWN_ROLES)
"""What a switch of an allocator plays: profiles and `--arm` name these."""

STATE_ROLES = (Role.FRESH_STATE, Role.USED_STATE)
"""What points a target to other folders for what it keeps between runs."""

STATE_WORD = "{state}"
"""Stands for the folder of such a run in the values of these arms' variables."""

PROBES_OF_A_GREEN = (Role.BYPASS, Role.POISON_N, Role.QUARANTINE)
"""What turns red that a pool hides, so that a green baseline is asked it, too: no hidden mechanism predicts another."""


class Isolation(StrEnum):
    """Whether the selected cases share one process."""

    TOGETHER = "together"
    ALONE = "alone"


class Acted(StrEnum):
    """How well it is known that an arm did what its role says."""

    PROVEN = "proven"  # a counter, a banner or a canary says so
    PLAUSIBLE = "plausible"  # its variables' names stand in the binary or its libraries
    UNPROVEN = "unproven"  # nothing speaks for it
    INERT = "inert"  # one of these contradicts it, or no file that could read its variables knows their names


class Confidence(StrEnum):
    """How it is known that a switch does what its profile says."""

    MEASURED = "measured"  # by a run on this project's machines
    SOURCE = "source"  # read in the allocator's source
    DOCUMENTATION = "documentation"  # read in its documentation
    REPORT = "report"  # seen in somebody's report or script only


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterRule:
    """What a counter must read under an arm that acted, `hits = 0` under bypass.

    `sufficient` is False where it speaks for a part of the arm only: a NaN fill on top of a bypass.
    """

    counter: str
    equals: int
    sufficient: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BannerRule:
    """A line that an arm that acted prints, or one that only the pool prints (`printed` False).

    `sufficient` is False where it speaks for a part of the arm only.
    """

    pattern: str
    printed: bool = True
    sufficient: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmProperty:
    """One thing that is known of what an arm does, `addresses = apart`; `source` None stands for the user."""

    name: str
    value: str
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One concrete environment, arguments and isolation that plays a role.

    `source` and `confidence` say how its switches are known; None stands for the user, who named them.
    `one_sided`: its green is not evidence. `late`: its variables may be read by libraries that the target
    loads while it runs, so a name missing in the files says nothing.
    """

    role: Role
    environment: Environment = Environment()
    arguments: tuple[str, ...] = ()
    isolation: Isolation = Isolation.TOGETHER
    proof: CounterRule | None = None
    banner: BannerRule | None = None
    shared: tuple[str, ...] = ()  # variables that all arms set, to print counters: not a switch of this one
    source: str | None = None
    confidence: Confidence | None = None
    caveat: str | None = None
    one_sided: bool = False
    late: bool = False
    properties: tuple[ArmProperty, ...] = ()

    def property(self, name: str) -> str | None:
        """Return what is known of this, as it was written; None where nobody knows."""
        return next((one.value for one in self.properties if one.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCounter:
    """A pool counter that the target prints; `pattern` is a regular expression with one group of digits."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRule:
    """What the canary must observe under an arm that acts: for each fact the values that are right.

    `partly` and `inert` say what to change when some, and when none, of it is so.
    """

    role: Role
    expects: tuple[tuple[str, tuple[str, ...]], ...]
    partly: str | None = None
    inert: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A small program of ours that prints what an allocator does, and what each arm must make of it.

    `preload` is the beginning of the file name of a library of the target that it must be run with:
    the allocator is in there. A target that has no such library has no canary.
    """

    argv: tuple[str, ...]
    rules: tuple[CanaryRule, ...]
    preload: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """The library whose allocator the switches are for, and what takes that allocator's place.

    `instead` are beginnings of library names, `symbols` what stands in a program that has another
    allocator built in.
    """

    library: str
    instead: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatorProfile:
    """The switches of one allocator.

    `markers` are variable names any of which, found in the target, selects the profile, `symbols` other
    names that do so where no marker of any profile is found. `variables` are all that it reads (removed
    from the inherited environment, but for those in `lists`: the arms' values go behind the inherited
    one). Every run sets `always`, the baseline included; `stats` makes it print its `counters`.
    `beneath` are pools that the arms leave in place. `no_switch` is the line of code that does what no
    variable does: such a profile has no arms.
    """

    name: str
    title: str
    source: str
    markers: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    always: Environment = Environment()
    stats: Environment = Environment()
    counters: tuple[PoolCounter, ...] = ()
    canary: Canary | None = None
    linked: Linkage | None = None
    beneath: tuple[str, ...] = ()
    no_switch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedFill:
    """A variable of the user's that fills memory, or brings an allocator that checks it.

    `profile` is another one than that of the diagnosis, whose fill does the same; None where there is none.
    """

    name: str
    value: str
    reason: str
    profile: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilesReport:
    """What `profiles` says: all profiles in short, or one of them whole."""

    profiles: tuple[AllocatorProfile, ...]
    whole: bool = False
