"""JSON as text, and what in it is a shell's."""

import json
import math
from typing import Any

from pooldiag.render._text import shell_line, without_surrogates

Document = dict[str, Any]


def written(document: Document) -> str:
    """Return a document as text, in ASCII; a line end is never part of a string."""
    return json.dumps(_clean(document), indent=2)


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Replace what JSON cannot say: lone surrogates, and numbers that are not finite."""
    match value:
        case str():
            return without_surrogates(value)
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list() | tuple():
            return [_clean(item) for item in value]
    return value


def command(line: str | None) -> str | None:
    """Return a command line without raw bytes, so that strict readers of JSON take it and a shell still does."""
    return None if line is None else line if without_surrogates(line) == line else shell_line(line)
