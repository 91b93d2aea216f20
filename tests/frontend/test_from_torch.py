"""`from_torch` does what eager PyTorch does: state, arguments, aliases, and the structure of results."""

import copy
import re
from random import Random

import pytest

from mlir_smem.bindings import PACKAGE
from mlir_smem.codegen import CompileError
from mlir_smem.frontend import from_torch
from mlir_smem.frontend.torch_modules import export_torch
from mlir_smem.runtime import LaunchError

torch = pytest.importorskip("torch", exc_type=ImportError)
if PACKAGE != "torch_mlir":
    pytest.skip(f"{PACKAGE} has no graphs of PyTorch", allow_module_level=True)

pytestmark = pytest.mark.torch

nn, F, bf16 = torch.nn, torch.nn.functional, torch.bfloat16
Dim = torch.export.Dim


def ones(*shape, dtype=bf16):
    return torch.ones(*shape, dtype=dtype)


def compile_mixed(module, *inputs, **options):
    return from_torch(module, *inputs, on="cpu", mixed=True, **options)


class Step(nn.Module):
    """A step that counts calls, and keeps rows in a cache."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("cache", torch.zeros(64, 64, dtype=bf16))
        self.w = nn.Parameter(torch.eye(64, dtype=bf16))
        self.tied = self.w
        self.last = None

    def forward(self, x):
        self.count += 1
        self.cache[:8] = x @ self.tied
        return {"y": [x @ self.cache.t(), (x, None)], "count": self.count, "head": self.cache[:2]}


def test_a_module_that_keeps_state():
    module = Step()
    eager = copy.deepcopy(module)
    compiled = compile_mixed(module, ones(8, 64))
    assert module.count == 0 and not module.cache.any()
    for factor in (1, 2):
        x = ones(8, 64) * factor
        actual, expected = compiled(x), eager(x)
        assert type(actual["y"]) is list and actual["y"][1] == (x, None)
        assert actual["y"][1][0] is x and actual["count"] is module.count
        assert actual["head"].data_ptr() == module.cache.data_ptr()
        assert torch.equal(actual["y"][0], expected["y"][0])
        assert torch.equal(module.cache, eager.cache) and module.count == eager.count
    module.w.data.mul_(2)
    assert torch.equal(compiled(x)["head"], 2 * x[:2])


def test_a_part_that_a_module_has_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = self.two = nn.BatchNorm1d(64)

        def forward(self, x):
            return self.two(self.one(x))

    module, x = Twice(), torch.randn(8, 64)
    eager = copy.deepcopy(module)
    compiled = compile_mixed(module, x)
    with torch.no_grad():
        assert torch.allclose(compiled(x), eager(x), atol=1e-5)
    for buffer, expected in zip(module.buffers(), eager.buffers(), strict=True):
        assert torch.allclose(buffer, expected, atol=1e-5)
    assert module.one.num_batches_tracked == 2


def test_an_attribute_that_is_bound_anew():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(8, 64, dtype=bf16))

        def forward(self, x):
            before, self.last = self.last, x + 1
            return before

    module, x = Last(), ones(8, 64)
    before, compiled = module.last, compile_mixed(module, x)
    assert compiled(x) is before and not before.any()
    assert torch.equal(module.last, x + 1) and "last" in dict(module.named_buffers())


def test_an_attribute_of_another_shape_is_refused_by_the_next_call():
    class Growing(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(8, 64, dtype=bf16))

        def forward(self, x):
            self.cache = torch.cat([self.cache, x])
            return self.cache.sum(0)

    compiled = compile_mixed(Growing(), ones(8, 64))
    assert torch.equal(compiled(ones(8, 64)), ones(64) * 8)
    expected = "state cache is bfloat16 of shape (16, 64); expected bfloat16 of shape (8, 64)"
    with pytest.raises(LaunchError, match=re.escape(expected)):
        compiled(ones(8, 64))


def test_arguments_that_are_the_same_example():
    x = ones(8, 64)
    compiled = compile_mixed(lambda a, b, c: a + 2 * b - c, x, x, x)
    assert torch.equal(compiled(x, x * 3, x * 5), x * 2)


def test_writes_reach_the_memory_of_a_view():
    base, w = torch.zeros(8, 128, dtype=bf16), torch.eye(64, dtype=bf16)

    def write(left, right, w):
        left.add_(right @ w + 1)

    compiled = compile_mixed(write, base[:, :64], base[:, 64:], w)
    assert compiled(base[:, :64], base[:, 64:], w) is None
    assert base[:, :64].eq(1).all() and not base[:, 64:].any()
    message = "argument 0 is written, and shares memory with argument 1; give a copy of one of them"
    with pytest.raises(LaunchError, match=message):
        compiled(base[:, :64], base[:, :64], w)


def test_buffers_that_share_memory_are_not_written():
    class Views(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("whole", torch.zeros(8, 64))
            self.register_buffer("head", self.whole[:2])

        def forward(self, x):
            self.head += 1
            return self.whole + x

    message = "state head is written, and shares memory with state whole"
    with pytest.raises(CompileError, match=message):
        compile_mixed(Views(), torch.zeros(8, 64))


def test_numbers_are_part_of_the_program():
    def scale_and_shift(parts, scale=2.0, *, shift=1):
        return parts["x"] * scale + shift

    parts = {"x": ones(8, 64)}
    compiled = compile_mixed(scale_and_shift, parts, 3.0)
    assert torch.equal(compiled(parts, 3.0), ones(8, 64) * 4)
    with pytest.raises(
        LaunchError, match=r"argument 1 is 2.0, but the program is compiled for 3.0"
    ):
        compiled(parts, 2.0)
    with pytest.raises(LaunchError, match=r"the arguments are .*; expected, as the example inputs"):
        compiled(parts)


def test_captured_tensors_are_read_at_each_call():
    captured = ones(8, 64)
    compiled = compile_mixed(lambda x: (x + captured + torch.tensor(2.0), captured), ones(8, 64))
    captured.mul_(5)
    outputs = compiled(ones(8, 64))
    assert outputs[0].eq(8).all() and outputs[1] is captured


def test_dynamic_extents_are_checked():
    rows = Dim("rows", min=2, max=64)
    x = torch.randn(8, 64)
    shapes = {"y": {0: rows}, "x": {0: rows}}
    compiled = compile_mixed(lambda x, y: x + y, x, x, dynamic_shapes=shapes)
    assert torch.equal(compiled(x[:3], x[:3]), 2 * x[:3])
    message = "argument 1 has the extent 4 along dimension 0; expected 3, as argument 0 has it"
    with pytest.raises(LaunchError, match=message):
        compiled(x[:3], x[:4])


#: Of 8192 ones. A sum in bf16 would stay at 256.
SUMS = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "a sum along a dimension": lambda x: x.reshape(2, -1).sum(1),
    "norm": lambda x: x.norm(),
    "rms_norm": lambda x: F.rms_norm(x.reshape(-1), (8192,), x.reshape(-1)),
    "var_mean": lambda x: torch.var_mean(x.reshape(1, -1), 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x[None, None], (64, 128)),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_narrow_floats_are_rounded_once(name):
    x = ones(64, 128)
    actual, expected = compile_mixed(SUMS[name], x)(x), SUMS[name](x)
    pairs = (
        zip(actual, expected, strict=True) if isinstance(actual, tuple) else [(actual, expected)]
    )
    assert all(torch.equal(one, other) and one.dtype == bf16 for one, other in pairs)


class Counting(nn.Module):
    """A module with attributes that are no tensors."""

    def __init__(self, change):
        super().__init__()
        self.calls, self.seen, self.change = 0, [], change

    def forward(self, x):
        self.change(self, x)
        return x + 1


def later_buffer(module, x):
    module.register_buffer("late", torch.zeros(2))


CHANGES = {
    "calls": lambda module, x: setattr(module, "calls", module.calls + 1),
    "seen": lambda module, x: module.seen.append(1),
    "new": lambda module, x: setattr(module, "new", x),
    "late": later_buffer,
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_other_attributes_are_refused(name):
    module = Counting(CHANGES[name])
    with pytest.raises(CompileError, match=f"the module sets {name} when it is called"):
        compile_mixed(module, ones(8, 64))
    assert (module.calls, module.seen) == (0, []) and not hasattr(module, "new")
    assert not hasattr(module, "late")


def rank(x):
    values, order = x.topk(3, -1)
    return values, order, x.cumsum(0), torch.sort(x, dim=1, descending=True, stable=True)


def write_rows(x):
    rows, same = torch.tensor([5, 1, 4]), torch.tensor([5, 1, 5])
    return x.index_put((rows,), x[:3]), x.index_put((same,), x[:3], accumulate=True), x.clone()


@pytest.mark.parametrize("function", [rank, write_rows])
def test_sorts_scans_and_scatters(function):
    x = (torch.arange(48) * 7 % 13).reshape(6, 8).float()
    flat = torch.utils._pytree.tree_leaves
    pairs = zip(flat(compile_mixed(function, x)(x)), flat(function(x)), strict=True)
    assert all(torch.equal(one, other) and one.dtype == other.dtype for one, other in pairs)


WHOLE_LAYER = nn.Linear(6, 5)
with torch.no_grad():
    for parameter in WHOLE_LAYER.parameters():
        parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) - 7)

DYNAMIC_VIEWS = {
    "merge": lambda x: x.reshape(-1, 6) + 1,
    "merge the last": lambda x: x.reshape(x.shape[0], -1) + 1,
    "merge what is moved": lambda x: x.transpose(1, 2).reshape(-1, x.shape[1]) + 1,
    "split": lambda x: x.reshape(*x.shape[:2], 2, 3) + 1,
    "split and merge": lambda x: (x + 1).reshape(-1, 2, 3),
    "both": lambda x: x.reshape(x.shape[0], x.shape[1] * 2, 3).transpose(0, 1).reshape(-1, 3) + 1,
    "a layer": WHOLE_LAYER,
}


@pytest.mark.parametrize("name", DYNAMIC_VIEWS)
def test_views_of_dynamic_extents(name):
    """torch-mlir alone takes `l` for 1 where it merges `b x l x 6`."""
    function, extents = DYNAMIC_VIEWS[name], {0: Dim("b", min=2), 1: Dim("l", min=2)}
    compiled = compile_mixed(function, torch.zeros(2, 4, 6), dynamic_shapes=(extents,))
    for shape in ((2, 4, 6), (3, 5, 6)):
        x = torch.arange(shape[0] * shape[1] * 6).reshape(shape).float()
        assert torch.allclose(compiled(x), function(x))


CAPTURED = torch.zeros(8, 64)
REFUSED = {
    "the module draws random numbers": lambda x: F.dropout(x, 0.5),
    "the function writes a tensor that it captures; expected writes of": CAPTURED.add_,
    "the function cannot be exported: ": lambda x: x if x.sum() > 0 else -x,
    "the shape or strides of argument 0 change in place, from [8, 64] to [64, 8]": torch.Tensor.t_,
    "torch-mlir does not lower the module to linalg: failed to leg": lambda x: torch.linalg.svd(x)[
        0
    ],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_a_program_cannot_do_is_refused_by_name(message):
    with pytest.raises(CompileError) as error:
        compile_mixed(REFUSED[message], torch.zeros(8, 64))
    assert str(error.value).startswith(message)
    assert not CAPTURED.any()


@pytest.mark.parametrize("seed", range(12))
def test_a_random_program(seed):
    """Random functions and modules do what eager does (`fuzz/torch_functions.py`)."""
    fuzzer = pytest.importorskip("fuzz.torch_functions")
    assert fuzzer.check(fuzzer.draw(Random(f"programs/{seed}"))) == "computed"


def test_the_fuzzer_sees_what_is_wrong(monkeypatch):
    fuzzer = pytest.importorskip("fuzz.torch_functions")
    text = (
        "values exact\ninput x = tensor(bf16, 8, 64)\nbody x.add_(1)\nreturn (x, x.t())\ncalls 2\n"
    )
    assert fuzzer.check(text) == "computed"
    wrong = {
        "wrong structure": lambda run: lambda *arguments: list(run(*arguments)),
        "wrong memory": lambda run: lambda *arguments: tuple(x.clone() for x in run(*arguments)),
        "wrong values": lambda run: lambda x: (run(x), x.add_(1))[0],
        "refused though documented": lambda run: lambda *arguments: from_torch("nothing"),
    }
    for kind, change in wrong.items():
        monkeypatch.setattr(
            fuzzer,
            "from_torch",
            lambda *arguments, change=change, **options: change(from_torch(*arguments, **options)),
        )
        with pytest.raises(fuzzer.Wrong, match=kind):
            fuzzer.check(text)


@pytest.mark.skipif(not torch.backends.cuda.is_built(), reason="PyTorch is built without CUDA")
def test_a_module_on_a_gpu_is_the_same_program():
    """A GPU has ops of attention of its own, and torch-mlir refuses some of its tensors."""

    def attention(q, k, v):
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return y + torch.ones(q.shape[-1], device=q.device, dtype=q.dtype)

    def export(device):
        with torch.device(device):
            shapes = ((2, 4, 64, 64), (2, 2, 64, 64), (2, 2, 64, 64))
            tensors = [torch.empty(shape, dtype=torch.bfloat16) for shape in shapes]
        return export_torch(attention, tensors).text

    with torch._subclasses.FakeTensorMode():
        on_gpu = export("cuda")
    assert on_gpu == export("cpu")


def test_attention_of_a_dynamic_batch_and_length():
    """Heads share keys; views of several dynamic extents say which dimensions they change."""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.kv = nn.Linear(64, 256, dtype=bf16), nn.Linear(64, 256, dtype=bf16)

        def forward(self, x):
            batch, length, _ = x.shape
            q = self.q(x).view(batch, length, 4, 64).transpose(1, 2)
            kv = self.kv(x).view(batch, length, 4, 64).transpose(1, 2)
            o = F.scaled_dot_product_attention(
                q, kv[:, :2], kv[:, 2:], is_causal=True, enable_gqa=True
            )
            return o.transpose(1, 2).reshape(batch, length, 256)

    torch.manual_seed(0)
    module = Attention()
    dims = {0: Dim("batch", max=64), 1: Dim("length", max=4096)}
    compiled = from_torch(module, ones(2, 48, 64), on="cpu", dynamic_shapes=(dims,))
    assert any("attention" in name for name in compiled.executable.kernels)
    for shape in ((2, 33), (1, 70)):
        x = torch.randn(*shape, 64).to(bf16)
        assert torch.allclose(compiled(x).float(), module(x).float(), atol=2**-5)
