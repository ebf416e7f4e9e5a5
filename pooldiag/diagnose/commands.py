"""Command lines for the reader: the one that shows the fault, and the one to type next.

Those of a search are `CheckedLines`, which are run as they stand before they are printed.
"""

import shlex
from collections.abc import Iterator

from pooldiag.attribution.cascades import followers
from pooldiag.attribution.greens import MOST_GREENS
from pooldiag.attribution.signatures import signatures
from pooldiag.diagnose.notes import with_kept
from pooldiag.diagnose.processes import (
    HERE,
    OUTPUT_WORD,
    environment_of,
    state_folders_of,
)
from pooldiag.diagnose.tools import Tools
from pooldiag.frameworks.base import Framework
from pooldiag.model.arms import STATE_ROLES, Arm, Isolation, Role
from pooldiag.model.attributions import Attribution, Shows, Status
from pooldiag.model.bisections import BisectReport, BisectStatus, OrdersReport
from pooldiag.model.cases import OrderKind, Selection
from pooldiag.model.readings import Reading, Sight, Signature, SignatureKind
from pooldiag.model.reports import ArmResult, NextCommand
from pooldiag.model.settings import AttributeSettings, BisectSettings, OrdersSettings

_MORE = 3  # times the runs that did not suffice; chosen: twice would add no more than was too little before
_STATE = "@STATE@"  # stands for the folder until the line is whole: no shell quotes it
_GREEN_UNDER = {Role.BASELINE: "green as it is", Role.ISOLATE: "green alone"}


def shell_line(
    settings: AttributeSettings, tools: Tools, arm: Arm, selection: Selection | None, *, out: str | None
) -> str:
    """Return the line that repeats a run of `arm` by hand, without pooldiag, in the user's shell.

    `out` is the output folder it names; None where the outputs do not matter.
    """
    target = settings.target
    moved = target.directory != target.shell_directory
    words = (str(target.path) if moved else target.shown, *target.arguments, *arm.arguments)
    argv = [word.replace(OUTPUT_WORD, out or HERE) for word in words]
    argv += tools.framework.run_arguments(selection, settings.order, None)
    # Left out is what only prints counters; named is what the user's own shell would still set.
    line = environment_of(arm, tools, out, state=_STATE, without=arm.shared).command_line(argv)
    before = (["cd", str(target.directory)] if moved else (), settings.before)
    return " && ".join([*(shlex.join(words) for words in before if words), *_in_folders(arm, line)])


def _in_folders(arm: Arm, line: str) -> Iterator[str]:
    """Yield a line, after what makes the folders for its state; it runs twice where the second use is meant."""
    if arm.role not in STATE_ROLES:
        yield line
        return
    folders = " ".join(f'"$state"/{folder}' for folder in state_folders_of(arm))
    line = line.replace(_STATE, '"$state"')
    yield 'state="$(mktemp -d)"'
    yield f"mkdir -p {folders}"
    yield f"{{ {line}; {line}; }}" if arm.role is Role.USED_STATE else line


def reproducer(
    settings: AttributeSettings, tools: Tools, results: tuple[ArmResult, ...], signature: Signature
) -> str | None:
    """Return the shortest known line that shows the signature: the victim alone where that is red."""
    showing = [(result.arm, run) for result in results for run in result.runs if signature in run.reading.signatures]
    if not showing:
        return None
    arm, run = next(((arm, run) for arm, run in showing if arm.isolation is Isolation.ALONE), showing[0])
    showing_parts = (part.selection for part in run.outcome.parts if signature in signatures(part))
    selection = next(showing_parts, run.outcome.selection)
    return shell_line(settings, tools, arm, selection, out=HERE if signature.kind is SignatureKind.NAN else None)


def next_command(
    settings: AttributeSettings, tools: Tools, attribution: Attribution, results: tuple[ArmResult, ...], *, cases: int
) -> NextCommand | None:
    """Return what to type next: more arms, more runs, another order, a bisection, or the line that shows it green."""
    if attribution.status is Status.GREEN and tools.facts.fills:
        fill = tools.facts.fills[0]
        line = with_kept(fill, settings, settings.invocation)
        return NextCommand(line=line, purpose=f"with {fill.name}, which was removed, it may be red")
    if attribution.status is Status.GREEN:
        return _other_order(settings, tools.framework) if cases > 1 else _more_greens(settings, results)
    if asked := [role for role in attribution.separators if role in settings.left_out]:
        roles = ",".join([*(arm.role for arm in settings.arms[1:]), *asked])
        line = settings.invocation.having(f"--arms={roles}")
        return NextCommand(line=line, purpose="the arms that tell these apart")
    if attribution.status is Status.UNRESOLVED and sum(len(result.runs) for result in results) >= settings.max_runs:
        line = settings.invocation.having(f"--max-runs={_MORE * settings.max_runs}")
        return NextCommand(line=line, purpose="more runs")
    alone = any(one.role is Role.ISOLATE and one.shows is Shows.GONE for one in attribution.seen)
    if (alone or _may_need_a_case(settings, attribution)) and cases > 1 and settings.bisect_alike is not None:
        purpose = "which case leaves it" if alone else "which earlier case it needs, or must not have"
        return NextCommand(line=settings.bisect_alike.having(), purpose=purpose)
    hidden = any(one.role is Role.BASELINE for one in attribution.seen)  # the line that is green is the one as it is
    return None if hidden else _green_line(settings, tools, results)


def _may_need_a_case(settings: AttributeSettings, attribution: Attribution) -> bool:
    """Tell whether another order may clear a red that nothing else clears: this is not the one it is written in."""
    is_own = settings.order.kind in {OrderKind.FILE, OrderKind.SUITE}
    return not is_own and all(one.shows is not Shows.GONE for one in attribution.seen)


def _green_line(settings: AttributeSettings, tools: Tools, results: tuple[ArmResult, ...]) -> NextCommand | None:
    """Return the line that shows it green: the first arm that cleared it in every run, more often than by chance."""
    cleared = next((result for result in results if set(result.sights) == {Sight.GREEN} and _is_enough(result)), None)
    if cleared is None or cleared.shown is None:
        return None
    outcome = cleared.shown.outcome
    selection = outcome.parts[0].selection if outcome.parts else outcome.selection
    line = shell_line(settings, tools, cleared.arm, selection, out=None)
    return NextCommand(line=line, purpose=_GREEN_UNDER.get(cleared.arm.role, f"green under {cleared.arm.role}"))


def _is_enough(result: ArmResult) -> bool:
    """Tell whether an arm was green so often that chance does not explain it at the rate of the baseline."""
    return not result.greens_needed


def _more_greens(settings: AttributeSettings, results: tuple[ArmResult, ...]) -> NextCommand | None:
    """Suggest more runs where those that were green exclude little; a target without cases has no other order."""
    greens = sum(len(result.runs) for result in results if result.arm.role is Role.BASELINE)
    if not 0 < greens < MOST_GREENS:
        return None
    line = settings.invocation.having(f"--repeat={MOST_GREENS}")
    return NextCommand(line=line, purpose="more runs exclude rarer faults")


def _other_order(settings: AttributeSettings, framework: Framework) -> NextCommand:
    """Suggest the next seed that gives another order: a green one says nothing about others."""
    seeds = framework.seeds()
    least = max(next(seeds), settings.order.seed or 0) + 1 if settings.order.kind is OrderKind.RAND else 1
    seed = next(seed for seed in framework.seeds() if seed >= least)
    line = settings.invocation.having("--order=rand", f"--seed={seed}")
    return NextCommand(line=line, purpose="another order may be red")


def next_of_bisect(settings: BisectSettings, report: BisectReport) -> NextCommand | None:
    """Return what to type after a bisection: other orders, more runs, or the next red that depends on others."""
    invocation = settings.invocation
    if report.status is BisectStatus.GREEN:
        return NextCommand(line=settings.orders_alike.having(), purpose="other orders may be red")
    if report.status is BisectStatus.UNRESOLVED and report.runs >= settings.max_runs:
        evidence, here = report.session.evidence, settings.common.target.shell_directory
        evidence = evidence.relative_to(here) if evidence.is_relative_to(here) else evidence
        more = (f"--max-runs={_MORE * settings.max_runs}", f"--resume-from={evidence}")
        line = invocation.without("--resume").having(*more)
        return NextCommand(line=line, purpose="more runs, those that are done not repeated")
    alone, behind = {*report.others_red_alone}, followers(report.cascades)
    apart = [one for one in report.others if one not in behind and one.case not in {None, report.found.victim}]
    free = settings.sequence or settings.common.order.kind is not OrderKind.FILE  # file order may show them green
    others = [*(one for one in apart if one not in alone), *(one for one in apart if one in alone and free)]
    if report.status is BisectStatus.BLOCKED or not others:
        return None
    line = invocation.without("--resume", "--resume-from").having(f"--victim={others[0].case}")
    needs = others[0] in alone
    return NextCommand(line=line, purpose="which earlier case it needs" if needs else "the next red of this order")


def next_of_orders(settings: OrdersSettings, report: OrdersReport) -> NextCommand | None:
    """Return what to type after a survey of orders: bisect the one with the shortest prefix, else the first red one.

    Where none is red, and they exclude little, there are more orders.
    """
    reds = [one.order for one in report.orders if one.run is not None and one.run.reading.reading is Reading.RED]
    if not reds:
        return _more_orders(settings, report)
    needing = next((one.victim for one in report.orders if one.prefix == 0), None)
    if report.by_accident and report.shortest is None and needing is not None:
        line = settings.bisect_alike.having(f"--victim={needing}")
        return NextCommand(line=line, purpose="which earlier case it needs")
    order = reds[0] if report.shortest is None else report.shortest.order
    seed = () if order.seed is None else (f"--seed={order.seed}",)
    line = settings.bisect_alike.having(f"--order={order.kind}", *seed)
    return NextCommand(line=line, purpose="which cases it takes, and what the arms say")


def _more_orders(settings: OrdersSettings, report: OrdersReport) -> NextCommand | None:
    """Suggest seeds that were not asked for; of a single case there is one order."""
    ran = [one.run.outcome.selected or 0 for one in report.orders if one.run is not None]
    if report.excluded is None or len(ran) >= MOST_GREENS or max(ran, default=0) <= 1:
        return None
    last = max((order.seed or 0 for order in settings.orders), default=0)
    line = settings.invocation.having("--orders=none", f"--seeds={last + 1}..{last + MOST_GREENS}")
    return NextCommand(line=line, purpose="more orders exclude rarer faults")
