"""The sample files, and how tests read any file: listed, then every tensor to its end."""

import io
from pathlib import Path
from typing import BinaryIO

from pooldiag.census.files import FORMATS, open_tensor
from pooldiag.census.files.format import Declared, Tensor
from pooldiag.census.layouts import LAYOUTS

SAMPLES = Path(__file__).parent / "samples"
RAW = Declared(layout=LAYOUTS["f32"])
NOTHING = Declared()

# By format, the samples that hold tensors; for raw, which is anything, one of them will do.
GOOD = {
    "raw": ("f32.npy",),
    "npy": ("f32.npy", "f32-v3.npy", "f64-big-fortran.npy", "complex.npy"),
    "npz": ("stored.npz", "deflated.npz"),
    "safetensors": ("all.safetensors",),
    "gguf": ("big.gguf", "all.gguf"),
    "torch": ("tensor.pt", "state.pt"),
}


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def declared(format_name: str) -> Declared:
    return RAW if format_name == "raw" else NOTHING


def listed(format_name: str, data: bytes, declares: Declared | None = None) -> dict[str | None, Tensor]:
    """List what a file holds."""
    return {each.name: each for each in listed_in(format_name, io.BytesIO(data), declares)}


def listed_in(format_name: str, file: BinaryIO, declares: Declared | None = None) -> tuple[Tensor, ...]:
    wanted = declared(format_name) if declares is None else declares
    return FORMATS[format_name].tensors(file, wanted, path="x")


def contents(format_name: str, data: bytes, declares: Declared | None = None) -> dict[str | None, bytes]:
    """Read all that a file holds."""
    file = io.BytesIO(data)
    tensors = listed_in(format_name, file, declares)
    return {each.name: open_tensor(file, each, path="x").read() for each in tensors}
