"""NumPy's `.npz`: a zip file with one `.npy` a member."""

from dataclasses import replace

from pooldiag.census.files._views import open_place
from pooldiag.census.files._zip import NO_MEMBERS, Member, first_name, zip_members
from pooldiag.census.files.format import Declared, Source, Tensor, TensorFile
from pooldiag.census.files.npy import checked, read_header

SUFFIX = ".npy"


def _recognises(head: bytes) -> bool:
    """Say whether the first member is an array, or there is none."""
    return head.startswith(NO_MEMBERS) or (first_name(head) or b"").endswith(SUFFIX.encode())


def _read(source: Source, declared: Declared) -> tuple[Tensor, ...]:
    """Return a tensor for each array. Other members are left alone, as NumPy does."""
    arrays = [member for member in zip_members(source).values() if member.name.endswith(SUFFIX)]
    tensors = tuple(_tensor(source, member, declared) for member in arrays)
    source.check_unique(tensor.name for tensor in tensors)
    return tensors


NPZ = TensorFile(name="npz", suffixes=(".npz",), recognises=_recognises, read=_read)


def _tensor(source: Source, member: Member, declared: Declared) -> Tensor:
    inside = replace(source, file=open_place(source.file, member.place, path=source.path))
    header = read_header(inside, declared.layout, name=member.name.removesuffix(SUFFIX))
    tensor = checked(source, header, end=member.size)
    place = replace(tensor.place, offset=member.place.offset + tensor.place.offset, deflated=member.place.deflated)
    return replace(tensor, place=place)
