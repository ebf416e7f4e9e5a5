"""The three commands in a played world, with the settings that the command line would make."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pooldiag.diagnose.attribute import attribute
from pooldiag.diagnose.bisect import bisect
from pooldiag.diagnose.orders import orders
from pooldiag.model.arms import AllocatorProfile, Arm, Isolation, Role
from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.cases import Order, OrderKind, Target
from pooldiag.model.reports import AttributeReport
from pooldiag.model.runs import Environment
from pooldiag.model.settings import (
    AttributeSettings,
    BisectSettings,
    CommandLine,
    LockSettings,
    OrdersSettings,
    OutputSpec,
)
from pooldiag.reduce.search import DEFAULT_CONFIDENCE
from tests.played.world import HOME, TARGET, World

BASELINE, ISOLATE = Arm(role=Role.BASELINE), Arm(role=Role.ISOLATE, isolation=Isolation.ALONE)
OUTPUTS = (OutputSpec(glob="out.bin", dtype="f32"),)
FIELDS = frozenset(AttributeSettings.__dataclass_fields__)


def switch(role: Role, *variables: str) -> Arm:
    """An arm that sets these variables to 1."""
    return Arm(role=role, environment=Environment(set=tuple((name, "1") for name in variables)))


def seeds(*numbers: int) -> tuple[Order, ...]:
    return tuple(Order(kind=OrderKind.RAND, seed=number) for number in numbers)


def line(command: str) -> CommandLine:
    return CommandLine(command=command, options=(), target=("./suite",), directory=HOME)


def settings_of(world: World, **changes: Any) -> AttributeSettings:  # noqa: ANN401 - fields of the settings
    settings = AttributeSettings(
        invocation=line("attribute"),
        target=Target(
            path=TARGET, shown="./suite", directory=HOME, shell_directory=HOME, framework=world.framework.name
        ),
        profile=AllocatorProfile(name="played", title="a played pool", source="a test"),
        arms=(BASELINE, ISOLATE),
        lock=LockSettings(paths=(HOME / "gpu.lock",)),
    )
    return replace(settings, **changes)


def attribute_in(
    world: World,
    *,
    keep: Callable[[AttributeReport], None] | None = None,
    **changes: Any,  # noqa: ANN401 - fields of the settings
) -> AttributeReport:
    return attribute(settings_of(world, **changes), world.tools, keep or _forget)


def bisect_in(world: World, *, keep: Callable[[BisectReport], None] | None = None, **changes: Any) -> BisectReport:  # noqa: ANN401 - fields of either settings
    """Bisect without the arms, unless they are given. What is not a setting of the search is one of the runs."""
    common = settings_of(world, **{name: value for name, value in changes.items() if name in _OF_RUNS})
    own = {name: value for name, value in changes.items() if name not in _OF_RUNS}
    settings = BisectSettings(
        invocation=line("bisect"),
        repeatable=line("bisect"),
        orders_alike=line("orders"),
        common=common,
        arms="arms" in changes,
        confidence=DEFAULT_CONFIDENCE,
    )
    return bisect(replace(settings, **own), world.tools, keep or _forget)


def orders_in(
    world: World,
    *asked: Order,
    keep: Callable[[OrdersReport], None] | None = None,
    max_runs: int = 1000,
    **changes: Any,  # noqa: ANN401 - fields of the settings
) -> OrdersReport:
    settings = OrdersSettings(
        invocation=line("orders"),
        bisect_alike=line("bisect"),
        common=settings_of(world, **changes),
        orders=asked,
        max_runs=max_runs,
    )
    return orders(settings, world.tools, keep or _forget)


_OF_RUNS = FIELDS - {"confidence", "max_runs", "repeat", "invocation"}


def _forget(report: AttributeReport | BisectReport | OrdersReport) -> None:
    """Keep nothing."""
    del report
