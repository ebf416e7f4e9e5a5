"""Four tests of prices, one of which leaves the rounding mode of the whole process changed behind it."""

from decimal import ROUND_DOWN, Decimal, getcontext

CENT = Decimal("0.01")


def test_a_price_has_two_places() -> None:
    assert Decimal("3.5").quantize(CENT) == Decimal("3.50")


def test_a_discount_is_rounded_down() -> None:
    getcontext().rounding = ROUND_DOWN
    assert Decimal("0.999").quantize(CENT) == Decimal("0.99")


def test_a_sum_keeps_its_cents() -> None:
    assert sum([Decimal("0.10")] * 3) == Decimal("0.30")


def test_tax_is_rounded_to_the_nearest_cent() -> None:
    assert Decimal("1.067").quantize(CENT) == Decimal("1.07")
