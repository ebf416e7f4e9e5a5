"""Profiles from flags: what is meant by the words, and what is refused."""

import re
import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.errors import UsageError
from pooldiag.model.arms import AllocatorProfile, Arm, ArmProperty, CounterRule, PoolCounter, Role
from pooldiag.model.runs import Environment
from pooldiag.profiles import NO_PROFILE, PROFILES, custom_profile
from pooldiag.profiles.custom_profiles import parse_arm, parse_counter

NO_HITS = CounterRule(counter="hits", equals=0)
VARIABLES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


def arm_of(profile: AllocatorProfile, role: Role) -> Arm:
    return next(arm for arm in profile.arms if arm.role is role)


def switches(profile: AllocatorProfile, role: Role) -> dict[str, str]:
    return dict(arm_of(profile, role).environment.set)


def test_without_flags_the_profile_is_the_one_that_was_found() -> None:
    assert custom_profile(PROFILES["vt"], [], None, []) is PROFILES["vt"]
    assert custom_profile(None, [], None, []) is NO_PROFILE


def test_the_example_of_the_design() -> None:
    profile = custom_profile(None, ["bypass=VT_POOL_BYPASS=1 OTHER=2"], "VT_POOL_STATS=1", [r"hits=(\d+)"])
    assert profile.name == "custom"
    assert profile.arms == (
        Arm(
            role=Role.BYPASS,
            environment=Environment(set=(("VT_POOL_BYPASS", "1"), ("OTHER", "2"))),
            proof=NO_HITS,
        ),
    )
    assert profile.stats == Environment(set=(("VT_POOL_STATS", "1"),))
    assert profile.counters == (PoolCounter(name="hits", pattern=r"hits=(\d+)"),)
    assert set(profile.variables) == {"VT_POOL_BYPASS", "OTHER", "VT_POOL_STATS"}


def test_words_are_split_as_a_shell_does_and_a_minus_unsets() -> None:
    arm = parse_arm("""serial=A='two words' B= C=x=y -D "E=\\"" """)
    assert arm.role is Role.SERIAL
    assert arm.environment == Environment(set=(("A", "two words"), ("B", ""), ("C", "x=y"), ("E", '"')), unset=("D",))


@given(st.dictionaries(VARIABLES, VALUES, min_size=1, max_size=4))
def test_any_values_that_a_process_can_be_given_come_through(values: dict[str, str]) -> None:
    words = shlex.join(f"{name}={value}" for name, value in values.items())
    assert dict(parse_arm(f"exact={words}").environment.set) == values


def test_an_arm_replaces_the_profiles_arm_of_its_role_and_no_other() -> None:
    vt = PROFILES["vt"]
    profile = custom_profile(vt, ["exact=MINE=1"], None, [])
    assert profile.name == "vt+custom"
    assert switches(profile, Role.EXACT) == {"MINE": "1"}
    assert [arm for arm in profile.arms if arm.role is not Role.EXACT] == [
        arm for arm in vt.arms if arm.role is not Role.EXACT
    ]
    assert set(profile.variables) == {*vt.variables, "MINE"}
    assert profile.stats == vt.stats


def test_a_new_role_takes_its_place_in_the_order() -> None:
    profile = custom_profile(None, ["serial=A=1", "exact=B=1", "bypass=C=1"], None, [])
    assert [arm.role for arm in profile.arms] == [Role.BYPASS, Role.EXACT, Role.SERIAL]


def test_the_later_of_two_arms_for_one_role_stands() -> None:
    profile = custom_profile(None, ["exact=FROM_FILE=1", "exact=FROM_FLAG=1"], None, [])
    assert switches(profile, Role.EXACT) == {"FROM_FLAG": "1"}


def test_the_bypass_goes_under_the_nan_fill() -> None:
    profile = custom_profile(None, ["poison-n=FILL=255", "bypass=OFF=1 -CACHE"], None, [r"hits=(\d+)"])
    poison = arm_of(profile, Role.POISON_N)
    assert poison.environment == Environment(set=(("OFF", "1"), ("FILL", "255")), unset=("CACHE",))
    assert poison.proof == replace(NO_HITS, sufficient=False)


def test_a_fill_that_says_itself_what_the_bypass_variable_holds_keeps_its_words() -> None:
    profile = custom_profile(None, ["poison-n=CONF=off,fill", "bypass=CONF=off"], None, [])
    assert switches(profile, Role.POISON_N) == {"CONF": "off,fill"}


def test_the_profiles_own_fill_moves_onto_the_new_bypass() -> None:
    profile = custom_profile(PROFILES["vt"], ["bypass=OFF=1"], None, [])
    assert switches(profile, Role.POISON_N) == {"OFF": "1", "VT_POOL_POISON": "255"}
    assert arm_of(profile, Role.BYPASS).proof == NO_HITS


def test_a_fill_given_by_the_user_stands_on_the_profiles_bypass() -> None:
    profile = custom_profile(PROFILES["vt"], ["poison-n=VT_POOL_POISON=127"], None, [])
    assert switches(profile, Role.POISON_N) == {"VT_POOL_BYPASS": "1", "VT_POOL_POISON": "127"}


def test_a_counter_alone_lets_the_bypass_be_proven() -> None:
    assert arm_of(custom_profile(None, ["bypass=OFF=1"], None, []), Role.BYPASS).proof is None
    assert arm_of(custom_profile(None, ["bypass=OFF=1"], None, [r"misses=(\d+)"]), Role.BYPASS).proof is None
    profile = custom_profile(None, ["bypass=OFF=1", "exact=X=1"], None, [r"hits=(\d+)"])
    assert arm_of(profile, Role.BYPASS).proof == NO_HITS
    assert arm_of(profile, Role.EXACT).proof is None


def test_stats_and_counters_of_flags_win_over_those_of_the_profile() -> None:
    profile = custom_profile(PROFILES["vt"], [], "SHOW=all -QUIET", [r"hits=pool hits: (\d+)"])
    assert profile.stats == Environment(set=(("SHOW", "all"),), unset=("QUIET",))
    patterns = {counter.name: counter.pattern for counter in profile.counters}
    assert patterns["hits"] == r"pool hits: (\d+)"
    assert "misses" in patterns


@pytest.mark.parametrize(
    ("text", "name", "line", "number"),
    [
        (r"hits=(\d+)", "hits", "[pool] hits=3 misses=14", "3"),
        (r"hits=(\d+)", "hits", "[pool] 14 misses, hits=3", "3"),
        (r"hits=(\d+)", "hits", "[pool] 14 misses", None),
        (r"hits=\s*(\d+)", "hits", "hits=  3", "3"),
        (r"hits=([0-9]+)", "hits", "hits=3", "3"),
        (r"hits=pool hits: (\d+)", "hits", "14 lines, pool hits: 3", "3"),
        (r"hits=(?:hits|served)=(\d+)", "hits", "served=3", "3"),
        (r"free-list=reuse=(\d+)", "free-list", "reuse=3", "3"),
    ],
)
def test_a_counter_is_searched_for_where_its_number_stands(text: str, name: str, line: str, number: str | None) -> None:
    counter = parse_counter(text)
    match = re.search(counter.pattern, line)
    assert (counter.name, match and match[1]) == (name, number)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("bypas=OFF=1", "no role 'bypas'", "nearest: bypass"),
        ("=OFF=1", "no role ''", "roles: bypass, exact"),
        ("baseline=OFF=1", "no switch plays the role baseline", "roles: bypass"),
        ("isolate=OFF=1", "no switch plays the role isolate", "roles: bypass"),
        ("swap=OFF=1", "no role 'swap'", "roles: bypass"),
        ("bypass", "no = after the role", "ROLE=WORDS"),
        ("bypass=", "changes nothing", "NAME=VALUE"),
        ("bypass=  ", "changes nothing", "NAME=VALUE"),
        ("bypass=OFF", "'OFF' neither sets nor unsets", "NAME=VALUE, or -NAME"),
        ("bypass=--pool=off", "'-pool=off' cannot be the name", "letters"),
        ("bypass=-", "'' cannot be the name", "letters"),
        ("bypass=2X=1", "'2X' cannot be the name", "no digit first"),
        ("bypass==1", "'' cannot be the name", "letters"),
        ("bypass=A=1 A=2", "A is named twice", "leave one"),
        ("bypass=A=1 -A", "A is named twice", "leave one"),
        ("bypass='A=1", "cannot be split into words", "quote"),
        ("bypass=A=\0", "the value of A holds a NUL", "no process"),
        ("bypass=Ä=1", "'Ä' cannot be the name", "letters"),
    ],
)
def test_an_arm_that_cannot_be_is_refused_in_one_line_with_what_to_do(text: str, problem: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        custom_profile(None, [text], None, [])
    assert problem in raised.value.problem
    assert repr(text) in raised.value.problem
    assert hint in (raised.value.hint or "")
    assert "\n" not in raised.value.problem


def test_a_nan_fill_without_a_bypass_is_refused() -> None:
    with pytest.raises(UsageError, match="with the pool on tells nothing") as raised:
        custom_profile(None, ["poison-n=FILL=255"], None, [])
    assert "--arm 'bypass=" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"(\d+)", "no name before a ="),
        (r"pool hits=(\d+)", "no name before a ="),
        (r"=(\d+)", "no name before a ="),
        ("hits=", "has 0 groups"),
        (r"hits=\d+", "has 0 groups"),
        (r"hits=(a) (b)", "has 2 groups"),
        ("hits=(", "no regular expression"),
        (r"hits=(\d*)", "matches an empty line"),
    ],
)
def test_a_counter_that_cannot_count_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=r"^counter ") as raised:
        parse_counter(text)
    assert problem in raised.value.problem
    assert raised.value.hint


def test_words_for_the_counters_are_checked_like_those_of_an_arm() -> None:
    with pytest.raises(UsageError, match="stats 'SHOW'"):
        custom_profile(None, [], "SHOW", [])


def known(profile: AllocatorProfile, role: Role) -> dict[str, tuple[str, str | None]]:
    return {one.name: (one.value, one.source) for one in arm_of(profile, role).properties}


def test_what_the_user_knows_of_an_arm_stands_over_the_profiles_word_and_leaves_the_rest() -> None:
    base = PROFILES["glibc"]
    told = custom_profile(base, [], None, [], ["bypass.addresses = apart", "bypass.waits=no"])
    assert known(told, Role.BYPASS) == {"addresses": ("apart", None), "waits": ("no", None)}
    assert known(told, Role.POISON_N) == known(base, Role.POISON_N)
    assert (told.name, told.title, told.source) == (base.name, base.title, base.source)


def test_what_is_known_of_one_fill_is_not_said_of_the_other() -> None:
    told = custom_profile(PROFILES["vt"], [], None, [], ["poison-n.fills=block", "poison-n.fills_on=both"])
    assert known(told, Role.POISON_N)["fills"] == ("block", None)
    assert known(told, Role.POISON_0) == known(PROFILES["vt"], Role.POISON_0)


def test_the_later_of_two_values_stands() -> None:
    told = custom_profile(PROFILES["vt"], [], None, [], ["exact.rounds_to=32", "exact.rounds_to=0256"])
    assert known(told, Role.EXACT) == {"rounds_to": ("256", None)}


def test_a_property_is_of_the_arm_that_plays_the_role_in_the_end() -> None:
    told = custom_profile(PROFILES["vt"], ["bypass=OFF=1"], None, [], ["bypass.addresses=apart"])
    assert known(told, Role.BYPASS) == {"addresses": ("apart", None)}  # nothing of the switch that was replaced
    assert known(told, Role.POISON_N) == known(PROFILES["vt"], Role.POISON_N)
    mine = custom_profile(None, ["quarantine=KEEP=1"], None, [], ["quarantine.gap=yes"])
    assert arm_of(mine, Role.QUARANTINE).properties == (ArmProperty(name="gap", value="yes"),)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("bypass.addresses", "property 'bypass.addresses': is not ROLE.NAME=VALUE", "bypass.addresses=apart"),
        ("bypass=apart", "property 'bypass=apart': is not ROLE.NAME=VALUE", "bypass.addresses=apart"),
        ("bypas.addresses=apart", "no role 'bypas'", "nearest: bypass"),
        ("isolate.waits=no", "no switch plays the role isolate", "roles: bypass"),
        ("guard.waits=no", "guard has no properties", "roles that have: bypass, exact"),
        (
            "bypass.adresses=apart",
            "bypass has no property 'adresses'",
            "nearest: addresses; of bypass: addresses, waits",
        ),
        ("bypass.addresses=far", "'far' is not a value of addresses", "returned (whether a released address comes"),
        ("bypass.addresses=", "'' is not a value of addresses", "one of apart, returned"),
        ("exact.rounds_to=0", "'0' is not a value of rounds_to", "a whole number of bytes, 1 or more"),
        ("exact.rounds_to=4k", "'4k' is not a value of rounds_to", "a whole number of bytes, 1 or more"),
        ("exact.rounds_to=" + "9" * 5000, "is not a value of rounds_to", "a whole number of bytes, 1 or more"),
        ("serial.covers=launches;copies", "is not a value of covers", "some of launches, copies, graphs, threads"),
        ("quarantine.gap=yes", "no switch plays the role quarantine here", "--arm 'quarantine=NAME=VALUE'"),
    ],
)
def test_a_property_that_cannot_be_is_refused_in_one_line_with_what_is_possible(
    text: str, problem: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        custom_profile(replace(PROFILES["vt"], arms=PROFILES["vt"].arms[:6]), [], None, [], [text])
    assert problem in raised.value.problem
    assert hint in (raised.value.hint or "")
    assert "\n" not in raised.value.problem
