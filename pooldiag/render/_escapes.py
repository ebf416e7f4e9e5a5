"""Outside text made safe: nothing of it reaches a terminal as anything but text."""

import re
import unicodedata

_UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, bidi and other format characters, surrogates, breaks
_RAW_BYTES = range(0xDC80, 0xDD00)  # how Python keeps a byte that is not UTF-8 (surrogateescape)
_LAST_C0 = 0x7F
_LAST_OF_BMP = 0xFFFF
_ORDINARY = re.compile(r"[ -~]*")


def visible(text: str, *, unicode: bool = True) -> str:
    r"""Return `text` with every character escaped that a terminal would obey or hide.

    Controls and bytes that are not UTF-8 become `\xNN`, all others `\uNNNN`. Without `unicode` only ASCII
    is left. A backslash stays as it is.
    """
    if _ORDINARY.fullmatch(text):
        return text
    return "".join(character if _is_safe(character, unicode=unicode) else _escape(character) for character in text)


def shell_line(command: str, *, unicode: bool = True) -> str:
    """Return a command line, as shlex.join wrote it, that can be shown and still means the same to a POSIX shell.

    A character that `visible` would escape stands within single quotes there; it becomes a printf of its
    bytes. A newline stays: a command substitution would drop it.
    """
    return "".join(
        character if character == "\n" or _is_safe(character, unicode=unicode) else _printf(character)
        for character in command
    )


def without_surrogates(text: str) -> str:
    """Return `text` as strict readers of UTF-8 take it: lone surrogates escaped, all else as it is."""
    if text.isascii():
        return text
    return "".join(_escape(character) if unicodedata.category(character) == "Cs" else character for character in text)


def _is_safe(character: str, *, unicode: bool) -> bool:
    if not unicode and ord(character) > _LAST_C0:
        return False
    return unicodedata.category(character) not in _UNSAFE_CATEGORIES


def _escape(character: str) -> str:
    code = ord(character)
    if code in _RAW_BYTES:
        return f"\\x{code - 0xDC00:02x}"
    if code <= _LAST_C0:
        return f"\\x{code:02x}"
    # A C1 control is \u009b, so that it is not taken for the byte \x9b.
    return f"\\u{code:04x}" if code <= _LAST_OF_BMP else f"\\U{code:08x}"


def _printf(character: str) -> str:
    errors = "surrogateescape" if ord(character) in _RAW_BYTES else "surrogatepass"
    octal = "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", errors))
    return f"'\"$(printf '{octal}')\"'"
