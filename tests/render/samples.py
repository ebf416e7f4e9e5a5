"""All reports that the renderers are looked at with.

Look at one: `.venv/bin/python -m tests.render.samples NAME [WIDTH]`. Write the golden files anew, after a look:
`.venv/bin/python -m tests.render.samples --golden`.
"""

import sys
from pathlib import Path

from pooldiag.render import RENDERERS, Page, Report
from tests.render.attribute_samples import SAMPLES
from tests.render.bisect_samples import BISECTIONS, ORDERS
from tests.render.census_samples import REPORTS

EVERY: dict[str, Report] = {**SAMPLES, **BISECTIONS, **ORDERS, **REPORTS}

GOLDEN = Path(__file__).parent / "golden"
WIDTHS = (80, 140)


def plain(name: str, width: int) -> str:
    """A sample as it is printed without color."""
    return RENDERERS["table"](EVERY[name], Page(width=width))


def write_golden_files() -> None:
    for old in GOLDEN.glob("*.txt"):
        old.unlink()
    for name in EVERY:
        for width in WIDTHS:
            (GOLDEN / f"{name}-{width}.txt").write_text(plain(name, width), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--golden":
        write_golden_files()
    else:
        shown_width = int(sys.argv[2]) if sys.argv[2:] else 80
        page = Page(width=shown_width, color=sys.stdout.isatty())
        sys.stdout.write(RENDERERS["table"](EVERY[sys.argv[1]], page))
