"""Elements and nothing else: the user says of what type they are, and where they begin."""

from dataclasses import replace

from pooldiag.census.files.format import Declared, ElementType, Place, Source, Tensor, TensorFile, with_rest
from pooldiag.census.layouts import check_whole

SKIP_BYTES = 2**16


def _recognises(_: bytes) -> bool:
    return False  # any bytes can be elements


def _read(source: Source, declared: Declared) -> tuple[Tensor, ...]:
    """Return the one tensor: as many elements as the declared shape has; without one, all of them."""
    layout = declared.layout
    if layout is None:
        raise source.error("a raw file does not say what type it is of", hint="name it: --dtype f32")
    element = ElementType.of(layout.name)
    if not source.file.seekable():
        return (_from_pipe(source, element, declared),)
    size = source.size()
    if declared.offset > size:
        raise source.error(f"--offset {declared.offset} is beyond the end of the file, {size} bytes")
    size -= declared.offset
    if declared.shape is None:
        check_whole(layout, size, path=source.path)
        whole = _tensor(source, element, declared, (size // layout.item_bytes * layout.per_item,))
        return (replace(whole, shape=None),)  # nobody said it
    return (_with_rest_noted(source, _tensor(source, element, declared, declared.shape), size),)


RAW = TensorFile(name="raw", suffixes=(".bin", ".raw"), recognises=_recognises, read=_read, can_be_declared=True)


def _tensor(source: Source, element: ElementType, declared: Declared, shape: tuple[int, ...]) -> Tensor:
    tensor = source.tensor(None, element, shape, offset=declared.offset)
    return replace(tensor, byte_order=declared.byte_order or "little")


def _with_rest_noted(source: Source, tensor: Tensor, size: int) -> Tensor:
    """Return a tensor for whose bytes there are `size` bytes."""
    needed = tensor.place.size or 0
    if needed > size:
        shape = "x".join(map(str, tensor.shape or ()))
        raise source.error(f"{shape} elements of {tensor.dtype} have {needed} bytes, the file has {size} of them")
    return with_rest(tensor, size - needed)


def _from_pipe(source: Source, element: ElementType, declared: Declared) -> Tensor:
    """Skip to the first element. How many there are shows at the end, unless the shape says it."""
    for begin in range(0, declared.offset, SKIP_BYTES):
        source.read(min(SKIP_BYTES, declared.offset - begin), what=f"the {declared.offset} bytes of --offset")
    if declared.shape is not None:
        return _tensor(source, element, declared, declared.shape)
    return replace(_tensor(source, element, declared, (0,)), shape=None, count=None, place=Place(size=None))
