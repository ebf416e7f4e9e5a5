"""Bytes that allocators and debuggers fill memory with, as data: most of them are finite numbers."""

from collections.abc import Mapping

# A unit that is repeated over the element, and who writes it.
FILLS: Mapping[str, str] = {
    "ff": "memset(-1) or erased flash",
    "7f": "memset(0x7f)",
    "cd": "fresh memory of CPython's debug allocator or the MSVC debug CRT, or freed memory of gperftools'",
    "dd": "freed memory of CPython's debug allocator or the MSVC debug CRT",
    "fd": "the fence of CPython's debug allocator or the MSVC debug CRT",
    "a5": "fresh memory of jemalloc with junk filling",
    "5a": "freed memory of jemalloc with junk filling",
    "e4": "fresh memory of Firefox's jemalloc",
    "e5": "freed memory of Firefox's jemalloc",
    "be": "fresh memory under AddressSanitizer, which fills the first 4 KiB",
    "55": "freed memory under AddressSanitizer",
    "ab": "fresh memory of gperftools' debug allocator, or the guard words of TensorFlow's",
    "d0": "fresh memory of mimalloc's debug build",
    "df": "freed memory of mimalloc's debug build",
    "de": "padding of mimalloc's debug build",
    "deadbeef": "0xdeadbeef, written by hand or by a debug allocator",
    "baadf00d": "0xbaadf00d, fresh memory of Windows' debug heap",
    "feee": "0xfeee, freed memory of Windows' debug heap",
}
# What torch fills new tensors with under use_deterministic_algorithms: the largest integer.
_TORCH_INTEGERS: Mapping[str, int] = {"i8": 0x7F, "i16": 0x7FFF, "i32": 0x7FFFFFFF, "i64": 0x7FFFFFFFFFFFFFFF}
_BYTE = 8


def maker_of(pattern: int, *, bits: int, dtype: str) -> str | None:
    """Say who fills memory with a pattern; None if nobody is known to.

    Any byte but 0 that an element of several bytes repeats may be glibc's, which fills with a byte of the user's.
    """
    named = [maker for unit, maker in FILLS.items() if _repeats(pattern, int(unit, 16), 4 * len(unit), bits)]
    if _TORCH_INTEGERS.get(dtype) == pattern:
        named.append("torch's deterministic fill of new integer tensors")
    if not named and bits > _BYTE and pattern and _repeats(pattern, pattern & 0xFF, _BYTE, bits):
        named.append(f"the byte 0x{pattern & 0xFF:02x} everywhere, as glibc's MALLOC_PERTURB_ and memset fill")
    return " or ".join(named) if named else None


def _repeats(pattern: int, unit: int, unit_bits: int, bits: int) -> bool:
    return bits % unit_bits == 0 and pattern == sum(unit << place for place in range(0, bits, unit_bits))
