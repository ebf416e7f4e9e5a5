"""Lines of a page: text goes on below where it has no room, and no word is ever broken.

A name is copied as a whole, however narrow the page: a terminal shows a line that is too long in several, and still
copies one.
"""

import re

from rich.cells import cell_len

_NODE = r"[^\s\[]+::[^\s\[]*\[[^\]]*\]\S*"  # a name as pytest makes them: its parameters may have spaces
_WORD = re.compile(rf"\s*(?:{_NODE}|\S+)\s*")


def wrapped(text: str, width: int) -> str:
    """Return a text in lines of so many columns; a word that has no room on any stands on a line of its own."""
    lines, used = [""], 0
    for found in _WORD.finditer(text):
        word = found[0]
        if used and used + cell_len(word.rstrip()) > width:
            lines.append("")
            used = 0
        lines[-1] += word
        used += cell_len(word)
    return "\n".join(line.rstrip() for line in lines)
