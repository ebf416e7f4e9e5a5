"""Reports as text: blocks between reports and formats, one file a report and one a format; JSON is made from the data.

What a census does not need is imported where it is used: it is counted and rendered in less time than that takes.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pooldiag.render._escapes import shell_line, visible
from pooldiag.render._page import Page

if TYPE_CHECKING:
    from pooldiag.model.counts import Census
    from pooldiag.render.blocks import Blocks
    from pooldiag.render.facts import Report


def _table(blocks: "Blocks", page: Page) -> str:
    """Render a table. Rich is imported only here: a machine that reads JSON does not wait for it."""
    from pooldiag.render import table  # noqa: PLC0415 - as said above

    return table.render(blocks, page)


def _markdown(blocks: "Blocks", page: Page) -> str:
    from pooldiag.render import markdown  # noqa: PLC0415 - few ask for it

    return markdown.render(blocks, page)


_FORMATS: "Mapping[str, Callable[[Blocks, Page], str]]" = {"table": _table, "markdown": _markdown}
"""Each format that lays blocks out, by the name that `--format` has for it, the one for people first."""

JSON = "json"
FORMAT_NAMES = (*_FORMATS, JSON)


def render(report: "Report", *, form: str, page: Page) -> str:
    """Return a report in a format, as text that ends with a newline; KeyError for a name not in FORMAT_NAMES."""
    if form == JSON:
        from pooldiag.render import json  # noqa: PLC0415 - as said above

        return json.render(report)
    from pooldiag.render.reports import blocks_of  # noqa: PLC0415 - the same

    return _FORMATS[form](blocks_of(report), page)


def picture_file(census: "Census", suffix: str) -> bytes:
    """Return where NaN and infinities are in a tensor as a picture: `.svg` or `.png`."""
    from pooldiag.render._picture_files import picture_file as made  # noqa: PLC0415 - few save one

    return made(census, suffix)


__all__ = ["FORMAT_NAMES", "JSON", "Page", "picture_file", "render", "shell_line", "visible"]
