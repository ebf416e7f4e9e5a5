"""What help says that registries know; each is imported for the help that names what is in it."""

import re
from collections.abc import Iterable

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
            from pooldiag.frameworks import FRAMEWORKS  # noqa: PLC0415

            return _choices(FRAMEWORKS)
        case "formats":
            from pooldiag.render import RENDERERS  # noqa: PLC0415

            return _choices(RENDERERS)
        case "orders":
            return ",".join(SEEDLESS)
    raise KeyError(place)


def _choices(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
