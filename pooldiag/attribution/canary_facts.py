"""What a canary saw under an arm, against what it must see there, and what it sees without any arm."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pooldiag.model.arms import Acted, ArmProperty, CanaryRule, Role

CanaryFacts = Mapping[tuple[str, str], tuple[str, ...]]
"""Place (`blocks of 200 bytes`) and fact (`handed`) to the values that were seen."""

_LINE = re.compile(r"(blocks of \d+ bytes[a-z ]*): ((?:\w+=\S+ ?)+)")
_BLOCKS = "blocks of "
_SECOND = " in a second thread"
_WORDS = {
    ("handed", "stale"): "keep stale content",
    ("handed", "0x00"): "come zeroed",
    ("handed", "mixed"): "come with some other content",
    ("fresh", "0x00"): "come zeroed the first time",
    ("fresh", "mixed"): "come with some content the first time",
    ("freed", "stale"): "keep their content when freed",
    ("freed", "unmapped"): "go back to the system when freed",
    ("again", "never"): "are not handed out again",
    ("again", "sometimes"): "are handed out again at times",
    ("again", "always"): "are handed out again",
}
_VERBS = {"handed": "come filled with", "fresh": "come filled, the first time, with", "freed": "are overwritten with"}


def observed(lines: Iterable[bytes]) -> CanaryFacts:
    """Read what a canary printed."""
    matches = (_LINE.fullmatch(line.decode(errors="replace").strip()) for line in lines)
    return {
        (match[1], fact): tuple(values.split("+"))
        for match in matches
        if match is not None
        for fact, _, values in (word.partition("=") for word in match[2].split())
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    """One place and fact under an arm."""

    place: str
    fact: str
    values: tuple[str, ...]
    right: bool
    already: bool  # right without the arm, too: it tells nothing of the arm


def judge(rule: CanaryRule, under_arm: CanaryFacts, without: CanaryFacts) -> tuple[Acted, str] | None:
    """Say whether an arm acted; None when what the canary saw settles nothing, or it saw nothing."""
    checks = tuple(_checks(rule, under_arm, without))
    telling = [check for check in checks if not check.already]
    if not telling:
        return None
    wrong = [check for check in checks if not check.right]
    if not wrong:
        return Acted.PROVEN, f"canary: {_in_words(checks, telling)}"
    partly = any(check.right for check in telling)
    advice = rule.partly if partly else rule.inert
    first = [check for check in wrong if check.fact == wrong[0].fact]
    words = f"{'partly inert: ' if partly else ''}{_in_words(checks, first)}"
    return Acted.INERT, words if advice is None else f"{words}: {advice}"


def properties_seen(role: Role, under_arm: CanaryFacts) -> tuple[ArmProperty, ...]:
    """Return what a canary establishes of an arm that acted: whether a released address comes back at once.

    One that came back in no round may come back in the next one, so then nothing is known.
    """
    again = [place for (place, fact), values in under_arm.items() if fact == "again" and values != ("never",)]
    if role is not Role.BYPASS or not again:
        return ()
    everywhere = len({place for place, _ in under_arm})
    source = f"seen by the canary on this machine: {_places(again, everywhere)} come back at their address"
    return (ArmProperty(name="addresses", value="returned", source=source),)


def _checks(rule: CanaryRule, under_arm: CanaryFacts, without: CanaryFacts) -> Iterator[_Check]:
    for fact, allowed in rule.expects:
        for place, other in under_arm:
            if other == fact and (place, fact) in without:
                values = under_arm[place, fact]
                yield _Check(
                    place=place,
                    fact=fact,
                    values=values,
                    right=_right(values, allowed),
                    already=_right(without[place, fact], allowed),
                )


def _right(values: Iterable[str], allowed: Sequence[str]) -> bool:
    """Say whether all values are allowed; `fill` allows every byte but zero."""
    filled = "fill" in allowed
    return all(value in allowed or (filled and value.startswith("0x") and value != "0x00") for value in values)


def _in_words(checks: Sequence[_Check], some: Sequence[_Check]) -> str:
    """Say in words what was seen, each observation once; where all blocks show it, say so."""
    found: dict[str, list[str]] = {}
    for check in some:
        fact, verb = check.fact, _VERBS.get(check.fact, check.fact)
        words = " or ".join(_WORDS.get((fact, value)) or f"{verb} {value}" for value in check.values)
        found.setdefault(words, []).append(check.place)
    everywhere = len({check.place for check in checks})
    return ", ".join(f"{_places(places, everywhere)} {words}" for words, places in found.items())


def _places(places: Sequence[str], everywhere: int) -> str:
    """Name places in short: a second thread is left out where the first one is the same."""
    if len(places) == everywhere:
        return "all blocks"
    named = [
        place for place in places if place.removesuffix(_SECOND) == place or place.removesuffix(_SECOND) not in places
    ]
    return _BLOCKS + " and ".join(place.removeprefix(_BLOCKS) for place in named)
