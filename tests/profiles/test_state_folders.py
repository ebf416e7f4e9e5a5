"""The arms of every target: where state is kept, and how large an environment is."""

from dataclasses import replace
from pathlib import PurePosixPath

from pooldiag.model.arms import STATE_WORD, Arm, Role
from pooldiag.model.runs import Environment
from pooldiag.profiles import NO_PROFILE, PROFILES, arms_of
from pooldiag.profiles.state_folders import size_bytes, state_folders

FOLDER = "/home/somebody/.pooldiag/20261129T204019Z-attribute-test_x/07-fresh-state/state"


def environment_of(role: Role, *others: Arm) -> Environment:
    arms = arms_of(replace(NO_PROFILE, arms=others))
    return next(arm.environment for arm in arms if arm.role is role)


def in_a_run(environment: Environment) -> Environment:
    return Environment(set=tuple((name, value.replace(STATE_WORD, FOLDER)) for name, value in environment.set))


def test_each_folder_has_a_source_and_stays_within_the_one_of_the_run() -> None:
    found = state_folders()
    assert all(one.source and one.holds for one in found)
    for values in ([one.variable for one in found], [one.folder for one in found]):
        assert len(set(values)) == len(values)
    assert not any(PurePosixPath(one.folder).is_absolute() or ".." in one.folder for one in found)
    assert {"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR"} <= {
        one.variable for one in found
    }


def test_without_the_xdg_variables_a_target_finds_the_same_folders_below_its_home() -> None:
    folders = {one.variable: one.folder for one in state_folders()}
    assert folders["XDG_CACHE_HOME"] == f"{folders['HOME']}/.cache"
    assert folders["XDG_DATA_HOME"] == f"{folders['HOME']}/.local/share"


def test_the_second_use_has_the_same_variables() -> None:
    assert environment_of(Role.USED_STATE) == environment_of(Role.FRESH_STATE)


def test_the_placebo_is_as_large_as_the_largest_arm_also_in_a_run() -> None:
    assert size_bytes(Environment(set=(("A", "1"), ("B", "")))) == len("A=1\0B=\0") + 2 * 8
    folders = environment_of(Role.FRESH_STATE)
    ((name, _),) = environment_of(Role.PLACEBO).set
    assert name == "POOLDIAG_PLACEBO"
    assert size_bytes(in_a_run(environment_of(Role.PLACEBO))) == size_bytes(in_a_run(folders))
    large = Arm(role=Role.BYPASS, environment=Environment(set=(("POOL", "x" * 5000),)))
    assert size_bytes(environment_of(Role.PLACEBO, large)) == size_bytes(large.environment)


def test_these_arms_set_what_every_run_of_a_profile_sets() -> None:
    arms = {arm.role: dict(arm.environment.set) for arm in arms_of(PROFILES["vt"])}
    assert all(arms[role]["VT_POOL_STATS"] == "1" for role in (Role.FRESH_STATE, Role.USED_STATE, Role.PLACEBO))
