"""The sequential engine: which arm is worth running next, and what all runs so far establish.

Every arm whose answer would change something is asked once; then those runs are made that tell most a second of the
pattern that gives an answer. It ends when that pattern holds the wanted share of the posterior, when no answer is left
that these arms could give, or when the budget is spent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from pooldiag.attribution.answers import (
    ANSWERS,
    HIDDEN,
    NOTHING_KNOWN,
    PAIRS_NEEDED,
    AnswerRule,
    Circumstances,
    Pattern,
    answer_of,
    support,
)
from pooldiag.attribution.faults import FAULTS, HIDDEN_FAULTS, FaultVariant, mechanisms_of
from pooldiag.attribution.greens import one_more_baseline
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.attribution.steps import LATER_ALIKE
from pooldiag.model.arms import PROBES_OF_A_GREEN, Acted, Role
from pooldiag.model.attributions import Shows
from pooldiag.model.readings import Sight
from pooldiag.model.settings import BASELINE_RUNS, DEFAULT_CONFIDENCE, DEFAULT_MAX_RUNS
from pooldiag.model.words import percent
from pooldiag.rates import greens_until, mixture, next_red

if TYPE_CHECKING:
    from pooldiag.attribution.posterior import Posterior

# These are chosen, none is measured by itself: `scripts/calibrate` shows what they make together of known faults.
_LEAST_BITS = 1e-6  # nothing that a few runs would make something of
_LEAST_SECONDS = 1.0  # runs shorter than that cost alike
_NEARLY_BEST = 0.3  # of about equally informative arms the one that ran least is taken
_UNLIKELY = 0.01  # of answers together: what the default confidence leaves for all that is not established
LIKELY = 0.97  # of each arm of an open pattern: it establishes nothing
_WORTH_ASKING = 0.05  # an arm that changes what is left only by a chance smaller than that tells nothing
_LEAST_GREENS = 2  # one may be chance, whatever is believed beforehand

ASKED_FIRST: tuple[Role, ...] = (
    *(Role.BYPASS, Role.ISOLATE, Role.SERIAL, Role.POISON_N, Role.PLACEBO, Role.POISON_0, Role.QUARANTINE),
    *(Role.FRESH_STATE, Role.EXACT, Role.PER_CASE, Role.GUARD, Role.PAD),
)
"""The order of the first runs: what most answers need comes first."""

PATTERN_ROLES: tuple[Role, ...] = tuple(role for role in ASKED_FIRST if role is not Role.GUARD)
"""What a pattern is about. A guard shows a new red or nothing, and used-state belongs to fresh-state."""

_GUARDED = frozenset({"access-past-end", "class-slack", "use-after-release"})
_FIRST_RATES = mixture(always=0.4, at_any_rate=0.6)  # of the red, where only the baseline ran


class StopReason(StrEnum):
    """Why the runs end: a sentence, with gaps for what it is about."""

    RUNS = "{} runs are spent"
    BUDGET = "the budget of {:g} s is spent"
    GREEN = "nothing is red"
    REPEATED = "every arm ran {} times"
    DECIDED = "the pattern of {} has {} of the posterior"
    NO_ANSWER = "no answer is left that these arms could give"
    EXHAUSTED = "no arm that can be run would tell more"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """How far a diagnosis may go. With `repeat` every arm runs so often, whatever the runs show.

    `bisected`: the cases are those that a bisection left.
    """

    confidence: float = DEFAULT_CONFIDENCE
    max_runs: int = DEFAULT_MAX_RUNS
    budget_seconds: float | None = None
    repeat: int | None = None
    bisected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was spent so far: runs, seconds, and the seconds of one run of each role that ran.

    `baseline_seconds` are from the beginning of each run of the baseline to the end of all that belongs to it.
    """

    runs: int = 0
    seconds: float = 0.0
    of_role: Mapping[Role, float] = field(default_factory=dict)
    baseline_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """That the runs end, and why; `said` fills the gaps of the sentence."""

    reason: StopReason
    said: tuple[str | float, ...] = ()

    def __str__(self) -> str:
        """Say it."""
        return self.reason.format(*self.said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """The runs so far, and what they make of the patterns; `hidden`: the baseline is green, and an arm is not.

    `pattern` is what each role most probably shows, of those that gave an answer.
    """

    evidence: tuple[RoleEvidence, ...]
    known: Circumstances
    posterior: "Posterior"
    faults: tuple[FaultVariant, ...]
    pattern: Pattern
    hidden: bool

    def of(self, role: Role) -> RoleEvidence:
        """Return the runs of a role; an arm that is not there has none."""
        return _of(self.evidence, role)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that a pattern is about: those that were asked, or can be."""
        return self.posterior.prior.roles

    @property
    def answer(self) -> tuple[AnswerRule, Pattern] | None:
        """What the arms most probably answer, and the part of the pattern that it rests on.

        That no arm changes anything is not said while there is one that can be asked.
        """
        rule = answer_of(self.pattern, self.known)
        part = None if rule is None else support(rule, self.pattern, self.known)
        if rule is None or part is None or (rule.all_there and any(role not in part for role in self.roles)):
            return None
        return rule, part

    def too_few(self, role: Role, shows: Shows) -> bool:
        """Tell whether a role that clears the red did so too seldom to be believed."""
        return shows is Shows.GONE and self.of(role).green < _LEAST_GREENS

    def is_sure(self, role: Role, shows: Shows, confidence: float) -> bool:
        """Tell whether it is this sure what a role shows, by itself."""
        return not self.too_few(role, shows) and self.posterior.chance(role, shows) >= confidence

    def left(self, pattern: Pattern) -> tuple[FaultVariant, ...]:
        """Return the variants that allow this."""
        return tuple(one for one in self.faults if all(shows in one.allows(role) for role, shows in pattern.items()))


def circumstances(evidence: Sequence[RoleEvidence], *, out_of_memory: bool, loads_alike: bool) -> Circumstances:
    """Gather what the properties of the arms, and the runs on state folders, say."""
    baseline = _of(evidence, Role.BASELINE)
    fresh, used = _of(evidence, Role.FRESH_STATE), _of(evidence, Role.USED_STATE)
    alike = fresh.red == 0 and (used.green == 0 or baseline.green > 0)  # a flake is not red at each second use
    return Circumstances(
        plain_fills=frozenset(
            one.role for one in evidence if one.has("fills_on", "hand-out") and one.has("ordered", "yes")
        ),
        properties=frozenset((one.role, known.name, known.value) for one in evidence for known in one.properties),
        loads_alike=loads_alike,
        out_of_memory=out_of_memory,
        pairs=min(fresh.green, used.red) if alike else 0,
        begins_green=baseline.sights[:1] == (Sight.GREEN,) and baseline.green == 1 and baseline.red > 0,
    )


def next_step(
    evidence: Sequence[RoleEvidence], plan: StopRule, spent: Spent, known: Circumstances = NOTHING_KNOWN
) -> Role | Stop:
    """Decide which role to run next, or to end; what may be spent bounds everything."""
    if (stop := _out_of_budget(plan, spent)) is not None:
        return stop
    if (role := _first_of_all(evidence, plan, spent.baseline_seconds)) is not None:
        return role
    if not any_red(evidence):
        return Stop(reason=StopReason.GREEN)
    if (repeat := plan.repeat) is not None:
        return _repeated_step(evidence, repeat)
    return _weighed_step(believe(evidence, known), plan, spent)


def _repeated_step(evidence: Sequence[RoleEvidence], repeat: int) -> Role | Stop:
    """Return the arm that ran too seldom; each folder of fresh-state is used again before the next one is made."""
    asked = [one for one in evidence if one.acted is not Acted.INERT]
    fresh, used = _of(asked, Role.FRESH_STATE), _of(asked, Role.USED_STATE)
    if used in asked and len(used.sights) < len(fresh.sights):
        return Role.USED_STATE
    few = (one.role for one in asked if one is not used and len(one.sights) < repeat)
    return next(few, Stop(reason=StopReason.REPEATED, said=(repeat,)))


def _weighed_step(believed: Believed | None, plan: StopRule, spent: Spent) -> Role | Stop:
    if believed is None:
        return Stop(reason=StopReason.EXHAUSTED)
    if believed.hidden:
        return _hidden_step(believed, plan, spent)
    return _first_answers(believed) or _pad_of_finding(believed, plan) or _telling_step(believed, plan, spent)


def _out_of_budget(plan: StopRule, spent: Spent) -> Stop | None:
    if spent.runs >= plan.max_runs:
        return Stop(reason=StopReason.RUNS, said=(spent.runs,))
    if plan.budget_seconds is not None and spent.seconds >= plan.budget_seconds:
        return Stop(reason=StopReason.BUDGET, said=(plan.budget_seconds,))
    return None


def _first_of_all(evidence: Sequence[RoleEvidence], plan: StopRule, seconds: float | None = None) -> Role | None:
    """Return the role whose run comes before any weighing; `seconds` are what the baseline cost, if that is known."""
    runs = len(_of(evidence, Role.BASELINE).sights)
    if runs < (plan.repeat or BASELINE_RUNS):
        return Role.BASELINE
    if any_red(evidence):
        return None
    if one_more_baseline(runs, seconds, repeat=plan.repeat):
        return Role.BASELINE
    return unasked_probe(evidence, plan)


def unasked_probe(evidence: Sequence[RoleEvidence], plan: StopRule) -> Role | None:
    """Return an arm that a green baseline has to be asked for what the pool hides, and that was not."""
    few = (one.role for one in evidence if len(one.sights) < (plan.repeat or 1) and one.can_tell)
    return next((role for role in few if role in PROBES_OF_A_GREEN), None)


def any_red(evidence: Sequence[RoleEvidence]) -> bool:
    """Tell whether any run shows the red."""
    return any(Sight.SAME_RED in one.sights for one in evidence)


def _of(evidence: Sequence[RoleEvidence], role: Role) -> RoleEvidence:
    return next((one for one in evidence if one.role is role), RoleEvidence(role=role))


def believe(evidence: Sequence[RoleEvidence], known: Circumstances) -> Believed | None:
    """Weigh the patterns by the runs; None where no arm says anything."""
    from pooldiag.attribution.posterior import posterior  # noqa: PLC0415 - NumPy, which a green does not need

    baseline = _of(evidence, Role.BASELINE)
    hidden = baseline.red == 0
    about = (Role.BASELINE, *PROBES_OF_A_GREEN) if hidden else PATTERN_ROLES
    arms = {one.role: one for one in evidence if one.role in about}
    roles = tuple(
        role
        for role in about
        if role in arms
        and (arms[role].can_tell or arms[role].red + arms[role].green)
        and (arms[role].counts or not arms[role].sights)
    )
    if not roles:
        return None
    faults = HIDDEN_FAULTS if hidden else possible_faults(known)
    counts = tuple((role, arms[role].red, arms[role].green) for role in roles)
    at_rate = (0, 0) if hidden else (baseline.red, baseline.green)
    weighed = posterior(counts, at_rate, faults)
    return Believed(
        evidence=tuple(evidence),
        known=known,
        posterior=weighed,
        pattern=weighed.pattern,
        faults=faults,
        hidden=hidden,
    )


def possible_faults(known: Circumstances) -> tuple[FaultVariant, ...]:
    """Return the variants that what is known of the arms and the red leaves."""
    plain = Role.POISON_N in known.plain_fills
    return _possible(known.properties, plain_fills=plain, out_of_memory=known.out_of_memory)


@lru_cache(maxsize=64)
def _possible(
    properties: frozenset[tuple[Role, str, str]], *, plain_fills: bool, out_of_memory: bool
) -> tuple[FaultVariant, ...]:
    return tuple(
        one for one in FAULTS if one.is_possible(properties, plain_fills=plain_fills, out_of_memory=out_of_memory)
    )


def _first_answers(believed: Believed) -> Role | None:
    """Return an arm that was not asked, and would tell."""
    fresh = believed.of(Role.FRESH_STATE)
    if (role := _next_of_pair(believed, fresh)) is not None:
        return role
    return next((role for role in ASKED_FIRST if would_tell(believed, role)), None)


def _next_of_pair(believed: Believed, fresh: RoleEvidence) -> Role | None:
    """Return what is next of the pairs that prove a state outside: its folder's second use, or another fresh one."""
    used, known = believed.of(Role.USED_STATE), believed.known
    steady = not believed.of(Role.BASELINE).green
    if fresh.red or (steady and used.green) or not fresh.green or used not in believed.evidence or not used.can_tell:
        return None
    rule = next(rule for rule in ANSWERS if rule.pairs)
    hopeful = any(_agrees(one, believed.pattern) for one in rule.wanted(believed.roles))
    if known.pairs >= PAIRS_NEEDED or not hopeful:
        return None
    return Role.USED_STATE if used.red + used.green < fresh.green else Role.FRESH_STATE


def _agrees(wanted: Pattern, pattern: Pattern) -> bool:
    return all(pattern.get(role, shows) is shows for role, shows in wanted.items())


def would_tell(believed: Believed, role: Role) -> bool:
    """Tell whether an arm that has not been asked could change the answer, or what is left below it."""
    there = next((one for one in believed.evidence if one.role is role), None)
    if role is Role.GUARD and there is not None and len(there.sights) == 1 and Sight.NEW_RED not in there.sights:
        return there.can_tell  # it ran on the victim alone
    if there is None or there.sights or not there.can_tell:
        return False
    if role is Role.PAD:
        return Sight.NEW_RED in believed.of(Role.GUARD).sights
    if role is Role.GUARD:
        return bool(_GUARDED & mechanisms_of(believed.left(believed.pattern)))
    return could_change(believed, role)


def could_change(believed: Believed, role: Role) -> bool:
    """Tell whether a role, asked or not to be had, could change the answer, or narrow what is left below it."""
    pattern, roles = believed.pattern, {*believed.roles, role}
    if role is Role.PLACEBO:
        return True
    rules = [rule for rule in ANSWERS if rule.is_possible(believed.known)]
    wanted = [one for rule in rules for one in rule.wanted(roles) if _agrees(one, pattern)]
    if any(role in one for one in wanted):
        return True
    left = believed.left(pattern)
    narrowed = {shows: mechanisms_of([one for one in left if shows in one.allows(role)]) for shows in Shows}
    chances = {
        shows: believed.posterior.chance(role, shows) if role in believed.roles else 1.0
        for shows in (Shows.THERE, Shows.GONE)
    }
    whole = mechanisms_of(left)
    return any(narrowed[shows] != whole and chance >= _WORTH_ASKING for shows, chance in chances.items())


def _pad_of_finding(believed: Believed, plan: StopRule) -> Role | None:
    """Return the pad while it may still make a fact of what a guard found: an access past a block that is the cause."""
    pad = believed.of(Role.PAD)
    if Sight.NEW_RED not in believed.of(Role.GUARD).sights or not pad.can_tell or Role.PAD not in believed.roles:
        return None
    hopeful = believed.pattern.get(Role.PAD) is Shows.GONE
    return Role.PAD if hopeful and not believed.is_sure(Role.PAD, Shows.GONE, plan.confidence) else None


def _telling_step(believed: Believed, plan: StopRule, spent: Spent) -> Role | Stop:
    """Return the run that tells most about the answer, once every arm that would tell was asked."""
    if (answer := believed.answer) is not None:
        rule, part = answer
        sure = believed.posterior.probability(part)
        narrowing = {role: believed.pattern[role] for role in rule.narrowed_by if role in believed.pattern}
        if few := [role for role, shows in {**narrowing, **part}.items() if believed.too_few(role, shows)]:
            return _most_informative(believed, spent, few) or few[0]
        if sure >= plan.confidence:
            return Stop(reason=StopReason.DECIDED, said=(rule.answer.id, percent(sure)))
        wanted = tuple(part)
    else:
        wanted = _roles_of_answers(believed)
        if not wanted:
            return _settle(believed, spent)
    return _most_informative(believed, spent, wanted) or Stop(reason=StopReason.EXHAUSTED)


def _roles_of_answers(believed: Believed) -> tuple[Role, ...]:
    """Return the roles of the likeliest pattern that gives an answer; none where no answer is likely at all."""
    rules = [rule for rule in ANSWERS if rule.is_possible(believed.known)]
    rules = [rule for rule in rules if not rule.pairs or believed.known.pairs >= PAIRS_NEEDED]
    wanted = [one for rule in rules for one in rule.wanted(believed.roles)]
    chances = [believed.posterior.probability(one) for one in wanted]
    if sum(chances) < _UNLIKELY:
        return ()
    return tuple(wanted[chances.index(max(chances))])


def _settle(believed: Believed, spent: Spent) -> Role | Stop:
    """Return a run of an arm of which it is not likely what it shows; none is established by it."""
    pattern, asked = believed.pattern, [role for role in believed.pattern if believed.of(role).can_tell]
    if few := [role for role in asked if believed.too_few(role, pattern[role])]:
        return few[0]
    baseline = believed.of(Role.BASELINE)
    if believed.known.begins_green and len(baseline.sights) <= LATER_ALIKE and baseline.can_tell:
        return Role.BASELINE
    unsure = [role for role in asked if believed.posterior.likely(role)[1] < LIKELY]
    return _most_informative(believed, spent, unsure) or Stop(reason=StopReason.NO_ANSWER)


def _most_informative(believed: Believed, spent: Spent, roles: Sequence[Role]) -> Role | None:
    """Return the arm to run: most bits a second, and of nearly equal ones the one that ran least."""
    usual = max(_LEAST_SECONDS, spent.of_role.get(Role.BASELINE, 0.0))
    asked = [one for one in believed.evidence if one.role in {*roles, Role.BASELINE} and one.can_tell]
    worth: dict[Role, float] = {}
    for one in asked if roles else ():
        bits = believed.posterior.information(one.role, roles)
        if bits > _LEAST_BITS:
            seconds = max(_LEAST_SECONDS, spent.of_role.get(one.role, usual))
            worth[one.role] = bits / 2.0 ** round(math.log2(seconds))  # so that the noise of a clock does not decide
    if not worth:
        return None
    best = max(worth.values())
    runs = {one.role: len(one.sights) for one in believed.evidence}
    near = [role for role, value in worth.items() if value >= _NEARLY_BEST * best]
    return min(near, key=lambda role: (runs[role], -worth[role]))


def hidden_pattern(believed: Believed) -> Pattern:
    """Return the pattern of an unwritten read that a green baseline hides: red under the fill, and not without it."""
    wanted = {Role.BASELINE: Shows.GONE, Role.POISON_N: Shows.THERE, Role.BYPASS: Shows.GONE}
    return {role: shows for role, shows in wanted.items() if role in believed.roles}


def hides_a_read(believed: Believed) -> bool:
    """Tell whether the arms show, each most probably, what an unwritten read shows that a green baseline hides."""
    wanted = hidden_pattern(believed)
    fills = Role.POISON_N in wanted and Role.POISON_N in believed.known.plain_fills
    return fills and all(believed.pattern.get(role) is shows for role, shows in wanted.items())


def _hidden_step(believed: Believed, plan: StopRule, spent: Spent) -> Role | Stop:
    """Return the next run on a green baseline under which an arm is red: until it is no flake of the baseline's."""
    unasked = (one.role for one in believed.evidence if one.role in believed.roles and not one.sights)
    if (role := next(unasked, None)) is not None:
        return role
    if not hides_a_read(believed):
        return _settle(believed, spent)
    wanted = hidden_pattern(believed)
    sure = believed.posterior.probability(wanted)
    if sure >= plan.confidence:
        return Stop(reason=StopReason.DECIDED, said=(HIDDEN.id, percent(sure)))
    return _most_informative(believed, spent, tuple(wanted)) or Stop(reason=StopReason.EXHAUSTED)


def greens_needed(baseline: Sequence[Sight], *, greens: int, confidence: float) -> int:
    """Return how many more greens an arm needs until chance explains them less often than 1 - `confidence`."""
    rate = next_red(_FIRST_RATES, baseline.count(Sight.SAME_RED), baseline.count(Sight.GREEN))
    return max(0, greens_until(rate, 1 - confidence) - greens)
