"""Text that another program wrote."""

import re

MESSAGE_LIMIT = 300
UNPRINTABLE = re.compile("[\x00-\x1f\x7f\udc80-\udcff]")  # a lone surrogate is a byte that is not UTF-8


def clipped(text: str) -> str:
    """Cut a message that is too long to be shown."""
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"


def escaped(found: re.Match[str]) -> str:
    r"""Write characters out as their bytes, `\xED`; a lone surrogate is a byte, as `surrogateescape` has it."""
    raw = found[0].encode("utf-8", "surrogateescape")
    return "".join(f"\\x{byte:02X}" for byte in raw)
