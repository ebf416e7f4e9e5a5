"""Reports of `attribute` made by hand: every status, and the stories that the renderers are looked at with."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pooldiag.model.arms import Acted, Arm, Isolation, Role
from pooldiag.model.attributions import (
    ArmsAnswer,
    Attribution,
    Candidate,
    ExcludedRate,
    Mechanism,
    Prediction,
    Rate,
    RuledOut,
    SeenRole,
    Shows,
    Status,
    UnaskedRole,
    Witness,
    WitnessKind,
)
from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.cases import Case, Order, OrderKind, Selection
from pooldiag.model.counts import Census, Element, Finding, NanRuns, PatternCount, PrintedCensus
from pooldiag.model.outcomes import CaseResult, CaseStatus, FrameworkReport, Outcome, OutputFile
from pooldiag.model.readings import PlaceKind, Reading, RedPlace, RunReading, Sight, Signature, SignatureKind
from pooldiag.model.reports import (
    ArmResult,
    AttributeReport,
    Blockage,
    DiskReport,
    LockReport,
    MachineReport,
    NextCommand,
    Run,
    Session,
    TargetReport,
)
from pooldiag.model.runs import Completed, Ending, Environment, Leftover, Stream

NAMES = (
    "config parses",
    "f32 forward matches upstream (CPU backend)",
    "f32 forward matches upstream on CUDA",
    "device-resident forward matches upstream (CPU backend)",
    "rope table",
    "bf16 production forward, one layer (CPU backend)",
    "DEVICE-RESIDENT forward matches upstream on CUDA",
    "refuses a bad shape [negative]",
    "prompt adaln, F9, on CUDA",
    "patchify round trip",
    "BF16 PRODUCTION forward, one layer on CUDA",
    "SHIPPED 21.00B forward is finite on CUDA",
    "vae encode shape",
)
CRASHING, SHIPPED = NAMES[5], NAMES[11]

_TITLES = {
    "cross-device-reuse": "block reuse across devices",
    "stale-read": "read of stale bytes of an earlier case",
    "stale-read-in-case": "read of stale bytes of the same case",
    "stream-race": "block reuse across streams",
    "class-slack": "read past the end into size-class slack",
    "access-past-end": "access past the end",
    "two-owners": "one block with two owners",
    "use-after-release": "use after release",
    "memory-kept": "memory kept from others",
    "case-state": "state between cases, outside the pool",
    "timing-race": "timing race, not the pool",
    "independent": "independent of every arm",
}
_MEANINGS = {"access-past-end": "code reads or writes behind the last byte that it asked for"}
_ADVICE = {"access-past-end": "Check the extents of the access that the guard stopped."}
MECHANISMS = tuple(
    Mechanism(
        id=key,
        title=title,
        meaning=_MEANINGS.get(key, "what it means"),
        advice=_ADVICE.get(key, "Look there."),
        leaves_open=("what stays open",),
    )
    for key, title in _TITLES.items()
)
_ANSWERS = {
    "carried-by-pool": (
        "the pool carries something from case to case",
        "an earlier case leaves something in the pool that the victim meets, other than unwritten bytes",
        "Bisect the order: the case that leaves it shows what it is.",
    ),
    "race": (
        "a race that waiting removes",
        "it takes launches that do not wait: a race of launches, of host threads, or caches not written back",
        "Look for a missing wait between launches, copies and the host.",
    ),
    "outside-state": (
        "state on disk, there before the run",
        "something in the state folders makes it red, and it is there before the run",
        "Compare the state folders of a red run and of a green one.",
    ),
    "no-arm": (
        "no arm changes it",
        "no arm that acted changes it: the cause is its code, its input or this machine",
        "Debug the victim alone.",
    ),
    "hidden-unwritten-read": (
        "unwritten bytes are read, and by luck do no harm",
        "bytes of the pool that nobody wrote are read, and what they happen to hold lets the suite pass",
        "Find the buffer that is read before its first write.",
    ),
}
ANSWERS = tuple(
    ArmsAnswer(id=key, title=title, meaning=meaning, advice=advice)
    for key, (title, meaning, advice) in _ANSWERS.items()
)

_SWITCHES = {
    Role.BASELINE: (),
    Role.BYPASS: (("VT_POOL_BYPASS", "1"),),
    Role.EXACT: (("VT_POOL_EXACT", "1"),),
    Role.PER_CASE: (("VT_POOL_PER_CASE", "1"),),
    Role.POISON_N: (("VT_POOL_BYPASS", "1"), ("VT_POOL_POISON", "255")),
    Role.POISON_0: (("VT_POOL_POISON", "0"),),
    Role.SERIAL: (("VT_POOL_SERIAL", "1"),),
    Role.ISOLATE: (),
    Role.QUARANTINE: (("VT_POOL_QUARANTINE", "1"),),
    Role.GUARD: (("VT_POOL_GUARD", "1"),),
    Role.PAD: (("VT_POOL_PAD", "1"),),
    Role.FRESH_STATE: (("HOME", "{out}/state"),),
    Role.USED_STATE: (("HOME", "{out}/state"),),
    Role.PLACEBO: (("POOLDIAG_PLACEBO", "1"),),
}
_PROOFS = {
    Role.BYPASS: (Acted.PROVEN, "hits=0"),
    Role.ISOLATE: (Acted.PROVEN, "a process of its own"),
    Role.FRESH_STATE: (Acted.PROVEN, "the folders are new"),
    Role.USED_STATE: (Acted.PROVEN, "the folders of the last run"),
    Role.PLACEBO: (Acted.PROVEN, "nothing reads it"),
    Role.BASELINE: (None, "changes nothing"),
}


_SESSION = frozenset(entry.name for entry in fields(Session))
_R = TypeVar("_R", AttributeReport, BisectReport, OrdersReport)
_changed: Callable[..., Session] = replace
_remade: Callable[..., Any] = replace


def changed(report: _R, **values: object) -> _R:
    """The report with other values, those of its session among them."""
    session = _changed(report.session, **{name: value for name, value in values.items() if name in _SESSION})
    made = _remade(report, session=session, **{k: value for k, value in values.items() if k not in _SESSION})
    assert isinstance(made, type(report))
    return made


def with_values(attribution: Attribution, **values: object) -> Attribution:
    """The attribution with other values."""
    made = _remade(attribution, **values)
    assert isinstance(made, Attribution)
    return made


def arm(role: Role) -> Arm:
    """The arm of the `vt` profile that plays a role."""
    isolation = Isolation.ALONE if role is Role.ISOLATE else Isolation.TOGETHER
    return Arm(role=role, environment=Environment(set=_SWITCHES[role]), isolation=isolation)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def results(names: Sequence[str], counts: Mapping[str, tuple[CaseStatus, int, int]], plain: int) -> list[CaseResult]:
    """One result a name: passed with `plain` assertions, unless `counts` has (status, passed, failed) for it."""
    found = []
    for line, name in enumerate(names, start=10):
        status, passed, failed = counts.get(name, (CaseStatus.PASSED, plain, 0))
        case = Case(name=name, file="test_forward.cpp", line=line)
        found.append(CaseResult(case=case, status=status, assertions_passed=passed, assertions_failed=failed))
    return found


def completed(
    *, exit_code: int | None = 0, signal: int | None = None, leftovers: tuple[Leftover, ...] = ()
) -> Completed:
    """A process that ended by itself or by a signal."""
    stream = Stream(path=Path("stdout"))
    ending = Ending.EXITED if signal is None else Ending.SIGNALLED
    code = exit_code if signal is None else None
    return Completed(
        ending=ending, exit_code=code, signal=signal, seconds=0.23, stdout=stream, stderr=stream, leftovers=leftovers
    )


def outcome(
    run: str,
    role: Role,
    *,
    cases: Sequence[CaseResult],
    selected: Sequence[str] = NAMES,
    assertions: tuple[int, int],
    process: Completed | None = None,
    outputs: tuple[OutputFile, ...] = (),
    printed: tuple[PrintedCensus, ...] = (),
    counters: Mapping[str, int] | None = None,
) -> Outcome:
    """What one run did."""
    selection = Selection(cases=tuple(Case(name=name) for name in selected))
    passed, failed = assertions
    report = FrameworkReport(results=tuple(cases), assertions_passed=passed, assertions_failed=failed)
    return Outcome(
        run=f"{run}-{role}",
        arm=arm(role),
        selection=selection,
        completed=process or completed(),
        report=report,
        outputs=outputs,
        printed=printed,
        counters=counters or {},
    )


def run_of(
    one: Outcome,
    *signatures: Signature,
    void: str | None = None,
    vacuous: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    seconds: float = 0.594,
) -> Run:
    """A run as it reads: red with signatures, void with a reason, else green."""
    reading = Reading.VOID if void else Reading.RED if signatures else Reading.GREEN
    found = RunReading(
        run=one.run, reading=reading, signatures=signatures, void_reason=void, vacuous=vacuous, notes=notes
    )
    return Run(id=one.run, arm=one.arm, outcome=one, reading=found, seconds=seconds)


def crash(run: str, role: Role, *, case: str = CRASHING) -> Run:
    """A run that dies in the 4th of 13 cases: 44 assertions, 0 failed."""
    counts = {case: (CaseStatus.CRASHED, 0, 0)}
    started = results((NAMES[6], NAMES[1], NAMES[10], case), counts, 15)
    one = outcome(run, role, cases=started, assertions=(44, 0), process=completed(signal=11), counters={"hits": 3})
    return run_of(one, crashed(case), seconds=0.02)


def crashed(case: str | None = CRASHING) -> Signature:
    return Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case=case, place=RedPlace(text="test_forward.cpp:212"))


def green(
    run: str,
    role: Role,
    *,
    names: Sequence[str] = NAMES,
    assertions: int = 552,
    outputs: tuple[OutputFile, ...] = (),
) -> Run:
    """A run in which every case passed."""
    vacuous = (SHIPPED,) if assertions == 552 and SHIPPED in names else ()
    started = results(names, dict.fromkeys(vacuous, (CaseStatus.PASSED, 0, 0)), 46)
    one = outcome(run, role, cases=started, selected=names, assertions=(assertions, 0), outputs=outputs)
    return run_of(one, vacuous=vacuous)


def arm_result(
    role: Role, looks: str, *runs: Run, acted: Acted | None = Acted.PLAUSIBLE, why: str | None = None
) -> ArmResult:
    """All runs of a role; `looks` has one letter a run."""
    sights = tuple(Sight(look) for look in looks)
    names = ", ".join(name for name, _ in _SWITCHES[role])
    state, reason = _PROOFS.get(role, (acted, f"the target's files name {names}"))
    if why is not None:
        state, reason = acted, why
    shown = runs[sights.index(max(dict.fromkeys(sights), key=sights.count))] if runs else None
    return ArmResult(arm=arm(role), acted=state, why=reason, runs=runs, sights=sights, shown=shown)


def rules_out(mechanism: str, role: Role, run: str, saw: Prediction) -> RuledOut:
    expected = Prediction.GREEN if saw is Prediction.SAME_RED else Prediction.SAME_RED
    return RuledOut(mechanism=mechanism, arm=role, run=f"{run}-{role}", expected=expected, saw=saw)


def report(attribution: Attribution, *arms: ArmResult) -> AttributeReport:
    """A whole report about `test_forward` at seed 7."""
    evidence = Path(".pooldiag/20260314-101500-attribute-test_forward")
    session = Session(
        partial=False,
        evidence=evidence,
        lock=LockReport(paths=(Path("/home/ada/gpu.lock"),), waited_seconds=0.0, held_seconds=3.1),
        disk=DiskReport(free_before=81 * 2**30, free_after=81 * 2**30, floor=2**30),
        target=TargetReport(
            argv=("build/blind/test_forward",),
            directory=Path("/home/ada/devicepool"),
            framework="doctest",
            version="2.4.9",
            order=Order(kind=OrderKind.RAND, seed=7),
            cases=13,
            sha256=sha("binary"),
            built_seconds_ago=312.0,
            profile="vt",
        ),
        machine=MachineReport(host="bench", system="Linux 6.1", cpus=16, memory_bytes=64 * 2**30, gpus=("emulated",)),
        seconds=3.1,
    )
    return AttributeReport(session=session, attribution=attribution, arms=arms, answers=ANSWERS, mechanisms=MECHANISMS)


def sees(gone: tuple[Role, ...] = (), there: tuple[Role, ...] = (), own: tuple[Role, ...] = ()) -> tuple[SeenRole, ...]:
    """What the arms show, each known of four runs."""
    shown = {Shows.GONE: gone, Shows.THERE: there, Shows.OWN_RATE: own}
    return tuple(
        SeenRole(role=role, shows=look, confidence=0.997, runs=4) for look, roles in shown.items() for role in roles
    )


def possible(*mechanisms: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(mechanism=key, posterior=0.993) for key in mechanisms)


CARRIED = ("cross-device-reuse", "access-past-end", "two-owners", "use-after-release", "memory-kept")
CRASH = Witness(
    id="crash",
    kind=WitnessKind.HINT,
    text="the victim crashes, which stale numbers seldom do and foreign memory does",
    speaks_for=("cross-device-reuse",),
    speaks_against=("stale-read", "stale-read-in-case"),
    source="how the baseline's runs end",
)
CENSUS = Witness(
    id="census",
    kind=WitnessKind.HINT,
    text="video.bin: one pattern everywhere: the bf16 canonical NaN, widened",
    source="census rule widened-bf16-nan, confidence: high",
)
PAST_END = Witness(
    id="guard",
    kind=WitnessKind.FACT,
    text="SIGSEGV at the first byte behind a block of 4096 bytes, and none with room behind it",
    speaks_for=("access-past-end",),
    source="guard and pad, runs 10 and 11",
)


REPRODUCER = "build/blind/test_forward --order-by=rand --rand-seed=7"
OTHER_ORDER = "pooldiag attribute --order=rand --seed=8 build/keyed/test_forward"
NEXT = NextCommand(
    line="pooldiag attribute --outputs 'video.bin:f32' --order rand --seed 7 --max-runs 192 "
    "build/blind/test_forward -- --a-rather-long-argument",
    purpose="more runs",
)


def loud() -> AttributeReport:
    """Seed 7: SIGSEGV in the 4th case, beside 44 assertions and 0 failed."""
    gone = (Role.BYPASS, Role.PER_CASE, Role.ISOLATE, Role.POISON_N)
    arms = (
        arm_result(Role.BASELINE, "RR", crash("01", Role.BASELINE), crash("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "G", green("03", Role.BYPASS)),
        arm_result(Role.EXACT, "R", crash("04", Role.EXACT)),
        arm_result(Role.PER_CASE, "G", green("05", Role.PER_CASE)),
        arm_result(Role.ISOLATE, "G", green("06", Role.ISOLATE, names=(CRASHING,), assertions=17)),
        arm_result(Role.POISON_N, "G", green("07", Role.POISON_N)),
        arm_result(Role.SERIAL, "R", crash("08", Role.SERIAL)),
        arm_result(
            Role.POISON_0,
            "R",
            crash("09", Role.POISON_0),
            acted=Acted.INERT,
            why="neither the binary nor its libraries name VT_POOL_POISON",
        ),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.ESTABLISHED,
        answer="carried-by-pool",
        candidates=possible(*CARRIED),
        ruled_out=(
            rules_out("case-state", Role.BYPASS, "03", Prediction.GREEN),
            rules_out("independent", Role.BYPASS, "03", Prediction.GREEN),
            rules_out("class-slack", Role.EXACT, "04", Prediction.SAME_RED),
            rules_out("stale-read", Role.POISON_N, "07", Prediction.GREEN),
        ),
        seen=sees(gone=gone, there=(Role.EXACT, Role.SERIAL)),
        not_asked=(
            UnaskedRole(role=Role.QUARANTINE, reason="would not tell"),
            UnaskedRole(role=Role.FRESH_STATE, reason="would not tell"),
        ),
        witnesses=(CRASH,),
        not_established=(
            "which earlier case leaves it: bisect the order",
            "poison-0: the arm is inert, so its runs are no evidence",
        ),
        separators=(Role.GUARD,),
    )
    note = f"passed without one assertion: {SHIPPED} (03, 05, 07)"
    return changed(
        report(attribution, *arms),
        removed_variables=(("VT_POOL_BYPASS", "0"),),
        notes=(note,),
        reproducer=REPRODUCER,
        next=NextCommand(line=f"env VT_POOL_BYPASS=1 {REPRODUCER}", purpose="green under bypass"),
    )


def fact() -> AttributeReport:
    """The guard stops an access: a fact that names the mechanism, beside what the arms answer."""
    whole = loud()
    past = run_of(
        outcome("10", Role.GUARD, cases=(), assertions=(0, 0), process=completed(signal=11)), crashed(NAMES[6])
    )
    arms = (
        *whole.arms[:-1],
        arm_result(Role.GUARD, "N", past),
        arm_result(Role.PAD, "G", green("11", Role.PAD)),
    )
    attribution = replace(
        whole.attribution,
        mechanism="access-past-end",
        candidates=possible("access-past-end"),
        witnesses=(CRASH, PAST_END),
        not_established=(),
        separators=(),
    )
    return replace(whole, attribution=attribution, arms=arms)


def nan_census(path: str, n: int) -> OutputFile:
    """An output that is NaN from end to end, one pattern everywhere."""
    pattern = PatternCount(bits="0x7fff0000", count=n)
    finding = Finding(
        rule="widened-bf16-nan", text="one pattern everywhere: the bf16 canonical NaN, widened", confidence="high"
    )
    return OutputFile(
        path=path,
        census=Census(
            path=f"/evidence/{path}",
            dtype="f32",
            sha256=sha(f"nan {path}"),
            n=n,
            nan=n,
            first=(Element(value=float("nan"), bits="0x7fff0000"),) * 8,
            nan_patterns=(pattern,),
            nan_runs=NanRuns(count=1, longest=n, first=0),
            dominant=pattern,
            findings=(finding,),
        ),
    )


def sound_census(path: str, n: int, absmax: float) -> OutputFile:
    """The same output as it should be."""
    first = tuple(Element(value=absmax / (index + 1), bits=f"0x3e{index}a0000") for index in range(8))
    return OutputFile(
        path=path,
        census=Census(
            path=f"/evidence/{path}",
            dtype="f32",
            sha256=sha(path),
            n=n,
            zero=3,
            minimum=-absmax,
            maximum=absmax,
            absmax=absmax,
            first=first,
        ),
    )


NAN_OUTPUTS = (nan_census("video.bin", 1024), nan_census("audio.bin", 512))
SOUND_OUTPUTS = (sound_census("video.bin", 1024, 0.300781), sound_census("audio.bin", 512, 2.140625))


def silent_red(run: str, role: Role) -> Run:
    counts = {SHIPPED: (CaseStatus.FAILED, 4086, 1)}
    one = outcome(
        run,
        role,
        cases=results(NAMES, counts, 46),
        assertions=(4638, 1),
        process=completed(exit_code=1),
        outputs=NAN_OUTPUTS,
        printed=(
            PrintedCensus(name="video", n=1024, nan=1024),
            PrintedCensus(name="audio", n=512, nan=512),
        ),
    )
    return run_of(one, FAILED, nan_in("video.bin"), nan_in("audio.bin"), seconds=0.241)


FAILED = Signature(
    kind=SignatureKind.FAILURE, case=SHIPPED, place=RedPlace(text="test_forward.cpp:301: REQUIRE( isfinite(v) )")
)


def nan_in(path: str) -> Signature:
    return Signature(kind=SignatureKind.NAN, case=None, place=RedPlace(text=path, kind=PlaceKind.OUTPUT, output=path))


def silent() -> AttributeReport:
    """File order, with checkpoint: NaN from end to end, and a failed REQUIRE."""
    arms = (
        arm_result(Role.BASELINE, "RR", silent_red("01", Role.BASELINE), silent_red("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "G", green("03", Role.BYPASS, assertions=6176, outputs=SOUND_OUTPUTS)),
        arm_result(Role.EXACT, "R", silent_red("04", Role.EXACT)),
        arm_result(Role.PER_CASE, "G", green("05", Role.PER_CASE, assertions=6176, outputs=SOUND_OUTPUTS)),
        arm_result(
            Role.ISOLATE,
            "G",
            green("06", Role.ISOLATE, names=(SHIPPED,), assertions=5624, outputs=SOUND_OUTPUTS),
        ),
    )
    loud_one = loud()
    seen = sees(gone=(Role.BYPASS, Role.PER_CASE, Role.ISOLATE), there=(Role.EXACT, Role.SERIAL))
    attribution = replace(loud_one.attribution, signature=FAILED, seen=seen, witnesses=(CENSUS,))
    other = replace(attribution, signature=nan_in("video.bin"))
    whole = changed(loud_one, attribution=attribution, others=(other,), arms=arms, removed_variables=(), notes=())
    return changed(whole, target=replace(whole.session.target, order=Order()))


def all_green(*, assertions: int = 6176) -> AttributeReport:
    """The keyed build: nothing red."""
    arms = (
        arm_result(
            Role.BASELINE,
            "GG",
            green("01", Role.BASELINE, assertions=assertions),
            green("02", Role.BASELINE, assertions=assertions),
        ),
        arm_result(Role.BYPASS, "G", green("03", Role.BYPASS, assertions=assertions)),
        arm_result(Role.POISON_N, "G", green("04", Role.POISON_N, assertions=assertions)),
        arm_result(Role.EXACT, ""),
    )
    whole = report(Attribution(signature=None, status=Status.GREEN), *arms)
    excluded = ExcludedRate(rate=0.7764, confidence=0.95, runs=2)
    return replace(whole, excluded=excluded, next=NextCommand(line=OTHER_ORDER, purpose="another order may be red"))


def vacuous() -> AttributeReport:
    """Green by accident: the shipped case asserted nothing."""
    whole = all_green(assertions=552)
    return changed(whole, notes=(f"passed without one assertion: {SHIPPED} (4/4 runs)",))


def blocked() -> AttributeReport:
    """The lock was not free."""
    whole = report(Attribution(signature=None, status=Status.BLOCKED))
    lock = LockReport(paths=(Path("/home/ada/gpu.lock"),), waited_seconds=2700.0)
    target = replace(whole.session.target, version=None, cases=None)
    reason = "/home/ada/gpu.lock is still held after 2700 s (pid 4242, python train.py)"
    hint = "run the command again when that has ended, or wait longer with --lock-wait"
    return changed(whole, blocked=Blockage(problem=reason, hint=hint), lock=lock, target=target, seconds=2700.2)


def flake() -> AttributeReport:
    """The baseline disagrees with itself, and the runs are spent."""
    mixed = (crash("01", Role.BASELINE), *(green(f"0{n}", Role.BASELINE) for n in range(2, 6)))
    arms = (
        replace(arm_result(Role.BASELINE, "RGGGG", *mixed), rate=Rate(red=1, runs=5, low=0.036, high=0.624)),
        replace(arm_result(Role.BYPASS, "G", green("06", Role.BYPASS)), greens_needed=14),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.UNRESOLVED,
        candidates=possible(*_TITLES),
        rule="6 runs are spent",
    )
    return replace(report(attribution, *arms), reproducer=REPRODUCER, next=NEXT)


def race() -> AttributeReport:
    """A flaky race: red in a part of the runs, and at another rate without size rounding."""
    looks = "RGRRG"
    mixed = tuple((crash if look == "R" else green)(f"0{n}", Role.BASELINE) for n, look in enumerate(looks, start=1))
    arms = (
        replace(arm_result(Role.BASELINE, looks, *mixed), rate=Rate(red=3, runs=5, low=0.147, high=0.947)),
        arm_result(Role.BYPASS, "RR", crash("06", Role.BYPASS), crash("07", Role.BYPASS)),
        replace(
            arm_result(Role.EXACT, "GRG", green("08", Role.EXACT), crash("09", Role.EXACT), green("10", Role.EXACT)),
            rate=Rate(red=1, runs=3, low=0.008, high=0.906),
        ),
        arm_result(Role.SERIAL, "GG", green("11", Role.SERIAL), green("12", Role.SERIAL)),
        arm_result(Role.FRESH_STATE, "R", crash("13", Role.FRESH_STATE)),
        arm_result(Role.PLACEBO, "R", crash("14", Role.PLACEBO)),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.ESTABLISHED,
        answer="race",
        confidence=0.9934,
        rate=Rate(red=7, runs=9, low=0.4, high=0.972),
        candidates=possible("timing-race", "two-owners"),
        seen=sees(gone=(Role.SERIAL,), there=(Role.BYPASS, Role.FRESH_STATE, Role.PLACEBO), own=(Role.EXACT,)),
        not_established=("which two operations race",),
    )
    return replace(report(attribution, *arms), reproducer=REPRODUCER)


def few_switches() -> AttributeReport:
    """A pool with two switches: bypass and exact, no fill and no serial, so nothing is settled."""
    alone = tuple(green(f"{n:02d}", Role.ISOLATE, names=(CRASHING,), assertions=17) for n in range(12, 14))
    arms = (
        arm_result(Role.BASELINE, "RR", crash("01", Role.BASELINE), crash("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "GG", green("03", Role.BYPASS), green("04", Role.BYPASS)),
        arm_result(Role.EXACT, "RR", crash("05", Role.EXACT), crash("06", Role.EXACT)),
        arm_result(Role.PER_CASE, "GG", green("07", Role.PER_CASE), green("08", Role.PER_CASE)),
        arm_result(Role.ISOLATE, "GG", *alone),
        arm_result(Role.FRESH_STATE, "RR", crash("09", Role.FRESH_STATE), crash("10", Role.FRESH_STATE)),
        arm_result(Role.PLACEBO, "R", crash("11", Role.PLACEBO)),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.UNRESOLVED,
        candidates=possible("stale-read", "cross-device-reuse", "access-past-end", "stream-race"),
        rule="the arms that can be run do not tell the candidates apart",
        seen=sees(gone=(Role.BYPASS, Role.PER_CASE, Role.ISOLATE), there=(Role.EXACT, Role.FRESH_STATE, Role.PLACEBO)),
        separators=(Role.SERIAL, Role.POISON_N),
    )
    line = "pooldiag bisect --order=rand --seed=7 build/blind/test_forward"
    return replace(
        report(attribution, *arms),
        reproducer=REPRODUCER,
        next=NextCommand(line=line, purpose="which case leaves it"),
    )


def another_red() -> AttributeReport:
    """One arm shows another red, one says nothing, and the rest settles nothing."""
    whole = few_switches()
    other = run_of(outcome("05", Role.PER_CASE, cases=results(NAMES, {}, 46), assertions=(552, 0)), nan_in("video.bin"))
    void = run_of(
        outcome("06", Role.ISOLATE, cases=(), assertions=(0, 0)), void="No space left on device (stderr, line 3)"
    )
    arms = (
        *whole.arms[:2],
        arm_result(Role.EXACT, "RG", crash("04", Role.EXACT), green("07", Role.EXACT)),
        arm_result(Role.PER_CASE, "N", other),
        arm_result(Role.ISOLATE, "-", void),
    )
    attribution = replace(
        whole.attribution,
        seen=sees(gone=(Role.BYPASS,)),
        candidates=possible(*_TITLES),
        not_established=("per-case: 1/1 runs show another red, which is no evidence for this one",),
    )
    return replace(whole, attribution=attribution, arms=arms, next=None)


def no_arm() -> AttributeReport:
    """Red whatever the arms do."""
    roles = (Role.BYPASS, Role.ISOLATE, Role.FRESH_STATE, Role.PLACEBO)
    arms = (
        arm_result(Role.BASELINE, "RR", crash("01", Role.BASELINE), crash("02", Role.BASELINE)),
        *(arm_result(role, "R", crash(f"0{number}", role)) for number, role in enumerate(roles, start=3)),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.ESTABLISHED,
        answer="no-arm",
        confidence=0.9951,
        candidates=possible("independent"),
        seen=sees(there=roles),
        not_established=("not excluded: a race (serial did not act)",),
    )
    return replace(report(attribution, *arms), reproducer=REPRODUCER)


def outside_state() -> AttributeReport:
    """Green with fresh state folders, and red again in the folders that a run has used."""
    pairs = (Role.FRESH_STATE, Role.USED_STATE)
    arms = (
        arm_result(Role.BASELINE, "RR", crash("01", Role.BASELINE), crash("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "R", crash("03", Role.BYPASS)),
        arm_result(Role.FRESH_STATE, "GGG", *(green(f"0{n}", Role.FRESH_STATE) for n in (4, 6, 8))),
        arm_result(Role.USED_STATE, "RRR", *(crash(f"0{n}", Role.USED_STATE) for n in (5, 7, 9))),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.ESTABLISHED,
        answer="outside-state",
        confidence=0.991,
        seen=sees(gone=pairs[:1], there=(Role.BYPASS, *pairs[1:])),
        not_established=("which file it is",),
    )
    return replace(report(attribution, *arms), reproducer=REPRODUCER)


def hidden() -> AttributeReport:
    """Green as it is; a fill shows a read of unwritten bytes."""
    arms = (
        arm_result(Role.BASELINE, "GG", green("01", Role.BASELINE), green("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "GG", green("03", Role.BYPASS), green("05", Role.BYPASS)),
        arm_result(Role.POISON_N, "RR", crash("04", Role.POISON_N), crash("06", Role.POISON_N)),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.ESTABLISHED,
        answer="hidden-unwritten-read",
        confidence=0.997,
        candidates=possible("stale-read", "access-past-end"),
        seen=sees(gone=(Role.BYPASS,), there=(Role.POISON_N,)),
        not_established=("which buffer is read before it is written",),
    )
    line = f"env VT_POOL_BYPASS=1 VT_POOL_POISON=255 {REPRODUCER}"
    return replace(report(attribution, *arms), reproducer=line)


def unconfirmed() -> AttributeReport:
    """Green as it is, and one red of bypass that did not come again."""
    arms = (
        hidden().arms[0],
        arm_result(Role.BYPASS, "RG", crash("03", Role.BYPASS), green("04", Role.BYPASS)),
        arm_result(Role.POISON_N, "G", green("05", Role.POISON_N)),
    )
    attribution = Attribution(
        signature=crashed(), status=Status.UNRESOLVED, rule="5 runs are spent", seen=sees(gone=(Role.POISON_N,))
    )
    return replace(report(attribution, *arms), reproducer=f"env VT_POOL_BYPASS=1 {REPRODUCER}")


def partial() -> AttributeReport:
    """Ctrl-C after three runs."""
    whole = loud()
    attribution = Attribution(
        signature=crashed(),
        status=Status.UNRESOLVED,
        candidates=possible(*_TITLES),
        seen=sees(gone=(Role.BYPASS,)),
        separators=(Role.EXACT,),
    )
    arms = (*whole.arms[:2], arm_result(Role.EXACT, ""))
    return changed(whole, partial=True, attribution=attribution, arms=arms, notes=())


def barely_begun() -> AttributeReport:
    """Ctrl-C before the first run ended: nothing is green about that."""
    whole = report(Attribution(signature=None, status=Status.GREEN), arm_result(Role.BASELINE, ""))
    return changed(whole, partial=True)


HOSTILE = "[red]x[/red] \x1b[31m\x9b2J\r\n\u202egnp.\u2066 \udcff\ud800 :smile: 'q\" \\ * 日本語 " + "long" * 60


def hostile() -> AttributeReport:
    """Names that would like to be markup, terminal escapes, or the end of a line."""
    case = Case(name=HOSTILE, name_bytes=b"\xff\x1b[31m")
    bad = crash("01", Role.BASELINE, case=HOSTILE)
    selection = Selection(cases=(case, *(Case(name=name) for name in NAMES[1:])))
    left = (Leftover(pid=99, command="sleep \x1b[2J 9"),)
    process = replace(bad.outcome.completed, leftovers=left)
    outcome = replace(bad.outcome, selection=selection, completed=process)
    reading = replace(bad.reading, vacuous=(HOSTILE,))
    run = replace(bad, outcome=outcome, reading=reading)
    attribution = Attribution(
        signature=crashed(HOSTILE),
        status=Status.UNRESOLVED,
        candidates=(Candidate(mechanism="in\x1b[2J-house"), Candidate(mechanism="stale-read", posterior=0.5)),
        not_established=(f"[bold]{HOSTILE}[/bold]",),
        not_asked=(UnaskedRole(role=Role.SERIAL, reason=f"[u]{HOSTILE}[/u]"),),
        witnesses=(replace(CENSUS, text=f"[link]{HOSTILE}", source="\x1b[1m[s]", speaks_for=("in-house",)),),
    )
    whole = report(attribution, arm_result(Role.BASELINE, "R", run, acted=None, why="\x1b]0;title\x07"))
    mechanism = replace(MECHANISMS[0], id="in-house", title="[blink]in house[/blink]")
    output = replace(nan_census("v\x1b[2J\udcfe.bin", 8), problem=None)
    run_with_output = replace(
        run, outcome=replace(outcome, outputs=(output, OutputFile(path="\x1b", problem="absent")))
    )
    return changed(
        whole,
        attribution=replace(attribution, candidates=(Candidate(mechanism="in-house"), *attribution.candidates[1:])),
        arms=(arm_result(Role.BASELINE, "R", run_with_output),),
        mechanisms=(mechanism,),
        notes=(f"\x07{HOSTILE}",),
        reproducer="./t '--test-case=a\x1b[31m\udcff b'",
        evidence=Path("/tmp/\x1b[2J\udcff"),
        target=replace(whole.session.target, argv=("/tmp/\x1b[2J\udcff/t",), directory=Path("/tmp/[x]")),
        removed_variables=(("NAME\x1b", "value\udcff"),),
    )


SAMPLES: dict[str, AttributeReport] = {
    "loud": loud(),
    "silent": silent(),
    "green": all_green(),
    "vacuous": vacuous(),
    "blocked": blocked(),
    "fact": fact(),
    "flake": flake(),
    "race": race(),
    "few-switches": few_switches(),
    "another-red": another_red(),
    "no-arm": no_arm(),
    "outside-state": outside_state(),
    "hidden": hidden(),
    "unconfirmed": unconfirmed(),
    "partial": partial(),
    "barely-begun": barely_begun(),
    "hostile": hostile(),
}
