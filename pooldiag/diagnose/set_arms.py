"""The arms on the minimal set of a bisection, and the whole order under those that are green there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pooldiag.attribution.reading import sight
from pooldiag.attribution.signatures import same_red
from pooldiag.diagnose.attribute import MinimalSet, attribute_set
from pooldiag.diagnose.bisection_state import BisectionState
from pooldiag.diagnose.prober import Places, Prober
from pooldiag.diagnose.sessions import Save
from pooldiag.diagnose.victim_choice import Chosen
from pooldiag.model.arms import Acted, Isolation, Role
from pooldiag.model.bisections import Confirmation
from pooldiag.model.readings import Sight
from pooldiag.model.reports import ArmResult, AttributeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SetArms:
    """Makes these runs; every one adds to what is known of the bisection."""

    known: BisectionState
    prober: Prober
    chosen: Chosen
    save: Save

    def run(self, places: Places) -> None:
        """Run the arms on the cases at these places, then the whole order."""
        known, prober = self.known, self.prober
        if not known.has_time_for("arms"):
            return
        found = MinimalSet(
            runner=prober.runner,
            lister=prober.lister,
            listing=prober.suite.listing,
            cases=tuple(prober.suite.cases[place] for place in places),
            signature=self.chosen.question.signature,
        )
        budget = known.settings.common.budget_seconds
        left = None if budget is None else budget - known.account.seconds
        settings = replace(known.common, victim=None, budget_seconds=left)
        attribute_set(settings, known.tools, found, self._take)
        for result in _green_arms(known.attribution):
            if not known.has_time_for("confirm"):
                return
            self._confirm(result)

    def _take(self, report: AttributeReport) -> None:
        self.known.attribution = report
        self.save()

    def _confirm(self, result: ArmResult) -> None:
        """Run the whole order under an arm once."""
        run = self.prober.under(result.arm)
        known = frozenset(found for whole in self.known.whole_runs() for found in whole.reading.signatures)
        wanted = self.chosen.question.signature
        signature = next((found for found in known if same_red(found, wanted)), wanted)
        seen = sight(run.outcome, run.reading, signature=signature, known=known)
        confirmation = Confirmation(arm=result.arm, run=run, sight=seen)
        self.known.confirmations = (*self.known.confirmations, confirmation)
        self.save()


def _green_arms(report: AttributeReport | None) -> Iterator[ArmResult]:
    """Yield the arms that share a process among the cases, acted, and were green each time."""
    for result in () if report is None else report.arms:
        clears = bool(result.sights) and set(result.sights) == {Sight.GREEN} and result.acted is not Acted.INERT
        if clears and result.arm.role is not Role.BASELINE and result.arm.isolation is Isolation.TOGETHER:
            yield result
