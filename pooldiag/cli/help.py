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
            from pooldiag.census.files import FORMATS  # noqa: PLC0415

            return _choices(FORMATS)
        case "frameworks":
            # Each has the file of its name, and importing them is a fifth of the time of a help.
            files = (Path(pooldiag.__file__).parent / "frameworks").glob("[!_]*.py")
            return _choices(sorted(file.stem for file in files if file.stem != "base"))
        case "formats":
            from pooldiag.render import FORMAT_NAMES  # noqa: PLC0415

            return _choices(FORMAT_NAMES)
        case "witnesses":
            from pooldiag.attribution.witnesses import WITNESS_IDS  # noqa: PLC0415

            return _choices(WITNESS_IDS)
        case "orders":
            return ",".join(SEEDLESS)
    raise KeyError(place)


def _choices(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
