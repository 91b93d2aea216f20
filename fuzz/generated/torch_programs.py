"""Draw functions and modules of PyTorch: views, writes in place, buffers, aliases, element types.

A program is text of lines `WORD rest`, each of which can be left out:

    values exact                         elements are whole numbers, of which no result has an error
    state self.c = buffer(bf16, 64, 64)  a statement of `__init__`
    input x = tensor(bf16, 8, 64)        an argument of `forward`
    body h = (x @ self.w).clamp_(-2, 2)  a statement of `forward`
    return {"h": h, "same": x}           what it returns
    calls 2                              how often it is called
    beyond bool argument                 a construct that docs/linalg.md does not list

`SUPPORTED` says what docs/linalg.md promises of `from_torch`; a program with anything else has a line
`beyond`.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from . import torch_statements as statements
from .torch_scope import FLOATS, TorchScope, TorchTensor

#: What a program without a `beyond` line consists of.
SUPPORTED = (
    "tensors of bf16, f16, f32, i32 and i64 as arguments, parameters and buffers, of any strides",
    "products (`@`, bmm, addmm, linear, einsum) in bf16, f16, f32, and element-wise ops behind them",
    "with mixed=True, other element-wise ops, comparisons for `where`, reductions, softmax and norms",
    "views: t, view, reshape, slices, select, unsqueeze, squeeze, permute, expand, chunk, split, unbind",
    "writes in place, also through views, of intermediates, arguments, buffers and parameters",
    "results in tuples, lists, dicts; also arguments, buffers, their views, one twice, None, numbers",
    "numbers as defaults; the same tensor as two arguments, if none of them is written",
)

_ROWS = (1, 2, 4, 8, 8, 16)


def draw(random: Random) -> str:
    """Draw a program."""
    scope = TorchScope(random, exact=random.random() < 0.7, wider=random.random() < 0.25)
    scope.say("values", "exact" if scope.exact else "rounded")
    _state(scope)
    _inputs(scope)
    weights = [
        (statements.product, 5),
        (statements.view, 5),
        (statements.write, 5),
        (statements.elements, 4),
        (statements.reduction, 2),
        (statements.alias, 1),
    ]
    if scope.state:
        weights.append((statements.state_write, 4))
    if scope.wider:
        weights.append((statements.beyond, 3))
    for _ in range(random.randint(2, 7)):
        (statement,) = random.choices([w[0] for w in weights], [w[1] for w in weights])
        statement(scope)
    scope.say("return", _result(scope, 0))
    scope.say("calls", str(random.choice((1, 2, 2, 3))))
    for construct in sorted(scope.beyond):
        scope.say("beyond", construct)
    return "\n".join(scope.lines) + "\n"


def _state(scope: TorchScope) -> None:
    random = scope.random
    if random.random() < 0.4:
        return
    for number in range(random.randint(1, 3)):
        name, dtype = f"self.s{number}", random.choice(FLOATS)
        form = random.choice(("parameter", "buffer", "buffer", "count", "tied", "transient"))
        if form == "count":
            dtype, shape = random.choice(("f32", "i64")), ()
            scope.say("state", f"{name} = buffer({dtype})")
        elif form == "tied" and scope.state:
            other = scope.state[-1]
            scope.say("state", f"{name} = {other.name}")
            scope.state.append(replace(other, name=name, writable=False))
            # Neither is written: it is not known which one torch.export lists.
            scope.state[-2] = replace(other, writable=False)
            continue
        else:
            shape = random.choice(((64, 64), (64, 64), (64,), (16, 64), (128, 64)))
            form = "buffer" if form == "tied" else form
            scope.say("state", f"{name} = {form}({', '.join((dtype, *map(str, shape)))})")
        scope.state.append(TorchTensor(name, dtype, shape, writable=form != "parameter"))
    scope.vars += scope.state
    if scope.wider and random.random() < 0.2:
        scope.say("state", "self.plain = tensor(f32, 64)")
        scope.vars.append(TorchTensor("self.plain", "f32", (64,), writable=random.random() < 0.5))
        if scope.vars[-1].writable:
            scope.beyond.add("plain attribute")


def _inputs(scope: TorchScope) -> None:
    random = scope.random
    main = random.choice(FLOATS)
    for number in range(random.randint(1, 4)):
        name = "xyzu"[number]
        rows = random.choice(_ROWS)
        shape = random.choice(
            (
                (rows, 64),
                (rows, 64),
                (64, 64),
                (64, 64),
                (64, 128),
                (64,),
                (2, rows, 64),
                (2, 64, 64),
            )
        )
        dtype = main if random.random() < 0.75 else random.choice((*FLOATS, "i32", "i64"))
        form, contiguous = "tensor", True
        if random.random() < 0.2 and len(shape) > 1:
            form, contiguous = random.choice(("transposed", "columns")), False
        scope.say("input", f"{name} = {form}({', '.join((dtype, *map(str, shape)))})")
        scope.args.append(TorchTensor(name, dtype, shape, contiguous))
    if scope.wider and random.random() < 0.3:
        scope.say("input", "m = tensor(bool, 8, 64)")
        scope.args.append(TorchTensor("m", "bool", (8, 64), writable=False))
        scope.beyond.add("bool argument")
    if scope.wider and random.random() < 0.2:
        scope.say("input", "p = pair(bf16, 8, 64)")
        scope.vars += [TorchTensor(f"p[{i}]", "bf16", (8, 64)) for i in range(2)]
        scope.beyond.add("nested argument")
    if random.random() < 0.15:
        original = random.choice(scope.args)
        scope.say("input", f"v = {original.name}")
        # A write would be a write of both.
        scope.args = [
            replace(a, writable=a.name != original.name and a.writable) for a in scope.args
        ]
        scope.args.append(replace(original, name="v", writable=False))
    if random.random() < 0.15:
        scope.say("input", "k = default(2)")
    scope.vars += [a for a in scope.args if a.dtype != "bool"]


def _result(scope: TorchScope, depth: int) -> str:
    random = scope.random
    if depth == 2 or random.random() < 0.4:
        results = [v for v in scope.vars if v.name.startswith("t")] or scope.vars
        latest = random.choice(results[-3:])
        return random.choice((latest.name, latest.name, latest.name, scope.pick().name))
    parts = [_result(scope, depth + 1) for _ in range(random.randint(1, 3))]
    if random.random() < 0.1:
        parts.append(random.choice(("None", "3", "0.5", parts[0])))
    form = random.randrange(3)
    if form == 0:
        return f"({', '.join(parts)},)"
    if form == 1:
        return f"[{', '.join(parts)}]"
    return "{" + ", ".join(f"'{'abcd'[i]}': {part}" for i, part in enumerate(parts)) + "}"
