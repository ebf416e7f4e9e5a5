"""Reports to read: captured ones, and ones made up around a case."""

import csv
from dataclasses import dataclass
from pathlib import Path

SAMPLES = Path(__file__).parent / "samples"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<doctest binary="t" version="2.4.9">\n  <Options order_by="file"/>\n'
PASSED = '<OverallResultsAsserts successes="1" failures="0" test_case_success="true"/>'
FAILED_CHECK = (
    '<Expression success="false" type="CHECK" filename="a.cpp" line="9">'
    "<Original>\n f(x) == 2\n</Original><Expanded>\n 1 == 2\n</Expanded></Expression>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What a captured run really was."""

    path: Path
    started: int
    passed: int
    failed: int
    culprits: tuple[str, ...]


def _truths() -> list[Truth]:
    with (SAMPLES / "truth.tsv").open(encoding="utf-8") as table:
        return [
            Truth(
                path=SAMPLES / row["version"] / f"{row['scenario']}.xml",
                started=int(row["started"]),
                passed=int(row["passed"]),
                failed=int(row["failed"]),
                culprits=tuple(name for name in row["culprit"].split(" | ") if name),
            )
            for row in csv.DictReader(table, delimiter="\t")
        ]


TRUTHS = _truths()


def sample(version: str, scenario: str) -> bytes:
    return (SAMPLES / version / f"{scenario}.xml").read_bytes()


def listing(*cases: str, end: str = '<OverallResultsTestCases unskipped="1"/></doctest>') -> bytes:
    return (HEAD + "".join(f"<TestCase {attributes}/>\n" for attributes in cases) + end).encode()


def run(*cases: str, suite: str = "") -> bytes:
    """Make a whole report of a run from its `<TestCase>` elements."""
    return f'{HEAD}<TestSuite name="{suite}">{"".join(cases)}</TestSuite></doctest>'.encode()


def one_case(inside: str, attributes: str = "") -> bytes:
    """Make a report of a run of one case, `a.cpp:1`, with what stands inside it."""
    return run(f'<TestCase name="one" filename="a.cpp" line="1" {attributes}>{inside}</TestCase>')
