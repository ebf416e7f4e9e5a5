"""Mechanisms, and what the runs make of them."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.arms import Role
from pooldiag.model.readings import Signature


class Prediction(StrEnum):
    """What an arm shows, or what a mechanism makes it show."""

    SAME_RED = "R"
    GREEN = "G"
    NEW_RED = "N"
    ANYTHING = "o"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One possible cause: what it means, what to do first, and what stays open when it is named."""

    id: str
    title: str
    meaning: str
    advice: str
    leaves_open: tuple[str, ...] = ()


class Shows(StrEnum):
    """What the runs of an arm show of a red."""

    GONE = "gone"  # it is (nearly) never there
    THERE = "there"  # it is there, as often as in the baseline
    OWN_RATE = "own-rate"  # it is there at another rate, well apart from both


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRole:
    """What an arm shows, how sure that is, and of how many runs it is known."""

    role: Role
    shows: Shows
    confidence: float
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaskedRole:
    """An arm that never ran, and why."""

    role: Role
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmsAnswer:
    """What the arms answer: words that are true of every fault that shows such arms, and what to do first."""

    id: str
    title: str
    meaning: str
    advice: str


class WitnessKind(StrEnum):
    """What a witness can do."""

    FACT = "fact"  # names a mechanism, or excludes some
    HINT = "hint"  # orders the candidates, and establishes nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Something seen beside the arms, for some mechanisms and against others (their ids)."""

    id: str
    kind: WitnessKind
    text: str
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()
    source: str
    needs: tuple[tuple[Role, Shows], ...] = ()  # what arms must show before a fact names its mechanism


class Status(StrEnum):
    """How far a diagnosis got."""

    GREEN = "green"
    ESTABLISHED = "established"
    UNRESOLVED = "unresolved"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something was red: `red` of `runs`, and a 95 % interval of the rate behind it."""

    red: int
    runs: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedRate:
    """What green runs exclude: a fault that shows in a larger share of such runs than `rate`, this sure, by `runs`."""

    rate: float
    confidence: float
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mechanism that the runs leave open."""

    mechanism: str
    posterior: float | None = None  # its probability


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledOut:
    """A mechanism that one run of an arm contradicts; `saw` and `expected` say how."""

    mechanism: str
    arm: Role
    run: str
    expected: Prediction
    saw: Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What the runs establish about one signature."""

    status: Status
    answer: str | None = None  # the id of what the arms answer; None: open
    narrowed: str | None = None  # what a further arm says within the answer
    mechanism: str | None = None  # the id of the one that a fact names
    confidence: float | None = None  # posterior of the pattern that gives the answer
    rate: Rate | None = None  # how often the arms were red that it predicts red
    rule: str | None = None  # why the runs ended
    signature: Signature | None  # None: nothing was red
    candidates: tuple[Candidate, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    seen: tuple[SeenRole, ...] = ()
    not_asked: tuple[UnaskedRole, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    not_established: tuple[str, ...] = ()
    separators: tuple[Role, ...] = ()  # roles whose runs would separate the candidates and are missing
