"""NumPy's `.npz`: a zip file with one `.npy` a member."""

from dataclasses import replace
from typing import BinaryIO

from pooldiag.census.files._views import open_place
from pooldiag.census.files._zip import NO_MEMBERS, Member, first_name, zip_members
from pooldiag.census.files.format import Declared, Tensor, check_unique, only_raw_places
from pooldiag.census.files.npy import checked, read_header

SUFFIX = ".npy"


class Npz:
    """Arrays by name."""

    name = "npz"
    suffixes = (".npz",)

    def recognises(self, head: bytes) -> bool:
        """Say whether the first member is an array, or there is none."""
        return head.startswith(NO_MEMBERS) or (first_name(head) or b"").endswith(SUFFIX.encode())

    def tensors(self, file: BinaryIO, declared: Declared, *, path: str) -> tuple[Tensor, ...]:
        """Return a tensor for each array. Other members are left alone, as NumPy does."""
        only_raw_places(declared, path=path, format_name=self.name)
        members = zip_members(file, path=path, format_name=self.name)
        arrays = [member for member in members.values() if member.name.endswith(SUFFIX)]
        tensors = tuple(_tensor(file, member, declared, path=path) for member in arrays)
        check_unique((tensor.name for tensor in tensors), path=path)
        return tensors


def _tensor(file: BinaryIO, member: Member, declared: Declared, *, path: str) -> Tensor:
    name = member.name.removesuffix(SUFFIX)
    header = read_header(open_place(file, member.place, path=path), declared.layout, path=path, name=name)
    tensor = checked(header, path=path, end=member.size)
    place = replace(tensor.place, offset=member.place.offset + tensor.place.offset, deflated=member.place.deflated)
    return replace(tensor, place=place)
