"""PyTorch's `.pt`: a zip file with the storages, and a pickle that says which tensors are in them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from pooldiag.census.files._pickled import Named, Unpickler
from pooldiag.census.files._views import open_place
from pooldiag.census.files._zip import Member, first_name, zip_members
from pooldiag.census.files.format import NAME_LIMIT, Declared, ElementType, Source, Tensor, TensorFile, called, shown
from pooldiag.census.layouts import ByteOrder

PICKLE = "/data.pkl"
PICKLE_LIMIT = 2**24  # bytes
VISIT_LIMIT = 200_000  # objects: a few bytes can refer to one another as often as they like
_OLD_MAGIC = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

_PLAIN = (
    "float64 float32 float16 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu bool"
    " int8 uint8 int16 uint16 int32 uint32 int64 uint64"
)
_PAIRS = {"float4_e2m1fn_x2": "e2m1", "complex32": "f16", "complex64": "f32", "complex128": "f64"}
_TYPES = {
    **{name: ElementType.of(name) for name in _PLAIN.split()},
    **{name: ElementType.of(part, parts=2) for name, part in _PAIRS.items()},
}
_STORAGES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "Bool": "bool",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Untyped": "uint8",
}
_NAMED_TYPES: Mapping[str, ElementType] = {
    **{f"torch.{name}": element for name, element in _TYPES.items()},
    **{f"torch.{name}Storage": _TYPES[of] for name, of in _STORAGES.items()},
    "torch.storage.UntypedStorage": _TYPES["uint8"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Storage:
    """A run of elements in a member of its own."""

    key: str
    element: ElementType


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strided:
    """A tensor: which elements of a storage it has. Offset and strides are in elements."""

    storage: _Storage
    element: ElementType
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _recognises(head: bytes) -> bool:
    """Say whether it is a zip file with a folder, or what torch.save wrote before it wrote zip files."""
    return b"/" in (first_name(head) or b"") or head.startswith(_OLD_MAGIC)


def _read(source: Source, _: Declared) -> tuple[Tensor, ...]:
    """Return the tensors in the order of the pickle, by the path to them. Some may share their bytes."""
    source.size()
    if source.file.read(1) == b"\x80":
        raise source.error(
            "a pickle, as torch.save wrote it before version 1.6; only its zip files are read",
            hint="save it again: torch.save(torch.load(…, weights_only=True), …)",
        )
    members = zip_members(source)
    folder = _folder(source, members)
    pickled = _unpacked(source, members[f"{folder}{PICKLE}"], PICKLE_LIMIT)
    content = Unpickler(data=pickled, known=_KNOWN, calls=_CALLS, load=_storage, path=source.path).run()
    order = _byte_order(source, members.get(f"{folder}/byteorder"))
    tensors = tuple(
        _tensor(source, name, view, members.get(f"{folder}/data/{view.storage.key}"), order)
        for name, view in source.limited(_views(source, content))
    )
    source.check_unique(tensor.name for tensor in tensors)
    return tensors


TORCH = TensorFile(name="torch", suffixes=(".pt", ".pth", ".ckpt"), recognises=_recognises, read=_read)


def _folder(source: Source, members: Mapping[str, Member]) -> str:
    """Return the one folder at the top, which has the name that the file had when it was saved."""
    folders = [name.removesuffix(PICKLE) for name in members if name.endswith(PICKLE)]
    if len(folders) != 1:
        raise source.error(f"{len(folders)} members are called data.pkl; what torch.save writes has one")
    return folders[0]


def _unpacked(source: Source, member: Member, limit: int) -> bytes:
    if member.size > limit:
        raise source.error(f"{shown(member.name)} has {member.size} bytes, more than {limit}")
    inside = replace(source, file=open_place(source.file, member.place, path=source.path))
    return inside.read(member.size, what=shown(member.name))


def _byte_order(source: Source, member: Member | None) -> ByteOrder:
    if member is None:  # before version 2.1
        return "little"
    match _unpacked(source, member, 16):
        case b"little":
            return "little"
        case b"big":
            return "big"
        case other:
            raise source.error(f"the byte order is {shown(repr(other))}")


def _storage(persistent_id: object) -> _Storage:
    match persistent_id:
        case ("storage", Named(name=name), str(key), *_) if name in _NAMED_TYPES:
            return _Storage(key=key, element=_NAMED_TYPES[name])
    raise ValueError("no storage")


def _sizes(value: object) -> tuple[int, ...]:
    """Return a shape or strides; raise ValueError for anything else."""
    if not isinstance(value, tuple) or not all(type(size) is int and size >= 0 for size in value):
        raise ValueError("no sizes")
    return value


def _rebuilt(storage: object, offset: object, shape: object, strides: object, *_: object) -> _Strided:
    """Make a tensor of the type of its storage."""
    if not isinstance(storage, _Storage):
        raise TypeError("no storage")
    sizes, steps = _sizes(shape), _sizes(strides)
    if len(sizes) != len(steps):
        raise ValueError("a stride for each axis")
    (first,) = _sizes((offset,))
    return _Strided(storage=storage, element=storage.element, offset=first, shape=sizes, strides=steps)


def _rebuilt_typed(*arguments: object) -> _Strided:
    """Make a tensor of a type of its own, which has no storage of its name."""
    *rest, _, _, named, _ = (*arguments, None)[:8]
    if not isinstance(named, Named):
        raise TypeError("no type")
    return replace(_rebuilt(*rest), element=_NAMED_TYPES[named.name])


def _empty() -> dict[object, object]:
    """Make a dictionary; its items are set later."""
    return {}


def _first(value: object, *_: object) -> object:
    return value


def _called(function: object, _: object, arguments: object, *__: object) -> object:
    """Make a tensor of a subclass as the tensor that it is."""
    if not isinstance(function, Named) or not isinstance(arguments, tuple):
        raise TypeError("no call")
    return _CALLS[function.name](*arguments)


_CALLS: Mapping[str, Callable[..., object]] = {
    "torch._utils._rebuild_tensor": _rebuilt,
    "torch._utils._rebuild_tensor_v2": _rebuilt,
    "torch._utils._rebuild_tensor_v3": _rebuilt_typed,
    "torch._utils._rebuild_parameter": _first,
    "torch._utils._rebuild_parameter_with_state": _first,
    "torch._tensor._rebuild_from_type_v2": _called,
    "torch.Size": _first,
    "torch.device": _first,
    "collections.OrderedDict": _empty,
    "builtins.set": _first,
    "__builtin__.set": _first,
    "_codecs.encode": _first,  # bytes, in the older protocols
}
_KNOWN = frozenset(_NAMED_TYPES) | {"torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"}


def _views(source: Source, content: object) -> Iterator[tuple[str | None, _Strided]]:
    """Yield the tensors with the keys and indices that lead to them, `model.layers.0.weight`."""
    if isinstance(content, _Strided):
        yield None, content
        return
    levels = [_children("", content)]
    for _ in range(VISIT_LIMIT):
        name, value = next(levels[-1], ("", None))
        if value is None:
            levels.pop()
            if not levels:
                return
        elif len(name) > NAME_LIMIT:  # each level adds to it
            raise source.error(f"objects within objects, deeper than any model: {shown(name)}")
        elif isinstance(value, _Strided):
            yield name, value
        else:
            levels.append(_children(f"{name}.", value))
    raise source.error(f"objects within objects, more than {VISIT_LIMIT} of them")


def _children(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield what may be, or hold, tensors."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, child in items:
        if isinstance(child, _Strided | dict | list | tuple):
            yield f"{prefix}{key}", child


def _tensor(source: Source, name: str | None, view: _Strided, member: Member | None, order: ByteOrder) -> Tensor:
    """Return a view as a tensor: its own elements, or the whole storage if others stand between them."""
    if member is None:
        raise source.error(f"{called(name)} has no data: the member {shown(view.storage.key)} is not there")
    item_bytes = view.element.bits * view.element.parts // 8
    stored = member.size // item_bytes
    count = source.element_count(name, view.shape)
    reach = view.offset + sum((size - 1) * stride for size, stride in zip(view.shape, view.strides, strict=True)) + 1
    if count and reach > stored:
        raise source.error(f"{called(name)} reaches beyond its storage, which has {stored} elements")
    shape, first, axes, note = _stretch(view, stored) if count else (view.shape, 0, None, None)
    tensor = source.tensor(name, view.element, shape, offset=member.place.offset + first * item_bytes)
    notes = tensor.notes if note is None else (*tensor.notes, note)
    place = replace(tensor.place, deflated=member.place.deflated)
    return replace(tensor, place=place, axes=axes, notes=notes, byte_order=order)


def _stretch(view: _Strided, stored: int) -> tuple[tuple[int, ...], int, tuple[int, ...] | None, str | None]:
    """Return what to count, and a note when that is not the tensor as it is.

    That is its shape in memory, its first element, and the order of its axes there, None where it is their own.
    """
    axes = [axis for axis, size in enumerate(view.shape) if size > 1]
    in_memory = sorted(axes, key=lambda axis: view.strides[axis], reverse=True)
    order = tuple(in_memory) if in_memory != axes else None
    expected = 1
    for axis in reversed(in_memory):
        if view.strides[axis] != expected:
            shape, strides = "x".join(map(str, view.shape)), tuple(view.strides[axis] for axis in axes)
            return (stored,), 0, order, f"a {shape} view with strides {strides}: its storage of {stored} is counted"
        expected *= view.shape[axis]
    if order is None:
        return view.shape, view.offset, None, None
    note = f"transposed: the {view.shape} elements are counted in the order of memory"
    return tuple(view.shape[axis] for axis in in_memory), view.offset, order, note
