"""What `bisect` and `orders` establish, with the runs that carry it."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.arms import Arm
from pooldiag.model.cases import Order
from pooldiag.model.readings import Reading, Sight, Signature
from pooldiag.model.reports import AttributeReport, NextCommand, Run, Session


class BisectStatus(StrEnum):
    """How a bisection ended."""

    FOUND = "found"
    GREEN = "green"
    UNRESOLVED = "unresolved"
    BLOCKED = "blocked"


class NamedBy(StrEnum):
    """How the victim became known."""

    STREAM = "stream"  # the report of a red run names the case
    USER = "user"
    SEARCH = "search"  # the last case of the shortest red prefix: the red is in an output, the exit, or a count


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Some cases, then the victim, and how often that read which way."""

    cases: tuple[str, ...]
    red: int = 0
    green: int = 0
    void: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BothEnds:
    """The two ends of a claim: what is red with it, what is green without; for a set, without each of its cases."""

    red: Tried
    green: tuple[Tried, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCommand:
    """A command line that was run as it stands, and how it ended at last: `SIGSEGV`, `exit code 1`."""

    line: str
    ended: str
    tries: int = 1  # until it ended so


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """One run of the search: what for, how many cases it selected, the victim among them, and how it read."""

    run: str
    phase: str
    cases: int
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """One run of the whole order under an arm that is green on the minimal set, seen from the victim's red."""

    arm: Arm
    run: Run
    sight: Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the search knows of the victim's red. Names are in running order; `position` counts from 1.

    `prefix` is k: the first k cases, then the victim, are red, the first k-1 green, both run; it is the
    smallest such k only if `smallest`. `sets` are independent sets of polluters, each 1-minimal, the first of them
    being `polluters`. `setters` are for a victim that is red alone: with them it is green.
    """

    prefix: int | None = None
    smallest: bool = True
    victim: str | None = None
    named_by: NamedBy | None = None
    position: int | None = None
    signature: Signature | None = None
    polluters: tuple[str, ...] = ()
    cleaners: tuple[str, ...] = ()
    setters: tuple[str, ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    red_alone: bool = False
    noisy: bool = False
    confidence: float | None = None
    prefix_proof: BothEnds | None = None
    set_proof: BothEnds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectReport:
    """One bisection, finished or not.

    `runs` and `cases_run` are of the search, baselines and proofs included: `recalled` of them were taken from an
    earlier, interrupted bisection, `speculative` were made ahead, beside others, and turned out not to be needed.
    `red_with` is the fewest cases before the victim that were red, `green_with` the longest prefix below them that
    was green: the best so far, where the search did not come to its end.
    `others` are reds that are not the victim's: reported, not followed. `attribution` is about the minimal set,
    `confirmations` about the whole order.
    """

    status: BisectStatus
    found: Found = Found()
    reason: str | None = None  # what is not established, and why
    runs: int = 0
    recalled: int = 0
    speculative: int = 0
    cases_run: int = 0
    red_with: int | None = None
    green_with: int | None = None
    probed: tuple[Probed, ...] = ()
    whole: Run | None = None  # the whole order, as it was asked for
    others: tuple[Signature, ...] = ()
    reproducer: CheckedCommand | None = None
    green_command: CheckedCommand | None = None
    attribution: AttributeReport | None = None
    confirmations: tuple[Confirmation, ...] = ()
    next: NextCommand | None = None
    session: Session


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderResult:
    """One order: how it ran, or the earlier one that is the same list.

    `failing` are the cases that did not pass, in running order. `victim`, `position` and `prefix` are of the first
    signature; `prefix` is None where it was not searched for, because another order has a shorter one.
    """

    order: Order
    same_as: Order | None = None
    run: Run | None = None
    failing: tuple[str, ...] = ()
    victim: str | None = None
    position: int | None = None
    prefix: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortestPrefix:
    """The shortest red prefix over all orders: its length, its cases, the victim, and both ends as they were run."""

    order: Order
    prefix: int
    cases: tuple[str, ...]
    victim: str
    proof: BothEnds
    reproducer: CheckedCommand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersReport:
    """Which orders are red, and how."""

    asked: int = 0  # orders that are to be run; 0: not known yet
    orders: tuple[OrderResult, ...] = ()
    shortest: ShortestPrefix | None = None
    by_accident: bool = False  # file order is green, another order is red
    runs: int = 0
    cases_run: int = 0
    next: NextCommand | None = None
    session: Session
