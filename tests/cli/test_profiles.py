"""`pooldiag profiles`: all of them in a table, one of them whole, both as JSON."""

import json
from pathlib import Path

import pytest

from pooldiag.profiles import PROFILES
from tests.cli.command import pooldiag


def test_the_table_has_a_row_for_every_profile_and_fits_80_columns(tmp_path: Path) -> None:
    said = pooldiag("profiles", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    head, *rows = said.out.splitlines()
    assert head.split() == ["Profile", "Allocator", "Arms", "Known", "from", "Found", "by"]
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == list(PROFILES)
    assert max(map(len, said.out.splitlines())) <= 80


def test_the_table_says_what_a_profile_can_do_and_how_it_is_known(tmp_path: Path) -> None:
    rows = {row.split()[0]: row for row in pooldiag("profiles", cwd=tmp_path, COLUMNS="200").out.splitlines()}
    assert "bypass poison-n poison-0" in rows["glibc"]
    assert rows["glibc"].split()[-2:] == ["measured", "--profile"]
    assert rows["vt"].split()[-3:] == ["measured", "its", "names"]
    assert rows["pytorch-rocm"].split()[-3] == "report"  # the least certain of its arms
    assert "no switch" in rows["cupy"]


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_sheet_tells_all_of_a_profile_in_80_columns(tmp_path: Path, name: str) -> None:
    said = pooldiag("profiles", name, cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert max(map(len, said.out.splitlines())) <= 80
    text = "".join(said.out.split())
    profile = PROFILES[name]
    for arm in profile.arms:
        assert f"\n{arm.role}" in said.out
        assert "".join((arm.source or "").split()) in text
        assert all(f"{variable}=" in text for variable, _ in arm.environment.set)
        assert "".join((arm.caveat or "").split()) in text
        for one in arm.properties:
            assert "".join(f"{one.name}{one.value}({one.source})".split()).replace(",", "") in text.replace(",", "")
    assert "".join((profile.no_switch or "").split()) in text


def test_a_long_list_of_options_is_broken_where_one_ends(tmp_path: Path) -> None:
    out = pooldiag("profiles", "glibc", cwd=tmp_path).out
    assert "glibc.malloc.arena_max=1" in out
    assert "glibc.malloc.perturb=128" in out


def test_json_holds_what_the_files_hold(tmp_path: Path) -> None:
    everything = json.loads(pooldiag("profiles", "--json", cwd=tmp_path).out)
    assert everything["schema"] == "pooldiag.profiles/1"
    assert [entry["name"] for entry in everything["profiles"]] == list(PROFILES)
    one = json.loads(pooldiag("profiles", "glibc", "--json", cwd=tmp_path).out)
    (glibc,) = one["profiles"]
    assert glibc == next(entry for entry in everything["profiles"] if entry["name"] == "glibc")
    bypass = next(entry for entry in glibc["arms"] if entry["role"] == "bypass")
    assert bypass["env"]["set"]["GLIBC_TUNABLES"].endswith(":glibc.malloc.arena_max=1")
    assert bypass["confidence"] == "measured"
    (address,) = bypass["properties"]
    assert address == {"name": "addresses", "value": "returned", "source": address["source"]}
    assert "63 of 63" in address["source"]
    assert glibc["canary"]["arms"]["bypass"] == {"freed": ["unmapped"], "handed": ["0x00"]}
    assert glibc["linked"]["library"] == "libc.so.6"


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    said = pooldiag("profiles", "glib", cwd=tmp_path)
    assert said.code == 2
    assert said.err == "pooldiag: no profile 'glib'\n  nearest: glibc; see `pooldiag profiles`\n"
