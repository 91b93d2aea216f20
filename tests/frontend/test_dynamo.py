"""`torch.compile(backend="mlir_smem")`, with its kernels on the emulator, against PyTorch."""

import logging

import pytest

from mlir_smem.bindings import PACKAGE
from mlir_smem.frontend import torch_graphs
from mlir_smem.frontend.torch_modules import readable

torch = pytest.importorskip("torch", exc_type=ImportError)
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(
        PACKAGE != "torch_mlir", reason=f"{PACKAGE} does not import graphs of PyTorch"
    ),
]
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch_layers import Layer, check, check_gradients  # noqa: E402

if PACKAGE == "torch_mlir":
    from mlir_smem.frontend.dynamo.backend import _compile_graph, mlir_smem

F, bf16 = torch.nn.functional, torch.bfloat16
attend = F.scaled_dot_product_attention

#: What PyTorch computes attention by on a CPU.
ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu.default"


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
    # TMA reads copies of rows of 130 bytes.
    graph, _ = parts_of(lambda a, b: a @ b, r(33, 65), r(65, 34))
    assert graph.count("mlir_smem") == 1
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


def heads(queries=16, keys=16, *, q_heads=2, kv_heads=2, dim=64, dtype=bf16):
    """Queries, keys and values of a batch."""
    q = r(1, q_heads, queries, dim, dtype=dtype)
    return q, *(r(1, kv_heads, keys, dim, dtype=dtype) for _ in "KV")


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ({}, {}),
        ({"dtype": torch.float16}, {"scale": 0.3}),
        ({}, {"is_causal": True}),
        ({"keys": 40}, {}),
        ({"queries": 24, "keys": 40}, {"is_causal": True}),
        ({"queries": 40, "keys": 24}, {"is_causal": True}),
        ({"q_heads": 4, "keys": 24}, {"enable_gqa": True, "is_causal": True}),
    ],
    ids=str,
)
def test_attention(eager, sizes, options):
    graph, _ = parts_of(lambda q, k, v: attend(q, k, v, **options), *heads(**sizes))
    assert str(graph) == f"mlir_smem: {ATTENTION}"


def test_views_behind_attention_rely_on_its_strides(eager):
    def merge_heads(q, k, v):
        y = attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        return y.transpose(1, 2).reshape(2, 16, 128), y

    inputs = [r(2, 16, 2, 64) for _ in "QKV"]
    before = len(torch_graphs())
    compiled = torch.compile(merge_heads, backend=mlir_smem, options={"on": "cpu"}, fullgraph=True)
    with torch.no_grad():
        for actual, expected in zip(compiled(*inputs), merge_heads(*inputs), strict=True):
            check(actual, expected)
            assert actual.stride() == expected.stride()
    (graph,) = torch_graphs()[before:]
    assert [part.by for part in graph.parts] == ["views", "mlir_smem", "views"]
    assert "aten.view.default" in graph.parts[2].ops


def test_a_layer_with_attention_of_any_batch_and_length(eager):
    layer = Layer(128)
    graph, compiled = parts_of(layer, r(3, 16, 128), dynamic=True)
    assert (ATTENTION,) in [part.ops for part in graph.parts if part.by == "mlir_smem"]
    assert graph.count("mlir_smem") == 5
    before = len(torch_graphs())
    with torch.no_grad():
        x = r(2, 24, 128)
        check(compiled(x), layer(x))
    assert len(torch_graphs()) == before


def test_attention_of_tensors_that_tma_does_not_read(eager):
    q, k, v = heads()
    q = r(q.numel() + 1)[1:].view(q.shape)
    k = k[:, :1].expand(k.shape)
    v = r(1, 2, 16, 65)[..., :64]
    graph, _ = parts_of(attend, q, k, v)
    assert graph.count("mlir_smem") == 1


@pytest.mark.parametrize(
    ("name", "further", "last"),
    [
        ("scaled_dot_product_attention", (None, 0.0), 0),
        ("_scaled_dot_product_cudnn_attention", (None, False, 0.0), 0),
        ("_scaled_dot_product_efficient_attention", (None, False, 0.0), 0),
        ("_scaled_dot_product_flash_attention", (0.0,), 8),
    ],
)
def test_each_op_has_its_own_causal_mask(name, further, last):
    op = getattr(torch.ops.aten, name).default

    def first(q, k, v):
        outputs = op(q, k, v, *further, True)
        return outputs if isinstance(outputs, torch.Tensor) else outputs[0]

    q, k, v = heads(16, 24)
    module = make_fx(first, tracing_mode="fake", pre_dispatch=True)(q, k, v)
    actual = _compile_graph(module, "cpu", {}, None)(q, k, v)
    assert str(torch_graphs()[-1]) == f"mlir_smem: aten.{name}.default"
    check(actual, attend(q, k, v, attn_mask=torch.ones(16, 24, dtype=torch.bool).tril(last)))


@pytest.mark.parametrize(
    ("sizes", "options", "reason"),
    [
        ({}, {"attn_mask": torch.zeros(16, 16, dtype=bf16)}, "its mask is the tensor "),
        ({"dtype": torch.float32}, {}, "q, k and v have elements of f32; expected bf16 or f16"),
        ({"dim": 80}, {}, "the head dimension is 80; expected one of 64, 96, 128, 192, 256"),
        ({}, {"scale": -1.0}, "its scale is -1.0; expected a positive constant"),
    ],
)
def test_attention_that_is_left_has_its_reason(eager, sizes, options, reason):
    graph, _ = parts_of(lambda q, k, v: attend(q, k, v, **options), *heads(**sizes))
    ((op, explanation),) = graph.parts[-1].reasons
    assert op == ATTENTION and explanation.startswith(reason)


def reason_of(function, *inputs):
    """Return why attention of a graph that need not run is left."""
    module = make_fx(function, tracing_mode="symbolic", pre_dispatch=True)(*inputs)
    _compile_graph(module, "cpu", {}, None)
    ((_, reason),) = torch_graphs()[-1].parts[0].reasons
    return reason


def test_attention_of_other_arguments_is_left(eager):
    flash, (q, k, v) = torch.ops.aten._scaled_dot_product_flash_attention, heads(dim=80)
    assert reason_of(lambda: flash(r(1, 2, 16, 64), r(1, 2, 16, 64), r(1, 2, 16, 64), 0.5)[0]) == (
        "its dropout is 0.5; expected 0"
    )
    assert "which is no constant" in reason_of(lambda q, k, v: flash(q, k, v)[0], q, k, v)
    assert reason_of(lambda: attend(r(2, 16, 64), r(2, 16, 64), r(2, 16, 64))).endswith(
        "expected 4 dimensions each"
    )
    assert "expected equal batches" in reason_of(
        lambda: attend(r(2, 2, 16, 64), r(1, 2, 16, 64), r(1, 2, 16, 64))
    )
    assert "expected equal batches" in reason_of(
        lambda: attend(r(1, 2, 16, 64), r(1, 1, 16, 64), r(1, 1, 16, 64))
    )


def test_attention_whose_gradients_are_computed_is_left(eager):
    q, k, v = (x.requires_grad_() for x in heads())
    before = len(torch_graphs())
    compiled = torch.compile(attend, backend=mlir_smem, options={"on": "cpu"})
    compiled(q, k, v).sum().backward()
    forward, _ = torch_graphs()[before:]
    assert forward.parts[0].reasons == (
        (
            ATTENTION,
            "another result than its first is used, as the log-sum-exp for gradients; expected the first "
            "alone",
        ),
    )


def test_attention_on_a_cpu_is_emulated_only_if_that_is_said(eager):
    before = len(torch_graphs())
    torch.compile(attend, backend=mlir_smem)(*heads())
    ((_, reason),) = torch_graphs()[before].parts[0].reasons
    assert reason.startswith("its tensors are of the device cpu; expected cuda")
