import re
import subprocess
from dataclasses import replace

import pytest
from rich.cells import cell_len

from pooldiag.model.arms import Acted, ProfilesReport, Role
from pooldiag.model.attributions import (
    Attribution,
    Candidate,
    ExcludedRate,
    Rate,
    SeenRole,
    Status,
    UnaskedRole,
    WitnessKind,
)
from pooldiag.model.bisections import BisectReport, OrdersReport
from pooldiag.model.readings import Sight
from pooldiag.model.reports import AttributeReport, NextCommand
from pooldiag.render import Page, render
from pooldiag.render.facts import Report
from tests.render import attribute_samples as samples
from tests.render.attribute_samples import SAMPLES, changed
from tests.render.samples import EVERY, GOLDEN, LOOKS, MARKDOWN, plain

SGR = re.compile(r"\x1b\[[0-9;]*m")
ONE_WORD = re.compile(r"(?:\S.* {2})? *(?:- )?\S+")  # behind the name of a fact, or in a list
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(report: Report, page: Page | None = None) -> str:
    return render(report, form="table", page=page or Page())


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("name", "width"), LOOKS)
def test_looks_as_it_was_looked_at(name: str, width: int) -> None:
    golden = (GOLDEN / f"{name}-{width}.txt").read_text(encoding="utf-8")
    assert plain(name, width) == golden, "look at it, then: .venv/bin/python -m tests.render.samples --golden"


def test_every_golden_file_has_its_sample() -> None:
    expected = {f"{name}-{width}.txt" for name, width in LOOKS} | {f"{name}.md" for name in MARKDOWN}
    assert {path.name for path in GOLDEN.iterdir()} == expected


def typed(report: Report) -> set[str]:
    """The command lines of a report."""
    if isinstance(report, ProfilesReport):
        return set()
    lines = {report.next.line if isinstance(report.next, NextCommand) else report.next}
    match report:
        case AttributeReport():
            lines |= {report.reproducer}
        case BisectReport():
            lines |= {found.line for found in (report.reproducer, report.green_command) if found is not None}
        case OrdersReport():
            found = None if report.shortest is None else report.shortest.reproducer
            lines |= {None if found is None else found.line}
    return {line for line in lines if line is not None and "\x1b" not in line}


@pytest.mark.parametrize("name", EVERY)
def test_keeps_to_its_width_and_never_cuts_a_command(name: str) -> None:
    report = EVERY[name]
    whole = typed(report)
    titles = ("Reproduce:", "Shows it ", "Next (")
    for width in (40, 80, 140):
        lines = shown(report, Page(width=width)).splitlines()
        evidence = lines.index("Evidence:") if "Evidence:" in lines else len(lines)  # a census leaves none
        blocks = "\n".join(lines[:evidence]).split("\n\n")
        commands = {block.splitlines()[-1] for block in blocks if block.startswith(titles)}
        assert whole <= commands
        assert lines[evidence + 2 :] == []
        wide = [line for line in lines[:evidence] if cell_len(line) > width]
        assert [line for line in wide if line not in commands and not ONE_WORD.fullmatch(line)] == []


@pytest.mark.parametrize("name", EVERY)
def test_color_adds_nothing_but_color(name: str) -> None:
    colored = shown(EVERY[name], Page(color=True))
    assert "\x1b" in colored
    without = SGR.sub("", colored)
    assert not CONTROLS.search(without)
    assert [line.rstrip() for line in without.splitlines()] == plain(name, 80).splitlines()


@pytest.mark.parametrize("name", [name for name in EVERY if name.endswith("hostile")])
def test_no_control_character_of_the_outside_gets_through(name: str) -> None:
    text = plain(name, 80)
    assert not CONTROLS.search(text)
    assert "[red]x[/red] \\x1b[31m\\u009b2J\\x0d\\x0a\\u202egnp.\\u2066" in text
    assert ":smile:" in text
    assert "日本語" in text


def test_nothing_of_a_long_name_is_lost() -> None:
    letters = "".join(shown(SAMPLES["hostile"], Page(width=30)).split())
    assert letters.count("long" * 60) >= 4


def test_a_reproducer_with_an_escape_in_it_can_be_copied() -> None:
    lines = plain("hostile", 80).splitlines()
    line = lines[lines.index("Reproduce:") + 1]
    shell = f'show() {{ printf %s "$1"; }}; show {line.removeprefix("./t ")}'
    assert subprocess.run(["sh", "-c", shell], capture_output=True, check=True).stdout == b"--test-case=a\x1b[31m\xff b"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_no_verdict_is_cut_however_narrow(width: int) -> None:
    letters = "".join(shown(SAMPLES["loud"], Page(width=width)).split())
    assert "established:thepoolcarriessomethingfromcasetocase(carried-by-pool)" in letters
    assert "…" not in letters


def test_a_row_of_large_numbers_fits_80_columns() -> None:
    report = SAMPLES["another-red"]
    run = report.arms[0].runs[0]
    cases = tuple(run.outcome.report.results[:1]) * 2310
    selection = (
        replace(run.outcome.selection, cases=run.outcome.selection.cases[:1] * 2324) if run.outcome.selection else None
    )
    facts = replace(run.outcome.report, results=cases, assertions_passed=1234567, assertions_failed=120)
    large = replace(run, outcome=replace(run.outcome, selection=selection, report=facts), seconds=12345.0)
    arm = replace(report.arms[0], acted=Acted.PLAUSIBLE, shown=large)
    text = shown(replace(report, arms=(arm,)))
    assert re.search(r"^baseline +same red +2/2 +2310/2324 +1234687, 120 failed +12345 +plausible$", text, re.MULTILINE)


def test_an_arm_that_did_not_act_stands_apart_from_the_evidence() -> None:
    table, apart = plain("loud", 80).split("Not counted as evidence")
    assert not re.search("^poison-0", table, re.MULTILINE)
    assert apart.lstrip().startswith("- poison-0: inert, neither the binary nor its libraries name VT_POOL_POISON;")
    assert "same red in 1 run, 3/13 cases, 44 assertions, 0 failed" in in_one_line(apart)


def test_says_why_an_arm_is_believed_where_there_is_room() -> None:
    assert "proven: hits=0" in plain("loud", 140)
    assert "hits=0" not in plain("loud", 80)


def test_equal_bytes_are_told_once() -> None:
    text = plain("silent", 80)
    assert text.count("bypass, per-case, isolate (identical bytes):") == 2
    assert text.count("absmax: 0.300781") == 1
    assert "NaN patterns: 0x7fff0000 (1024/1024)" in text


def test_a_run_whose_victim_asserted_nothing_is_no_answer() -> None:
    report = SAMPLES["loud"]
    silent = replace(report.arms[1], sights=(Sight.NOTHING,))
    text = shown(replace(report, arms=(report.arms[0], silent)), Page(width=140))
    assert re.search("^bypass +no answer +0/1", text, re.MULTILINE)
    assert "bypass (run 03): says nothing: the victim was not reached, or asserted nothing" in text


def test_an_answer_that_the_report_does_not_know_has_its_id() -> None:
    report = replace(SAMPLES["loud"], answers=(), mechanisms=())
    assert shown(report).startswith("Red, established: carried-by-pool\nMost likely cross-device-reuse: the victim")


def head(report: AttributeReport, **values: object) -> str:
    """What stands above the facts, with other values of the attribution."""
    attribution = samples.with_values(report.attribution, **values)
    return in_one_line(shown(replace(report, attribution=attribution)).partition("\n\n")[0])


def test_most_likely_is_said_only_where_a_hint_speaks_for_the_first() -> None:
    report = SAMPLES["loud"]
    assert "Most likely block reuse across devices: the victim crashes, which" in head(report)
    assert "does. Else access past the end, one block with two owners, use after release or memory kept" in head(report)
    plain_list = "Candidates: block reuse across devices, access past the end, one block with two owners, use"
    fact = replace(samples.CRASH, kind=WitnessKind.FACT)
    other = replace(samples.CRASH, speaks_for=("access-past-end",))
    for witnesses in ((), (samples.CENSUS,), (fact,), (other,)):
        assert plain_list in head(report, witnesses=witnesses)
    alone = head(report, candidates=samples.possible("cross-device-reuse"))
    assert "does. What would decide: guard. First, bisect" in alone
    assert "Else" not in alone


def test_candidates_with_commas_of_their_own_are_told_apart_and_many_are_counted() -> None:
    report = SAMPLES["few-switches"]
    two = samples.possible("timing-race", "case-state")
    text = head(report, candidates=two)
    assert "Which way is not settled: timing race, not the pool; or state between cases, outside the pool." in text
    (line,) = re.findall("Which way is not settled: (.*?more)", in_one_line(plain("flake", 80)))
    assert line.endswith("; or one of 9 more")
    assert len(line.split("; ")) == 4
    assert "Candidate: independent of every arm." in plain("no-arm", 80)


def test_an_open_answer_says_what_each_arm_shows_and_of_how_many_runs() -> None:
    assert (
        "Red, not settled Red with the pool, green without its free list (0/2), with a pool a case (0/2) and alone"
        " (0/2); red as before without size rounding (2/2) and with fresh state folders (2/2). Which way"
    ) in head(SAMPLES["few-switches"])


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (samples.sees(gone=(Role.ISOLATE,)), "Red with the pool, green alone (0/2)."),
        (samples.sees(there=(Role.ISOLATE,)), "not settled Red as before alone (0/2)."),
        (samples.sees(own=(Role.EXACT,)), "not settled Red at a rate of its own without size rounding (2/2)."),
        (
            samples.sees(gone=(Role.BYPASS,), own=(Role.EXACT,)),
            "Red with the pool, green without its free list (0/2); red at a rate of its own without size rounding",
        ),
        (samples.sees(there=(Role.PLACEBO,)), "not settled Not settled: without its free list (0/2), without size"),
        (
            samples.sees(gone=(Role.PLACEBO,)),
            "A variable that nobody reads moves it, too (1/1): what an arm shows is no evidence.",
        ),
    ],
)
def test_what_is_gone_what_is_as_before_and_what_has_its_own_rate_is_said_apart(
    seen: tuple[SeenRole, ...], words: str
) -> None:
    assert words in head(SAMPLES["few-switches"], seen=seen)


def test_without_an_arm_of_the_pool_no_pool_is_spoken_of() -> None:
    report = SAMPLES["few-switches"]
    few = replace(report, arms=(report.arms[0], report.arms[4]))
    assert "Red as it is, green alone (0/2)." in head(few, seen=samples.sees(gone=(Role.ISOLATE,)))


def test_a_green_baseline_turns_the_words_around() -> None:
    report = SAMPLES["hidden"]
    text = head(report, status=Status.UNRESOLVED, answer=None)
    assert text.startswith("Green as it is, red under poison-n, not settled")
    assert (
        "Green with the pool, red with NaN in fresh blocks (2/2); green as before without its free list (0/2)." in text
    )


def test_an_arm_of_which_nothing_is_known_is_named_with_its_runs() -> None:
    text = in_one_line(plain("another-red", 80))
    assert (
        "Not settled: without size rounding (1/2), with a pool a case (another red in 1/1), alone (no answer)." in text
    )
    assert "with zeros" not in head(SAMPLES["loud"], status=Status.UNRESOLVED, answer=None)  # inert


def test_a_suite_that_flakes_says_so_and_how_often() -> None:
    assert in_one_line(plain("flake", 80)).startswith("Red, not settled: it flakes Red with the pool in 1/5 runs. Not")
    race = head(SAMPLES["race"], status=Status.UNRESOLVED, answer=None)
    assert "Red with the pool in 3/5 runs, green when launches wait (0/2); red as before without its free" in race


def test_every_role_has_words_of_its_own_for_what_it_changes() -> None:
    report = SAMPLES["few-switches"]
    said = set()
    for role in set(Role) - {Role.BASELINE, Role.PLACEBO}:
        arms = (report.arms[0], samples.arm_result(role, "R", samples.crash("03", role)))
        text = head(replace(report, arms=arms), seen=samples.sees(there=(role,)))
        (phrase,) = re.findall(r"Red as before (.+?) \(1/1\)", text)
        assert str(role) not in phrase
        said.add(phrase)
    assert len(said) == len(Role) - 2


def test_what_would_decide_is_said_with_how_to_ask_it_where_no_switch_is_known() -> None:
    report = SAMPLES["few-switches"]
    asked = "What would decide: serial, poison-n"
    assert f"{asked}." in head(report)
    alone = replace(report, next=None)
    assert f"{asked} (name a switch, as in --arm 'serial=NAME=VALUE')." in head(alone)
    known = replace(alone, arms=(*alone.arms, samples.arm_result(Role.SERIAL, "")))
    assert f"{asked}." in head(known)
    without_it = replace(alone, arms=alone.arms[:2])
    assert "What would decide: isolate." in head(without_it, separators=(Role.ISOLATE,))
    assert "First, run the command under Next." in head(report, separators=())


def test_a_fact_names_the_mechanism_beside_the_answer_or_in_its_place() -> None:
    report = SAMPLES["fact"]
    behind = "SIGSEGV at the first byte behind a block of 4096 bytes, and none with room behind it."
    both = head(report)
    assert both.startswith("Red, established: the pool carries something from case to case (carried-by-pool) An")
    assert f"Mechanism, by a fact: access past the end (access-past-end): {behind} Code reads or writes" in both
    assert both.endswith("First, check the extents of the access that the guard stopped.")
    assert "Candidate" not in both
    assert "Most likely" not in both
    alone = head(report, answer=None)
    assert alone.startswith(f"Red, established: access past the end (access-past-end) By a fact: {behind} Code reads")
    unsaid = head(report, witnesses=())
    assert "Mechanism, by a fact: access past the end (access-past-end). Code" in unsaid


def test_facts_stand_before_hints_each_with_its_name_and_its_source() -> None:
    _, _, listed = plain("fact", 140).partition("\nWitnesses\n")
    first, second, *_ = listed.splitlines()
    assert first.startswith("  - fact guard: SIGSEGV at the first byte behind a block of 4096 bytes")
    assert "[guard and pad, runs 10 and 11]" in first
    assert second.startswith("  - hint crash: the victim crashes")


def test_arms_that_were_not_asked_are_listed_by_their_reason() -> None:
    report = SAMPLES["loud"]
    left = (*report.attribution.not_asked, UnaskedRole(role=Role.PAD, reason="inert for sure"))
    text = shown(replace(report, attribution=replace(report.attribution, not_asked=left)))
    assert "\nNot asked\n  - quarantine, fresh-state: would not tell\n  - pad: inert for sure\n" in text
    assert "Not asked" not in plain("race", 80)


def test_an_established_answer_of_a_partial_report_is_not_asked_to_run_on() -> None:
    text = head(changed(SAMPLES["loud"], partial=True))
    assert "let it run to its end" not in text
    assert "First, let it run to its end." in plain("partial", 80)


def test_a_fault_that_does_not_show_in_every_run_has_its_rate() -> None:
    report = SAMPLES["loud"]
    flaky = replace(report.attribution, rate=Rate(red=13, runs=30, low=0.27, high=0.61))
    assert "(carried-by-pool), flaky 43 % (13/30 runs)" in in_one_line(shown(replace(report, attribution=flaky)))
    steady = replace(report.attribution, rate=Rate(red=4, runs=4, low=0.51, high=1.0))
    assert "flaky" not in shown(replace(report, attribution=steady))


def test_an_arm_with_another_red_is_not_said_to_show_what_the_pool_hides() -> None:
    report = SAMPLES["hidden"]
    other = replace(report.arms[1], sights=(Sight.NEW_RED, Sight.NEW_RED))
    text = shown(replace(report, arms=(report.arms[0], other, report.arms[2])))
    assert text.startswith("Green as it is, red under poison-n, established")


def test_a_baseline_that_is_green_too_seldom_is_not_said_to_be_green() -> None:
    report = SAMPLES["hidden"]
    few = replace(report.arms[0], greens_needed=5)
    text = shown(replace(report, arms=(few, *report.arms[1:])))
    assert text.startswith("Red under poison-n, not in 2 runs as it is, established")


@pytest.mark.parametrize(
    ("rate", "said"),
    [(0.7764, "78 %"), (0.095034, "10 %"), (0.0733, "8 %"), (0.05, "5 %"), (0.00998, "1 %"), (0.00299, "0.3 %")],
)
def test_no_more_is_said_to_be_excluded_than_is(rate: float, said: str) -> None:
    excluded = ExcludedRate(rate=rate, confidence=0.95, runs=30)
    text = in_one_line(shown(replace(SAMPLES["green"], excluded=excluded)))
    assert f"in more than {said} of the runs is excluded (95 %, by 30 runs of the baseline)." in text


def test_a_black_box_is_told_by_how_it_ended() -> None:
    report = SAMPLES["green"]
    run = report.arms[0].runs[0]
    box = replace(run, outcome=replace(run.outcome, selection=None))
    arm = replace(report.arms[0], runs=(box,), shown=box, sights=(Sight.GREEN,))
    text = shown(replace(report, arms=(arm,)))
    assert text.startswith("Green: exit code 0; whether any test ran is not known\nNothing red in 1 run.\n")
    assert re.search("^baseline +green +0/1 +- +- ", text, re.MULTILINE)


def test_long_lists_end_in_a_count() -> None:
    report = changed(SAMPLES["green"], notes=tuple(f"note {number}" for number in range(40)))
    assert "note 11\n  - and 28 more, in report.json" in shown(report)


def test_other_reds_have_their_own_verdict() -> None:
    other = Attribution(
        signature=samples.nan_in("audio.bin"),
        status=Status.UNRESOLVED,
        candidates=(Candidate(mechanism="stale-read"), Candidate(mechanism="independent")),
    )
    nothing = Attribution(signature=samples.nan_in("text.bin"), status=Status.UNRESOLVED)
    text = in_one_line(shown(replace(SAMPLES["silent"], others=(other, nothing))))
    assert "audio.bin: not settled: read of stale bytes of an earlier case or independent of every arm" in text
    assert "NaN or infinity in text.bin: not settled Outputs" in text
    assert "video.bin: established: the pool carries something from case to case (carried-by-pool)" in in_one_line(
        plain("silent", 80)
    )


def test_an_unproven_arm_that_never_ran_is_said_so() -> None:
    idle = samples.arm_result(Role.SERIAL, "", acted=Acted.UNPROVEN, why="no variable and no counter to go by")
    text = shown(replace(SAMPLES["loud"], arms=(*SAMPLES["loud"].arms[:2], idle)))
    assert "serial: unproven, no variable and no counter to go by; not run" in text


def test_paths_below_the_pages_directory_are_shown_as_one_would_type_them() -> None:
    report = SAMPLES["loud"]
    folder = report.session.evidence.parent
    assert f"\n{report.session.evidence.name}\n" in shown(report, Page(directory=folder))
    assert f"\n{report.session.evidence}\n" in shown(report, Page(directory=folder / "elsewhere"))


def test_an_interruption_before_any_red_does_not_say_red() -> None:
    begun = replace(SAMPLES["barely-begun"], attribution=Attribution(signature=None, status=Status.UNRESOLVED))
    assert "Nothing red so far" in shown(begun)
    assert "Red" not in shown(begun)


def test_what_a_further_arm_says_follows_the_meaning_of_the_answer() -> None:
    report = SAMPLES["loud"]
    narrowed = replace(report.attribution, narrowed="alone it is green: an earlier case left these bytes")
    text = in_one_line(shown(replace(report, attribution=narrowed)))
    assert "Alone it is green: an earlier case left these bytes." in text
