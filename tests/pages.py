"""The pages that users read: README, CONTRIBUTING and docs/, taken apart for the tests."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
GUIDES = tuple(sorted((ROOT / "docs").glob("*.md")))
PAGES = (README, ROOT / "CONTRIBUTING.md", *GUIDES)
LINKING = (*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "examples").glob("*/README.md")))

_BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block of code, and the line of its fence."""

    page: Path
    line: int
    language: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a page shows below a command; `place` is the page and the line of its block."""

    place: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, and the configuration above it on its page."""

    text: str
    config: str | None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page=page, line=line, language=found[1], text=found[2])


def every_block(language: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.language == language]


@cache
def commands() -> dict[Command, list[Shown]]:
    """Return each command of the `console` blocks once, with all places that show it."""
    places: dict[Command, list[Shown]] = {}
    for page in PAGES:
        config = None
        for block in blocks(page):
            config = block.text if block.language == "toml" else config
            place = f"{page.relative_to(ROOT)}:{block.line}"
            for text, output in _typed(block):
                places.setdefault(Command(text=text, config=config), []).append(Shown(place=place, output=output))
    return places


def _typed(block: Block) -> Iterator[tuple[str, str]]:
    if block.language == "console":
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            text, _, output = part.partition("\n")
            yield text, output


def config_name(config: str) -> str:
    """Return the file that such a configuration stands in."""
    return "pyproject.toml" if "[tool." in config else "pooldiag.toml"


def links(page: Path) -> list[str]:
    """Return what a page links to within the checkout."""
    found = _LINK.findall(_BLOCK.sub("", page.read_text()))
    return [link for link in found if not link.startswith(("https://", "http://"))]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them of its headings."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_BLOCK.sub("", page.read_text())):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found
