"""All reports that the renderers are looked at with.

Look at one: `.venv/bin/python -m tests.render.samples NAME [WIDTH]`. Write the golden files anew, after a look:
`.venv/bin/python -m tests.render.samples --golden`.
"""

import sys
from pathlib import Path

from pooldiag.render import Page, render
from pooldiag.render.facts import Report
from tests.render.attribute_samples import SAMPLES
from tests.render.bisect_samples import BISECTIONS, ORDERS
from tests.render.census_samples import REPORTS

EVERY: dict[str, Report] = {**SAMPLES, **BISECTIONS, **ORDERS, **REPORTS}

GOLDEN = Path(__file__).parent / "golden"
WIDE = ("loud", "orders-mixed", "census-several")  # with what there is room for beside the counts
LOOKS = (*((name, 80) for name in EVERY), *((name, 140) for name in WIDE))
MARKDOWN = ("loud", "bisect-found", "orders-mixed", "census-several")


def plain(name: str, width: int) -> str:
    """A sample as it is printed without color."""
    return render(EVERY[name], form="table", page=Page(width=width))


def golden_markdown(name: str) -> str:
    """A sample as Markdown."""
    return render(EVERY[name], form="markdown", page=Page())


def write_golden_files() -> None:
    for old in GOLDEN.iterdir():
        old.unlink()
    for name, width in LOOKS:
        (GOLDEN / f"{name}-{width}.txt").write_text(plain(name, width), encoding="utf-8")
    for name in MARKDOWN:
        (GOLDEN / f"{name}.md").write_text(golden_markdown(name), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--golden":
        write_golden_files()
    else:
        shown_width = int(sys.argv[2]) if sys.argv[2:] else 80
        page = Page(width=shown_width, color=sys.stdout.isatty())
        sys.stdout.write(render(EVERY[sys.argv[1]], form="table", page=page))
