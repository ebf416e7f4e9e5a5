"""What every framework promises, tried on all entries of the registry."""

from itertools import islice
from pathlib import Path

import pytest

from pooldiag.frameworks import BLACKBOX, FRAMEWORKS, recognise
from pooldiag.frameworks.base import Framework, ListingError
from pooldiag.model.cases import Case, Listing, Order, OrderKind, Selection
from pooldiag.model.outcomes import FrameworkReport

REPORT = Path("/somewhere/report")


@pytest.fixture(params=FRAMEWORKS)
def framework(request: pytest.FixtureRequest) -> Framework:
    return FRAMEWORKS[request.param]


def test_names_are_the_keys() -> None:
    assert {name: framework.name for name, framework in FRAMEWORKS.items()} == {name: name for name in FRAMEWORKS}


def test_each_is_recognised_by_each_of_its_markers(framework: Framework) -> None:
    for marker in framework.markers:
        assert recognise(frozenset({marker, b"another"})) is framework


def test_a_target_without_a_known_marker_is_a_black_box() -> None:
    assert recognise(frozenset()) is BLACKBOX
    assert recognise(frozenset({b"another"})) is BLACKBOX


def test_only_what_lists_its_cases_has_markers(framework: Framework) -> None:
    assert bool(framework.markers) == framework.lists_cases


def test_arguments_that_are_no_flags_are_not_refused(framework: Framework) -> None:
    framework.refuse(())
    framework.refuse(("data.bin", "", "-", "--", "--size=3", "tc=x"))


def test_an_empty_report_is_no_listing(framework: Framework) -> None:
    with pytest.raises(ListingError):
        framework.parse_listing(b"")


def test_a_reader_of_nothing_has_an_empty_result(framework: Framework) -> None:
    reader = framework.reader(None)
    assert reader.feed(b"") == ()
    assert reader.result() == FrameworkReport()


def test_a_reader_survives_bytes_that_are_no_report(framework: Framework) -> None:
    reader = framework.reader(None)
    assert reader.feed(b"\x00\xff<not <xml & at all>\n") == ()
    assert reader.feed(b"more") == ()
    assert reader.result() == FrameworkReport()
    assert reader.problem() is None


def test_the_report_is_named_when_there_is_one_and_only_then(framework: Framework) -> None:
    for kind in OrderKind:
        order = Order(kind=kind, seed=7)
        assert str(REPORT) in "".join(framework.run_arguments(None, order, REPORT)) or not framework.lists_cases
        assert str(REPORT) in "".join(framework.list_arguments(None, order, REPORT)) or not framework.lists_cases
        assert "report" not in "".join(framework.run_arguments(None, order, None))


def test_the_files_of_a_run_lie_beside_its_report_and_are_named(framework: Framework) -> None:
    listing = Listing(cases=(Case(name="a"), Case(name="b")))
    for selection in framework.selections(listing, listing.cases[1:]):
        words = framework.run_arguments(selection, Order(), REPORT)
        for file in framework.input_files(selection, Order(), REPORT):
            assert file.path.parent == REPORT.parent
            assert file.path != REPORT
            assert any(str(file.path) in word for word in words)
    assert framework.input_files(None, Order(), REPORT) == ()


def test_the_report_is_a_file_in_the_folder_of_its_run(framework: Framework) -> None:
    assert Path(framework.report_name).name == framework.report_name
    assert framework.report_name not in {"", "stdout", "stderr", "out"}


def test_no_order_is_worth_a_try_twice(framework: Framework) -> None:
    plain, seeds = framework.plain_orders, [*islice(framework.seeds(), 100)]
    assert len(set(plain)) == len(plain) >= 1
    assert all(order.kind is not OrderKind.RAND and order.seed is None for order in plain)
    assert seeds == sorted(set(seeds))
    assert seeds[0] >= 0


def test_what_is_odd_about_an_order_is_a_sentence(framework: Framework) -> None:
    for order in (*framework.plain_orders, *(Order(kind=OrderKind.RAND, seed=seed) for seed in (None, 0, 1, 7))):
        remark = framework.remark(order)
        assert remark is None or (remark and "\n" not in remark)
    assert all(framework.remark(order) is None for order in framework.plain_orders)


def test_everything_is_asked_for_without_a_word(framework: Framework) -> None:
    listing = Listing(cases=(Case(name="a"), Case(name="b")))
    for selection in framework.selections(listing, listing.cases)[:1]:
        assert selection == Selection(cases=listing.cases)
    for selection in framework.selections(listing, listing.cases[1:]):
        assert selection.words
        assert selection.cases == listing.cases[1:]


def test_cases_in_another_order_than_listed_can_be_selected_only_if_any_order_runs(framework: Framework) -> None:
    listing = Listing(cases=(Case(name="a"), Case(name="b")))
    assert bool(framework.selections(listing, listing.cases[::-1])) == framework.any_order


def test_a_case_that_is_not_listed_cannot_be_selected(framework: Framework) -> None:
    listed, other = Case(name="a"), Case(name="b")
    assert framework.selections(Listing(cases=(listed,)), (other,)) == ()
