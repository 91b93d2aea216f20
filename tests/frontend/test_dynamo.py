"""`torch.compile(backend="mlir_smem")`, with its kernels on the emulator, against PyTorch."""

import logging

import pytest

from mlir_smem.dialect.bindings import PACKAGE
from mlir_smem.frontend import torch_graphs
from mlir_smem.frontend.torch_modules import readable

torch = pytest.importorskip("torch", exc_type=ImportError)
pytestmark = pytest.mark.skipif(
    PACKAGE != "torch_mlir", reason=f"{PACKAGE} does not import graphs of PyTorch"
)
from torch_layers import Layer, check, check_gradients  # noqa: E402

if PACKAGE == "torch_mlir":
    from mlir_smem.frontend.dynamo.backend import mlir_smem

F, bf16 = torch.nn.functional, torch.bfloat16


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()


@pytest.fixture
def eager(monkeypatch):
    """Run what is not ours without compiling it: C++ takes its time."""
    compile_ = torch.compile

    def compile_eagerly(module, *, backend="eager", mode=None, **named):
        return compile_(module, backend=backend, **named)

    monkeypatch.setattr(torch, "compile", compile_eagerly)


def r(*shape, dtype=bf16):
    return torch.randn(*shape).to(dtype)


def parts_of(function, *inputs, dynamic=None, **options):
    """Compile a function, compare its result, and return the parts of its graph."""
    before = len(torch_graphs())
    compiled = torch.compile(
        function,
        backend=mlir_smem,
        options={"on": "cpu", **options},
        dynamic=dynamic,
        fullgraph=True,
    )
    with torch.no_grad():
        check(compiled(*inputs), function(*inputs))
    (graph,) = torch_graphs()[before:]
    return graph, compiled


def test_it_is_found_by_its_name():
    assert "mlir_smem" in torch._dynamo.list_backends(exclude_tags=())


def test_a_layer_of_a_transformer(eager, caplog):
    with caplog.at_level(logging.INFO, "mlir_smem"):
        graph, _ = parts_of(Layer(), r(2, 32, 64))
    assert (graph.count("mlir_smem"), graph.count("default"), graph.count("views")) == (4, 3, 1)
    ours = [part.ops for part in graph.parts if part.by == "mlir_smem"]
    assert ours == [
        ("aten.addmm.default",),
        ("aten.addmm.default", "aten.add.Tensor"),
        ("aten.addmm.default", "aten.gelu.default"),
        ("aten.addmm.default", "aten.add.Tensor"),
    ]
    assert "a graph of 8 parts: 4 by mlir_smem, 3 by default, 1 by views" in caplog.text


def test_a_dynamic_batch(eager):
    layer = Layer()
    graph, compiled = parts_of(layer, r(3, 16, 64), dynamic=True)
    assert graph.count("mlir_smem") == 4
    before = len(torch_graphs())
    with torch.no_grad():
        for batch in (5, 2):
            x = r(batch, 16, 64)
            check(compiled(x), layer(x))
    assert len(torch_graphs()) == before


def test_gradients(eager):
    layer, x = Layer(), r(2, 16, 64)
    before = len(torch_graphs())
    compiled = torch.compile(layer, backend="mlir_smem", options={"on": "cpu"})
    check_gradients(compiled, layer, x)
    # Each linear layer has the gradients of its weight and of its input.
    assert [graph.count("mlir_smem") for graph in torch_graphs()[before:]] == [4, 8]


def test_two_products_that_meet_are_a_kernel(eager):
    def swiglu(x, w, v):
        return F.silu(x @ w) * (x @ v)

    graph, _ = parts_of(swiglu, r(2, 24, 64), r(64, 32) / 8, r(64, 32) / 8)
    assert [part.ops for part in graph.parts if part.by == "mlir_smem"] == [
        ("aten.mm.default", "aten.silu.default", "aten.mm.default", "aten.mul.Tensor")
    ]


def test_batches_and_integers(eager):
    graph, _ = parts_of(lambda a, b: torch.relu(a @ b.mT) + 1, r(3, 32, 64), r(3, 48, 64))
    assert graph.count("mlir_smem") == 1
    graph, _ = parts_of(lambda a, b: a @ b, r(2, 32, 64)[:, ::2], r(2, 128, 64)[:, 3:67])
    assert graph.count("mlir_smem") == 1
    a, b = (torch.randint(-9, 9, (32, 32), dtype=torch.int8) for _ in "AB")
    graph, _ = parts_of(lambda a, b: torch._int_mm(a, b).float() * 0.5, a, b)
    assert graph.count("mlir_smem") == 1


def test_what_is_left_has_its_reason(eager):
    a, b = r(32, 64, dtype=torch.float32), r(64, 32, dtype=torch.float32)
    graph, _ = parts_of(lambda a, b: torch.relu(a @ b), a, b)
    (part,) = graph.parts
    assert part.by == "default" and part.ops == ("aten.mm.default", "aten.relu.default")
    assert [op for op, _ in part.reasons] == ["aten.mm.default", "aten.relu.default"]
    assert all("f32=tf32 allows it" in reason for _, reason in part.reasons)
    assert "aten.mm.default is left: " in str(graph)
    graph, _ = parts_of(lambda a, b: torch.relu(a @ b), a.bfloat16(), b.bfloat16())
    assert graph.count("mlir_smem") == 1
    graph, _ = parts_of(lambda a, b: a @ b, r(33, 65), r(65, 34))
    assert "TMA takes multiples of 16" in graph.parts[0].reasons[0][1]
    assert parts_of(lambda a, b: torch.relu(a @ b), a, b, f32="tf32")[0].count("mlir_smem") == 1


def test_an_op_that_no_epilogue_has_is_left(eager):
    graph, _ = parts_of(lambda a, b: torch.special.i0(torch.relu(a @ b)), r(32, 64), r(64, 32) / 64)
    assert [part.by for part in graph.parts] == ["mlir_smem", "default"]
    assert graph.parts[0].ops == ("aten.mm.default", "aten.relu.default")
    assert graph.parts[1].reasons[0][0] == "aten.i0.default"


def test_tensors_of_a_cpu_are_emulated_only_if_that_is_said(eager):
    before = len(torch_graphs())
    compiled = torch.compile(lambda a: a @ a, backend=mlir_smem)
    compiled(r(32, 32))
    (graph,) = torch_graphs()[before:]
    assert graph.count("mlir_smem") == 0
    assert graph.parts[0].reasons[0][1] == (
        "its tensors are of the device cpu; expected cuda, or the option on=cpu, which emulates kernels"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "tpu"}, "unknown machine 'tpu'; expected gpu or cpu"),
        ({"speed": 1}, "linalg-to-smem has no option 'speed'"),
        ({"math": "fast"}, "option math takes exact or approx, not 'fast'"),
    ],
)
def test_options_that_it_does_not_take(options, message):
    compiled = torch.compile(lambda a: a @ a, backend=mlir_smem, options=options)
    with pytest.raises(Exception, match=message):
        compiled(r(32, 32))


def test_the_rest_is_compiled_by_default():
    graph, _ = parts_of(
        lambda a, b: torch.softmax(a @ b, -1), r(32, 64), r(64, 32), mode="reduce-overhead"
    )
    assert [part.by for part in graph.parts] == ["mlir_smem", "default"]


def test_tensors_at_any_address_are_readable():
    x = r(32 * 64 + 1)[1:].view(32, 64)
    assert readable(x).data_ptr() % 16 == 0 and torch.equal(readable(x), x)
    aligned = r(32, 64)
    assert readable(aligned) is aligned
    layer = Layer()
    before = len(torch_graphs())
    parts_of(layer.out, x)
    assert torch_graphs()[before].count("mlir_smem") == 1
