"""Reports of `bisect` and `orders` made by hand, about the same target as those of `attribute`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pooldiag.model.arms import Role
from pooldiag.model.attributions import ExcludedRate
from pooldiag.model.bisections import (
    BisectReport,
    BisectStatus,
    BothEnds,
    CheckedCommand,
    Confirmation,
    Found,
    NamedBy,
    OrderResult,
    OrdersReport,
    Phase,
    Probed,
    ShortestPrefix,
    Tried,
)
from pooldiag.model.cases import Case, Order, OrderKind, Selection
from pooldiag.model.outcomes import CaseStatus
from pooldiag.model.readings import Reading, RedPlace, Sight, Signature, SignatureKind
from pooldiag.model.reports import AttributeReport, LockReport, NextCommand, Run
from tests.render.attribute_samples import (
    CRASHING,
    FAILED,
    HOSTILE,
    NAMES,
    SAMPLES,
    SHIPPED,
    changed,
    completed,
    crash,
    crashed,
    green,
    nan_in,
    outcome,
    results,
    run_of,
    silent_red,
)

SEED_7 = (6, 1, 10, 5, 0, 2, 3, 4, 7, 8, 9, 11, 12)
SHUFFLED = tuple(NAMES[place] for place in SEED_7)
POLLUTER = NAMES[10]

RED_LINE = f"build/blind/test_forward '--test-case={POLLUTER.replace(',', chr(92) + ',')},*one layer (CPU*'"
RED = CheckedCommand(line=f"{RED_LINE} --order-by=rand --rand-seed=7", ended="SIGSEGV")
GREEN = CheckedCommand(line=f"env VT_POOL_BYPASS=1 {RED_LINE} --order-by=rand --rand-seed=7", ended="exit code 0")


def in_order(run: Run, names: Sequence[str]) -> Run:
    """The run, of these cases in this order."""
    selection = Selection(cases=tuple(Case(name=name) for name in names))
    return replace(run, outcome=replace(run.outcome, selection=selection))


def alike(run: Run) -> Run:
    """The run, with as many assertions a passed case as in the green runs."""
    cases = (
        replace(one, assertions_passed=46) if one.status is CaseStatus.PASSED else one
        for one in run.outcome.report.results
    )
    return replace(run, outcome=replace(run.outcome, report=replace(run.outcome.report, results=tuple(cases))))


def tried(*cases: str, red: int = 0, green: int = 0, void: int = 0) -> Tried:
    return Tried(cases=cases, red=red, green=green, void=void)


def probes(*steps: tuple[Phase, int, Reading]) -> tuple[Probed, ...]:
    """One run a step: what it was for, the cases it ran, and how it read."""
    return tuple(
        Probed(run=f"{number:02d}-{phase}", phase=phase, cases=cases, reading=reading)
        for number, (phase, cases, reading) in enumerate(steps, start=1)
    )


def later(run: str) -> str:
    """The id of a run, ten runs later."""
    number, _, role = run.partition("-")
    return f"{int(number) + 10}-{role}"


def on_the_minimal_set(name: str, *names: str) -> AttributeReport:
    """What `attribute` makes of these cases: the arms of a sample that ran them alone."""
    whole = SAMPLES[name]

    def shorter(run: Run) -> Run:
        asked = names[-1:] if run.arm.role is Role.ISOLATE else names
        kept = tuple(one for one in run.outcome.report.results if one.case.name in asked)
        made = sum(one.assertions_passed for one in kept)
        report = replace(run.outcome.report, results=kept, assertions_passed=made)
        return in_order(
            replace(run, id=later(run.id), outcome=replace(run.outcome, report=report), seconds=0.02), asked
        )

    arms = []
    for one in whole.arms:
        runs = tuple(map(shorter, one.runs))
        shown = None if one.shown is None else runs[[run.id for run in one.runs].index(one.shown.id)]
        arms.append(replace(one, runs=runs, shown=shown))
    open_still = tuple(line for line in whole.attribution.not_established if "bisect" not in line)
    ruled_out = tuple(replace(out, run=later(out.run)) for out in whole.attribution.ruled_out)
    attribution = replace(whole.attribution, not_established=open_still, ruled_out=ruled_out)
    return changed(whole, arms=tuple(arms), attribution=attribution, notes=(), removed_variables=(), next=None)


def confirmed(*runs: Run, looks: str) -> tuple[Confirmation, ...]:
    return tuple(Confirmation(arm=run.arm, run=run, sight=Sight(look)) for run, look in zip(runs, looks, strict=True))


def base(status: BisectStatus, found: Found) -> BisectReport:
    """A bisection of `test_forward` at seed 7."""
    one = SAMPLES["loud"]
    return BisectReport(
        session=replace(
            one.session,
            notes=(),
            removed_variables=(),
            evidence=Path(".pooldiag/20260314-101500-bisect-test_forward"),
            seconds=1.27,
        ),
        status=status,
        found=found,
    )


def polluted() -> BisectReport:
    """Seed 7: one polluter, named by the stream; bypass clears the minimal set and the whole order."""
    first = SHUFFLED[:3]
    found = Found(
        victim=CRASHING,
        named_by=NamedBy.STREAM,
        signature=crashed(),
        position=4,
        prefix=3,
        polluters=(POLLUTER,),
        sets=((POLLUTER,),),
        confidence=0.9999,
        prefix_proof=BothEnds(red=tried(*first, red=2), green=(tried(*first[:2], green=1),)),
        set_proof=BothEnds(red=tried(POLLUTER, red=1), green=(tried(green=1),)),
    )
    red, gone = Reading.RED, Reading.GREEN
    greens = (green("30", Role.BYPASS), green("31", Role.PER_CASE))
    return changed(
        base(BisectStatus.FOUND, found),
        runs=7,
        cases_run=25,
        probed=probes(
            (Phase.BASELINE, 13, red),
            (Phase.BASELINE, 4, red),
            (Phase.BASELINE, 1, gone),
            (Phase.SEARCH, 2, red),
            (Phase.CONFIRMATION, 2, red),
            (Phase.PREFIX, 4, red),
            (Phase.PREFIX, 3, gone),
        ),
        whole=alike(in_order(crash("01", Role.BASELINE), SHUFFLED)),
        attribution=on_the_minimal_set("loud", POLLUTER, CRASHING),
        confirmations=confirmed(*greens, looks="GG"),
        reproducer=RED,
        green_command=GREEN,
        notes=(f"passed without one assertion: {SHIPPED} (30, 31)",),
        removed_variables=(("VT_POOL_BYPASS", "0"),),
    )


def cleaned() -> BisectReport:
    """File order: two polluters together, found by search in an output, and a cleaner between."""
    found = Found(
        victim=SHIPPED,
        named_by=NamedBy.SEARCH,
        signature=nan_in("video.bin"),
        position=12,
        prefix=9,
        smallest=False,
        polluters=(NAMES[3], NAMES[8]),
        sets=((NAMES[3], NAMES[8]), (NAMES[6],)),
        cleaners=(NAMES[9],),
        confidence=0.999,
        prefix_proof=BothEnds(red=tried(*NAMES[:9], red=2), green=(tried(*NAMES[:8], green=1, void=1),)),
        set_proof=BothEnds(
            red=tried(NAMES[3], NAMES[8], red=2), green=(tried(NAMES[8], green=1), tried(NAMES[3], green=1))
        ),
    )
    arms = (
        green("40", Role.BYPASS, assertions=6176),
        green("41", Role.PER_CASE, assertions=552),
        silent_red("42", Role.ISOLATE),
    )
    whole = base(BisectStatus.FOUND, found)
    return changed(
        whole,
        target=replace(whole.session.target, order=Order()),
        runs=21,
        recalled=8,
        speculative=3,
        cases_run=141,
        whole=silent_red("01", Role.BASELINE),
        others=(FAILED, nan_in("audio.bin")),
        attribution=on_the_minimal_set("silent", NAMES[3], NAMES[8], SHIPPED),
        confirmations=confirmed(*arms, looks="GGR"),
        reproducer=CheckedCommand(line="build/blind/test_forward '--test-case=*adaln*,*SHIPPED*'", ended="exit code 1"),
        green_command=CheckedCommand(
            line="env VT_POOL_BYPASS=1 build/blind/test_forward '--test-case=*adaln*,*SHIPPED*'", ended="exit code 0"
        ),
        next=NextCommand(line="pooldiag bisect --victim 'rope table' build/blind/test_forward", purpose="another red"),
    )


def brittle() -> BisectReport:
    """The victim fails alone, and passes after a case that sets its state up."""
    failure = Signature(
        kind=SignatureKind.FAILURE, case=NAMES[4], place=RedPlace(text="test_forward.cpp:14: CHECK( table.ready )")
    )
    found = Found(
        victim=NAMES[4],
        named_by=NamedBy.USER,
        signature=failure,
        position=5,
        prefix=0,
        setters=(NAMES[0],),
        red_alone=True,
        confidence=1.0,
        set_proof=BothEnds(red=tried(red=2), green=(tried(NAMES[0], green=2),)),
    )
    whole = base(BisectStatus.FOUND, found)
    return changed(
        whole,
        target=replace(whole.session.target, order=Order()),
        runs=6,
        cases_run=17,
        whole=green("01", Role.BASELINE),
        reproducer=CheckedCommand(line="build/blind/test_forward '--test-case=rope table'", ended="exit code 1"),
        green_command=CheckedCommand(
            line="build/blind/test_forward '--test-case=config parses,rope table'", ended="exit code 0"
        ),
        lock=None,
    )


def noisy() -> BisectReport:
    """The search ended in doubt: the red comes by chance."""
    suspects = (NAMES[6],)
    found = Found(
        victim=CRASHING,
        named_by=NamedBy.STREAM,
        signature=crashed(),
        position=4,
        polluters=suspects,
        sets=(suspects,),
        noisy=True,
        confidence=0.8346,
        set_proof=BothEnds(red=tried(*suspects, red=2, green=5, void=1), green=(tried(green=6),)),
    )
    chance = tuple((Phase.NOISE, 4, Reading.RED if number % 3 else Reading.GREEN) for number in range(14))
    return replace(
        base(BisectStatus.UNRESOLVED, found),
        reason="32 runs are spent, and chance still explains what they showed",
        red_with=1,
        green_with=0,
        runs=32,
        cases_run=117,
        probed=probes((Phase.BASELINE, 13, Reading.RED), *chance),
        whole=in_order(crash("01", Role.BASELINE), SHUFFLED),
        next=NextCommand(line="pooldiag bisect --max-runs=96 build/blind/test_forward", purpose="more runs"),
    )


def all_green() -> BisectReport:
    """Nothing is red in this order."""
    whole = base(BisectStatus.GREEN, Found())
    line = "pooldiag orders --seeds=1..20 build/keyed/test_forward"
    return replace(
        whole,
        excluded=ExcludedRate(rate=0.7764, confidence=0.95, runs=2),
        runs=2,
        cases_run=26,
        whole=green("01", Role.BASELINE),
        next=NextCommand(line=line, purpose="another order may be red"),
    )


def blocked() -> BisectReport:
    """The lock was not free."""
    one = SAMPLES["blocked"]
    return changed(
        base(BisectStatus.BLOCKED, Found()),
        blocked=one.session.blocked,
        lock=LockReport(paths=(Path("/home/ada/gpu.lock"),), waited_seconds=2700.0),
        target=one.session.target,
        seconds=2700.2,
    )


def interrupted() -> BisectReport:
    """Ctrl-C in the middle of the search."""
    whole = polluted()
    found = Found(victim=CRASHING, named_by=NamedBy.STREAM, signature=crashed(), position=4)
    return changed(
        whole,
        partial=True,
        status=BisectStatus.UNRESOLVED,
        found=found,
        red_with=3,
        green_with=0,
        runs=4,
        cases_run=20,
        probed=whole.probed[:4],
        attribution=None,
        confirmations=(),
        reproducer=None,
        green_command=None,
        notes=(),
        next=NextCommand(
            line=f"pooldiag bisect --resume={whole.session.evidence} build/blind/test_forward", purpose="go on"
        ),
    )


def hostile_names() -> BisectReport:
    """Names that would like to be markup, terminal escapes, or the end of a line."""
    whole = polluted()
    victim = crash("01", Role.BASELINE, case=HOSTILE)
    cases = (Case(name=HOSTILE, name_bytes=b"\xff\x1b[31m"), *(Case(name=name) for name in SHUFFLED[:12]))
    selection = Selection(cases=cases)
    found = replace(
        whole.found,
        victim=HOSTILE,
        signature=crashed(HOSTILE),
        polluters=(HOSTILE, "[blink]b[/blink]"),
        sets=((HOSTILE, "[blink]b[/blink]"), ("\x1b[2J",)),
        cleaners=("\u202e" + "c" * 300,),
        prefix_proof=None,
        set_proof=BothEnds(red=tried(HOSTILE, "[blink]b[/blink]", red=1), green=(tried(HOSTILE, green=1),)),
    )
    return changed(
        whole,
        found=found,
        reason="\x1b]0;title\x07",
        whole=replace(victim, outcome=replace(victim.outcome, selection=selection)),
        others=(crashed(f"[bold]{HOSTILE}[/bold]"),),
        attribution=replace(SAMPLES["hostile"], next=None),
        confirmations=(),
        reproducer=CheckedCommand(line="./t '--test-case=a\x1b[31m\udcff b'", ended="\x1b[1mSIGSEGV"),
        green_command=None,
        notes=(f"\x07{HOSTILE}",),
        removed_variables=(("NAME\x1b", "value\udcff"),),
        evidence=Path("/tmp/\x1b[2J\udcff"),
        target=SAMPLES["hostile"].session.target,
    )


def seed(number: int) -> Order:
    return Order(kind=OrderKind.RAND, seed=number)


def crash_at(run: str, position: int, case: str) -> Run:
    """A run that dies at a place."""
    names = [name for name in NAMES if name != case]
    counts = {case: (CaseStatus.CRASHED, 0, 0)}
    started = results((*names[: position - 1], case), counts, 15)
    one = outcome(run, Role.BASELINE, cases=started, assertions=(15 * (position - 1), 0), process=completed(signal=11))
    return run_of(one, crashed(case), seconds=0.02)


def orders_base(*orders: OrderResult) -> OrdersReport:
    """The orders of `test_forward`."""
    one = SAMPLES["loud"]
    return OrdersReport(
        session=replace(
            one.session,
            notes=(),
            removed_variables=(),
            evidence=Path(".pooldiag/20260314-101500-orders-test_forward"),
            target=replace(one.session.target, order=Order()),
            seconds=3.9,
        ),
        asked=len(orders),
        orders=orders,
        runs=len([result for result in orders if result.run is not None]),
    )


def red_order(order: Order, run: Run, position: int, prefix: int | None = None) -> OrderResult:
    victim = run.reading.signatures[0].case
    failing = tuple(one.case.name for one in run.outcome.report.results if one.status is not CaseStatus.PASSED)
    return OrderResult(order=order, run=run, failing=failing, victim=victim, position=position, prefix=prefix)


def mixed_orders() -> OrdersReport:
    """File order is green, five others are red in three ways, one is the same list as another, one is void."""
    void = run_of(
        outcome("07", Role.BASELINE, cases=(), assertions=(0, 0)), void="No space left on device (stderr, line 3)"
    )
    failed = {SHIPPED: (CaseStatus.FAILED, 4086, 1), NAMES[4]: (CaseStatus.FAILED, 8, 1)}
    two = outcome(
        "06", Role.BASELINE, cases=results(NAMES, failed, 46), assertions=(4638, 2), process=completed(exit_code=1)
    )
    whole = orders_base(
        OrderResult(order=Order(), run=green("01", Role.BASELINE)),
        red_order(Order(kind=OrderKind.NAME), crash_at("02", 12, NAMES[1]), 12),
        red_order(seed(1), crash_at("03", 7, CRASHING), 7),
        red_order(seed(7), crash("04", Role.BASELINE), 4, 3),
        OrderResult(order=seed(8), same_as=seed(7), failing=(CRASHING,), victim=CRASHING, position=4, prefix=3),
        OrderResult(order=seed(9), run=green("05", Role.BASELINE)),
        replace(red_order(seed(10), run_of(two, FAILED, nan_in("video.bin")), 12), victim=SHIPPED),
        OrderResult(order=seed(11), run=void),
    )
    first = SHUFFLED[:3]
    shortest = ShortestPrefix(
        order=seed(7),
        prefix=3,
        cases=first,
        victim=CRASHING,
        proof=BothEnds(red=tried(*first, red=1), green=(tried(*first[:2], green=1),)),
        reproducer=RED,
    )
    line = "pooldiag bisect --order=rand --seed=7 build/blind/test_forward"
    return changed(
        whole,
        by_accident=True,
        shortest=shortest,
        runs=19,
        cases_run=142,
        next=NextCommand(line=line, purpose="polluters and the arms"),
        removed_variables=(("VT_POOL_BYPASS", "0"),),
    )


def green_orders() -> OrdersReport:
    """The keyed build: every order is green."""
    runs = (green(f"{number:02d}", Role.BASELINE, assertions=6176) for number in range(1, 6))
    named = (Order(), Order(kind=OrderKind.NAME), seed(1), seed(2), seed(3))
    return changed(
        orders_base(*(OrderResult(order=order, run=run) for order, run in zip(named, runs, strict=True))),
        excluded=ExcludedRate(rate=0.4507, confidence=0.95, runs=5),
        cases_run=65,
        lock=None,
    )


def interrupted_orders() -> OrdersReport:
    """Ctrl-C after two orders of twenty."""
    whole = mixed_orders()
    return changed(whole, partial=True, asked=20, orders=whole.orders[:2], shortest=None, runs=2, cases_run=26)


def blocked_orders() -> OrdersReport:
    """The lock was not free."""
    one = blocked().session
    return changed(orders_base(), blocked=one.blocked, lock=one.lock, target=one.target, seconds=one.seconds)


def hostile_orders() -> OrdersReport:
    """Names that would like to be markup, terminal escapes, or the end of a line."""
    bad = crash("01", Role.BASELINE, case=HOSTILE)
    cases = (Case(name=HOSTILE, name_bytes=b"\xff\x1b[31m"), *(Case(name=name) for name in NAMES[1:]))
    bad = replace(bad, outcome=replace(bad.outcome, selection=Selection(cases=cases)))
    proof = BothEnds(red=tried(HOSTILE, red=1), green=(tried(green=1),))
    shortest = ShortestPrefix(
        order=seed(1), prefix=1, cases=("[red]y[/red]\x1b[2J",), victim=HOSTILE, proof=proof, reproducer=None
    )
    return changed(
        orders_base(red_order(seed(1), bad, 4, 1)),
        shortest=shortest,
        cases_run=6,
        notes=(f"\x07{HOSTILE}",),
        evidence=Path("/tmp/\x1b[2J\udcff"),
        target=SAMPLES["hostile"].session.target,
    )


BISECTIONS: dict[str, BisectReport] = {
    "bisect-found": polluted(),
    "bisect-cleaners": cleaned(),
    "bisect-alone": brittle(),
    "bisect-noisy": noisy(),
    "bisect-green": all_green(),
    "bisect-blocked": blocked(),
    "bisect-partial": interrupted(),
    "bisect-hostile": hostile_names(),
}
ORDERS: dict[str, OrdersReport] = {
    "orders-mixed": mixed_orders(),
    "orders-green": green_orders(),
    "orders-partial": interrupted_orders(),
    "orders-blocked": blocked_orders(),
    "orders-hostile": hostile_orders(),
}
