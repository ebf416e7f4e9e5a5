"""Properties of arms as data: what of each role is asked beyond its name, and which answers there are.

Two arms of one role differ in them, and with them what their runs say. Where nobody knows, a property is absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pooldiag.model.arms import Arm, ArmProperty, Role

NOWHERE = "none"
"""What `nan_in` says of a fill that is a NaN of no type."""

FLOATS_WITH_NAN = ("f64", "f32", "f16", "bf16", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0")
"""Element types by the names that the census has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyRule:
    """One property of a role, and the answers it takes: one of `values`, or `many` of them; none: a number of bytes."""

    name: str
    means: str
    values: tuple[str, ...] = ()
    many: bool = False

    @property
    def expected(self) -> str:
        """Say which values there are."""
        if not self.values:
            return "a whole number of bytes, 1 or more"
        if self.many:
            one = f", or {NOWHERE}" if self.name == "nan_in" else ""
            return f"some of {', '.join(self.values)}, with commas between{one}"
        return f"one of {', '.join(self.values)}"

    def read(self, text: str) -> str | None:
        """Return a value as it is kept, without blanks; None for one that is not possible."""
        words = tuple(word.strip() for word in text.split(","))
        if not self.values:
            number = words[0]
            return str(int(number)) if _is_size(number) and len(words) == 1 else None
        if self.name == "nan_in" and words == (NOWHERE,):
            return NOWHERE
        possible = all(word in self.values for word in words) and len(set(words)) == len(words)
        return ",".join(words) if possible and (self.many or len(words) == 1) else None


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < len(str(2**63)) and int(text) > 0


_YES_NO = ("yes", "no")
_WAITS = PropertyRule(name="waits", means="giving a block back may wait for the device", values=_YES_NO)
_FILL = (
    PropertyRule(name="fills", means="how much of a block its fill reaches", values=("requested", "class", "block")),
    PropertyRule(name="fills_on", means="when it fills", values=("hand-out", "release", "both")),
    PropertyRule(name="ordered", means="the fill is done before the user's first work on any stream", values=_YES_NO),
)

PROPERTIES: Mapping[Role, tuple[PropertyRule, ...]] = {
    Role.BYPASS: (
        PropertyRule(
            name="addresses", means="whether a released address comes back at once", values=("apart", "returned")
        ),
        _WAITS,
    ),
    Role.EXACT: (PropertyRule(name="rounds_to", means="to what it still rounds sizes; 1 is exact"),),
    Role.PER_CASE: (_WAITS,),
    Role.POISON_N: (
        *_FILL,
        PropertyRule(name="nan_in", means="in which types its fill is a NaN", values=FLOATS_WITH_NAN, many=True),
    ),
    Role.POISON_0: _FILL,
    Role.SERIAL: (
        PropertyRule(
            name="covers", means="what waits for its end", values=("launches", "copies", "graphs", "threads"), many=True
        ),
    ),
    Role.QUARANTINE: (
        PropertyRule(name="unreadable", means="released host memory cannot be read", values=_YES_NO),
        PropertyRule(name="gap", means="unreadable pages are around a block", values=_YES_NO),
    ),
}
"""What can be known of the arms of a role; a role that is not here has no properties."""


def with_properties(arm: Arm, properties: tuple[ArmProperty, ...]) -> tuple[ArmProperty, ...]:
    """Return what is known of an arm when more becomes known: the later of two values stands, in the table's order."""
    known = {one.name: one for one in (*arm.properties, *properties)}
    return tuple(known[rule.name] for rule in PROPERTIES.get(arm.role, ()) if rule.name in known)
