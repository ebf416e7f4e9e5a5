"""The rooms of the package, who may import whom, and that a name stands for one thing: read from the source alone."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

PACKAGE = Path(__file__).parent.parent / "pooldiag"

# One row a room: the rooms it may import beside itself. A name that is not here may not stand in the package.
ROOMS: dict[str, frozenset[str]] = {
    "model/": frozenset(),
    "errors.py": frozenset(),
    "ports.py": frozenset({"model"}),
    "census/": frozenset({"model", "errors"}),
    "frameworks/": frozenset({"model", "errors"}),
    "profiles/": frozenset({"model", "errors", "toml_tables"}),
    "toml_tables.py": frozenset({"model", "errors"}),
    "config/": frozenset({"model", "errors", "toml_tables"}),
    "rates.py": frozenset({"model"}),
    "reduce/": frozenset({"model", "errors", "rates"}),
    "attribution/": frozenset({"model", "errors", "rates"}),
    "execute/": frozenset({"model", "errors", "ports"}),
    "diagnose/": frozenset({"model", "errors", "ports", "frameworks", "rates", "reduce", "attribution", "census"}),
    "render/": frozenset({"model"}),
    "cli/": frozenset(
        {
            "model",
            "errors",
            "ports",
            "census",
            "frameworks",
            "profiles",
            "config",
            "rates",
            "reduce",
            "attribution",
            "execute",
            "diagnose",
            "render",
            "toml_tables",
            "",  # the package itself, for its version
        }
    ),
    "__init__.py": frozenset({"census"}),
    "__main__.py": frozenset({"cli"}),
}
ROOMS_THAT_MUST_EXIST = frozenset({"model/", "errors.py", "__init__.py", "__main__.py"})
OTHER_NAMES = frozenset({"py.typed", "__pycache__/"})

# What has effects, and the rooms that may have them.
ONLY_IN: dict[str, frozenset[str]] = {
    "fcntl": frozenset({"execute", "cli"}),
    "os": frozenset({"execute", "cli"}),
    "shutil": frozenset({"execute", "cli"}),
    "signal": frozenset({"execute", "cli"}),
    "subprocess": frozenset({"execute", "cli"}),
    "tempfile": frozenset({"execute", "cli"}),
    "time": frozenset({"execute", "cli"}),
    "typer": frozenset({"cli"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """A folder in which every file is a choice, so that the folder's `__init__.py` has to name it."""

    folder: str
    suffix: str
    helpers: frozenset[str] = frozenset()  # beside files with a leading underscore


# Tables of commands and of reports: each is a file of the same room, and nobody waits for what another one imports.
IMPORTS_BY_NAME = frozenset({"cli/app.py", "render/reports/__init__.py"})

# One command has a module of its name in each of these rooms. Every other name of a module stands once.
ROOMS_OF_A_COMMAND = frozenset({"cli", "diagnose", "render/reports"})

REGISTRIES = (
    Registry(folder="frameworks", suffix=".py", helpers=frozenset({"base"})),
    Registry(folder="profiles", suffix=".toml"),
    Registry(folder="census/files", suffix=".py", helpers=frozenset({"format"})),
    Registry(folder="render", suffix=".py", helpers=frozenset({"blocks", "facts", "run_json", "run_words"})),
    Registry(folder="render/reports", suffix=".py"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import in a module's source; `module` is the most that is known of what it names."""

    module: str
    line: int
    relative: bool = False
    dynamic: bool = False


def imports_in(tree: ast.Module) -> Iterator[Import]:
    """Yield every import, wherever it stands: in a function or under TYPE_CHECKING it ties the rooms as much."""
    importers = {"__import__", "import_module"} | aliases_of_import_module(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (Import(module=alias.name, line=node.lineno) for alias in node.names)
            case ast.ImportFrom(level=0, module=str(module)):
                # `from pooldiag import census` names a room only in its second half.
                yield from (Import(module=f"{module}.{alias.name}", line=node.lineno) for alias in node.names)
            case ast.ImportFrom():
                yield Import(module=node.module or "", line=node.lineno, relative=True)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in importers:
                yield Import(module=literal_argument(node), line=node.lineno, dynamic=True)


def aliases_of_import_module(tree: ast.Module) -> set[str]:
    """Return the other names under which a module imported `importlib.import_module`."""
    return {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "importlib"
        for alias in node.names
        if alias.name == "import_module" and alias.asname is not None
    }


def literal_argument(call: ast.Call) -> str:
    """Return the module name that a dynamic import spells out, or an empty string."""
    match [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "name")]:
        case [ast.Constant(value=str(module)), *_]:
            return module
    return ""


def objections(package: Path) -> list[str]:
    """Return what breaks the rules in a package, one line each."""
    unnamed = (line for registry in REGISTRIES for line in unnamed_entries(package, registry))
    return [*misplaced_names(package), *forbidden_imports(package), *unnamed]


def forbidden_imports(package: Path) -> Iterator[str]:
    """Yield the imports that a module's room does not allow."""
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package)
        room = where.parts[0].removesuffix(".py")
        for imported in imports_in(ast.parse(path.read_bytes(), filename=str(path))):
            if imported.dynamic and not imported.module and str(where) in IMPORTS_BY_NAME:
                continue
            if problem := objection_to(imported, room):
                yield f"{where}:{imported.line}: {problem}"


def misplaced_names(package: Path) -> Iterator[str]:
    """Yield what stands in the package and is not a room, and the rooms that have to exist and do not."""
    names = {path.name + "/" * path.is_dir() for path in package.iterdir()}
    for name in sorted(names - ROOMS.keys() - OTHER_NAMES):
        yield f"{name}: no room of this name"
    for name in sorted(ROOMS_THAT_MUST_EXIST - names):
        yield f"{name}: missing"


def objection_to(imported: Import, room: str) -> str | None:
    """Say why a room may not import this, or return None."""
    if imported.relative:
        return "relative import"
    top, _, rest = imported.module.partition(".")
    if imported.dynamic and top in {"", "pooldiag"}:  # "" may be anything, our own modules too
        return f"dynamic import of {imported.module or 'a module that is not spelled out'}"
    if room not in ONLY_IN.get(top, {room}):
        return f"{top} may be imported only in {' and '.join(sorted(ONLY_IN[top]))}"
    if top == "pooldiag" and room_named(rest) not in {room} | may_import(room):
        return f"{room} may not import {imported.module}"
    return None


def room_named(rest: str) -> str:
    """Return the room in what follows `pooldiag.`; an empty string for `__version__` and for nothing."""
    name = rest.partition(".")[0]
    return "" if name == "__version__" else name


def may_import(room: str) -> frozenset[str]:
    """Look a room up by the name that an import has for it; an unknown one may import nothing."""
    return ROOMS.get(f"{room}/") or ROOMS.get(f"{room}.py") or frozenset()


def unnamed_entries(package: Path, registry: Registry) -> Iterator[str]:
    """Yield the files of a registry's folder that its `__init__.py` neither imports nor holds as a string."""
    folder = package / registry.folder
    if not folder.is_dir():
        return
    source = folder / "__init__.py"
    named = names_in(ast.parse(source.read_bytes())) if source.exists() else set()
    for path in sorted(folder.glob(f"*{registry.suffix}")):
        if path.stem.startswith("_") or path.stem in registry.helpers:
            continue
        if not {path.stem, path.name} & named:
            yield f"{registry.folder}/{path.name}: not named in {registry.folder}/__init__.py"


def names_in(tree: ast.Module) -> set[str]:
    """Return the last parts of all imports, their modules', and all strings of a module."""
    strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return strings | {part for imported in imports_in(tree) for part in imported.module.split(".")}


def doubled_names(package: Path) -> dict[str, list[str]]:
    """Return the names that stand for two things, and where they do; a leading underscore makes no difference."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package)
        if not path.stem.startswith("__"):
            found[f"module {path.stem.lstrip('_')}"].append(str(where))
        for name, line in types_in(ast.parse(path.read_bytes(), filename=str(path))):
            found[f"type {name.lstrip('_')}"].append(f"{where}:{line}")
    return {name: places for name, places in found.items() if len(places) > 1 and not of_one_command(places)}


def types_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the classes and the aliases of types that a module defines, wherever they stand, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if re.fullmatch("_*[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*", name):  # a constant has capitals alone
                    yield name, node.lineno


def of_one_command(places: list[str]) -> bool:
    """Say whether modules of one name are those of a command, at most one in each of the rooms that it has."""
    rooms = [place.rpartition("/")[0] for place in places if place.endswith(".py")]
    return len(rooms) == len(set(rooms)) == len(places) and "cli" in rooms and ROOMS_OF_A_COMMAND.issuperset(rooms)


def a_package(folder: Path, **modules: str) -> Path:
    """Write a package that breaks no rule, then the given modules (`a__b` is `a/b.py`)."""
    clean = {
        "__init__": '__version__ = "1"',
        "__main__": "from pooldiag.cli import main",
        "errors": "",
        "model__facts": "",
        "render____init__": "from pooldiag.render import table",
    }
    for name, source in {**clean, **modules}.items():
        parts = [name] if name in {"__init__", "__main__"} else name.split("__", 1)
        path = folder.joinpath(*parts).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(source), encoding="utf-8")
    return folder


def test_every_import_keeps_to_the_table_of_rooms() -> None:
    assert objections(PACKAGE) == []


def test_a_package_that_keeps_to_the_table_is_not_objected_to(tmp_path: Path) -> None:
    package = a_package(
        tmp_path,
        model__more="from pooldiag.model import facts\nimport enum",
        ports="import pooldiag.model.facts as facts",
        execute__lock="import os.path, fcntl\nfrom pooldiag import errors, model, ports",
        cli__app="import typer\nfrom pooldiag import __version__, diagnose\nfrom pooldiag.render.table import render",
        census__device="from importlib import import_module\nimport_module('cupy')",
    )
    (package / "py.typed").touch()
    assert objections(package) == []


@pytest.mark.parametrize(
    ("module", "source", "objection"),
    [
        ("model__arm", "import pooldiag.errors", "model/arm.py:1: model may not import pooldiag.errors"),
        ("census__count", "from pooldiag import render", "census/count.py:1: census may not import pooldiag.render"),
        (
            "render__table",
            "from pooldiag.errors import E",
            "render/table.py:1: render may not import pooldiag.errors.E",
        ),
        ("ports", "import enum, pooldiag.cli as c", "ports.py:1: ports may not import pooldiag.cli"),
        ("toml_tables", "from pooldiag import *", "toml_tables.py:1: toml_tables may not import pooldiag.*"),
        ("toml_tables", "import pooldiag", "toml_tables.py:1: toml_tables may not import pooldiag"),
        (
            "toml_tables",
            "from pooldiag import __version__",
            "toml_tables.py:1: toml_tables may not import pooldiag.__version__",
        ),
        ("__init__", "import pooldiag.model", "__init__.py:1: __init__ may not import pooldiag.model"),
        ("__main__", "import pooldiag.model", "__main__.py:1: __main__ may not import pooldiag.model"),
        ("errors", "from . import model", "errors.py:1: relative import"),
        ("cli__app", "from ..model import arm", "cli/app.py:1: relative import"),
        ("census__io", "import os.path", "census/io.py:1: os may be imported only in cli and execute"),
        (
            "diagnose__plan",
            "from time import sleep",
            "diagnose/plan.py:1: time may be imported only in cli and execute",
        ),
        ("execute__app", "import typer", "execute/app.py:1: typer may be imported only in cli"),
        ("model__lazy", "def f():\n    import pooldiag.cli", "model/lazy.py:2: model may not import pooldiag.cli"),
        (
            "model__hints",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pooldiag.cli import App",
            "model/hints.py:3: model may not import pooldiag.cli.App",
        ),
        ("cli__a", "__import__('pooldiag.model')", "cli/a.py:1: dynamic import of pooldiag.model"),
        (
            "cli__a",
            "import importlib\nimportlib.import_module('pooldiag.x')",
            "cli/a.py:2: dynamic import of pooldiag.x",
        ),
        (
            "cli__a",
            "from importlib import import_module as load\nload(name='pooldiag')",
            "cli/a.py:2: dynamic import of pooldiag",
        ),
        ("cli__a", "__import__(name)", "cli/a.py:1: dynamic import of a module that is not spelled out"),
        ("reduce__a", "__import__('signal')", "reduce/a.py:1: signal may be imported only in cli and execute"),
        ("helpers__a", "", "helpers/: no room of this name"),
        ("utilities", "", "utilities.py: no room of this name"),
        ("render__html", "", "render/html.py: not named in render/__init__.py"),
        ("frameworks__gtest", "", "frameworks/gtest.py: not named in frameworks/__init__.py"),
    ],
)
def test_a_package_that_breaks_the_table_is_objected_to(
    tmp_path: Path, module: str, source: str, objection: str
) -> None:
    assert objections(a_package(tmp_path, **{module: source})) == [objection]


def test_a_room_that_every_other_needs_must_exist(tmp_path: Path) -> None:
    (a_package(tmp_path) / "errors.py").unlink()
    assert objections(tmp_path) == ["errors.py: missing"]


def test_a_profile_that_the_registry_does_not_name_is_objected_to(tmp_path: Path) -> None:
    package = a_package(tmp_path, profiles____init__="PROFILES = ('vt.toml', 'glibc')")
    for name in ("vt", "glibc", "jemalloc"):
        (package / "profiles" / f"{name}.toml").touch()
    assert objections(package) == ["profiles/jemalloc.toml: not named in profiles/__init__.py"]


MAP = PACKAGE.parent / "docs" / "architecture.md"
GUIDE = PACKAGE.parent / "CONTRIBUTING.md"


def rooms_of_the_map() -> dict[str, frozenset[str]]:
    """The table of rooms in the documentation, as `ROOMS` has it."""
    table = MAP.read_text().partition("## Rooms")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines() if "|" in line][2:]
    return {
        room.strip("`"): frozenset(name.strip("`").removesuffix("/").removesuffix(".py") for name in used.split(", "))
        for room, _, used in rows
    }


def test_the_map_has_the_rooms_that_there_are() -> None:
    described = rooms_of_the_map()
    wanted = {room: allowed or frozenset({"nothing"}) for room, allowed in ROOMS.items() if "__" not in room}
    assert described.pop("cli/") == frozenset({"every room"})
    del wanted["cli/"]
    assert described == wanted


def paths_named_in(page: Path) -> set[str]:
    """Paths of source files that a page names: from the checkout on, or from the package on."""
    return set(re.findall(r"`([a-z_]+/(?:[\w.-]+/)*[\w.-]*)`", page.read_text()))


@pytest.mark.parametrize("page", [MAP, GUIDE], ids=lambda page: page.name)
def test_a_page_names_files_that_are_there(page: Path) -> None:
    named = {path for path in paths_named_in(page) if not path.startswith("build/")}  # what is built comes later
    assert named
    assert [path for path in named if not any((root / path).exists() for root in (PACKAGE, PACKAGE.parent))] == []


def test_the_words_of_the_map_are_types() -> None:
    words = MAP.read_text().partition("## The words")[2].partition("\n## ")[0]
    named = {word for line in words.splitlines() for word in re.findall(r"`([A-Z]\w+)`", line.split(" | ")[0])}
    types = {name for path in PACKAGE.rglob("*.py") for name, _ in types_in(ast.parse(path.read_text()))}
    assert named
    assert named <= types


RECIPES = {
    "A role, and an arm": ("Role", "OWN_ROLES", "COLUMNS", "FAULTS", "ASKED_FIRST", "PROBES_OF_A_GREEN"),
    "A property of an arm": ("PropertyRule", "PROPERTIES", "Circumstances", "circumstances", "FAULTS", "excluded_by"),
    "An answer": ("AnswerRule", "ANSWERS", "covers", "FAULTS", "STEADY"),
    "A fault, and a mechanism": ("FAULTS", "FaultKind", "MECHANISM_OF", "Mechanism", "MECHANISMS"),
    "A witness: a fact or a hint": ("WitnessRule", "WITNESSES", "Scene", "needs", "SCENES"),
}
"""What the recipes of a diagnosis must speak of: the tables that whoever follows them writes into."""


def names_of_code(page: Path) -> set[str]:
    """Names of classes and of tables that a page has in its text, `Role` or `WitnessRule(...)`."""
    return set(re.findall(r"`([A-Z][A-Z_]+[A-Z]|[A-Z][a-z]+(?:[A-Z][a-z]+)*)(?:\(\.\.\.\))?`", page.read_text()))


def names_defined(*folders: Path) -> set[str]:
    """What modules, classes and functions there define: classes, functions, and all that is assigned to."""
    trees = (ast.parse(path.read_text()) for folder in folders for path in folder.rglob("*.py"))
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


@pytest.mark.parametrize("page", [MAP, GUIDE], ids=lambda page: page.name)
def test_a_page_names_classes_and_tables_that_there_are(page: Path) -> None:
    named = {name for name in names_of_code(page) if name != "ROLE"}  # that stands for any of them
    assert named
    assert named <= names_defined(PACKAGE, PACKAGE.parent / "tests")


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_speaks_of_the_tables_that_it_takes(recipe: str) -> None:
    text = GUIDE.read_text().partition(f"\n### {recipe}\n")[2].partition("\n### ")[0]
    assert text
    named = {name for name in RECIPES[recipe] if re.search(rf"`{name}(?:\(\.\.\.\))?`", text)}
    assert named == {*RECIPES[recipe]}
    assert named <= names_defined(PACKAGE, PACKAGE.parent / "tests")


def values_of(keyword: str, module: str) -> set[str]:
    """The strings that a module gives for a keyword, `id="race"`."""
    tree = ast.parse((PACKAGE / module).read_text())
    given = (
        one.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for one in node.keywords
        if one.arg == keyword
    )
    return {value.value for value in given if isinstance(value, ast.Constant) and isinstance(value.value, str)}


@pytest.mark.parametrize(
    ("page", "keyword", "module"),
    [
        ("verdicts.md", "id", "attribution/answers.py"),
        ("verdicts.md", "id", "attribution/mechanisms.py"),
        ("profiles.md", "name", "model/arm_properties.py"),
    ],
)
def test_a_page_has_a_row_for_each_entry_of_a_table(page: str, keyword: str, module: str) -> None:
    rows = [line for line in (MAP.parent / page).read_text().splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w-]+)`", " ".join(row.split(" | ")[:2]))}
    assert values_of(keyword, module)
    assert values_of(keyword, module) - named == set()


def test_a_name_stands_for_one_thing() -> None:
    assert doubled_names(PACKAGE) == {}


def test_a_command_has_a_module_in_each_of_its_rooms(tmp_path: Path) -> None:
    package = a_package(tmp_path, cli__orders="", diagnose__orders="class A: ...", execute__lock="class B: ...\nX = 1")
    for folder in ("render", "model", "render/reports"):
        (package / folder).mkdir(exist_ok=True)
        (package / folder / "__init__.py").touch()
    (package / "render" / "reports" / "orders.py").touch()
    assert doubled_names(package) == {}


@pytest.mark.parametrize(
    ("modules", "doubled"),
    [
        ({"reduce___facts": ""}, {"module facts": ["model/facts.py", "reduce/_facts.py"]}),
        ({"diagnose__orders": "", "render__orders": ""}, {"module orders": ["diagnose/orders.py", "render/orders.py"]}),
        (
            {"diagnose__orders": "", "render__reports/orders": "", "render__reports/__init__": "import orders"},
            {"module orders": ["diagnose/orders.py", "render/reports/orders.py"]},
        ),
        ({"cli__orders": "", "model__orders": ""}, {"module orders": ["cli/orders.py", "model/orders.py"]}),
        ({"cli__orders": "", "cli___orders": ""}, {"module orders": ["cli/_orders.py", "cli/orders.py"]}),
        (
            {"reduce__a": "class Step: ...", "census__b": "\ndef f():\n    class _Step: ..."},
            {"type Step": ["census/b.py:3", "reduce/a.py:1"]},
        ),
        (
            {"cli__orders": "class Plan: ...", "diagnose__orders": "Plan: TypeAlias = int"},
            {"type Plan": ["cli/orders.py:1", "diagnose/orders.py:1"]},
        ),
        ({"reduce__a": "Step = int\nclass Step: ..."}, {"type Step": ["reduce/a.py:1", "reduce/a.py:2"]}),
    ],
)
def test_a_name_that_stands_for_two_things_is_found(
    tmp_path: Path, modules: dict[str, str], doubled: dict[str, list[str]]
) -> None:
    assert doubled_names(a_package(tmp_path, **modules)) == doubled
