"""Elements and nothing else: the user says of what type they are, and where they begin."""

from dataclasses import replace
from typing import BinaryIO

from pooldiag.census.files.format import (
    Declared,
    ElementType,
    Place,
    Tensor,
    file_size,
    left_over,
    plain_tensor,
    read_exactly,
)
from pooldiag.census.layouts import CensusError, check_whole

SKIP_BYTES = 2**16


class Raw:
    """A file without a header."""

    name = "raw"
    suffixes = (".bin", ".raw")

    def recognises(self, head: bytes) -> bool:  # noqa: ARG002 - any bytes can be elements
        """Recognise nothing."""
        return False

    def tensors(self, file: BinaryIO, declared: Declared, *, path: str) -> tuple[Tensor, ...]:
        """Return the one tensor: as many elements as the declared shape has; without one, all of them."""
        layout = declared.layout
        if layout is None:
            raise CensusError(f"{path}: a raw file does not say what type it is of", hint="name it: --dtype f32")
        element = ElementType.of(layout.name)
        if not file.seekable():
            return (_from_pipe(file, element, declared, path=path),)
        size = file_size(file, path=path, format_name=self.name)
        if declared.offset > size:
            raise CensusError(f"{path}: --offset {declared.offset} is beyond the end of the file, {size} bytes")
        size -= declared.offset
        if declared.shape is None:
            check_whole(layout, size, path=path)
            count = size // layout.item_bytes * layout.per_item
            whole = _tensor(element, declared, (count,), path=path)
            return (replace(whole, shape=None),)  # nobody said it
        return (_with_rest_noted(_tensor(element, declared, declared.shape, path=path), size, path=path),)


def _tensor(element: ElementType, declared: Declared, shape: tuple[int, ...], *, path: str) -> Tensor:
    tensor = plain_tensor(element, shape, path=path, name=None, offset=declared.offset)
    return replace(tensor, byte_order=declared.byte_order or "little")


def _with_rest_noted(tensor: Tensor, size: int, *, path: str) -> Tensor:
    """Return a tensor for whose bytes there are `size` bytes."""
    needed = tensor.place.size or 0
    if needed > size:
        shape = "x".join(map(str, tensor.shape or ()))
        raise CensusError(
            f"{path}: {shape} elements of {tensor.dtype} have {needed} bytes, the file has {size} of them"
        )
    if needed == size:
        return tensor
    return replace(tensor, notes=(*tensor.notes, left_over(size - needed)))


def _from_pipe(file: BinaryIO, element: ElementType, declared: Declared, *, path: str) -> Tensor:
    """Skip to the first element. How many there are shows at the end, unless the shape says it."""
    for begin in range(0, declared.offset, SKIP_BYTES):
        size = min(SKIP_BYTES, declared.offset - begin)
        read_exactly(file, size, path=path, what=f"the {declared.offset} bytes of --offset")
    if declared.shape is not None:
        return _tensor(element, declared, declared.shape, path=path)
    return replace(_tensor(element, declared, (0,), path=path), shape=None, count=None, place=Place(size=None))
