"""What the loader refuses: a misspelt switch would be an arm that does nothing."""

from pathlib import Path

import pytest

from pooldiag.errors import UsageError
from pooldiag.model.arms import (
    Arm,
    ArmProperty,
    BannerRule,
    CanaryRule,
    Confidence,
    CounterRule,
    Linkage,
    PoolCounter,
    Role,
)
from pooldiag.model.runs import Environment
from pooldiag.profiles import load_profile

GOOD = r"""
title = "a pool"
source = "its manual"
markers = ["A_OFF"]
symbols = ["a_init"]
variables = ["A_OFF", "A_FILL", "A_STATS", "A_OLD", "A_LIST"]
lists = ["A_LIST"]
late = true
beneath = ["the driver's pool"]
[always]
set = { A_LIST = "x=1" }
[stats]
set = { A_STATS = "1" }
[counters]
hits = 'hits=(\d+)'
[linked]
library = "liba.so.1"
instead = ["libb"]
symbols = ["b_init"]
[arms.serial]
unset = ["A_OLD"]
arguments = ["--wait"]
source = "its manual"
confidence = "documentation"
caveat = "slow"
one_sided = true
[arms.bypass]
set = { A_OFF = "all" }
proof = { counter = "hits", equals = 0 }
banner = { pattern = "no pool", printed = true, sufficient = false }
source = "its source"
confidence = "source"
[arms.bypass.properties]
waits = { value = "yes", source = "its manual" }
addresses = { value = "apart", source = "a test of its own" }
[arms.poison-n]
set = { A_OFF = "all,too", A_FILL = "" }
source = "a run"
confidence = "measured"
[arms.poison-n.properties]
nan_in = { value = "f16, bf16", source = "a look at its bytes" }
[canary]
allocator = "libc"
preload = "liba"
[canary.arms.bypass]
freed = ["unmapped", "0x00"]
partly = "add more"
inert = "add all"
"""

WITHOUT_BYPASS = GOOD[GOOD.index("[arms.bypass]") : GOOD.index("[arms.poison-n]")]


def test_a_profile_is_read_whole() -> None:
    profile = load_profile(GOOD, name="a")
    assert (profile.name, profile.title, profile.source) == ("a", "a pool", "its manual")
    assert profile.markers == ("A_OFF",)
    assert profile.symbols == ("a_init",)
    assert profile.variables == ("A_OFF", "A_FILL", "A_STATS", "A_OLD", "A_LIST")
    assert profile.lists == ("A_LIST",)
    assert profile.beneath == ("the driver's pool",)
    assert profile.always == Environment(set=(("A_LIST", "x=1"),))
    assert profile.stats == Environment(set=(("A_STATS", "1"),))
    assert profile.counters == (PoolCounter(name="hits", pattern=r"hits=(\d+)"),)
    assert profile.linked == Linkage(library="liba.so.1", instead=("libb",), symbols=("b_init",))
    assert profile.no_switch is None
    assert profile.arms == (
        Arm(
            role=Role.BYPASS,
            environment=Environment(set=(("A_OFF", "all"),)),
            proof=CounterRule(counter="hits", equals=0),
            banner=BannerRule(pattern="no pool", sufficient=False),
            source="its source",
            confidence=Confidence.SOURCE,
            late=True,
            properties=(
                ArmProperty(name="addresses", value="apart", source="a test of its own"),
                ArmProperty(name="waits", value="yes", source="its manual"),
            ),
        ),
        Arm(
            role=Role.POISON_N,
            environment=Environment(set=(("A_OFF", "all,too"), ("A_FILL", ""))),
            source="a run",
            confidence=Confidence.MEASURED,
            late=True,
            properties=(ArmProperty(name="nan_in", value="f16,bf16", source="a look at its bytes"),),
        ),
        Arm(
            role=Role.SERIAL,
            environment=Environment(unset=("A_OLD",)),
            arguments=("--wait",),
            source="its manual",
            confidence=Confidence.DOCUMENTATION,
            caveat="slow",
            one_sided=True,
            late=True,
        ),
    )


def test_a_canary_is_a_program_of_ours_and_what_it_must_see() -> None:
    canary = load_profile(GOOD, name="a").canary
    assert canary is not None
    assert canary.preload == "liba"
    assert canary.rules == (
        CanaryRule(role=Role.BYPASS, expects=(("freed", ("unmapped", "0x00")),), partly="add more", inert="add all"),
    )
    program = Path(canary.argv[-2])
    assert program.is_file()
    assert canary.argv[-1] == "libc"


def test_only_the_canary_of_libc_runs_a_python_that_ignores_its_variables() -> None:
    of_python = load_profile(GOOD.replace('"libc"', '"python"'), name="a").canary
    of_libc = load_profile(GOOD, name="a").canary
    assert of_python is not None
    assert of_libc is not None
    assert "-I" in of_libc.argv
    assert "-I" not in of_python.argv  # it would not see PYTHONMALLOC


def test_an_allocator_without_a_switch_says_so_in_place_of_arms() -> None:
    profile = load_profile("title = 'a'\nsource = 'b'\nno_switch = 'pool.off()'", name="a")
    assert (profile.no_switch, profile.arms) == ("pool.off()", ())
    with pytest.raises(UsageError, match="has arms, and says that no switch exists"):
        load_profile(f"no_switch = 'pool.off()'\n{GOOD}", name="a")


def test_a_profile_of_two_words_is_enough() -> None:
    profile = load_profile("title = 'a'\nsource = 'b'", name="small")
    assert (profile.arms, profile.counters, profile.stats) == ((), (), Environment())


@pytest.mark.parametrize(
    ("old", "new", "problem", "hint"),
    [
        ("title =", "titel =", "profile a: titel: unknown key", "nearest: title"),
        ('unset = ["A_OLD"]', 'unste = ["A_OLD"]', "arms: serial: unste: unknown key", "nearest: unset"),
        ("equals = 0", "equal = 0", "arms: bypass: proof: equal: unknown key", "nearest: equals"),
        ("[stats]\nset", "[stats]\nsets", "stats: sets: unknown key", "nearest: set"),
        ("arms.serial", "arms.seriel", "arms: no role 'seriel'", "nearest: serial"),
        ("arms.serial", "arms.isolate", "arms: no switch plays the role isolate", "roles: bypass"),
        ('title = "a pool"', "title = 3", "title = 3", "a string"),
        ('title = "a pool"', 'title = " "', "title = ' '", "not empty"),
        ('source = "its manual"\nmarkers', "markers", "source is missing", "a string"),
        ('markers = ["A_OFF"]', 'markers = "A_OFF"', "markers = 'A_OFF'", "an array of strings"),
        ('markers = ["A_OFF"]', "markers = [1]", "markers = [1]", "an array of strings"),
        ('A_STATS = "1" }', "A_STATS = 1 }", "stats: set: A_STATS = 1", "a string"),
        ("equals = 0", "equals = false", "proof: equals = false", "an integer"),
        ("equals = 0", 'equals = "0"', "proof: equals = '0'", "an integer"),
        ("[arms.serial]", "[arms]\nexact = 3\n[arms.serial]", "arms: exact = 3", "a table"),
        ("hits = 'hits=(\\d+)'", "hits = 'hits=('", "'hits=(' is no regular expression", "hits="),
        ("hits = 'hits=(\\d+)'", "hits = 'hits=\\d+'", "has 0 groups, not 1", "parentheses"),
        ("hits = 'hits=(\\d+)'", "hits = '(a|b)=(\\d+)'", "has 2 groups, not 1", "parentheses"),
        ("hits = 'hits=(\\d+)'", "hits = '(\\d*)'", "matches an empty line", "digit"),
        ('"A_OLD", ', '"A-OLD", ', "'A-OLD' cannot be the name", "letters"),
        ('unset = ["A_OLD"]', 'unset = ["A_OLD=1"]', "'A_OLD=1' cannot be the name", "letters"),
        ('unset = ["A_OLD"]', 'set = { "1A" = "" }', "'1A' cannot be the name", "no digit first"),
        ('A_FILL = "" }', 'A_FILL = "\\u0000" }', "the value of A_FILL holds a NUL", "no process"),
        ('unset = ["A_OLD"]', 'set = { A_OLD = "" }\nunset = ["A_OLD"]', "A_OLD is both set and unset", "leave one"),
        ('unset = ["A_OLD"]\narguments = ["--wait"]', "", "arms: serial: changes nothing", "expected set"),
        ('arguments = ["--wait"]\nsource = "its manual"', "", "arms: serial: source is missing", "a string"),
        ('confidence = "source"\n', "", "arms: bypass: confidence is missing", "a string"),
        ('confidence = "source"', 'confidence = "sauce"', "arms: bypass: no confidence 'sauce'", "measured, source"),
        ("one_sided = true", 'one_sided = "yes"', "arms: serial: one_sided = 'yes'", "true or false"),
        ("late = true", "late = 1", "profile a: late = 1", "true or false"),
        ('pattern = "no pool"', 'pattern = "no (pool"', "banner: 'no (pool' is no regular expression", "line"),
        ('pattern = "no pool"', 'pattern = "a*"', "banner: 'a*' matches an empty line", "words"),
        ("printed = true", "print = true", "banner: print: unknown key", "nearest: printed"),
        ('library = "liba.so.1"\n', "", "linked: library is missing", "a string"),
        ('lists = ["A_LIST"]', 'lists = ["A_LISTS"]', "A_LISTS is used and not in variables", "add it"),
        ('set = { A_LIST = "x=1" }', 'set = { A_LITS = "x=1" }', "A_LITS is used and not in variables", "add it"),
        ('allocator = "libc"', 'allocator = "libd"', "canary: no allocator 'libd'", "nearest: libc"),
        ("freed = [", "fred = [", "canary: arms: bypass: fred: unknown key", "nearest: freed"),
        ('"unmapped", "0x00"', '"unmaped"', "freed: 'unmaped' is never printed", "unmapped"),
        ('["unmapped", "0x00"]', "[]", "freed: '' is never printed", "unmapped"),
        ('freed = ["unmapped", "0x00"]\n', "", "canary: arms: bypass: expects nothing", "fresh, freed"),
        ("canary.arms.bypass", "canary.arms.exact", "the canary is asked about exact, which is no arm", "add the arm"),
        (GOOD[GOOD.index("[canary.arms") :], "", "canary: is asked about no arm", "arms.ROLE"),
        ('"A_FILL", ', "", "A_FILL is used and not in variables", "add it"),
        (
            "waits = {",
            "wait = {",
            "bypass: properties: wait: bypass has no property 'wait'",
            "of bypass: addresses, waits",
        ),
        ('value = "yes"', 'value = "maybe"', "waits: 'maybe' is not a value of waits", "one of yes, no"),
        ('"f16, bf16"', '"f16,half"', "'f16,half' is not a value of nan_in", "some of f64, f32"),
        ('"f16, bf16"', '"f16,f16"', "'f16,f16' is not a value of nan_in", "or none"),
        ('"apart", source', '"apart", sauce', "properties: addresses: sauce: unknown key", "nearest: source"),
        (', source = "a test of its own"', "", "properties: addresses: source is missing", "a string"),
        ('value = "apart", ', "", "properties: addresses: value is missing", "a string"),
        (
            "[arms.bypass.properties]",
            "[arms.pad]\nset = { A_OLD = '1' }\nsource = 's'\nconfidence = 'source'\n[arms.pad.properties]",
            "arms: pad: properties: waits: pad has no properties",
            "bypass, exact",
        ),
        ('["A_OFF"]', '["A_OF"]', "A_OF is used and not in variables", "add it"),
        ('counter = "hits"', 'counter = "hit"', "bypass is proven by 'hit', which is no counter", "counters: hits"),
        ('A_OFF = "all,too", ', "", "poison-n is without bypass", "all that bypass sets"),
        ('A_OFF = "all,too", ', 'A_OFF = "no", ', "poison-n is without bypass", "all that bypass sets"),
        (WITHOUT_BYPASS, "", "poison-n is without bypass", "all that bypass sets"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(old: str, new: str, problem: str, hint: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as raised:
        load_profile(GOOD.replace(old, new, 1), name="a")
    assert problem in raised.value.problem
    assert raised.value.problem.startswith("profile a")
    assert hint in (raised.value.hint or "")
    assert "\n" not in raised.value.problem


@pytest.mark.parametrize("text", ["title = ", "a = 1\na = 2", "[" * 5000, "a = " + "9" * 5000])
def test_text_that_is_no_toml_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="profile a: not TOML"):
        load_profile(text, name="a")


def test_a_fill_needs_also_the_arguments_and_removals_of_the_bypass() -> None:
    more = GOOD.replace('A_OFF = "all" }', 'A_OFF = "all" }\nunset = ["A_OLD"]\narguments = ["--off"]')
    with pytest.raises(UsageError, match="poison-n is without bypass"):
        load_profile(more, name="a")
    fill = 'A_FILL = "" }'
    without_removal = more.replace(fill, fill + '\narguments = ["--off", "--fill"]')
    without_argument = more.replace(fill, fill + '\nunset = ["A_OLD"]')
    for half in (without_removal, without_argument):
        with pytest.raises(UsageError, match="poison-n is without bypass"):
            load_profile(half, name="a")
    load_profile(without_argument.replace(fill, fill + '\narguments = ["--off", "--fill"]'), name="a")
