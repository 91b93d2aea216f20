"""Modules and functions of PyTorch that write state or arguments, or return aliases; the same in NumPy.

What torch exports of them is committed in `tests/frontend/writing_programs`: the program (`NAME.mlir`),
and what a call of it writes and returns (`NAME.json`). Run with a folder, this module exports them there.
"""

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

import ml_dtypes
import numpy as np
from exported_programs import with_versions

from mlir_smem.frontend.call_signature import (
    OutputSpec,
    Part,
    Signature,
    TensorRef,
    TensorType,
    ViewOp,
)

COMMITTED = Path(__file__).parents[1] / "frontend" / "writing_programs"

BF16 = np.dtype(ml_dtypes.bfloat16)


# -- in PyTorch ------------------------------------------------------------------------------------


def torch_program(name):
    """Return a module or function, and its example inputs."""
    torch = importlib.import_module("torch")
    bf16 = torch.bfloat16
    x, w = torch.ones(8, 64, dtype=bf16), torch.ones(64, 64, dtype=bf16)

    class Cache(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))
            self.register_buffer("cache", torch.zeros(64, 64, dtype=bf16), persistent=False)
            self.w = torch.nn.Parameter(w.clone())
            self.last = torch.zeros(8, 64, dtype=bf16)

        def forward(self, x, scale):
            self.count += 1
            self.cache[8:16].add_(x @ self.w)
            self.last = x * scale
            return {"row": self.cache[8], "cache": self.cache, "count": self.count}

    def accumulate(x, w, total):
        total.t().add_((x @ w).t())
        return total.sum(), total

    def aliases(x, w):
        y = x @ w
        return [
            x,
            x[:4],
            x.t(),
            y,
            y,
            (y.view(4, 128), y[2:4]),
            y.clone(),
            y[:1].expand(3, 64),
            None,
            3,
        ]

    def masked_product(x, w):
        return x @ torch.slice_scatter(w, torch.zeros(32, 64, dtype=bf16), 0, 0, 32)

    functions = {"accumulate": accumulate, "aliases": aliases, "masked": masked_product}
    if name == "cache":
        return Cache(), [x, 2]
    return functions[name], [x, w, x.clone()] if name == "accumulate" else [x, w]


def export(name):
    """Return the text of a program, and its signature as JSON."""
    modules = importlib.import_module("mlir_smem.frontend.torch_export")
    exported = modules.export_torch(*torch_program(name))
    text = with_versions(exported.text, "torch", "torch-mlir")
    return text, json.dumps(encode_signature(exported.signature), indent=1) + "\n"


# -- in NumPy --------------------------------------------------------------------------------------


def _product(x, w):
    return (x.astype(np.float32) @ w.astype(np.float32)).astype(BF16)


def cache(arguments, state):
    x, scale = arguments
    state["count"] += 1
    state["cache"][8:16] += _product(x, state["w"])
    state["last"] = x * BF16.type(scale)
    return [state["cache"][8], state["cache"], state["count"]]


def accumulate(arguments, state):
    x, w, total = arguments
    total += _product(x, w)
    return [np.asarray(total.astype(np.float32).sum()).astype(BF16), total]


def aliases(arguments, state):
    x, w = arguments
    y = _product(x, w)
    return [
        x,
        x[:4],
        x.T,
        y,
        y,
        y.reshape(4, 128),
        y[2:4],
        y.copy(),
        np.broadcast_to(y[:1], (3, 64)),
        None,
        3,
    ]


def masked_product(arguments, state):
    x, w = arguments
    w = w.copy()
    w[:32] = 0
    return [_product(x, w)]


#: What a call does, by name: it changes arguments and state, and returns the results, flattened.
REFERENCES = {
    "cache": cache,
    "accumulate": accumulate,
    "aliases": aliases,
    "masked": masked_product,
}


class NumpyArrays:
    """What a call does with arrays of NumPy."""

    def type_of(self, array):
        if not isinstance(array, np.ndarray):
            return None
        return TensorType(array.dtype.name, array.shape)

    def shares_memory(self, one, other):
        return np.shares_memory(one, other)

    def assign(self, target, value):
        target[...] = value

    def view(self, array, view):
        match view.op, view.arguments:
            case "aten.slice.Tensor", (dim, start, end):
                return array[(*[slice(None)] * dim, slice(start, end))]
            case "aten.select.int", (dim, place):
                return array[(*[slice(None)] * dim, place)]
            case "aten.t.default", ():
                return array.T
        raise NotImplementedError(view)

    def part(self, memory, part):
        strides = [stride * memory.itemsize for stride in part.strides]
        return np.lib.stride_tricks.as_strided(memory[part.offset :], part.shape, strides)

    def empty(self, size, like):
        return np.empty(size, like.dtype)


# -- signatures as JSON ----------------------------------------------------------------------------


def encode_signature(signature):
    """Return a signature as JSON has it."""
    return {
        "types": [[asdict(place), asdict(type_)] for place, type_ in signature.types.items()],
        "values": [*signature.values.items()],
        "inputs": [asdict(place) for place in signature.inputs],
        "writes": [[asdict(place), number] for place, number in signature.writes],
        "outputs": [asdict(output) for output in signature.outputs],
        "rebinds": signature.rebinds,
        "extents": signature.extents,
    }


def decode_signature(fields):
    """Return the signature of which `encode_signature` returned the fields."""

    def place(encoded):
        return encoded and TensorRef(**encoded)

    def type_of(encoded):
        return TensorType(encoded["dtype"], tuple(encoded["shape"]))

    def output(encoded):
        views = [ViewOp(v["op"], tuple(v["arguments"]), v["item"]) for v in encoded["views"]]
        part = encoded["part"] and Part(**{k: _tuple(v) for k, v in encoded["part"].items()})
        known = {"place": place(encoded["place"]), "views": tuple(views), "part": part}
        return OutputSpec(**encoded | known)

    return Signature(
        types={place(key): type_of(value) for key, value in fields["types"]},
        values=dict(fields["values"]),
        inputs=tuple(map(place, fields["inputs"])),
        writes=tuple((place(target), number) for target, number in fields["writes"]),
        outputs=tuple(map(output, fields["outputs"])),
        rebinds=tuple(fields["rebinds"]),
        extents=fields["extents"],
    )


def _tuple(value):
    return tuple(value) if isinstance(value, list) else value


def main(folder):
    """Export all programs to a folder."""
    for name in REFERENCES:
        text, signature = export(name)
        Path(folder, f"{name}.mlir").write_text(text)
        Path(folder, f"{name}.json").write_text(signature)


if __name__ == "__main__":
    main(sys.argv[1])
