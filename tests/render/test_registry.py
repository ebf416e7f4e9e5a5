from pathlib import Path

import pytest

import pooldiag.render
from pooldiag.errors import ExitCode
from pooldiag.model.arms import ProfilesReport
from pooldiag.model.attributions import Status
from pooldiag.model.reports import AttributeReport, RunReport
from pooldiag.profiles import PROFILES
from pooldiag.render import FORMAT_NAMES, Page, render
from pooldiag.render.reports import blocks_of
from tests.render.samples import EVERY

REPORTS = {
    **EVERY,
    "profiles": ProfilesReport(profiles=tuple(PROFILES.values())),
    "profile": ProfilesReport(profiles=(PROFILES["glibc"],), whole=True),
}
PAGES = [Page(width=80), Page(width=140, color=True), Page(width=33, unicode=False)]


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("form", FORMAT_NAMES)
def test_every_format_renders_every_report_on_every_page(form: str, name: str) -> None:
    for page in PAGES:
        text = render(REPORTS[name], form=form, page=page)
        assert text.endswith("\n")
        assert text == render(REPORTS[name], form=form, page=page)
        assert page.color or "\x1b" not in text
        assert page.unicode or text.isascii()
        text.encode()


def test_the_first_format_is_for_people_and_each_has_a_file() -> None:
    helpers = {"blocks", "facts", "run_json", "run_words"}
    files = {path.stem for path in Path(pooldiag.render.__file__).parent.glob("[!_]*.py")} - helpers
    assert (FORMAT_NAMES[0], set(FORMAT_NAMES)) == ("table", files)


def test_a_report_without_a_file_of_its_own_is_not_taken_for_another_one() -> None:
    class UnknownReport(AttributeReport):
        pass

    report = EVERY["green"]
    assert isinstance(report, AttributeReport)
    with pytest.raises(KeyError, match="UnknownReport"):
        blocks_of(UnknownReport(attribution=report.attribution, session=report.session))


VERDICTS = {
    Status.GREEN: ("green", "bisect-green", "orders-green"),
    Status.ESTABLISHED: ("loud", "bisect-found", "orders-mixed"),
    Status.UNRESOLVED: ("few-switches", "bisect-partial"),
    Status.BLOCKED: ("blocked", "bisect-blocked", "orders-blocked"),
}


@pytest.mark.parametrize("verdict", Status)
def test_every_verdict_is_reported_and_has_an_exit_code(verdict: Status) -> None:
    assert verdict.name in ExitCode.__members__
    for name in VERDICTS[verdict]:
        report = EVERY[name]
        assert isinstance(report, RunReport)
        assert report.verdict is verdict
