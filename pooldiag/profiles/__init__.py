"""Allocator profiles: one TOML file an allocator, its arms as data."""

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files

from pooldiag.model.arms import AllocatorProfile
from pooldiag.profiles.custom_profiles import NO_PROFILE, custom_profile
from pooldiag.profiles.inheritance import fills_among, inherited_changes, inherited_remarks, with_inherited
from pooldiag.profiles.loader import load_profile
from pooldiag.profiles.switches import arms_of

__all__ = [
    "NO_PROFILE",
    "PROFILES",
    "PackagedProfiles",
    "arms_of",
    "custom_profile",
    "fills_among",
    "inherited_changes",
    "inherited_remarks",
    "load_profile",
    "markers",
    "others",
    "recognise",
    "with_inherited",
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


PROFILES: Mapping[str, AllocatorProfile] = PackagedProfiles(
    (
        "vt",
        "glibc",
        "tcmalloc-debug",
        "asan",
        "python",
        "pytorch",
        "pytorch-rocm",
        "jax",
        "tensorflow",
        "paddle",
        "mxnet",
        "dali",
        "quda",
        "ctranslate2",
        "arrayfire",
        "cudajl",
        "omp-offload",
        "level-zero",
        "tinygrad",
        "cupy",
        "rmm",
        "onnxruntime",
        "ggml",
        "tensorrt",
        "numpy",
    )
)


def markers(profiles: Mapping[str, AllocatorProfile] = PROFILES) -> frozenset[bytes]:
    """Return what to look for in a target and its libraries, so that `recognise` can say what was found."""
    return frozenset(name.encode() for profile in profiles.values() for name in (*profile.markers, *profile.symbols))


def recognise(found: frozenset[bytes], profiles: Mapping[str, AllocatorProfile] = PROFILES) -> AllocatorProfile | None:
    """Return the profile most of whose markers were found, the first of equals; None when none was.

    A symbol counts where no marker of any profile was found: an instrumented program that has a pool of its
    own is asked about its pool.
    """
    return _best(found, {profile: profile.markers for profile in profiles.values()}) or _best(
        found, {profile: profile.symbols for profile in profiles.values()}
    )


def others(
    found: frozenset[bytes], chosen: AllocatorProfile, profiles: Mapping[str, AllocatorProfile] = PROFILES
) -> tuple[str, ...]:
    """Return the names of further profiles whose markers were found: pools that no arm of the chosen one removes."""
    known = (profile for profile in profiles.values() if profile.name != chosen.name.partition("+")[0])
    return tuple(profile.name for profile in known if any(name.encode() in found for name in profile.markers))


def _best(found: frozenset[bytes], names: Mapping[AllocatorProfile, tuple[str, ...]]) -> AllocatorProfile | None:
    counts = {profile: sum(name.encode() in found for name in marks) for profile, marks in names.items()}
    return max(filter(counts.get, counts), key=lambda profile: counts[profile], default=None)
