"""Modules of PyTorch that are kept on disk, by what their graphs are made of."""

import importlib
import pickle

import pytest

from mlir_smem.bindings import PACKAGE
from mlir_smem.frontend import from_torch

torch = pytest.importorskip("torch", exc_type=ImportError)
if PACKAGE != "torch_mlir":
    pytest.skip(f"{PACKAGE} has no graphs of PyTorch", allow_module_level=True)

pytestmark = pytest.mark.torch

X = torch.arange(6.0).reshape(2, 3)


@pytest.fixture
def imports(monkeypatch, tmp_path):
    """What torch-mlir imports, with a cache of its own."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    seen, fx = [], importlib.import_module("torch_mlir.fx")
    lower = fx._module_lowering

    def count(*arguments):
        seen.append(arguments)
        return lower(*arguments)

    monkeypatch.setattr(fx, "_module_lowering", count)
    return seen


def check(module, *inputs, **options):
    """Compile a module and compare it with eager PyTorch; return the executable."""
    compiled = from_torch(module, *inputs, on="cpu", mixed=True, **options)
    assert torch.equal(compiled(*inputs), module(*inputs))
    return compiled


class Scaled(torch.nn.Module):
    """A scale that is a parameter, and a shift that is captured."""

    def __init__(self, scale):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(scale))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, y=1):
        self.calls += 1
        return x * self.scale + y


def test_the_second_time_torch_mlir_does_not_run(imports):
    for scale in (2.0, 3.0):
        # Parameters are no part of the program.
        module = Scaled(scale).eval()
        compiled = from_torch(module, X, on="cpu")
        assert torch.equal(compiled(X), X * scale + 1) and module.calls == 1
    assert len(imports) == 1


def test_what_a_graph_is_made_of(imports):
    shift, captured = torch.tensor([1.0, 2.0, 3.0]), {}

    def literal(number):
        return lambda x: x + torch.tensor([1.0, 2.0, number])

    def capture(number):
        captured[number] = shift * number
        return lambda x: x + captured[number]

    dynamic = {"dynamic_shapes": ({0: torch.export.Dim("rows")},)}
    for function, options in [
        (lambda x: x + 1, {}),
        (lambda x: x + 2, {}),
        (lambda x: (x + 2).to(torch.bfloat16), {}),
        (lambda x: (x + 2).t(), {}),
        (lambda x: x.t() + 2, {}),
        (literal(3.0), {}),
        (literal(4.0), {}),
        (capture(3.0), {}),
        (lambda x: x + 1, dynamic),
    ]:
        check(function, X, **options)
    count = len(imports)
    assert count == 9
    # The same graphs: a captured tensor is an argument of the program.
    for function in (literal(4.0), capture(5.0), lambda x: x + 2):
        check(function, X)
    assert len(imports) == count
    check(lambda x: x + 1, X.double())
    check(lambda x: x + 1, X[:1])
    check(lambda x, y: x + y, X, 1)
    assert len(imports) == count + 3


def test_numbers_are_checked_against_those_of_this_time(imports):
    for number in (1, 1, 2):
        compiled = from_torch(lambda x, y: x + y, X, number, on="cpu")
        assert torch.equal(compiled(X, number), X + number)
        with pytest.raises(Exception, match=f"the program is compiled for {number}"):
            compiled(X, number + 1)
    assert len(imports) == 2


def test_a_view_of_an_argument_stays_one(imports):
    for _ in range(2):
        views = from_torch(lambda x: (x[0], x.clone()[0]), X, on="cpu")
        first, second = views(X)
        assert first.data_ptr() == X.data_ptr() and second.data_ptr() != X.data_ptr()
    assert len(imports) == 1


def test_a_pickled_module(imports):
    compiled = from_torch(Scaled(2.0), X, on="cpu")
    again = pickle.loads(pickle.dumps(compiled))
    for _ in range(2):
        assert torch.equal(again(X), X * 2 + 1)
    # It has a copy of the module.
    state = again._exported.state
    assert state.get("calls") == 2 and compiled._exported.state.get("calls") == 0
    assert again.signature == compiled.signature and len(imports) == 1
