"""Tensor file formats: one file each, and its line in FORMATS."""

from collections.abc import Mapping

from pooldiag.census.files._views import open_tensor
from pooldiag.census.files.format import TensorFile
from pooldiag.census.files.gguf import GGUF
from pooldiag.census.files.npy import NPY
from pooldiag.census.files.npz import NPZ
from pooldiag.census.files.raw import RAW
from pooldiag.census.files.safetensors import SAFETENSORS
from pooldiag.census.files.torch import TORCH

__all__ = ["FORMATS", "open_tensor", "recognise"]

FORMATS: Mapping[str, TensorFile] = {
    tensor_file.name: tensor_file for tensor_file in (RAW, NPY, NPZ, SAFETENSORS, GGUF, TORCH)
}


def recognise(head: bytes, suffix: str) -> TensorFile | None:
    """Return the format that a file is of, by its first HEAD_BYTES bytes, and by its suffix when they do not say it."""
    named = [each for each in FORMATS.values() if suffix.lower() in each.suffixes]
    found = [each for each in FORMATS.values() if each.recognises(head)]
    return next(iter([each for each in found if each in named] or found or named), None)
