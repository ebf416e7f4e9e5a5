"""The report for machines: data classes as JSON. `report.schema.json` beside this file describes it.

A field is an entry of its name, so that a new one needs nothing here. Where a document differs from its class on
purpose, a `DocumentForm` says how; `scripts/schema` reads the same forms. Fields are added, never renamed. The text is
ASCII, and none of its strings holds a lone surrogate.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooldiag.model.censuses import CensusReport
from pooldiag.render._escapes import shell_line, without_surrogates
from pooldiag.render._page import Page

if TYPE_CHECKING:
    from pooldiag.render.facts import Report

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentForm:
    """How the document of a class differs from its fields.

    `head` stands first: constants, and names that are to stand there. Entries of `flat` fields stand among those
    around them; of `beside` ones, too, and are named after the field: a `line` and a `purpose` in `next` are `next` and
    `next_purpose`. `made` are made from the whole, in place of a field or behind them all; `properties` are entries as
    well. What is `optional` is left out where there is nothing to tell. `commands` are lines for a shell.
    """

    head: Mapping[str, str | None] = field(default_factory=dict)
    flat: Mapping[str, type] = field(default_factory=dict)
    beside: Mapping[str, type] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    made: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    properties: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def parts(self, of: type) -> Iterator[str]:
        """Yield what a document of the class is made of, in its order."""
        of_class = _fields_of(of)
        yield from (name for name in of_class if name not in self.without)
        yield from self.properties
        yield from (name for name in self.made if name not in of_class)


Forms = Mapping[type, DocumentForm]
_AS_IT_IS = DocumentForm()


@cache
def _fields_of(of: type) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(of))


def beside(name: str, entries: list[str]) -> list[str]:
    """Return the names that the entries of a field have beside it: the first one has the field's own."""
    return [name, *(f"{name}_{entry}" for entry in entries[1:])]


class Writer:
    """Makes documents of data classes, each in its form."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms

    def document(self, value: object) -> object:
        """Return what JSON holds of a value; a number that is not finite is a word."""
        match value:
            case float():
                return value if math.isfinite(value) else str(value)
            case None | str() | int():
                return value
            case tuple():
                return list(value) if isinstance(next(iter(value), ""), str | int) else list(map(self.document, value))
            case Mapping():
                return {str(key): self.document(item) for key, item in value.items()}
            case Path():
                return str(value)
        return self._entries(value, self._forms.get(type(value), _AS_IT_IS))

    def _entries(self, value: object, form: DocumentForm) -> Document:
        found: Document = dict(form.head)
        for name in form.parts(type(value)):
            part = form.made[name](value) if name in form.made else getattr(value, name)
            if name in form.flat:
                found |= self._spread(part, form.flat[name])
            elif name in form.beside:
                spread = self._spread(part, form.beside[name])
                found |= zip(beside(name, list(spread)), spread.values(), strict=True)
            elif name in form.commands:
                found[name] = _command(getattr(value, name))
            elif part is not None or name not in form.optional:
                found[form.names.get(name, name)] = self.document(part)
        return found

    def _spread(self, value: object, of: type) -> Document:
        """Return the entries of a part; of one that is not there, each is null."""
        form = self._forms.get(of, _AS_IT_IS)
        if value is None:
            return {form.names.get(name, name): None for name in form.parts(of)}
        return self._entries(value, form)


def written(document: object, *, indent: int | None = 2) -> str:
    """Return a document as text, in ASCII and without lone surrogates, which strict readers refuse."""
    text = json.dumps(document, indent=indent, allow_nan=False)
    whole = text if "\\ud" not in text else json.dumps(_clean(document), indent=indent, allow_nan=False)
    return f"{whole}\n"


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case str():
            return without_surrogates(value)
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case list():
            return [_clean(item) for item in value]
    return value


def _command(line: str | None) -> str | None:
    """Return a command line without raw bytes, so that strict readers of JSON take it and a shell still does."""
    return None if line is None else line if without_surrogates(line) == line else shell_line(line)


def render(report: "Report") -> str:
    """Return the report as one JSON document. What tells of runs is not imported for a census."""
    if isinstance(report, CensusReport):
        from pooldiag.render import _census_forms  # noqa: PLC0415 - as said above

        return written(Writer(_census_forms.FORMS).document(report))
    from pooldiag.model.arms import ProfilesReport  # noqa: PLC0415 - the same

    if isinstance(report, ProfilesReport):
        from pooldiag.render import _profile_forms  # noqa: PLC0415 - the same

        return written(Writer(_profile_forms.FORMS).document(report))
    from pooldiag.render.run_json import JsonReports  # noqa: PLC0415 - the same

    return JsonReports()(report, Page())
