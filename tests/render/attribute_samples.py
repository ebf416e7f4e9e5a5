"""Reports of `attribute` made by hand: every status, and the stories that the renderers are looked at with."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pooldiag.model.arms import Acted, Arm, Isolation, Role
from pooldiag.model.attributions import (
    Attribution,
    Candidate,
    ExcludedRate,
    Mechanism,
    Prediction,
    Rate,
    RuledOut,
    Status,
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
    "stale-read": "read of stale scratch",
    "stream-race": "block reuse across streams",
    "class-slack": "read past the end into size-class slack",
    "in-case-reuse": "block reuse within one case",
    "case-state": "state between cases, outside the pool",
    "timing-race": "timing race, not the pool",
    "independent": "independent of every arm",
    "hidden-use-after-free": "use after free that the pool hides",
    "hidden-stale-read": "uninitialised read that the pool hides",
}
_MEANINGS = {
    "cross-device-reuse": "the pool handed a block that one device's allocator made to a buffer of another device",
    "hidden-use-after-free": "memory is used after its release; the pool keeps it mapped, so nothing is seen",
}
_ADVICE = {
    "cross-device-reuse": "Put the device into the key of the free list, and let a pool refuse a foreign backend.",
    "hidden-use-after-free": "Find the use after the release. Do not bypass the pool as a cure: it turns it red.",
}
MECHANISMS = tuple(
    Mechanism(
        id=key,
        title=title,
        meaning=_MEANINGS.get(key, "what it means"),
        advice=_ADVICE.get(key, "Look there."),
        leaves_open=("what stays open",),
        predictions={Role.BASELINE: Prediction.SAME_RED},
    )
    for key, title in _TITLES.items()
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
}
_PROOFS = {
    Role.BYPASS: (Acted.PROVEN, "hits=0"),
    Role.ISOLATE: (Acted.PROVEN, "a process of its own"),
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
    return AttributeReport(session=session, attribution=attribution, arms=arms, mechanisms=MECHANISMS)


REPRODUCER = "build/blind/test_forward --order-by=rand --rand-seed=7"
OTHER_ORDER = "pooldiag attribute --order=rand --seed=8 build/keyed/test_forward"
NEXT = NextCommand(
    line="pooldiag attribute --outputs 'video.bin:f32' --order rand --seed 7 --max-runs 192 "
    "build/blind/test_forward -- --a-rather-long-argument",
    purpose="more runs",
)


def loud() -> AttributeReport:
    """Seed 7: SIGSEGV in the 4th case, beside 44 assertions and 0 failed."""
    signature = crashed()
    red, gone = Prediction.SAME_RED, Prediction.GREEN
    arms = (
        arm_result(Role.BASELINE, "RR", crash("01", Role.BASELINE), crash("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "G", green("03", Role.BYPASS)),
        arm_result(Role.EXACT, "R", crash("04", Role.EXACT)),
        arm_result(Role.PER_CASE, "G", green("05", Role.PER_CASE)),
        arm_result(Role.ISOLATE, "G", green("06", Role.ISOLATE, names=(CRASHING,), assertions=17)),
        arm_result(Role.POISON_N, "G", green("07", Role.POISON_N)),
        arm_result(Role.POISON_0, "R", crash("08", Role.POISON_0)),
        arm_result(
            Role.SERIAL,
            "R",
            crash("09", Role.SERIAL),
            acted=Acted.INERT,
            why="neither the binary nor its libraries name VT_POOL_SERIAL",
        ),
    )
    attribution = Attribution(
        signature=signature,
        status=Status.ESTABLISHED,
        mechanism="cross-device-reuse",
        candidates=(Candidate(mechanism="cross-device-reuse"),),
        ruled_out=(
            rules_out("case-state", Role.BYPASS, "03", gone),
            rules_out("independent", Role.BYPASS, "03", gone),
            rules_out("hidden-use-after-free", Role.BASELINE, "01", red),
            rules_out("hidden-stale-read", Role.BASELINE, "01", red),
            rules_out("class-slack", Role.EXACT, "04", red),
            rules_out("in-case-reuse", Role.PER_CASE, "05", gone),
            rules_out("stale-read", Role.POISON_N, "07", gone),
            rules_out("stream-race", Role.POISON_0, "08", red),
        ),
        not_established=(
            "which earlier case left the block: bisect the order",
            "serial: the arm is inert, so its runs are no evidence",
        ),
    )
    note = f"passed without one assertion: {SHIPPED} (03, 05, 07)"
    whole = report(attribution, *arms)
    return changed(
        whole,
        removed_variables=(("VT_POOL_BYPASS", "0"),),
        notes=(note,),
        witnesses=("a host read of device memory: the fault address is PROT_NONE [sigsegv-accerr, confidence: high]",),
        reproducer=REPRODUCER,
        next=NextCommand(line=f"env VT_POOL_BYPASS=1 {REPRODUCER}", purpose="green under bypass"),
    )


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
    attribution = replace(loud_one.attribution, signature=FAILED)
    other = replace(attribution, signature=nan_in("video.bin"))
    whole = changed(loud_one, attribution=attribution, others=(other,), arms=arms, removed_variables=(), notes=())
    target = replace(whole.session.target, order=Order())
    witness = "video.bin: one pattern everywhere: the bf16 canonical NaN, widened [widened-bf16-nan, confidence: high]"
    return changed(whole, target=target, witnesses=(witness,))


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
    """The baseline disagrees with itself."""
    mixed = (crash("01", Role.BASELINE), *(green(f"0{n}", Role.BASELINE) for n in range(2, 6)))
    arms = (
        replace(arm_result(Role.BASELINE, "RGGGG", *mixed), rate=Rate(red=1, runs=5, low=0.036, high=0.624)),
        replace(arm_result(Role.BYPASS, "G", green("06", Role.BYPASS)), greens_needed=14),
    )
    possible = tuple(Candidate(mechanism=key) for key in list(_TITLES)[:8])
    attribution = Attribution(
        signature=crashed(),
        status=Status.UNRESOLVED,
        candidates=possible,
        rule="6 runs are spent",
    )
    return replace(report(attribution, *arms), reproducer=REPRODUCER, next=NEXT)


def one_of_three() -> AttributeReport:
    """Bypass, exact and per-case alone cannot tell."""
    whole = loud()
    possible = tuple(Candidate(mechanism=key) for key in ("cross-device-reuse", "stale-read", "stream-race"))
    attribution = replace(
        whole.attribution,
        status=Status.UNRESOLVED,
        mechanism=None,
        candidates=possible,
        ruled_out=whole.attribution.ruled_out[:6],
        separators=(Role.POISON_N, Role.POISON_0, Role.SERIAL),
    )
    return replace(whole, attribution=attribution, arms=(*whole.arms[:4], arm_result(Role.POISON_N, "")))


def none_fits() -> AttributeReport:
    """Every mechanism is contradicted, and an arm shows another red."""
    whole = loud()
    other = run_of(outcome("05", Role.PER_CASE, cases=results(NAMES, {}, 46), assertions=(552, 0)), nan_in("video.bin"))
    void = run_of(
        outcome("06", Role.ISOLATE, cases=(), assertions=(0, 0)), void="No space left on device (stderr, line 3)"
    )
    arms = (
        *whole.arms[:2],
        arm_result(Role.EXACT, "R", crash("04", Role.EXACT)),
        arm_result(Role.PER_CASE, "N", other),
        arm_result(Role.ISOLATE, "-", void),
    )
    attribution = replace(
        whole.attribution,
        status=Status.UNRESOLVED,
        mechanism="none",
        candidates=(),
        not_established=("per-case: 1/1 runs show another red, which is no evidence for this one",),
    )
    return replace(whole, attribution=attribution, arms=arms)


def hidden() -> AttributeReport:
    """Green as it is; bypass shows a use after free."""
    arms = (
        arm_result(Role.BASELINE, "GG", green("01", Role.BASELINE), green("02", Role.BASELINE)),
        arm_result(Role.BYPASS, "RR", crash("03", Role.BYPASS), crash("05", Role.BYPASS)),
        arm_result(Role.POISON_N, "R", crash("04", Role.POISON_N)),
    )
    attribution = Attribution(
        signature=crashed(),
        status=Status.ESTABLISHED,
        mechanism="hidden-use-after-free",
        confidence=0.997,
        rule="hidden-use-after-free has 99.7 % of the posterior",
        candidates=(Candidate(mechanism="hidden-use-after-free", posterior=0.997),),
        ruled_out=(rules_out("hidden-stale-read", Role.BYPASS, "03", Prediction.SAME_RED),),
        not_established=("which buffer is used after its release",),
    )
    return replace(report(attribution, *arms), reproducer=f"env VT_POOL_BYPASS=1 {REPRODUCER}")


def unconfirmed() -> AttributeReport:
    """Green as it is, and one red of bypass that did not come again."""
    whole = hidden()
    arms = (
        whole.arms[0],
        arm_result(Role.BYPASS, "RG", crash("03", Role.BYPASS), green("04", Role.BYPASS)),
    )
    attribution = Attribution(signature=crashed(), status=Status.UNRESOLVED, rule="4 runs are spent")
    return replace(whole, attribution=attribution, arms=arms)


def partial() -> AttributeReport:
    """Ctrl-C after two runs."""
    whole = loud()
    attribution = replace(
        whole.attribution,
        status=Status.UNRESOLVED,
        mechanism=None,
        candidates=tuple(Candidate(mechanism=key) for key in list(_TITLES)[:8]),
        ruled_out=whole.attribution.ruled_out[2:4],
        not_established=(),
        separators=(Role.BYPASS, Role.EXACT),
    )
    arms = (whole.arms[0], *(arm_result(role, "") for role in (Role.BYPASS, Role.EXACT)))
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
        witnesses=(f"[link]{HOSTILE}",),
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
    "flake": flake(),
    "one-of-three": one_of_three(),
    "none": none_fits(),
    "hidden": hidden(),
    "unconfirmed": unconfirmed(),
    "partial": partial(),
    "barely-begun": barely_begun(),
    "hostile": hostile(),
}
