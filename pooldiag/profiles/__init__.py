"""Allocator profiles: one TOML file an allocator, its arms as data."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files

from pooldiag.model.arms import AllocatorProfile
from pooldiag.profiles.custom import NO_PROFILE, custom_profile
from pooldiag.profiles.inherited import inherited_changes, inherited_remarks
from pooldiag.profiles.loader import load_profile
from pooldiag.profiles.switches import SWITCHABLE_ROLES, arms_of

__all__ = [
    "NO_PROFILE",
    "PROFILES",
    "SWITCHABLE_ROLES",
    "PackagedProfiles",
    "arms_of",
    "custom_profile",
    "inherited_changes",
    "inherited_remarks",
    "load_profile",
    "markers",
    "recognise",
]


class PackagedProfiles(Mapping[str, AllocatorProfile]):
    """Profiles by name, each read from its file when it is first asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._loaded: dict[str, AllocatorProfile] = {}

    def __getitem__(self, name: str) -> AllocatorProfile:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._loaded:
            text = (files(__package__) / f"{name}.toml").read_text(encoding="utf-8")
            self._loaded[name] = load_profile(text, name=name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names  # the inherited one would read the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


PROFILES: Mapping[str, AllocatorProfile] = PackagedProfiles(("vt",))


def markers(profiles: Mapping[str, AllocatorProfile] = PROFILES) -> frozenset[bytes]:
    """Return what to look for in a target and its libraries, for `recognise` to be told what was found."""
    return frozenset(marker.encode() for profile in profiles.values() for marker in profile.markers)


def recognise(found: frozenset[bytes], profiles: Mapping[str, AllocatorProfile] = PROFILES) -> AllocatorProfile | None:
    """Return the profile most of whose markers were found, the first of equals; None when none was."""
    counts = {name: sum(marker.encode() in found for marker in profile.markers) for name, profile in profiles.items()}
    best = max(counts, key=lambda name: counts[name], default=None)
    return profiles[best] if best is not None and counts[best] else None
