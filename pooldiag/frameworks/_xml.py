"""XML that another program writes while we read: whole, cut at any byte, or damaged by the program under test."""

import codecs
import re
from collections.abc import Callable, Mapping
from xml.parsers import expat

from pooldiag.frameworks._text import escaped

TEXT_LIMIT = 4096  # characters kept of one element's text: an assertion can print any amount
# What XML 1.0 forbids, and (as lone surrogates, by `surrogateescape`) bytes that are not UTF-8.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\udc80-\udcff\ufffe\uffff]")


class XmlElements:
    r"""Calls for each start tag and each end tag, alike however the bytes are cut.

    `began` takes the names from the root to the element, and its attributes; `ended` the names, and the head of what
    stood since the last tag. Characters that XML forbids are written out as `\xED`. From the first error on, the rest
    is ignored; `problem` then says what it was.
    """

    def __init__(
        self,
        *,
        began: Callable[[tuple[str, ...], Mapping[str, str]], None],
        ended: Callable[[tuple[str, ...], str], None],
    ) -> None:
        self.problem: str | None = None
        self._began = began
        self._ended = ended
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""
        self._path: tuple[str, ...] = ()
        self._text = ""
        self._parser = expat.ParserCreate()
        # Every tag is reported at once, where that is a choice (from expat 2.6 on).
        if at_once := getattr(self._parser, "SetReparseDeferralEnabled", None):
            at_once(False)  # noqa: FBT003 -- its own signature  # pragma: no cover -- an older expat has no such choice
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if self.problem is not None:
            return
        # A newer expat may sit on an incomplete tag until much more has come: it only gets text that ends with one.
        text = self._held + _FORBIDDEN.sub(escaped, self._decoder.decode(data))
        complete = text.rfind(">") + 1
        self._held = text[complete:]
        try:
            self._parser.Parse(text[:complete])
        except expat.ExpatError as error:
            self.problem = str(error)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path = (*self._path, name)
        self._text = ""
        self._began(self._path, attributes)

    def _end(self, _: str) -> None:
        self._ended(self._path, self._text)
        self._path = self._path[:-1]
        self._text = ""

    def _characters(self, text: str) -> None:
        if len(self._text) < TEXT_LIMIT:
            self._text = (self._text + text)[:TEXT_LIMIT]

    def _doctype(self, *_: object) -> None:
        """Stop at a DOCTYPE: no test report has one, and entities could swell without bound."""
        raise expat.ExpatError("the report has a DOCTYPE")
