"""Statements of random programs of PyTorch: each function draws one, and adds it to a scope."""

from __future__ import annotations

from .torch_scope import FLOATS, TorchScope, TorchTensor


def _operand(scope: TorchScope, dtype: str, shape: tuple[int, ...]) -> str:
    """Return an expression of a tensor of a type and a shape."""
    fits = [v for v in scope.vars if v.dtype == dtype and v.shape == shape]
    turned = [
        v for v in scope.vars if v.dtype == dtype and len(shape) == 2 and v.shape == shape[::-1]
    ]
    if turned and scope.random.random() < 0.4:
        return f"{scope.random.choice(turned).name}.t()"
    if fits:
        return scope.random.choice(fits).name
    other = [v for v in scope.vars if v.is_float and v.shape == shape]
    # A rounding of floats may move what is cut off for an integer.
    if other and (scope.exact or dtype in FLOATS):
        return f"{scope.random.choice(other).name}.to({dtype})"
    return f"torch.ones({', '.join(map(str, shape))}, dtype={dtype})"


def product(scope: TorchScope) -> None:
    """Add a product of matrices, with what follows it."""
    random = scope.random
    rank = random.choice((2, 2, 3))
    fits = [
        v for v in scope.vars if v.is_float and len(v.shape) == rank and v.shape[-1] in (64, 128)
    ]
    if not fits:
        fits = [scope.bind("torch.ones(8, 64, dtype=bf16)", "bf16", (8, 64))]
    a = random.choice(fits)
    *lead, k = a.shape
    if len(a.shape) == 3 and random.random() < 0.6:
        b = _operand(scope, a.dtype, (lead[0], k, 64))
        product = random.choice(
            (f"torch.bmm({a.name}, {b})", f"torch.einsum('bmk,bkn->bmn', {a.name}, {b})")
        )
        n = 64
    else:
        n = random.choice((64, 64, 128))
        plain, turned = _operand(scope, a.dtype, (k, n)), _operand(scope, a.dtype, (n, k))
        bias = _operand(scope, a.dtype, (n,))
        product = random.choice(
            (
                f"({a.name} @ {plain})",
                f"torch.matmul({a.name}, {plain})",
                f"F.linear({a.name}, {turned})",
                f"F.linear({a.name}, {turned}, {bias})",
                f"torch.addmm({bias}, {a.name}, {plain})"
                if len(lead) == 1
                else f"({a.name} @ {plain} + {bias})",
                f"torch.einsum('...k,nk->...n', {a.name}, {turned})",
            )
        )
    if not scope.exact:
        product = f"({product} / {k})"
        product = random.choice(
            (product, f"torch.tanh{product}", f"F.gelu({product})", f"F.silu({product})")
        )
    elif random.random() < 0.3:
        product = f"F.relu({product})"
    scope.bind(f"{product}{scope.clamp_suffix}", a.dtype, (*lead, n))


def elements(scope: TorchScope) -> None:
    """Add an element-wise op."""
    random = scope.random
    a = scope.pick()
    name, dtype, shape = a.name, a.dtype, a.shape
    form = random.randrange(8)
    if form == 0:
        to = random.choice(
            ("bf16", "f16", "f32", "i32", "i64") if scope.exact else ("bf16", "f16", "f32")
        )
        scope.bind(
            f"{name}.to({to})", to, shape, contiguous=a.contiguous and to != dtype, writable=False
        )
    elif form == 1:
        ops = (
            "torch.relu({})",
            "torch.neg({})",
            "({}).abs()",
            "({} + 1)",
            "({} * 2)",
            "(1 - {})",
            "({} * {})",
        )
        scope.bind(random.choice(ops).replace("{}", name) + scope.clamp_suffix, dtype, shape)
    elif form == 2:
        b = _operand(scope, dtype, shape)
        op = random.choice(
            ("{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.minimum({}, {})")
        )
        scope.bind(f"({op.format(name, b)}){scope.clamp_suffix}", dtype, shape)
    elif form == 3:
        b = _operand(scope, dtype, shape)
        compare = random.choice((">", "<=", "==", "!="))
        scope.bind(
            f"torch.where({name} {compare} {random.choice(('0', b))}, {name}, {b})", dtype, shape
        )
    elif form == 4 and shape:
        row = _operand(scope, dtype, shape[-1:])
        scope.bind(f"({name} + {row}){scope.clamp_suffix}", dtype, shape)
    elif form == 5 and scope.exact:
        scope.bind(f"{name}.masked_fill({name} < 0, 1)", dtype, shape)
    elif form == 6 and not scope.exact and a.is_float:
        op = random.choice(
            ("torch.exp({})", "torch.sigmoid({})", "torch.tanh({})", "F.gelu({})", "F.silu({})")
        )
        scope.bind(f"({op.format(f'({name} / 4)')})", dtype, shape)
    elif any(line == "input k = default(2)" for line in scope.lines):
        scope.bind(f"({name} * k){scope.clamp_suffix}", dtype, shape)
    else:
        scope.bind(
            f"torch.cat([{name}, {name}], -1)" if shape else f"{name} + 0",
            dtype,
            (*shape[:-1], 2 * shape[-1]) if shape else (),
        )


def view(scope: TorchScope) -> TorchTensor:
    """Add a view of a tensor."""
    random = scope.random
    a = scope.pick()
    name, shape, rank = a.name, a.shape, len(a.shape)
    access = {"writable": a.writable}
    if not rank:
        return scope.bind(f"{name}.unsqueeze(0)", a.dtype, (1,), **access)
    dim = random.randrange(rank)
    n = shape[dim]

    def with_extent(extent: int) -> tuple[int, ...]:
        return (*shape[:dim], extent, *shape[dim + 1 :])

    form = random.randrange(11)
    if form == 0 and rank == 2:
        return scope.bind(f"{name}.t()", a.dtype, shape[::-1], contiguous=False, **access)
    if form == 1 and n > 1:
        start = random.choice((0, 0, n // 2))
        index = ", ".join([":"] * dim + [f"{start}:{start + n // 2}"])
        return scope.bind(
            f"{name}[{index}]", a.dtype, with_extent(n // 2), contiguous=False, **access
        )
    if form == 2 and n % 2 == 0:
        which = random.randrange(2)
        split = random.choice((f"chunk(2, {dim})", f"split({n // 2}, {dim})"))
        return scope.bind(
            f"{name}.{split}[{which}]", a.dtype, with_extent(n // 2), contiguous=False, **access
        )
    if form == 3:
        return scope.bind(
            f"{name}.unsqueeze({dim})",
            a.dtype,
            (*shape[:dim], 1, *shape[dim:]),
            contiguous=False,
            **access,
        )
    if form == 4 and rank > 1:
        order = random.sample(range(rank), rank)
        turned = tuple(shape[d] for d in order)
        return scope.bind(
            f"{name}.permute({', '.join(map(str, order))})",
            a.dtype,
            turned,
            contiguous=False,
            **access,
        )
    if form == 5:
        place = random.randrange(n)
        rest = (*shape[:dim], *shape[dim + 1 :])
        get = random.choice((f"select({dim}, {place})", f"unbind({dim})[{place}]"))
        return scope.bind(f"{name}.{get}", a.dtype, rest, contiguous=False, **access)
    if form == 6:
        wide = (2, *shape)
        return scope.bind(f"{name}.expand{wide}", a.dtype, wide, contiguous=False, writable=False)
    if form == 7 and a.contiguous:
        return scope.bind(f"{name}.view(-1)", a.dtype, (_size(shape),), **access)
    if form == 8 and a.contiguous and n % 2 == 0:
        half = (*shape[:dim], 2, n // 2, *shape[dim + 1 :])
        return scope.bind(f"{name}.view{half}", a.dtype, half, **access)
    if form == 9 and n > 1:
        index = ", ".join([":"] * dim + ["::2"])
        return scope.bind(
            f"{name}[{index}]", a.dtype, with_extent((n + 1) // 2), contiguous=False, **access
        )
    # Whether it is a view depends on the strides.
    flat = (_size(shape[:2]), *shape[2:]) if rank > 1 else (1, *shape)
    return scope.bind(f"{name}.reshape{flat}", a.dtype, flat, writable=a.writable)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def write(scope: TorchScope) -> None:
    """Write a tensor in place, perhaps through a view."""
    random = scope.random
    a = view(scope) if random.random() < 0.3 else scope.pick(writable=True)
    if not a.writable:
        a = scope.bind(f"{a.name}.clone()", a.dtype, a.shape)
    name = a.name
    if a.shape and a.shape[0] > 1 and random.random() < 0.4:
        half = a.shape[0] // 2
        part, shape = random.choice(
            ((f"{name}[:{half}]", (half, *a.shape[1:])), (f"{name}[{half}]", a.shape[1:]))
        )
        if random.random() < 0.5:
            value = random.choice((_operand(scope, a.dtype, shape), "1"))
            scope.say("body", f"{part} = {value}")
            return
        name = part
    else:
        shape = a.shape
    _in_place(scope, name, a.dtype, shape)


def _in_place(scope: TorchScope, name: str, dtype: str, shape: tuple[int, ...]) -> None:
    other = _operand(scope, dtype, shape)
    # A rounding may move a float across 0.
    signs = f"masked_fill_({name} > 0, -1)" if scope.exact else "abs_()"
    ops = ("add_(1)", "mul_(2)", "zero_()", "fill_(1)", "neg_()", "relu_()", "mul_(-1)", signs)
    others = (f"add_({other})", f"copy_({other})", f"sub_({other})", "AUGMENTED")
    op = scope.random.choice((*ops, *others))
    end = ".clamp_(-2, 2)"
    if op == "AUGMENTED":
        scope.say("body", f"{name} += {scope.random.choice((other, '1'))}")
        scope.say("body", f"{name}{end}")
    else:
        scope.say("body", f"{name}.{op}{end}")


def state_write(scope: TorchScope) -> None:
    """Write a buffer, whole or some rows, or count in it."""
    fits = [tensor for tensor in scope.state if tensor.writable]
    if not fits:
        return write(scope)
    a = scope.random.choice(fits)
    if a.shape == () and scope.random.random() < 0.7:
        scope.say(
            "body",
            scope.random.choice(
                (f"{a.name} += 1", f"{a.name} = {a.name} + 1", f"{a.name}.add_(1)")
            ),
        )
        return None
    if a.shape and scope.random.random() < 0.5:
        rows = 8 if a.shape[0] >= 16 else a.shape[0]
        value = _operand(scope, a.dtype, (rows, *a.shape[1:]))
        scope.say("body", f"{a.name}[:{rows}] = {value}")
        return None
    return _in_place(scope, a.name, a.dtype, a.shape)


def reduction(scope: TorchScope) -> None:
    """Add a reduction, a softmax or a norm."""
    random = scope.random
    a = scope.pick(floats=True)
    if not a.shape:
        return elements(scope)
    dim = random.randrange(len(a.shape))
    keepdim = random.random() < 0.5
    shape = (*a.shape[:dim], *((1,) if keepdim else ()), *a.shape[dim + 1 :])
    if scope.exact:
        # bf16 holds whole numbers up to 256.
        sums = ("sum({})",) if a.shape[dim] <= 128 else ()
        op = random.choice((*sums, "amax({})", "amin({})"))
        scope.bind(
            f"{a.name}.{op.format(f'{dim}, keepdim={keepdim}')}{scope.clamp_suffix}", a.dtype, shape
        )
    elif random.random() < 0.6:
        op = random.choice(("mean({})", "amax({})", "sum({})"))
        scope.bind(f"({a.name} / 8).{op.format(f'{dim}, keepdim={keepdim}')}", a.dtype, shape)
    else:
        op = random.choice(
            (
                "torch.softmax({}, -1)",
                f"F.layer_norm({{}}, ({a.shape[-1]},))",
                "F.rms_norm({}, ({n},))",
            )
        )
        scope.bind(op.replace("{}", a.name).replace("{n}", str(a.shape[-1])), a.dtype, a.shape)
    return None


def alias(scope: TorchScope) -> None:
    """Add another name of a tensor, or a copy."""
    a = scope.pick()
    form = scope.random.choice(
        ("{}", "{}", "{}.detach()", "{}.clone()", "{}.contiguous()", "{}[:]")
    )
    if form == "{}[:]" and not a.shape:
        form = "{}"
    known = form in ("{}.clone()",)
    scope.bind(
        form.format(a.name), a.dtype, a.shape, contiguous=a.contiguous, writable=known or a.writable
    )


def beyond(scope: TorchScope) -> None:
    """Add a construct that the documentation does not list."""
    a = scope.pick(floats=True)
    if not a.shape:
        return
    n = a.shape[0]
    rows = f"torch.arange({n}).flip(0)"
    statement, construct = scope.random.choice(
        (
            (f"{a.name}.cumsum(0)", "cumsum"),
            (f"{a.name}.sort(0)[0]", "sort"),
            (f"{a.name}.topk(1, 0)[0]", "topk"),
            (f"{a.name}[{rows}]", "index with a tensor"),
            (f"{a.name}.index_put(({rows},), {a.name})", "index_put"),
            (f"{a.name}.flip(0)", "flip"),
            (f"{a.name}.roll(1, 0)", "roll"),
            (f"{a.name} > 0", "bool result"),
            (f"{a.name}.double()", "f64"),
            (f"{a.name}[:0]", "no rows"),
            (f"{a.name}.argmax(0)", "argmax"),
            (f"torch.rand_like({a.name}) * 0", "random numbers"),
            (f"{a.name} * {a.name}.sum().item()", "item"),
            ("torch.where(m, 1, 0)", "bool argument"),
        )
    )
    scope.beyond.add(construct)
    name = scope.name()
    scope.say("body", f"{name} = {statement}")
    shape = {"topk": (1, *a.shape[1:]), "no rows": (0, *a.shape[1:]), "argmax": a.shape[1:]}.get(
        construct, a.shape
    )
    if construct in ("cumsum", "index with a tensor", "index_put", "flip", "roll"):
        scope.vars.append(TorchTensor(name, a.dtype, shape))
    else:
        scope.vars.append(TorchTensor(name, "other", shape, writable=False))
