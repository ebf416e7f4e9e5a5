"""What all runs so far establish about a red: the answer of the arms, what they show, what is left below it."""

from collections.abc import Collection, Iterator, Sequence

from pooldiag.attribution.answers import HIDDEN, NOTHING_KNOWN, AnswerRule, Circumstances, Pattern
from pooldiag.attribution.engine import (
    LIKELY,
    PATTERN_ROLES,
    Believed,
    Stop,
    StopRule,
    any_red,
    believe,
    could_change,
    hidden_pattern,
    hides_a_read,
    unasked_probe,
)
from pooldiag.attribution.faults import mechanisms_of
from pooldiag.attribution.mechanisms import MECHANISMS
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.model.arms import Acted, Role
from pooldiag.model.attributions import (
    Attribution,
    Candidate,
    Prediction,
    RuledOut,
    SeenRole,
    Shows,
    Status,
    UnaskedRole,
    WitnessKind,
)
from pooldiag.model.readings import Sight, Signature
from pooldiag.rates import rate_of

STILL_POSSIBLE = 0.01
"""A mechanism whose patterns are less probable is ruled out: the default confidence leaves that for all others."""

_TOGETHER = 0.95  # of what is said of the arms of an open pattern; chosen
_SETTLED = 0.9  # an arm of which it is less probable what it shows is said to be unsettled; chosen
_LEAVES_A_CASE = "which earlier case leaves it: bisect the order"


def conclude(
    evidence: Sequence[RoleEvidence],
    *,
    signature: Signature | None,
    plan: StopRule,
    known: Circumstances = NOTHING_KNOWN,
    stop: Stop | None = None,
) -> Attribution:
    """Return what the runs establish about the signature; `stop` says why they ended."""
    rule = None if stop is None else str(stop)
    believed = believe(evidence, known) if any_red(evidence) else None
    if believed is None:
        return _without_arms(evidence, signature=signature, plan=plan, rule=rule)
    return _Conclusion(believed, plan).attribution(signature, rule)


def _without_arms(
    evidence: Sequence[RoleEvidence], *, signature: Signature | None, plan: StopRule, rule: str | None
) -> Attribution:
    """Conclude where no arm says anything: nothing is red, or only the baseline can be run."""
    if any_red(evidence):
        return Attribution(signature=signature, status=Status.UNRESOLVED, rule=rule, not_asked=tuple(_inert(evidence)))
    unasked = unasked_probe(evidence, plan)
    open_questions = (*_new_reds(evidence), *(() if unasked is None else (f"green: {unasked} was not asked",)))
    status = Status.UNRESOLVED if open_questions else Status.GREEN
    return Attribution(signature=None, status=status, not_established=open_questions, rule=rule)


class _Conclusion:
    """What is concluded from what is believed."""

    def __init__(self, believed: Believed, plan: StopRule) -> None:
        self._believed = believed
        self._plan = plan
        self._witnesses = believed.known.witnesses
        self._rule, self._part = self._answer()
        self._chances = self._possible()
        self._sure = 0.0 if self._part is None else believed.posterior.probability(self._part)
        self._decided = self._part is not None and self._sure >= plan.confidence and not self._too_few(self._part)

    def attribution(self, signature: Signature | None, rule: str | None) -> Attribution:
        candidates = tuple(self._candidates())
        mechanism = self._mechanism({one.mechanism for one in candidates})
        answer = (HIDDEN.id if self._rule is None else self._rule.answer.id) if self._decided else None
        established = answer is not None or mechanism is not None
        return Attribution(
            signature=signature,
            status=Status.ESTABLISHED if established else Status.UNRESOLVED,
            answer=answer,
            narrowed=self._narrowed(answer),
            mechanism=mechanism,
            confidence=self._sure if self._decided else None,
            rate=rate_of(*self._rate()),
            rule=rule,
            candidates=candidates,
            ruled_out=tuple(self._ruled_out()),
            seen=tuple(self._seen()),
            not_asked=tuple(self._not_asked()),
            witnesses=self._witnesses,
            not_established=tuple(dict.fromkeys(self._not_established())),
            separators=() if answer is not None else tuple(self._separators()),
        )

    def _answer(self) -> tuple[AnswerRule | None, Pattern | None]:
        believed = self._believed
        if believed.hidden:
            return None, hidden_pattern(believed) if hides_a_read(believed) else None
        return believed.answer or (None, None)

    def _too_few(self, part: Pattern) -> bool:
        return any(self._believed.too_few(role, shows) for role, shows in part.items())

    def _settled(self) -> Pattern:
        """Return what is established of the arms: what the answer rests on, and what more holds together with it.

        Without an answer nothing is established by it, and a little less is asked.
        """
        believed = self._believed
        sure = {role: shows for role, shows in believed.pattern.items() if not believed.too_few(role, shows)}
        settled = dict(self._part) if self._part is not None and self._decided else {}
        wanted = self._plan.confidence if self._decided else _TOGETHER
        for role in sorted(sure.keys() - settled.keys(), key=lambda role: -self._chance(role)):
            more = {**settled, role: sure[role]}
            if believed.posterior.probability(more) >= wanted:
                settled = more
        return settled

    def _chance(self, role: Role) -> float:
        return self._believed.posterior.likely(role)[1]

    def _seen(self) -> Iterator[SeenRole]:
        believed, settled = self._believed, self._settled()
        for role in (role for role in Role if role in settled):
            known = believed.of(role)
            chance = believed.posterior.chance(role, settled[role])
            yield SeenRole(role=role, shows=settled[role], confidence=chance, runs=known.red + known.green)

    def _rate(self) -> tuple[int, int]:
        """Return reds and runs of all arms that show the red as the baseline does, and of the baseline."""
        settled = self._settled()
        of_fault = [one for one in self._believed.evidence if settled.get(one.role) is Shows.THERE]
        baseline = [] if self._believed.hidden else [self._believed.of(Role.BASELINE)]
        seen = [one for one in (*baseline, *of_fault) if one.counts]
        return sum(one.red for one in seen), sum(one.red + one.green for one in seen)

    def _possible(self) -> dict[str, float]:
        """Return the mechanisms, and how probable it is that the arms show what one of their variants allows."""
        believed, chances = self._believed, dict[str, float]()
        asked = tuple(believed.pattern)
        for fault in believed.faults:
            allowed = {role: fault.allows(role) for role in asked}
            (name,) = mechanisms_of([fault])
            chances[name] = max(chances.get(name, 0.0), believed.posterior.probability(allowed))
        return chances

    def _candidates(self) -> Iterator[Candidate]:
        """Yield the mechanisms that are left, first those for which hints speak, last those against which they do."""
        covered = None
        if self._decided and self._rule is not None and not self._rule.all_there:
            kinds = [fault for fault in self._believed.faults if fault.kind in self._rule.covers]
            covered = mechanisms_of(kinds)
        excluded = {name for one in self._witnesses if one.kind is WitnessKind.FACT for name in one.speaks_against}
        chances = {name: chance for name, chance in self._chances.items() if chance >= STILL_POSSIBLE}
        left = [row.id for row in MECHANISMS if row.id in chances and row.id not in excluded]
        left = [name for name in left if covered is None or name in covered]
        for name in sorted(left, key=lambda name: -self._weight(name)):
            yield Candidate(mechanism=name, posterior=chances[name])

    def _weight(self, name: str) -> int:
        return sum((name in one.speaks_for) - (name in one.speaks_against) for one in self._witnesses)

    def _mechanism(self, left: Collection[str]) -> str | None:
        """Return the mechanism that a fact names, if the arms leave it; what it needs of arms has to be established."""
        facts = (one for one in self._witnesses if one.kind is WitnessKind.FACT and len(one.speaks_for) == 1)
        named = [one for one in facts if one.speaks_for[0] in left]
        believed, wanted = self._believed, self._plan.confidence
        asked = (one for one in named if all(role in believed.pattern for role, _ in one.needs))
        held = (one for one in asked if all(believed.is_sure(role, shows, wanted) for role, shows in one.needs))
        return next((one.speaks_for[0] for one in held), None)

    def _narrowed(self, answer: str | None) -> str | None:
        """Say what isolation adds to an answer about unwritten bytes."""
        if answer != "unwritten-read":
            return None
        shows = self._believed.pattern.get(Role.ISOLATE)
        sure = shows is not None and self._believed.is_sure(Role.ISOLATE, shows, LIKELY)
        match shows if sure else None:
            case Shows.GONE:
                return "alone it is green: an earlier case left these bytes"
            case Shows.THERE:
                return "alone it is red as well: they are of the same case, or of a fixture"
        return None

    def _ruled_out(self) -> Iterator[RuledOut]:
        """Yield the mechanisms that what the arms show contradicts, with the arm that does so most."""
        believed = self._believed
        for name, chance in self._chances.items():
            if chance >= STILL_POSSIBLE:
                continue
            of_name = [fault for fault in believed.faults if mechanisms_of([fault]) == {name}]
            allowed = {role: {shows for fault in of_name for shows in fault.allows(role)} for role in believed.pattern}
            chances = {
                role: sum(believed.posterior.chance(role, one) for one in shows) for role, shows in allowed.items()
            }
            role = min(chances, key=lambda role: chances[role])
            saw = _SIGHTS.get(believed.pattern[role])
            known = believed.of(role)
            run = next((run for run, sight in zip(known.runs, known.sights, strict=True) if sight is saw), None)
            if chances[role] < _SETTLED and run is not None and saw is not None:
                expected = _OTHER[Prediction(saw.value)]
                yield RuledOut(mechanism=name, arm=role, run=run, expected=expected, saw=Prediction(saw.value))

    def _not_asked(self) -> Iterator[UnaskedRole]:
        for one in self._believed.evidence:
            if one.sights or one.role is Role.USED_STATE:
                continue
            if one.acted is Acted.INERT:
                yield UnaskedRole(role=one.role, reason="it is inert")
            else:
                tells = self._tells(one.role)
                yield UnaskedRole(role=one.role, reason="the runs ended before" if tells else "would not tell")

    def _tells(self, role: Role) -> bool:
        believed = self._believed
        return role in believed.roles and not believed.hidden and could_change(believed, role)

    def _not_established(self) -> Iterator[str]:
        if self._decided and self._rule is not None:
            if self._rule.from_a_case and not self._plan.bisected:
                yield _LEAVES_A_CASE
            if self._rule.all_there:
                yield from self._not_excluded()
        if self._believed.hidden and not self._decided:
            yield from _hidden_alternatives(self._believed)
        yield from _new_reds(self._believed.evidence)

    def _not_excluded(self) -> Iterator[str]:
        """Yield what an arm that did not act would have told."""
        shown, known = self._believed.pattern, self._believed.known
        if Role.SERIAL not in shown:
            yield "a race: serial did not act"
        if Role.QUARANTINE not in shown and (Role.BYPASS, "addresses", "apart") not in known.properties:
            yield "a use after release: no quarantine acted, and the bypass may give an address out again"
        if Role.FRESH_STATE not in shown:
            yield "state that is there before the run: fresh-state did not act"

    def _separators(self) -> Iterator[Role]:
        """Yield the roles that gave no answer and would tell."""
        if self._believed.hidden:
            return
        unasked = (role for role in PATTERN_ROLES if role not in self._believed.pattern and role is not Role.PAD)
        yield from (role for role in unasked if role is not Role.PLACEBO and could_change(self._believed, role))


_SIGHTS = {Shows.THERE: Sight.SAME_RED, Shows.GONE: Sight.GREEN}
_OTHER = {Prediction.SAME_RED: Prediction.GREEN, Prediction.GREEN: Prediction.SAME_RED}


def _inert(evidence: Sequence[RoleEvidence]) -> Iterator[UnaskedRole]:
    for one in evidence:
        if one.acted is Acted.INERT and not one.sights:
            yield UnaskedRole(role=one.role, reason="it is inert")


def _hidden_alternatives(believed: Believed) -> Iterator[str]:
    reds = [role for role, shows in believed.pattern.items() if role is not Role.BASELINE and shows is Shows.THERE]
    if {Role.BYPASS, Role.QUARANTINE} & set(reds):
        yield (
            "whether the pool hides a use after release or an access past the end, or tests itself, or the target does"
            " not stand this arm; the pool's absence is not a cure"
        )


def _new_reds(evidence: Sequence[RoleEvidence]) -> Iterator[str]:
    """Name the arms with a red that is not the one in question."""
    for one in evidence:
        if count := one.sights.count(Sight.NEW_RED):
            yield f"{one.role}: {count}/{len(one.sights)} runs show another red, which is no evidence for this one"
