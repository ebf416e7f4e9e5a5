"""What a census says about where its values come from: rules as data, each with its source and its limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pooldiag.model.census import Census, Finding

# NVIDIA's canonical NaN, by element type, and where it is written down.
_NVIDIA_NAN: Mapping[tuple[str, str], str] = {
    ("f32", "0x7fffffff"): "NVIDIA's canonical f32 NaN (CUDA C++ Programming Guide, Floating-Point Standard)",
    ("f32", "0x7fff0000"): "bf16 0x7fff widened to f32, NVIDIA's canonical bf16 NaN (CUDA's cuda_bf16.hpp)",
    ("bf16", "0x7fff"): "NVIDIA's canonical bf16 NaN (CUDA's cuda_bf16.hpp)",
    ("f16", "0x7fff"): "NVIDIA's canonical f16 NaN (CUDA's cuda_fp16.h, CUDART_NAN_FP16)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing to see in a census: `read` says it in words, or None when it is not there."""

    name: str
    confidence: str
    read: Callable[[Census], str | None]


def _uniform_nan(census: Census) -> str | None:
    if census.nan < census.n or len(census.nan_patterns) != 1:
        return None
    return (
        f"all {census.n} elements are NaN with one pattern, {census.nan_patterns[0].bits}: computed from a contaminated"
        " input and spread (IEEE 754-2019, 6.2: a NaN goes through), or filled; raw bytes would be mostly finite, and"
        " their NaN of many patterns. Garbage read upstream is not excluded"
    )


def _nvidia_nan(census: Census) -> str | None:
    if _uniform_nan(census) is None:
        return None
    bits = census.nan_patterns[0].bits
    if (known := _NVIDIA_NAN.get((census.dtype, bits))) is None:
        return None
    return (
        f"{bits} is {known}: NaN as NVIDIA GPUs write it, so the last operation or cast ran on one, or imitates one"
        " (an emulator, a CPU cast that keeps a GPU's bits). GPUs erase payloads: where the first NaN was born, the"
        " pattern does not say"
    )


RULES: tuple[Rule, ...] = (
    Rule(name="uniform-nan", confidence="high that this buffer is not raw garbage", read=_uniform_nan),
    Rule(name="nvidia-nan", confidence="high for the pattern, medium for the origin", read=_nvidia_nan),
)


def findings(census: Census) -> tuple[Finding, ...]:
    """Apply every rule."""
    said = ((rule, rule.read(census)) for rule in RULES)
    return tuple(
        Finding(rule=rule.name, text=text, confidence=rule.confidence) for rule, text in said if text is not None
    )
