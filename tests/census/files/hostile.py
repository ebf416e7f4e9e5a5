"""Files made by hand, to say what no honest program writes."""

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Mapping


def npy(header: str | bytes, data: bytes = b"", *, length: int | None = None, version: int = 1) -> bytes:
    text = header.encode() if isinstance(header, str) else header
    size = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", size) + text + data


def array(description: str, shape: str = "(3,)") -> str:
    return f"{{'descr': {description}, 'fortran_order': False, 'shape': {shape}}}"


def zipped(members: Mapping[str, bytes], *, deflated: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, archive.compression)
    return file.getvalue()


def safetensors(header: object, data: bytes = b"", *, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor_entry(begin: int = 0, end: int = 4, *, dtype: str = "F32", shape: object = (1,)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def gguf(*, tensors: int = 0, values: int = 0, rest: bytes = b"", version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, values) + rest


def gguf_name(name: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name


def gguf_tensor(name: bytes = b"a", *, shape: tuple[int, ...] = (1,), kind: int = 0, offset: int = 0) -> bytes:
    axes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return gguf_name(name) + axes + struct.pack("<IQ", kind, offset)


def torch(pickled: bytes, storages: Mapping[str, bytes] | None = None) -> bytes:
    members = {f"a/data/{key}": data for key, data in (storages or {"0": bytes(16)}).items()}
    return zipped({"a/data.pkl": pickled, **members})


class Call:
    """Pickles as a call of something that a module names, which unpickling would import and run."""

    def __init__(self, target: str, *arguments: object) -> None:
        self.module, self.name = target.rsplit(".", 1)
        self.arguments = arguments


def pickled(value: object) -> bytes:
    """Write a pickle, with calls and persistent ids of storages, by hand: `pickle` would import what is named."""
    match value:
        case Call():
            function = f"c{value.module}\n{value.name}\n".encode()
            return function + pickled(value.arguments) + b"R"
        case Storage():
            return b"(" + pickled("storage") + value.of() + b"".join(map(pickled, value.rest())) + b"tQ"
        case dict():
            items = b"".join(pickled(key) + pickled(item) for key, item in value.items())
            return b"}(" + items + b"u"
        case list() | tuple():
            inner = b"".join(map(pickled, value))
            return b"](" + inner + b"e" if isinstance(value, list) else b"(" + inner + b"t"
        case _:
            return pickle.dumps(value, protocol=2)[2:-1]


class Storage:
    """The persistent id of a storage."""

    def __init__(self, key: object = "0", type_name: str = "FloatStorage", numel: int = 4) -> None:
        self.key, self.type_name, self.numel = key, type_name, numel

    def of(self) -> bytes:
        return f"ctorch\n{self.type_name}\n".encode()

    def rest(self) -> tuple[object, ...]:
        return self.key, "cpu", self.numel


def rebuilt(
    storage: object,
    offset: object = 0,
    shape: object = (4,),
    strides: object = (1,),
    function: str = "_rebuild_tensor_v2",
) -> Call:
    return Call(f"torch._utils.{function}", storage, offset, shape, strides, False, Call("collections.OrderedDict"))


def pickle_of(value: object) -> bytes:
    return b"\x80\x02" + pickled(value) + b"."
