"""Finds out which mechanism turns a test binary red, and says no more than its runs carry."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pooldiag.census.arrays import take_census

__all__ = ["__version__", "take_census"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import what counts arrays when it is asked for: NumPy takes longer than all the rest."""
    if name != "take_census":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pooldiag.census.arrays import take_census  # noqa: PLC0415 - as said above

    return take_census
