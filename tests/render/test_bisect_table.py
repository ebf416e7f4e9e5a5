import re
import subprocess
from dataclasses import replace

from pooldiag.model.arms import Role
from pooldiag.model.attributions import Status
from pooldiag.model.bisections import BisectReport, BisectStatus, BothEnds, Found, NamedBy, Phase, Probed
from pooldiag.model.readings import Reading, Sight
from pooldiag.rates import rate_of
from pooldiag.render import Page, render
from pooldiag.render.reports.bisect import phase
from tests.render.attribute_samples import NAMES, SAMPLES, changed, green
from tests.render.bisect_samples import BISECTIONS, POLLUTER, confirmed, tried
from tests.render.samples import plain


def shown(report: BisectReport, width: int = 80) -> str:
    return render(report, form="table", page=Page(width=width))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_phase_of_a_search_has_words_of_its_own() -> None:
    assert len({phase(one) for one in Phase}) == len(Phase)


def test_a_selection_that_proves_two_things_is_told_once() -> None:
    report = BISECTIONS["bisect-found"]
    assert report.found.set_proof is not None
    text = shown(replace(report, found=replace(report.found, prefix=1, prefix_proof=report.found.set_proof)))
    assert text.count("the victim alone  ") == 1
    assert text.count("then the victim  ") == 1


def test_a_void_run_is_no_green_one() -> None:
    assert re.search(r"the first 8 cases, then the victim +green +0/1, 1 void +9\n", plain("bisect-cleaners", 80))
    nothing = replace(BISECTIONS["bisect-noisy"].found, set_proof=None)
    proof = BISECTIONS["bisect-found"].found.prefix_proof
    assert proof is not None
    void = replace(nothing, prefix_proof=replace(proof, green=(tried(*NAMES[:2], void=2),)))
    assert re.search(r"void +0/0, 2 void", shown(replace(BISECTIONS["bisect-noisy"], found=void)))


def test_the_smallest_is_said_only_where_no_cleaner_was_seen() -> None:
    assert "3, the smallest that is red" in plain("bisect-found", 80)
    cleaned = in_one_line(plain("bisect-cleaners", 80))
    assert "smallest" not in cleaned
    assert "9: red, and one shorter is green; a cleaner was seen, so a smaller one may be red, too" in cleaned


def test_a_prefix_that_is_not_wanted_is_not_one_that_is_not_established() -> None:
    report = BISECTIONS["bisect-found"]
    for sought, words in ((False, "prefix not looked for"), (True, "prefix not established")):
        found = replace(report.found, prefix=None, prefix_proof=None, prefix_sought=sought)
        text = in_one_line(shown(replace(report, found=found), 200))
        assert words in text
        assert ("Prefix not looked for" in text) is not sought


def test_a_name_that_two_cases_share_has_no_place() -> None:
    report = BISECTIONS["bisect-found"]
    assert report.whole is not None
    assert report.whole.outcome.selection is not None
    cases = (report.whole.outcome.selection.cases[2], *report.whole.outcome.selection.cases)
    selection = replace(report.whole.outcome.selection, cases=cases)
    twice = replace(report.whole, outcome=replace(report.whole.outcome, selection=selection))
    assert f"\nPolluter  {POLLUTER}\n" in shown(replace(report, whole=twice))


def test_says_how_the_victim_became_known() -> None:
    for how, words in (
        (NamedBy.STREAM, "named by the report of a red run"),
        (NamedBy.USER, "as asked for"),
        (NamedBy.SEARCH, "found by search: the red names no case"),
    ):
        report = replace(BISECTIONS["bisect-found"], found=replace(BISECTIONS["bisect-found"].found, named_by=how))
        assert words in in_one_line(shown(report))


def test_what_was_spent_has_its_denominators() -> None:
    text = in_one_line(plain("bisect-cleaners", 80))
    assert "21 for the search, 6 for the arms, 3 of the whole order, in 1.27 s" in text
    assert "141 cases run, 10.8 times the 13 of the order; 8/21 runs recalled; 3 runs beside it not needed" in text
    assert "runs by purpose: 3 baseline, 1 search, 1 confirmation, 2 prefix" in plain("bisect-found", 140)


def test_runs_of_the_search_that_the_arms_took_over_are_counted_once() -> None:
    report = BISECTIONS["bisect-cleaners"]
    assert report.attribution is not None
    (run, *_), *_ = (arm.runs for arm in report.attribution.arms)
    probed = (*report.probed, Probed(run=run.id, phase=Phase.SEARCH, cases=2, reading=Reading.RED))
    handed = replace(report, found=replace(report.found, noisy=True), probed=probed)
    assert "21 for the search, 5 for the arms, 3 of the whole order," in in_one_line(shown(handed))


def test_a_headline_says_how_often_a_red_shows_that_comes_and_goes() -> None:
    report = BISECTIONS["bisect-found"]
    noisy = replace(report.found, noisy=True)
    proof = BothEnds(red=tried(POLLUTER, red=3, green=26), green=(tried(green=1),))
    of_search = replace(report, found=replace(noisy, set_proof=proof), attribution=None)
    assert "Found: " in plain("bisect-found", 80)
    assert "runs of that" not in plain("bisect-found", 80)
    assert re.search(r"Found: .*, red in 3 of 29 runs of that\n", shown(of_search, 1000))
    assert report.attribution is not None
    first, *others = report.attribution.arms
    arms = (replace(first, rate=rate_of(4, 31)), *others)
    with_arms = replace(of_search, attribution=changed(report.attribution, arms=arms))
    assert re.search(r"Found: .*, red in 4 of 31 runs of that\n", shown(with_arms, 1000))
    void = replace(of_search, found=replace(noisy, set_proof=replace(proof, red=tried(POLLUTER, void=2))))
    assert "runs of that" not in shown(void, 1000)


def test_confidence_is_printed_where_runs_disagreed_and_never_rounded_up() -> None:
    assert "\nSure     83.4 %; a selection disagreed with itself" in plain("bisect-noisy", 80)
    assert "Sure" not in plain("bisect-found", 80)
    found = replace(BISECTIONS["bisect-noisy"].found, confidence=None)
    assert "\nSure     not known; a selection" in shown(replace(BISECTIONS["bisect-noisy"], found=found))


def test_an_unfinished_search_says_how_far_it_came() -> None:
    assert "\nSo far  red with 3 cases, green with 0\n" in plain("bisect-partial", 80)
    assert "So far" not in shown(replace(BISECTIONS["bisect-found"], red_with=1, green_with=0))
    begun = replace(BISECTIONS["bisect-partial"], found=Found(), red_with=None, green_with=None)
    assert "Nothing red so far, in 4 runs" in shown(begun)
    assert "So far" not in shown(begun)


def test_other_reds_are_named_and_not_followed() -> None:
    assert "Other reds, not followed\n  - failure in SHIPPED" in plain("bisect-cleaners", 140)


def test_sets_are_listed_where_there_are_several() -> None:
    title = "Independent sets of polluters, each of them enough"
    assert f"{title}\n  - {NAMES[3]}; {NAMES[8]}\n  - {NAMES[6]}\n" in plain("bisect-cleaners", 140)
    assert title not in plain("bisect-found", 140)


def test_counts_of_the_whole_order_are_reconciled() -> None:
    assert "- bypass and per-case count alike 13/13 cases, 552 assertions" in plain("bisect-found", 80)
    text = in_one_line(plain("bisect-cleaners", 80))
    assert "bypass counts 13/13 cases, 6176 assertions; per-case counts 13/13 cases, 552 assertions" in text
    assert "SHIPPED 21.00B forward is finite on CUDA: assertions differ, 46 under bypass, 0 under per-case" in text
    assert "per-case: passed without an assertion: SHIPPED 21.00B forward is finite on CUDA" in text
    assert "On the whole order green under bypass and per-case, with counts that differ; not green under" in text


def test_a_case_that_asserts_less_as_it_is_is_named() -> None:
    report = BISECTIONS["bisect-found"]
    assert report.whole is not None
    first, shared, *rest = report.whole.outcome.report.results
    results = (first, replace(shared, assertions_passed=1), *rest)
    facts = replace(report.whole.outcome.report, results=results)
    fewer = replace(report.whole, outcome=replace(report.whole.outcome, report=facts))
    text = in_one_line(shown(replace(report, whole=fewer)))
    assert f"{shared.case.name}: assertions differ, 1 as it is, 46 under bypass and per-case" in text


def test_a_run_of_the_whole_order_that_says_nothing_is_no_green() -> None:
    report = BISECTIONS["bisect-found"]
    silent = confirmed(green("30", Role.BYPASS), looks="-")
    text = shown(replace(report, confirmations=silent))
    assert re.search(r"\n  bypass +no answer +13/13 +552 ", text)
    assert "bypass: says nothing: the victim was not reached, or asserted nothing" in in_one_line(text)
    assert "On the whole order not green under bypass." in text
    new = replace(silent[0], sight=Sight.NEW_RED)
    assert re.search(r"\n  bypass +new red +13/13", shown(replace(report, confirmations=(new,))))


def test_one_green_of_the_whole_order_is_not_said_where_chance_explains_it() -> None:
    report = BISECTIONS["bisect-found"]
    sure, chance = report.confirmations
    few = in_one_line(shown(replace(report, confirmations=(sure, replace(chance, greens_needed=6)))))
    assert "green under bypass, 13/13 cases, 552 assertions; one green run under per-case is too few at this" in few
    none = in_one_line(shown(replace(report, confirmations=(replace(chance, greens_needed=6),))))
    assert "On the whole order one green run under per-case is too few at this rate." in none


def test_a_missing_command_is_said_to_be_missing() -> None:
    report = replace(BISECTIONS["bisect-found"], green_command=None, reproducer=None)
    assert "No command line is known that shows it red." in shown(report)
    assert "No command line is known that shows it green." in shown(report)
    assert "No command line" not in shown(changed(report, partial=True))


def test_commands_say_how_they_ended() -> None:
    lines = plain("bisect-found", 80).splitlines()
    report = BISECTIONS["bisect-found"]
    assert report.reproducer is not None
    assert report.green_command is not None
    assert lines[lines.index("Shows it red (run as printed: SIGSEGV):") + 1] == report.reproducer.line
    assert lines[lines.index("Shows it green (run as printed: exit code 0):") + 1] == report.green_command.line


def test_a_command_with_an_escape_in_it_can_be_copied() -> None:
    lines = plain("bisect-hostile", 80).splitlines()
    (title,) = (number for number, line in enumerate(lines) if line.startswith("Shows it red"))
    shell = f'show() {{ printf %s "$1"; }}; show {lines[title + 1].removeprefix("./t ")}'
    assert subprocess.run(["sh", "-c", shell], capture_output=True, check=True).stdout == b"--test-case=a\x1b[31m\xff b"


def test_nothing_of_a_long_name_is_lost() -> None:
    letters = "".join(shown(BISECTIONS["bisect-hostile"], 30).split())
    assert letters.count("c" * 300) == 1
    assert letters.count("long" * 60) >= 4
    assert "…" not in letters


def test_many_polluters_are_counted_in_the_answer_and_named_below() -> None:
    report = BISECTIONS["bisect-found"]
    found = replace(report.found, polluters=NAMES[:3], position=12)
    text = shown(replace(report, found=found))
    assert "after the polluters named below, 3 together" in in_one_line(text)
    assert text.count("\nPolluter  ") == 3


def test_a_victim_that_is_not_known_is_not_invented() -> None:
    report = replace(BISECTIONS["bisect-noisy"], found=Found(), reason="no case was red twice", red_with=None)
    report = replace(report, green_with=None)
    assert shown(report).startswith("Unresolved: no case was red twice\n\nTarget")


def test_arms_that_saw_no_red_establish_nothing() -> None:
    report = BISECTIONS["bisect-found"]
    assert report.attribution is not None
    nothing = replace(report.attribution.attribution, status=Status.GREEN, signature=None, answer=None)
    text = shown(replace(report, attribution=replace(report.attribution, attribution=nothing), confirmations=()))
    assert "\nThe arms on the minimal set saw nothing red.\n" in text


def test_the_arms_on_the_minimal_set_say_what_they_answer_and_which_mechanism_a_fact_names() -> None:
    text = in_one_line(plain("bisect-found", 80))
    carried = "the pool carries something from case to case (carried-by-pool)"
    assert f"The arms on the minimal set, established: {carried}. On the whole order" in text
    assert f"The arms on the minimal set: red, established: {carried} An earlier case leaves" in text
    assert "Most likely block reuse across devices: the victim crashes" in text
    report = BISECTIONS["bisect-found"]
    named = in_one_line(shown(replace(report, attribution=SAMPLES["fact"])))
    assert f"established: {carried}. Mechanism, by a fact: access past the end (access-past-end): SIGSEGV at" in named
    fact = replace(SAMPLES["fact"], attribution=replace(SAMPLES["fact"].attribution, answer=None))
    alone = in_one_line(shown(replace(report, attribution=fact)))
    assert "The arms on the minimal set, established: access past the end (access-past-end). On the whole" in alone


def test_arms_that_settle_nothing_say_what_they_saw() -> None:
    report = replace(BISECTIONS["bisect-found"], attribution=SAMPLES["few-switches"])
    text = in_one_line(shown(report))
    seen = "Red with the pool, green without its free list (0/2), with a pool a case (0/2) and alone (0/2)"
    assert f"The arms on the minimal set do not settle the cause. {seen}" in text
    assert "The arms on the minimal set: red, not settled Which way is not settled: read of stale" in text
    assert text.count(seen) == 1


def test_a_green_bisection_says_why_it_is_believed() -> None:
    report = replace(BISECTIONS["bisect-green"], reason="the victim is green after all cases, and alone")
    named = replace(report, found=Found(victim=NAMES[4]))
    text = in_one_line(shown(named))
    assert f"nothing red in 2 runs; {NAMES[4]} is green, too The victim is green after all cases, and alone." in text
    assert shown(replace(report, status=BisectStatus.BLOCKED)).startswith("Blocked: the victim is green after all")
