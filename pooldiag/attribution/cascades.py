"""Many reds that say the same: what broke at the first of them stays broken for all that follow.

A GPU context that one case poisons fails every later case with one message. Only the first of them has something to
tell: the others would be found to need the first, which is no cause of their own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from pooldiag.attribution.signatures import without_numbers
from pooldiag.model.readings import Cascade, Signature

_MANY = 3  # chosen: two that say the same at two places may well be two

_THROWN = re.compile(
    r"[A-Z_]+\( .* \) threw (.*)", re.DOTALL
)  # doctest: what was checked differs, what is thrown does not
_ASSERTED = re.compile(r"assert|[A-Z_]+\( .* \) is false", re.IGNORECASE | re.DOTALL)

_Words = tuple[str | None, ...]


def cascades(reds: Iterable[Signature], order: Sequence[str]) -> tuple[Cascade, ...]:
    """Group the reds that say the same; `order` are the names of all cases in running order.

    Two reds belong together if kind, signal, message and place are equal: what they call failed at one line. From
    three on the message is enough, wherever they failed, unless it only says what was asserted there: `assert False` at
    another line is another matter. Such a message may still say little (`is red`): a search that follows the first
    looks whether the others need it. Where a red has no message its place says all, and where it has no place either,
    nothing. Numbers and addresses in a message may differ, but in what was asserted: many cases may compare their
    results by one line, and each has its own. Whatever comes first in the order is the first: an
    earlier case cannot follow a later one.
    """
    places = {name: place for place, name in enumerate(reversed(order), 1)}
    found = [red for red in dict.fromkeys(reds) if red.case is not None]
    found.sort(key=lambda red: -places.get(red.case or "", 0))
    return tuple(Cascade(first=group[0], followers=tuple(group[1:])) for group in _groups(found) if group[1:])


def followers(found: Iterable[Cascade]) -> frozenset[Signature]:
    """Return all reds that follow another one."""
    return frozenset(red for cascade in found for red in cascade.followers)


def _groups(reds: Sequence[Signature]) -> Iterator[list[Signature]]:
    """Yield groups of those that say the same: by the message where many share it, else by message and place."""
    by_message = _grouped((_said(red), red) for red in reds)
    for group in by_message.values():
        if len(group) >= _MANY:
            yield group
    many = {red for group in by_message.values() if len(group) >= _MANY for red in group}
    yield from _grouped((_said_at_its_place(red), red) for red in reds if red not in many).values()


def _grouped(pairs: Iterable[tuple[_Words | None, Signature]]) -> dict[_Words, list[Signature]]:
    groups: dict[_Words, list[Signature]] = {}
    for words, red in pairs:
        if words is not None:
            groups.setdefault(words, []).append(red)
    return groups


def _said(red: Signature) -> _Words | None:
    """Return what a red says that may be said wherever something is broken; None where it is about one place."""
    if red.message is None or _ASSERTED.match(red.message):
        return None
    return (red.kind, red.signal, without_numbers(_THROWN.sub(r"exception: \1", red.message)))


def _said_at_its_place(red: Signature) -> _Words | None:
    """Return what a red says, and where; None where nothing is known of it."""
    if red.place is None or not red.place.is_line:
        return None
    message = red.message
    if message is not None and not _ASSERTED.match(message):
        message = without_numbers(message)
    return (red.kind, red.signal, message, red.place.text)
