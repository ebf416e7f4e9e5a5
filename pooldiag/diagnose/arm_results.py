"""What the runs of the arms say together: the red in question, each arm as seen from it, the evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pooldiag.attribution.acted import Beforehand, acted
from pooldiag.attribution.engine import PROBES_OF_A_GREEN, Spent, greens_needed
from pooldiag.attribution.reading import sight
from pooldiag.attribution.role_evidence import RoleEvidence
from pooldiag.attribution.signatures import same_red
from pooldiag.diagnose.tools import TargetFacts
from pooldiag.model.arms import Acted, Arm, Role
from pooldiag.model.readings import Sight, Signature
from pooldiag.model.reports import ArmResult, Run
from pooldiag.model.settings import AttributeSettings
from pooldiag.rates import rate_of


@dataclass(slots=True, kw_only=True)
class ArmRuns:
    """The arms and all their runs so far.

    The verdict is about the red of the named victim, if that is red, or about `wanted`, if that was found before.
    """

    facts: TargetFacts
    settings: AttributeSettings
    arms: tuple[Arm, ...]
    wanted: Signature | None = None
    canaries: Mapping[Role, tuple[Acted, str]] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    def of(self, role: Role) -> tuple[Run, ...]:
        """Return the runs of the arm that plays a role."""
        return tuple(run for run in self.runs if run.arm.role is role)

    def known(self) -> tuple[Signature, ...]:
        """Return the signatures that baseline runs showed, in the order they were seen."""
        return tuple(dict.fromkeys(found for run in self.of(Role.BASELINE) for found in run.reading.signatures))

    def signature(self) -> Signature | None:
        """Return the signature that the verdict is about: on a green baseline the first red of an arm."""
        known = self.known() or tuple(found for run in self.runs for found in run.reading.signatures)
        if self.wanted is not None:
            return next((found for found in known if same_red(found, self.wanted)), self.wanted)
        of_victim = (found for found in known if found.case is not None and found.case == self.settings.victim)
        return next(of_victim, known[0] if known else None)

    def spent(self) -> Spent:
        """Return what the runs took."""
        seconds = {arm.role: [run.seconds for run in self.of(arm.role)] for arm in self.arms}
        return Spent(
            runs=len(self.runs),
            seconds=sum(run.seconds for run in self.runs),
            of_role={role: sum(each) / len(each) for role, each in seconds.items() if each},
        )

    def evidence(self, signature: Signature | None) -> tuple[RoleEvidence, ...]:
        """Return what each arm says about a signature."""
        red = bool(self.known())
        return tuple(
            RoleEvidence(
                role=result.arm.role,
                acted=result.acted,
                runs=tuple(run.id for run in result.runs),
                sights=tuple(_weighed(result.arm, seen, baseline_is_red=red) for seen in result.sights),
            )
            for result in self.results(signature)
        )

    def results(self, signature: Signature | None) -> tuple[ArmResult, ...]:
        """Return each arm as seen from a signature."""
        return tuple(self._result(arm, signature) for arm in self.arms)

    def _result(self, arm: Arm, signature: Signature | None) -> ArmResult:
        runs = self.of(arm.role)
        sights = self._sights(runs, signature)
        canary, facts = self.canaries.get(arm.role), self.facts
        beforehand = Beforehand(names=facts.names, searchable=facts.searchable, canary=canary)
        state, why = acted(
            arm,
            [run.outcome for run in runs],
            baseline=[run.outcome for run in self.of(Role.BASELINE)],
            beforehand=beforehand,
            changed=_changed(sights, baseline_is_red=bool(self.known())),
        )
        return ArmResult(
            arm=arm,
            acted=state,
            why=why,
            runs=runs,
            sights=sights,
            rate=rate_of(sights.count(Sight.SAME_RED), len(sights) - sights.count(Sight.NOTHING)),
            greens_needed=self._greens_needed(arm, sights, signature),
            shown=_shown(runs, sights),
        )

    def _sights(self, runs: tuple[Run, ...], signature: Signature | None) -> tuple[Sight, ...]:
        known = frozenset(self.known())
        return tuple(sight(run.outcome, run.reading, signature=signature, known=known) for run in runs)

    def _greens_needed(self, arm: Arm, sights: tuple[Sight, ...], signature: Signature | None) -> int | None:
        """Return how many more greens an arm without a red needs; None where nobody asks for them."""
        baseline = self._sights(self.of(Role.BASELINE), signature)
        if arm.role is Role.BASELINE or set(sights) != {Sight.GREEN} or Sight.SAME_RED not in baseline:
            return None
        return greens_needed(baseline, greens=len(sights), confidence=self.settings.confidence)


def _changed(sights: tuple[Sight, ...], *, baseline_is_red: bool) -> bool:
    """Tell whether runs show something else than the baseline does: its red is gone, or another one came."""
    return Sight.NEW_RED in sights or (Sight.GREEN if baseline_is_red else Sight.SAME_RED) in sights


def _weighed(arm: Arm, seen: Sight, *, baseline_is_red: bool) -> Sight:
    """Weigh one run: a fill that cannot clear has no green, and on a green baseline any red is what the pool hides."""
    if arm.one_sided and seen is Sight.GREEN:
        return Sight.NOTHING
    hidden = not baseline_is_red and arm.role in PROBES_OF_A_GREEN
    return Sight.SAME_RED if hidden and seen is Sight.NEW_RED else seen


def _shown(runs: tuple[Run, ...], sights: tuple[Sight, ...]) -> Run | None:
    """Return the first run that reads as most of them do."""
    if not runs:
        return None
    majority = max(dict.fromkeys(sights), key=sights.count)
    return runs[sights.index(majority)]
