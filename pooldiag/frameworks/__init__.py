"""Test frameworks: one file each, and its line in FRAMEWORKS."""

from collections.abc import Mapping

from pooldiag.frameworks.base import Framework
from pooldiag.frameworks.blackbox import Blackbox
from pooldiag.frameworks.doctest import Doctest
from pooldiag.frameworks.listfile import ListFile

BLACKBOX: Framework = Blackbox()

FRAMEWORKS: Mapping[str, Framework] = {
    framework.name: framework
    for framework in (
        Doctest(),
        ListFile(),
        BLACKBOX,
    )
}


def recognise(found: frozenset[bytes]) -> Framework:
    """Return the first framework one of whose markers was found in the target; the black box when none was."""
    return next((framework for framework in FRAMEWORKS.values() if found & {*framework.markers}), BLACKBOX)
