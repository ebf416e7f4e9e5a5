"""The schema is made of the data classes, and holds all that was ever published."""

import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pooldiag.model.attributions import Attribution
from pooldiag.model.readings import Reading
from pooldiag.model.reports import AttributeReport, Session
from pooldiag.render._run_forms import forms
from pooldiag.render.json import Forms, Writer
from tests.render.attribute_samples import SAMPLES, changed

Schema = dict[str, Any]

ROOT = Path(__file__).parents[2]
PUBLISHED: Schema = json.loads((Path(__file__).parent / "published.schema.json").read_text(encoding="utf-8"))


def script() -> ModuleType:
    loader = SourceFileLoader("schema_script", str(ROOT / "scripts" / "schema"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def made(known: Forms) -> Schema:
    found: Schema = script().schema(known)
    return found


@cache
def current() -> Schema:
    found: Schema = json.loads(files("pooldiag.render").joinpath("report.schema.json").read_text(encoding="utf-8"))
    return found


def test_the_published_file_is_what_the_classes_say() -> None:
    assert current() == made(forms({})), "run scripts/schema"


def report_of(schema: Schema, command: str) -> Schema:
    """The part about one command's reports."""
    return next(entry["then"] for entry in schema["allOf"] if entry["if"]["properties"]["command"]["const"] == command)


def resolved(node: Schema, schema: Schema) -> Iterator[Schema]:
    """Yield what a node may be, references followed."""
    if "$ref" in node:
        yield from resolved(schema["$defs"][node["$ref"].rpartition("/")[2]], schema)
    elif "anyOf" in node:
        yield from (found for one in node["anyOf"] for found in resolved(one, schema))
    else:
        yield node


TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def types_of(nodes: list[Schema]) -> set[str]:
    """The JSON types of what a node may be."""
    found = set()
    for node in nodes:
        values = node.get("enum", [node["const"]] if "const" in node else [])
        found |= {TYPES[type(value)] for value in values}
        kind = node.get("type", [])
        found |= {kind} if isinstance(kind, str) else set(kind)
    return found | ({"integer"} if "number" in found else set())


def narrowed(old: Schema, new: Schema, path: str) -> Iterator[str]:
    """Yield where the current schema lacks what the published one has."""
    before, after = list(resolved(old, PUBLISHED)), list(resolved(new, current()))
    if missing := types_of(before) - types_of(after):
        yield f"{path}: {missing} is no longer a type of it"
    free = any("string" in types_of([other]) and "enum" not in other for other in after)
    if gone := words(before) - words(after) if not free else set():
        yield f"{path}: {gone} is no longer a value of it"
    for one in before:
        for name, entry in one.get("properties", {}).items():
            homes = [other for other in after if name in other.get("properties", {})]
            if not homes:
                yield f"{path}.{name}: gone"
            for home in homes:
                if name in one.get("required", ()) and name not in home.get("required", ()):
                    yield f"{path}.{name}: may be left out"
                yield from narrowed(entry, home["properties"][name], f"{path}.{name}")
        for key in ("items", "additionalProperties"):
            for other in (other for other in after if isinstance(one.get(key), dict) and key in other):
                yield from narrowed(one[key], other[key], f"{path}[]")


def words(nodes: list[Schema]) -> set[str]:
    return {str(value) for node in nodes for value in node.get("enum", ()) if value is not None}


# An output of an arm is never compared: it only shared its definition with what is. No arm ever played a swap.
# A witness was a line of text, and is an object with that text, so that facts and hints can be told apart.
KNOWN = (
    ".outputs[].comparison: gone",
    ": {'swap'} is no longer a value of it",
    ".witnesses[]: {'string'} is no longer a type of it",
)


@pytest.mark.parametrize("command", ["attribute", "bisect", "orders", "census"])
def test_nothing_that_was_published_has_gone(command: str) -> None:
    found = narrowed(report_of(PUBLISHED, command), report_of(current(), command), command)
    assert [line for line in found if not line.endswith(KNOWN)] == []


def test_the_page_about_reports_names_all_of_a_verdict_and_nothing_else() -> None:
    _, _, table = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8").partition("| entry | what it holds |")
    named = {
        name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(.+?)`", cell)
    }
    (whole,) = resolved(report_of(current(), "attribute"), current())
    told_elsewhere = {"signature", "rate", "rule"}
    assert named - {"answers", "mechanisms"} == {one.name for one in fields(Attribution)} - told_elsewhere
    assert named <= set(whole["properties"])


def test_a_name_that_goes_is_seen() -> None:
    (one,) = resolved(report_of(PUBLISHED, "attribute"), PUBLISHED)
    other = {"x": {"type": "string"}, "partial": {"type": ["boolean", "string"]}, "status": {"enum": ["new"]}}
    assert list(narrowed({**one, "properties": other}, report_of(current(), "attribute"), "r")) == [
        "r.x: gone",
        "r.partial: {'string'} is no longer a type of it",
        "r.status: {'new'} is no longer a value of it",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterSession(Session):
    """A session that says more."""

    mood: Reading = Reading.GREEN  # of the session


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterReport(AttributeReport):
    """A report that says more."""

    session: LaterSession
    weather: Mapping[str, float]


def test_a_field_that_is_added_to_a_class_is_in_document_and_schema() -> None:
    whole = SAMPLES["loud"]
    session = LaterSession(**{name: getattr(whole.session, name) for name in Session.__slots__})
    names = (name for name in AttributeReport.__slots__ if name != "session")
    later = LaterReport(**{name: getattr(whole, name) for name in names}, session=session, weather={"rain": 0.5})
    known = forms({})
    form = replace(known[AttributeReport], flat={**known[AttributeReport].flat, "session": LaterSession})
    known = {**known, LaterReport: form, LaterSession: known[Session]}
    document = Writer(known).document(later)
    assert isinstance(document, dict)
    assert (document["mood"], document["weather"]) == ("green", {"rain": 0.5})
    definitions = script().Definitions(known)
    schema = {**definitions.of(LaterReport), "$defs": definitions.found}
    (report,) = resolved(schema, schema)
    assert report["properties"]["mood"] == {"description": "of the session", "$ref": "#/$defs/Reading"}
    assert {"mood", "weather"} <= set(report["required"])
    Draft202012Validator(schema).validate(document)


def test_what_is_not_there_is_null_under_each_of_its_names() -> None:
    document = Writer(forms({})).document(changed(SAMPLES["loud"], next=None, invocation=None))
    assert isinstance(document, dict)
    names = ("blocked_by", "hint", "next", "next_purpose", "invocation")
    assert [document[name] for name in names] == [None] * len(names)
