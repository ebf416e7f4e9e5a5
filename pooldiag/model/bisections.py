"""What `bisect` and `orders` establish, with the runs that carry it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.arms import Arm
from pooldiag.model.attributions import ExcludedRate, Status
from pooldiag.model.cases import Order
from pooldiag.model.readings import Cascade, Reading, Sight, Signature
from pooldiag.model.reports import AttributeReport, NextCommand, Run, RunReport, Session


class BisectStatus(StrEnum):
    """How a bisection ended."""

    FOUND = "found"
    GREEN = "green"  # the victim was not red, neither in the order nor alone
    UNRESOLVED = "unresolved"
    BLOCKED = "blocked"  # a run that it needs stays void


class Phase(StrEnum):
    """What runs of a bisection are made for."""

    SEEDS = "seeds"  # the orders of seeds are listed, until one is as wanted
    BASELINE = "baseline"
    SEARCH = "search"
    CONFIRMATION = "confirmation"
    COUNTERFACTUAL = "counterfactual"
    PREFIX = "prefix"
    CLEANERS = "cleaners"
    NOISE = "noise"
    COMMANDS = "commands"  # from here on what follows the search
    ARMS = "arms"
    CONFIRM = "confirm"


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
    other: int = 0  # the victim was red in another way
    void: int = 0
    other_red: Signature | None = None  # in which other way, where it was


@dataclass(frozen=True, slots=True, kw_only=True)
class BothEnds:
    """The two ends of a claim: what is red with it, what is green without."""

    red: Tried
    green: tuple[Tried, ...]  # for a set: without each of its cases


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCommand:
    """A command line that was run as it stands, and how it ended at last: `SIGSEGV`, `exit code 1`."""

    line: str  # a command line that a POSIX shell accepts
    ended: str  # how it ended when it was run as printed
    tries: int = 1  # until it ended so
    others_red: bool = False  # cases that are not the victim, which the exit code is of as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """One run of the search: what for, how many cases it selected, the victim among them, and how it read."""

    run: str
    phase: Phase
    cases: int
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """One run of the whole order under an arm that is green on the minimal set, seen from the victim's red."""

    arm: Arm
    run: Run
    sight: Sight
    greens_needed: int | None = None  # how many more greens until chance does not explain them; None: not green


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the search knows of the victim's red. Names are in running order."""

    prefix: int | None = None  # k: the first k cases, then the victim, are red, the first k-1 green, both run
    smallest: bool = True  # no smaller prefix is red, as far as anything was seen that speaks for it
    victim: str | None = None
    named_by: NamedBy | None = None  # how the victim became known
    position: int | None = None  # the victim's place in the order, from 1
    signature: Signature | None = None  # the victim's red
    polluters: tuple[str, ...] = ()  # all of them are needed
    cleaners: tuple[str, ...] = ()  # with these after the polluters the victim is green again
    setters: tuple[str, ...] = ()  # with these the victim is green, which is red alone
    sets: tuple[tuple[str, ...], ...] = ()  # independent sets of polluters, each 1-minimal, the first being `polluters`
    red_alone: bool = False
    noisy: bool = False  # a selection disagreed with itself
    confidence: float | None = None  # posterior of the answer
    prefix_proof: BothEnds | None = None
    set_proof: BothEnds | None = None
    otherwise: tuple[Tried, ...] = ()  # the fewest cases after which the victim is red in another way, for each way


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectReport(RunReport):
    """One bisection, finished or not."""

    status: BisectStatus
    found: Found = Found()
    reason: str | None = None  # what is not established, and why
    excluded: ExcludedRate | None = None  # by runs of the whole order that are green; None where something is red
    runs: int = 0  # of the search, baselines and proofs included
    recalled: int = 0  # of these runs, taken from an earlier, interrupted bisection
    speculative: int = 0  # runs ahead, beside others, that turned out not to be needed
    cases_run: int = 0
    red_with: int | None = None  # the fewest cases before the victim that were red
    green_with: int | None = None  # the longest prefix below them that was green: both as far as the search came
    probed: tuple[Probed, ...] = ()  # the runs of the search
    whole: Run | None = None  # the whole order, as it was asked for
    others: tuple[Signature, ...] = ()  # reds that are not the victim's: reported, not followed
    others_red_alone: tuple[Signature, ...] = ()  # of these, the ones that were tried alone and need no other case
    cascades: tuple[Cascade, ...] = ()  # those of all reds that say the same
    reproducer: CheckedCommand | None = None
    green_command: CheckedCommand | None = None
    attribution: AttributeReport | None = None  # the arms on the minimal set
    confirmations: tuple[Confirmation, ...] = ()  # the whole order under arms that clear the set
    next: NextCommand | None = None
    session: Session

    @property
    def verdict(self) -> Status:
        """Say `established` where the victim's red was found."""
        return Status.ESTABLISHED if self.status is BisectStatus.FOUND else Status(self.status)

    def runs_shown(self) -> Iterator[Run]:
        """Yield the run of the whole order, and those of arms; the probes are the search's own."""
        if self.whole is not None:
            yield self.whole
        if self.attribution is not None:
            yield from self.attribution.runs_shown()
        yield from (confirmation.run for confirmation in self.confirmations)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderResult:
    """One order. `victim`, `position` and `prefix` are of the first signature."""

    order: Order
    same_as: Order | None = None  # the earlier order that is the same list: it was run once
    run: Run | None = None
    failing: tuple[str, ...] = ()  # the cases that did not pass, in running order
    victim: str | None = None
    position: int | None = None
    prefix: int | None = None  # not searched for where another order has a shorter one
    cascades: tuple[Cascade, ...] = ()  # those of its reds that say the same


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
class OrdersReport(RunReport):
    """Which orders are red, and how."""

    asked: int = 0  # orders that are to be run; 0: not known yet
    orders: tuple[OrderResult, ...] = ()
    shortest: ShortestPrefix | None = None  # the shortest red prefix over all orders
    by_accident: bool = False  # file order is green, another order is red
    excluded: ExcludedRate | None = None  # by orders that are green; None where one is red
    runs: int = 0
    cases_run: int = 0
    next: NextCommand | None = None
    session: Session

    @property
    def verdict(self) -> Status:
        """Say `established` where an order is red."""
        if self.session.blocked is not None:
            return Status.BLOCKED
        red = any(run.reading.reading is Reading.RED for run in self.runs_shown())
        return Status.ESTABLISHED if red else Status.GREEN

    def runs_shown(self) -> Iterator[Run]:
        """Yield the run of each order that has its own."""
        return (result.run for result in self.orders if result.run is not None)
