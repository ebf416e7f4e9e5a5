"""What help says that registries know; it is read for the help that names it, and nobody else waits for it."""

import re
from collections.abc import Iterable
from pathlib import Path

import pooldiag
from pooldiag.config.kinds import SEEDLESS


def filled_in(text: str) -> str:
    """Fill in the names that stand for `{frameworks}` and the like."""
    return re.sub(r"\{([a-z]+)\}", lambda place: _names(place[1]), text)


def _names(place: str) -> str:
    match place:
        case "types":
            from pooldiag.census.layouts import LAYOUTS  # noqa: PLC0415 - as said above

            return " ".join(LAYOUTS)
        case "files":
            return _choices(_registered("census/files", helper="format"))
        case "frameworks":
            return _choices(_registered("frameworks", helper="base"))
        case "formats":
            from pooldiag.render import RENDERERS  # noqa: PLC0415

            return _choices(RENDERERS)
        case "orders":
            return ",".join(SEEDLESS)
    raise KeyError(place)


def _registered(folder: str, helper: str) -> list[str]:
    """Return the names in a registry where each has the file of its name; importing them all takes long for a help."""
    files = (Path(pooldiag.__file__).parent / folder).glob("[!_]*.py")
    return sorted(file.stem for file in files if file.stem != helper)


def _choices(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
