"""When a run in empty folders is no answer."""

import pytest

from pooldiag.attribution.fresh_state import no_answer
from pooldiag.model.arms import Arm, Role
from pooldiag.model.readings import Reading, RunReading, Sight
from pooldiag.model.reports import Run
from tests.builders import outcome


def run(role: Role, seconds: float) -> Run:
    arm = Arm(role=role)
    return Run(id="1", arm=arm, outcome=outcome(), reading=RunReading(run="1", reading=Reading.GREEN), seconds=seconds)


@pytest.mark.parametrize(
    ("usual", "seconds", "answers"),
    [(1, 60, True), (1, 61, False), (10, 100, True), (10, 101, False), (0.001, 59, True)],
)
def test_much_longer_is_ten_times_and_a_minute(usual: float, seconds: float, answers: bool) -> None:
    baseline = (run(Role.BASELINE, usual), run(Role.BASELINE, usual / 2))
    for seen in (Sight.GREEN, Sight.SAME_RED):
        assert (no_answer(run(Role.FRESH_STATE, seconds), seen, baseline) is None) is answers
    assert no_answer(run(Role.BYPASS, seconds), Sight.GREEN, baseline) is None


def test_only_under_these_arms_another_red_is_no_answer() -> None:
    assert no_answer(run(Role.USED_STATE, 1), Sight.NEW_RED, ()) is not None
    assert no_answer(run(Role.PLACEBO, 1), Sight.NEW_RED, ()) is None
    assert no_answer(run(Role.FRESH_STATE, 1), Sight.SAME_RED, ()) is None
