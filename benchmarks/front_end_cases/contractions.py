"""Random contractions of linalg, what their sums begin with, and element-wise ops behind."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .case import Case, linalg_case, whole
from .linalg_cases import DTYPES, each, einsum, function, product, tensor

_EXTENTS = (1, 2, 8, 16, 24, 40, 64, 72)
#: Of A, of B, and of the sums.
_TYPES = [
    ("bf16", "bf16", "f32"),
    ("bf16", "bf16", "f32"),
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "bf16"),
    ("f16", "f16", "f16"),
    ("f8E4M3FN", "f8E4M3FN", "f32"),
    ("f8E5M2", "f8E4M3FN", "f32"),
    ("i8", "i8", "i32"),
    ("i8", "i8", "f32"),
    ("f32", "f32", "f32"),
    ("bf16", "f32", "f32"),
    ("i1", "i1", "i32"),
]
#: Sums in bf16 of more products may be rounded before the end.
_MOST_IN_BF16 = 256


class _Value(NamedTuple):
    """A tensor of a program: its name, its dimensions' letters, and its element type."""

    name: str
    letters: str
    element: str


class _Program:
    """A program that is being written, and what computes its result."""

    def __init__(self, chosen: random.Random, extents: dict[str, int], dynamic: set[str]) -> None:
        self.chosen = chosen
        self.extents = extents
        self.dynamic = dynamic
        self.arguments: list[tuple[str, str]] = []
        self.arrays: list[np.ndarray] = []
        self.steps: list[Callable[[dict[str, np.ndarray]], None]] = []
        self.text = ""

    def type_of(self, value: _Value) -> str:
        """The type of a value."""
        return tensor([self._extent(x) for x in value.letters], value.element)

    def _extent(self, letter: str) -> int | str:
        return "?" if letter in self.dynamic else self.extents[letter]

    def sizes(self, letters: str) -> str:
        """The dynamic extents of a tensor of these dimensions."""
        return ", ".join(f"%size_{x}" for x in letters if x in self.dynamic)

    def argument(self, letters: str, element: str) -> _Value:
        """Another argument of the function."""
        value = _Value(f"arg{len(self.arrays)}", letters, element)
        self.arguments.append((value.name, self.type_of(value)))
        shape = [self.extents[x] for x in letters]
        self.arrays.append(whole(shape, DTYPES[element], len(self.arrays)))
        return value

    def each(
        self, made: _Value, operands: list[_Value], body: str, compute: Callable[..., np.ndarray]
    ) -> None:
        """An element-wise op; `compute` gets arrays whose dimensions are those of what it makes."""
        spec = f"{','.join(x.letters for x in operands)}->{made.letters}"
        listed = [(f"%{x.name}", self.type_of(x)) for x in operands]
        sizes = self.sizes(made.letters)
        self.text += each(made.name, spec, listed, self.type_of(made), body, extents=sizes)

        def step(values: dict[str, np.ndarray]) -> None:
            aligned = [_align(values[x.name], x.letters, made.letters) for x in operands]
            shape = tuple(self.extents[x] for x in made.letters)
            values[made.name] = np.array(np.broadcast_to(compute(*aligned), shape))

        self.steps.append(step)


def _align(array: np.ndarray, letters: str, to: str) -> np.ndarray:
    """An array whose dimensions are in another order, with 1 for those that it has not."""
    array = array.transpose([letters.index(x) for x in to if x in letters])
    lengths = iter(array.shape)
    return array.reshape([next(lengths) if x in letters else 1 for x in to])


def _shuffle(chosen: random.Random, letters: str) -> str:
    return "".join(chosen.sample(letters, len(letters)))


def _begin(program: _Program, c: _Value, batches: str) -> tuple[_Value, str]:
    """What the sums begin with, and a word for it."""
    kind = program.chosen.choice(["zero", "zero", "zero", "constant", "argument", "by batch"])
    if kind == "argument":
        return program.argument(c.letters, c.element), kind
    begin = c._replace(name="begin")
    if kind == "by batch":
        given = program.argument(_shuffle(program.chosen, batches), c.element)
        op = "addi" if c.element == "i32" else "addf"
        body = f"%r = arith.{op} %i0, %i0 : {c.element}"
        program.each(begin, [given], body, lambda x: x + x)
        return begin, kind
    number = 0 if kind == "zero" else 3
    written = number if c.element == "i32" else float(number)
    type_ = program.type_of(c)
    program.text += (
        f"  %begin_v = arith.constant {written} : {c.element}\n"
        f"  %begin_e = tensor.empty({program.sizes(c.letters)}) : {type_}\n"
        f"  %begin = linalg.fill ins(%begin_v : {c.element}) outs(%begin_e : {type_}) -> {type_}\n"
    )
    shape = [program.extents[x] for x in c.letters]

    def step(values: dict[str, np.ndarray]) -> None:
        values["begin"] = np.full(shape, number, DTYPES[c.element])

    program.steps.append(step)
    return begin, kind


def _epilogue(program: _Program, value: _Value, number: int) -> tuple[_Value, str]:
    """An element-wise op behind, and a word for it."""
    chosen, element = program.chosen, value.element
    kinds = ["bias", "bias", "relu", "scale", "residual", "cast", "select"]
    kind = chosen.choice(kinds)
    moved = chosen.random() < 0.3
    letters = _shuffle(chosen, value.letters) if moved else value.letters
    made = _Value(f"made{number}", letters, element)
    floating = element != "i32"
    add, multiply = ("addf", "mulf") if floating else ("addi", "muli")
    word = f"{kind}, moved" if moved else kind
    if kind in ("bias", "residual"):
        size = len(letters) if kind == "residual" else chosen.randint(0, len(letters) - 1)
        other = program.argument("".join(chosen.sample(letters, size)), element)
        operands, order = [value, other], chosen.choice(["%i0, %i1", "%i1, %i0"])
        if chosen.random() < 0.3:
            operands.reverse()
        body = f"%r = arith.{add} {order} : {element}"
        program.each(made, operands, body, lambda x, y: x + y)
    elif kind == "cast":
        target = chosen.choice({"f32": ["bf16", "f16"], "i32": ["f32"]}.get(element, ["f32"]))
        made = made._replace(element=target)
        op = "sitofp" if element == "i32" else "truncf" if element == "f32" else "extf"
        dtype = DTYPES[target]
        body = f"%r = arith.{op} %i0 : {element} to {target}"
        program.each(made, [value], body, lambda x: x.astype(dtype))
    else:
        zero = "0.0" if floating else "0"
        number_of = f"%c0 = arith.constant {zero} : {element}; "
        if kind == "relu":
            body = (
                f"{number_of}%r = arith.{'maximumf' if floating else 'maxsi'} %i0, %c0 : {element}"
            )
            program.each(made, [value], body, lambda x: np.maximum(x, x.dtype.type(0)))
        elif kind == "scale":
            two = "2.0" if floating else "2"
            two = f"%c2 = arith.constant {two} : {element}; "
            body = f"{two}%r = arith.{multiply} %i0, %c2 : {element}"
            program.each(made, [value], body, lambda x: x * x.dtype.type(2))
        else:
            _select(program, made, value, number_of)
    return made, word


def _select(program: _Program, made: _Value, value: _Value, zero: str) -> None:
    """An element, or 0, as two of the places compare."""
    first, second = program.chosen.sample(range(len(made.letters)), 2)
    name, compared = program.chosen.choice(
        [("sge", np.greater_equal), ("ult", np.less), ("eq", np.equal), ("sgt", np.greater)]
    )
    body = (
        f"{zero}%at0 = linalg.index {first} : index; %at1 = linalg.index {second} : index; "
        f"%sees = arith.cmpi {name}, %at0, %at1 : index; "
        f"%r = arith.select %sees, %i0, %c0 : {made.element}"
    )
    shape = [program.extents[x] for x in made.letters]

    def compute(x: np.ndarray) -> np.ndarray:
        places = np.indices(shape)
        return np.where(compared(places[first], places[second]), x, x.dtype.type(0))

    program.each(made, [value], body, compute)


def _shrink(chosen: random.Random, extents: dict[str, int], letters: str, below: int) -> None:
    """Draw extents again until their product is small enough."""
    while math.prod(extents[x] for x in letters) >= below:
        letter = chosen.choice(letters)
        extents[letter] = min(extents[letter], chosen.choice(_EXTENTS))


def _case(seed: int, number: int) -> Case:
    """A random contraction."""
    chosen = random.Random(f"{seed}/{number}")
    counts = [chosen.randint(0, 2), *(1 + (chosen.random() < 0.3) for _ in range(3))]
    pool = _shuffle(chosen, "abcdefghij")
    ends = [sum(counts[:i]) for i in range(5)]
    batches, rows, columns, sums = (pool[i:j] for i, j in pairwise(ends))
    alone = {x: chosen.choice("ab") for x in batches if chosen.random() < 0.3}
    elements = chosen.choice(_TYPES)
    loops = _shuffle(chosen, pool[: ends[4]])
    extents = {x: chosen.choice(_EXTENTS) for x in loops}
    _shrink(chosen, extents, loops, 2**18)
    if elements[2] == "bf16":
        _shrink(chosen, extents, sums, _MOST_IN_BF16 + 1)
    how = chosen.choice(["static", "static", "dynamic", "mixed"])
    dynamic = {
        x for x in sorted(loops) if how == "dynamic" or (how == "mixed" and chosen.random() < 0.5)
    }
    program = _Program(chosen, extents, dynamic)
    a = program.argument(
        _shuffle(chosen, "".join(x for x in batches if alone.get(x) != "b") + rows + sums),
        elements[0],
    )
    b = program.argument(
        _shuffle(chosen, "".join(x for x in batches if alone.get(x) != "a") + columns + sums),
        elements[1],
    )
    c = _Value("c", _shuffle(chosen, batches + rows + columns), elements[2])
    if chosen.random() < 0.6:
        c = c._replace(letters=batches + rows + columns)
    if dynamic:
        for axis in range(max(len(a.letters), len(b.letters))):
            program.text += f"  %axis{axis} = arith.constant {axis} : index\n"
        for x in sorted(dynamic):
            source = a if x in a.letters else b
            program.text += (
                f"  %size_{x} = tensor.dim %{source.name}, %axis{source.letters.index(x)}"
                f" : {program.type_of(source)}\n"
            )
    begin, begins = _begin(program, c, batches)
    spec = f"{a.letters},{b.letters}->{c.letters}"
    program.text += product(
        c.name,
        spec,
        *((f"%{x.name}", program.type_of(x)) for x in (a, b, begin)),
        loops=loops,
        product_swapped=chosen.random() < 0.3,
        sum_swapped=chosen.random() < 0.3,
    )

    def contract(values: dict[str, np.ndarray]) -> None:
        total = einsum(spec, elements[2], values[a.name], values[b.name])
        values[c.name] = total + values[begin.name].astype(total.dtype)

    program.steps.append(contract)
    value, words = c, [begins]
    for place in range(chosen.choice([0, 1, 1, 2])):
        value, word = _epilogue(program, value, place)
        words.append(word)
    types = " by ".join(dict.fromkeys(elements[:2]))
    name = f"{seed}/{number} {spec} {types} in {elements[2]}, {how}, {'; '.join(words)}"
    text = function(
        ", ".join(f"%{name}: {type_}" for name, type_ in program.arguments),
        program.type_of(value),
        program.text,
        f"%{value.name}",
    )
    options: dict[str, Any] = {"f32": "tf32"} if "f32" in elements[:2] else {}

    def reference(*arrays: np.ndarray) -> np.ndarray:
        values = {f"arg{i}": array for i, array in enumerate(arrays)}
        for step in program.steps:
            step(values)
        return values[value.name]

    return linalg_case(name, 1, text, program.arrays, reference, **options)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Random contractions, the same ones for the same seed."""
    for number in range(count):
        yield _case(seed, number)
