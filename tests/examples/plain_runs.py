"""Plain runs of a doctest binary whose pool reads FIELD_*: what is red under each arm, without pooldiag."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

LIMIT_SECONDS = 60  # bounds every wait; a run takes milliseconds
COUNTERS = re.compile(r"^\[field pool\] hits=(\d+) misses=(\d+)$", re.MULTILINE)

# What each role sets.
SWITCHES = {
    "baseline": {},
    "bypass": {"FIELD_BYPASS": "1"},
    "exact": {"FIELD_EXACT": "1"},
    "per-case": {"FIELD_PER_CASE": "1"},
    "poison-n": {"FIELD_BYPASS": "1", "FIELD_POISON": "255"},
    "poison-0": {"FIELD_POISON": "0"},
    "serial": {"FIELD_SERIAL": "1"},
    "isolate": {},  # each case alone
    "quarantine": {"FIELD_QUARANTINE": "1"},
}
ROLES = tuple(SWITCHES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRun:
    """What one run showed: `reds` are cases with the place of a failed assertion, their signal or their exception."""

    code: int
    ran: tuple[str, ...]
    reds: frozenset[tuple[str, str]]
    hits: int | None  # None: the run did not come to its end
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A binary, and the pattern of its cases that belong together."""

    binary: Path
    folder: Path
    pattern: str = "*"

    def names(self) -> tuple[str, ...]:
        """Return the names of these cases, in file order."""
        return tuple(case.get("name", "") for case in self._report("-dt-ltc", {})[1].iter("TestCase"))

    def run(self, environment: Mapping[str, str], case: str | None = None) -> PlainRun:
        """Run all cases, or this one, with nothing in the environment but that and the counters."""
        done, report = self._report("-dt-s=0", environment, case)
        cases = [found for found in report.iter("TestCase") if found.get("skipped") != "true"]
        counted = COUNTERS.findall(done.stderr)
        return PlainRun(
            code=done.returncode,
            ran=tuple(found.get("name", "") for found in cases),
            reds=frozenset(red for found in cases for red in _reds(found)),
            hits=int(counted[0][0]) if counted else None,
            err=done.stderr,
        )

    def under(self, role: str, environment: Mapping[str, str] | None = None) -> PlainRun:
        """Run as this role asks; `isolate` is every case in a process of its own, as one run."""
        wanted = {**(environment or {}), **SWITCHES[role]}
        if role != "isolate":
            return self.run(wanted)
        runs = [self.run(wanted, case) for case in self.names()]
        return PlainRun(
            code=next((run.code for run in runs if run.code), 0),
            ran=tuple(name for run in runs for name in run.ran),
            reds=frozenset(red for run in runs for red in run.reds),
            hits=None,
            err="".join(run.err for run in runs),
        )

    def colours(self, environment: Mapping[str, str] | None = None) -> str:
        """Return what each of ROLES shows: G green, R the baseline's red, N another one."""
        runs = [self.under(role, environment) for role in ROLES]
        return " ".join(self._colour(run, runs[0]) for run in runs)

    def _colour(self, run: PlainRun, baseline: PlainRun) -> str:
        assert bool(run.code) == bool(run.reds), run  # how it ends, and what it reports
        if not run.reds:
            assert sorted(run.ran) == sorted(self.names()), run
            return "G"
        return "R" if run.reds == baseline.reds else "N"

    def _report(
        self, word: str, environment: Mapping[str, str], case: str | None = None
    ) -> tuple[subprocess.CompletedProcess[str], ET.Element]:
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        done = subprocess.run(
            [self.binary, "-dt-r=xml", f"-dt-o={report}", f"-dt-tc={case or self.pattern}", word],
            capture_output=True,
            check=False,
            cwd=self.folder,
            env={"FIELD_STATS": "1", **environment},
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        return done, ET.parse(report).getroot()


def _reds(case: ET.Element) -> set[tuple[str, str]]:
    name = case.get("name", "")
    failed = case.findall(".//Expression[@success='false']")
    places = {f"{Path(place.get('filename', '')).name}:{place.get('line')}" for place in failed}
    texts = {(found.text or "").strip().split(" - ")[0] for found in case.findall("Exception")}
    thrown = {re.sub(r"\d+", "N", text) for text in texts}  # a size in the text makes no other red
    return {(name, what) for what in places | thrown}
