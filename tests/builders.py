"""Outcomes in one line, for tests of whatever reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pooldiag.model.arms import Arm, Role
from pooldiag.model.cases import Case, Selection
from pooldiag.model.counts import Census
from pooldiag.model.outcomes import CaseResult, CaseStatus, FrameworkReport, Outcome, OutputFile
from pooldiag.model.runs import Completed, Ending, Stream

NAMES = ("parses", "forward (CPU)", "forward on CUDA", "shape")


def cases(names: Sequence[str] = NAMES) -> tuple[Case, ...]:
    return tuple(Case(name=name, file="test.cpp", line=10 * number) for number, name in enumerate(names, 1))


def result(case: Case, status: CaseStatus = CaseStatus.PASSED, **facts: Any) -> CaseResult:  # noqa: ANN401 - fields of a CaseResult
    values: dict[str, Any] = {"assertions_passed": 3} | facts
    return CaseResult(case=case, status=status, **values)


def completed(exit_code: int | None = 0, **facts: Any) -> Completed:  # noqa: ANN401 - fields of a Completed
    values: dict[str, Any] = {
        "ending": Ending.EXITED,
        "exit_code": exit_code,
        "seconds": 0.1,
        "stdout": Stream(path=Path("stdout")),
        "stderr": Stream(path=Path("stderr")),
    } | facts
    return Completed(**values)


def signalled(number: int) -> Completed:
    return completed(None, ending=Ending.SIGNALLED, signal=number)


def outcome(
    *results: CaseResult,
    names: Sequence[str] = NAMES,
    end: Completed | None = None,
    **facts: Any,  # noqa: ANN401 - fields of an Outcome
) -> Outcome:
    report = FrameworkReport.of(results)
    values: dict[str, Any] = {
        "run": "01-baseline",
        "arm": Arm(role=Role.BASELINE),
        "selection": Selection(cases=cases(names)),
        "completed": end or completed(),
        "report": report,
    } | facts
    return Outcome(**values)


def green(**facts: Any) -> Outcome:  # noqa: ANN401 - the same
    return outcome(*(result(case) for case in cases()), **facts)


def census(path: str = "video.bin", *, n: int = 1024, nan: int = 0, sha256: str = "00") -> Census:
    return Census(path=path, dtype="f32", sha256=sha256, n=n, nan=nan)


def written(path: str = "video.bin", *, nan: int = 0, n: int = 1024) -> OutputFile:
    return OutputFile(path=path, census=census(path, nan=nan, n=n))
