"""Reports as blocks: one file a report, which holds its words."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from pooldiag.render.blocks import Blocks

if TYPE_CHECKING:
    from pooldiag.render.facts import Report

_MODULES = {
    "AttributeReport": "attribute",
    "BisectReport": "bisect",
    "CensusReport": "census",
    "OrdersReport": "orders",
    "ProfilesReport": "profiles",
}
"""The file of each report, by its class: a census is rendered in less time than what tells of runs takes to import."""


def blocks_of(report: "Report") -> Blocks:
    """Return what a report says; KeyError for one that has no file here."""
    module = import_module(f"{__name__}.{_MODULES[type(report).__name__]}")
    blocks: Callable[[Report], Blocks] = module.blocks
    return blocks(report)
