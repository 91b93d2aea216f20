"""Programs of PyTorch and JAX, small; run with a folder, this module exports them to linalg there.

What is committed in `tests/frontend/programs` was exported by it; the first line of each file has the
versions.
"""

import importlib
import importlib.metadata
import sys
from pathlib import Path

COMMITTED = Path(__file__).parents[1] / "frontend" / "programs"


def torch_programs():
    """Return modules of PyTorch by name: a function or module, its inputs, and dynamic shapes."""
    torch = importlib.import_module("torch")
    F, nn = torch.nn.functional, torch.nn  # noqa: N806
    torch.manual_seed(0)
    bf16, f16 = torch.bfloat16, torch.float16
    M = torch.export.Dim("M", min=2, max=4096)  # noqa: N806
    N = torch.export.Dim("N", min=2, max=4096)  # noqa: N806

    def r(*shape, dtype=bf16):
        return torch.randn(*shape).to(dtype)

    def i8(*shape):
        return torch.randint(-9, 9, shape, dtype=torch.int8)

    x, w, c = r(96, 64), r(128, 64), r(128)

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(64, 128, dtype=bf16), nn.Linear(128, 64, dtype=bf16)

        def forward(self, x):
            return self.down(F.gelu(self.up(x), approximate="tanh"))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.norm2 = nn.LayerNorm(64, dtype=bf16), nn.LayerNorm(64, dtype=bf16)
            self.qkv, self.out = nn.Linear(64, 192, dtype=bf16), nn.Linear(64, 64, dtype=bf16)
            self.mlp = Mlp()

        def forward(self, x):
            batch, seq, dim = x.shape
            q, k, v = self.qkv(self.norm(x)).view(batch, seq, 3, 2, 32).permute(2, 0, 3, 1, 4)
            p = torch.softmax(q @ k.transpose(-1, -2) * 32**-0.5, -1)
            x = x + self.out((p @ v).transpose(1, 2).reshape(batch, seq, dim))
            return x + self.mlp(self.norm2(x))

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.out = (nn.Linear(128, 128, dtype=bf16) for _ in range(4))

        def forward(self, x):
            batch, seq, dim = x.shape
            q, k, v = (
                layer(x).view(batch, seq, 2, 64).transpose(1, 2)
                for layer in (self.q, self.k, self.v)
            )
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(o.transpose(1, 2).reshape(batch, seq, dim))

    def linear(activation):
        return lambda x, w, c: activation(F.linear(x, w, c))

    def scores(q, k):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1)

    qkv = [r(1, 2, 64, 64)] * 3
    plain = {
        "mm": (lambda a, b: a @ b, [x, r(64, 128)]),
        "mm_f16": (lambda a, b: a @ b, [r(96, 64, dtype=f16), r(64, 128, dtype=f16)]),
        "mm_f32": (
            lambda a, b: a @ b,
            [r(96, 64, dtype=torch.float32), r(64, 128, dtype=torch.float32)],
        ),
        "bmm": (torch.bmm, [r(3, 96, 64), r(3, 64, 128)]),
        "addmm_gelu": (lambda a, b, c: F.gelu(torch.addmm(c, a, b)), [x, r(64, 128), c]),
        "linear": (linear(lambda x: x), [x, w, c]),
        "linear_relu": (linear(F.relu), [r(2, 48, 64), w, c]),
        "linear_silu": (linear(F.silu), [x, w, c]),
        "linear_gelu_tanh": (linear(lambda x: F.gelu(x, approximate="tanh")), [x, w, c]),
        "linear_sigmoid": (linear(torch.sigmoid), [x, w, c]),
        "linear_tanh": (linear(torch.tanh), [x, w, c]),
        "linear_relu_squared": (linear(lambda x: F.relu(x) ** 2), [x, w, c]),
        "linear_leaky_relu": (linear(lambda x: F.leaky_relu(x, 0.125)), [x, w, c]),
        "linear_hardtanh": (linear(F.hardtanh), [x, w, c]),
        "linear_residual": (lambda x, w, c, y: y + F.linear(x, w, c), [x, w, c, r(96, 128)]),
        "linear_row_scale": (lambda x, w, s: F.linear(x, w) * s, [x, w, r(96, 1)]),
        "swiglu": (lambda x, w, v: F.silu(x @ w) * (x @ v), [x, r(64, 128) / 8, r(64, 128) / 8]),
        "geglu": (
            lambda x, w, v: F.gelu(F.linear(x, w)) * F.linear(x, v),
            [x, w / 8, r(128, 64) / 8],
        ),
        "einsum_mk_nk": (lambda a, b: torch.einsum("bmk,nk->bmn", a, b), [r(2, 48, 64), w]),
        "einsum_heads": (
            lambda q, k: torch.einsum("bqhd,bkhd->bhqk", q, k),
            [r(2, 64, 2, 64), r(2, 64, 2, 64)],
        ),
        "einsum_out": (
            lambda p, v: torch.einsum("bhqk,bkhd->bqhd", p, v),
            [r(2, 2, 64, 64), r(2, 64, 2, 64)],
        ),
        "mv": (torch.mv, [x, r(64)]),
        "int_mm_dequant": (
            lambda a, b, s: (torch._int_mm(a, b).float() * s).to(bf16),
            [i8(96, 64), i8(64, 128), torch.rand(128)],
        ),
        "int_mm_wrap": (
            lambda a, b: (torch._int_mm(a, b) * 5).to(torch.int8),
            [i8(96, 64), i8(64, 128)],
        ),
        "conv_1x1": (F.conv2d, [r(2, 64, 8, 8), r(128, 64, 1, 1)]),
        "conv_1x1_bias": (
            lambda x, w, c: F.relu(F.conv2d(x, w, c)),
            [r(2, 64, 8, 8), r(128, 64, 1, 1), c],
        ),
        "conv_3x3": (lambda x, w: F.conv2d(x, w, padding=1), [r(1, 16, 8, 8), r(16, 16, 3, 3)]),
        "attention": (lambda q, k, v: scores(q, k) @ v, qkv),
        "attention_mask": (
            lambda q, k, v, mask: torch.softmax(q @ k.transpose(-1, -2) * 0.125 + mask, -1) @ v,
            [*qkv, r(64, 64)],
        ),
        "sdpa": (F.scaled_dot_product_attention, qkv),
        "odd_rows": (lambda a, b: a @ b, [r(33, 65), r(65, 34)]),
        "two_users": (lambda a, b: (torch.relu(a @ b), (a @ b).exp()), [x, r(64, 128)]),
    }
    programs = {name: (*program, None) for name, program in plain.items()}
    programs["mm_dyn"] = lambda a, b: F.relu(a @ b), [x, r(64, 128)], ({0: M}, {1: N})
    programs["mlp"] = Mlp(), [r(96, 64)], None
    programs["layer"] = Layer(), [r(2, 64, 64)], ({0: M},)
    programs["heads"] = Heads(), [r(2, 64, 128)], None
    return programs


def torch_ops():
    """Return functions of PyTorch by name that torch-mlir has ops of its own for, and their inputs."""
    torch = importlib.import_module("torch")
    F = torch.nn.functional  # noqa: N806
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 64, 64).bfloat16() for _ in "qkv")
    return {
        "sdpa_causal": (
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            [q, k, v],
        ),
    }


def jax_programs():
    """Return functions of JAX by name, and their inputs."""
    jax = importlib.import_module("jax")
    jnp = jax.numpy
    bf16, shape = jnp.bfloat16, jax.ShapeDtypeStruct
    x, w, c = shape((96, 64), bf16), shape((64, 128), bf16), shape((128,), bf16)
    i8 = shape((96, 64), jnp.int8), shape((64, 128), jnp.int8)
    f8 = jnp.float8_e4m3fn
    heads = shape((2, 64, 2, 64), bf16)

    def f32(a, b):
        return jax.lax.dot(a, b, preferred_element_type=jnp.float32)

    return {
        "mm": (lambda a, b: a @ b, [x, w]),
        "mm_f32": (f32, [x, w]),
        "linear_gelu": (lambda x, w, c: jax.nn.gelu(x @ w + c), [x, w, c]),
        "linear_swish": (lambda x, w, c: jax.nn.swish(x @ w + c), [x, w, c]),
        "einsum_heads": (lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), [heads, heads]),
        "int8_dequant": (
            lambda a, b, s: (
                jax.lax.dot(a, b, preferred_element_type=jnp.int32).astype(jnp.float32) * s
            ).astype(bf16),
            [*i8, shape((128,), jnp.float32)],
        ),
        "e4m3": (f32, [shape((96, 64), f8), shape((64, 128), f8)]),
        "conv_3x3": (
            lambda x, w: jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            ),
            [shape((1, 8, 8, 16), bf16), shape((3, 3, 16, 16), bf16)],
        ),
        "attention": (
            lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True),
            [heads] * 3,
        ),
        "attention_window": (
            lambda q, k, v: jax.nn.dot_product_attention(q, k, v, local_window_size=(16, 0)),
            [shape((2, 64, 4, 64), bf16), heads, heads],
        ),
        "mlp": (lambda x, w, v: jax.nn.relu(x @ w) @ v, [x, w, shape((128, 64), bf16)]),
    }


def dynamo_programs():
    """Return functions of PyTorch of which `torch.compile` makes a kernel: the function, its inputs, and
    the inputs whose first extent is dynamic."""
    torch = importlib.import_module("torch")
    F, aten = torch.nn.functional, torch.ops.aten  # noqa: N806
    torch.manual_seed(0)

    def r(*shape):
        return torch.randn(*shape).bfloat16()

    return {
        "gelu_backward": (
            lambda y, w, x: aten.gelu_backward(y @ w, x),
            [r(96, 64), r(64, 128), r(96, 128)],
            [],
        ),
        "residual_dyn": (
            lambda x, w, b, y: y + F.linear(x, w, b),
            [r(2, 48, 64), r(128, 64), r(128), r(2, 48, 128)],
            [0, 3],
        ),
        "swiglu": (
            lambda x, w, v: F.silu(x @ w) * (x @ v),
            [r(96, 64), r(64, 128), r(64, 128)],
            [],
        ),
        "weight_gradient": (lambda x, y: y.t() @ x, [r(96, 64), r(96, 128)], []),
    }


def _region(function, inputs, dynamic):
    """Return the one region of a function as the backend of `torch.compile` has it, in linalg.

    Args:
        function, inputs: the function and its inputs.
        dynamic: the inputs whose first extent is dynamic.
    """
    torch = importlib.import_module("torch")
    common = importlib.import_module("torch._dynamo.backends.common")
    dynamo = importlib.import_module("mlir_smem.frontend.dynamo.region_kernel")
    regions = importlib.import_module("mlir_smem.frontend.dynamo.regions")
    views = importlib.import_module("mlir_smem.frontend.dynamo.views")
    texts = []

    def read(module, _):
        views.sink_views(module.graph)
        (region,) = regions.regions_of(module.graph)
        texts.append(dynamo.linalg_of(region)[0])
        return module.forward

    for number in dynamic:
        torch._dynamo.mark_dynamic(inputs[number], 0)
    backend = common.aot_autograd(fw_compiler=read)
    torch.compile(function, backend=backend, fullgraph=True)(*inputs)
    return texts[0]


def _with_ops(function, inputs):
    """Return a function in linalg, of which no op is decomposed before."""
    torch = importlib.import_module("torch")
    fx = importlib.import_module("torch_mlir.fx")

    class Called(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    return str(
        fx.export_and_import(
            Called(), *inputs, output_type="linalg-on-tensors", decomposition_table=[]
        )
    )


def with_versions(program, *names):
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    lines = (line.rstrip() for line in program.strip().splitlines())
    return "\n".join((f"// {versions}", *lines, ""))


def export(name):
    """Return the text of a program, `torch_NAME`, `dynamo_NAME` or `jax_NAME`; its library must be
    installed."""
    library, _, program = name.partition("_")
    if library == "dynamo":
        return with_versions(_region(*dynamo_programs()[program]), "torch", "torch-mlir")
    if library == "torch" and program in torch_ops():
        return with_versions(_with_ops(*torch_ops()[program]), "torch", "torch-mlir")
    if library == "torch":
        from mlir_smem.frontend.torch_modules import export_torch

        module, inputs, dynamic = torch_programs()[program]
        return with_versions(export_torch(module, inputs, dynamic).text, "torch", "torch-mlir")
    from mlir_smem.frontend.jax_functions import export_jax

    return with_versions(export_jax(*jax_programs()[program]).text, "jax", "torch-mlir")


def main(folder):
    """Export all programs to a folder."""
    every = [
        *(("torch", programs) for programs in (torch_programs(), torch_ops())),
        ("dynamo", dynamo_programs()),
        ("jax", jax_programs()),
    ]
    for library, programs in every:
        for program in programs:
            name = f"{library}_{program}"
            Path(folder, f"{name}.mlir").write_text(export(name))


if __name__ == "__main__":
    main(sys.argv[1])
