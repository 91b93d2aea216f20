"""`from_jax` does what JAX does: control flow, trees of arrays, numbers, truth values and bytes."""

import pickle
import re
from functools import partial

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.bindings import PACKAGE
from mlir_smem.codegen import CompileError
from mlir_smem.frontend import from_jax
from mlir_smem.frontend.stablehlo import linalg_of
from mlir_smem.runtime import LaunchError

jax = pytest.importorskip("jax", exc_type=ImportError)
if PACKAGE != "torch_mlir":
    pytest.skip(f"{PACKAGE} has no StableHLO", allow_module_level=True)

jnp, lax = jax.numpy, jax.lax
X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


def check(function, *arguments, others=()):
    """Compare a compiled function with JAX, for these arguments and others."""
    compiled = from_jax(function, *arguments, on="cpu", mixed=True)
    for inputs in (arguments, *others):
        before = [np.array(leaf) for leaf in jax.tree_util.tree_leaves(inputs)]
        actual, expected = compiled(*inputs), function(*inputs)
        leaves, tree = jax.tree_util.tree_flatten(expected)
        assert jax.tree_util.tree_structure(actual) == tree
        for one, other in zip(jax.tree_util.tree_leaves(actual), leaves, strict=True):
            assert np.asarray(one).dtype == other.dtype
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-5, atol=1e-6)
        for old, leaf in zip(before, jax.tree_util.tree_leaves(inputs), strict=True):
            assert np.array_equal(old, leaf, equal_nan=True)
    return compiled


def scan_both_ways(x):
    """Carry what is added up, and what is not changed; collect the rows, from both ends."""

    def step(carry, row):
        total, fixed = carry
        return (total + row * fixed, fixed), total

    return [lax.scan(step, (x[0], jnp.float32(2)), x, reverse=reverse) for reverse in (0, 1)]


def count_by_twos(x, n):
    """Loops whose counters begin at 3, and whose bound is an argument; the counter is returned."""
    i, total = lax.while_loop(
        lambda carry: carry[0] < n, lambda carry: (carry[0] + 2, carry[1] + carry[0]), (3, x)
    )
    j, unsigned = lax.fori_loop(0, n, lambda i, carry: (i, carry[1] * 3), (0, jnp.uint8(1)))
    return i, total, j, unsigned


def halve(x):
    """A loop that does not count."""
    return lax.while_loop(lambda x: x.max() > 0.1, lambda x: x / 2, x)


def loop_in_a_branch(x, p):
    """Loops in branches in loops."""

    def body(i, y):
        return lax.cond(p, lambda: lax.fori_loop(0, i, lambda j, z: z + j, y), lambda: y - i)

    return lax.fori_loop(0, 4, body, x)


def switch(x, i):
    return lax.switch(i, [lambda: x, lambda: -x, lambda: x * 2])


def behind_barriers(x):
    x, y = lax.optimization_barrier((x, x + 1))
    return jnp.square(x) + jax.scipy.special.erfc(y) + jax.nn.gelu(x, approximate=False)


def sort(x):
    """Equal elements stay in order; unsigned ones, and NaN."""
    ranks = jnp.round(x).astype(jnp.uint8)
    return lax.top_k(jnp.round(x), 3), jnp.argsort(ranks, axis=0), jnp.sort(x / x[0]), x.sum()


@pytest.mark.parametrize(
    "function, arguments, others",
    [
        (scan_both_ways, (X,), ()),
        (count_by_twos, (X, np.int32(4)), [(X, np.int32(n)) for n in (-1, 3, 9)]),
        (halve, (X,), [(-np.abs(X),)]),
        (loop_in_a_branch, (X, np.True_), [(X, np.False_)]),
        (switch, (X, np.int32(1)), [(X, np.int32(i)) for i in (-5, 0, 2, 7)]),
        (behind_barriers, (X,), ()),
        (sort, (np.float32([[0, 3, 2.2, 2, 3], [1, 0, 2, 9, 1], [0, 1, 2, 9, 3]]),), ()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_control_flow(function, arguments, others):
    check(function, *arguments, others=others)


def test_a_loop_that_counts_is_one_of_the_host():
    """Its kernels are launched without a copy of the counter."""
    w = np.zeros((3, 64, 64), ml_dtypes.bfloat16)
    layers = partial(lax.fori_loop, 0, 3)
    compiled = from_jax(lambda x, w: layers(lambda i, x: x @ w[i], x), w[0], w, on="cpu")
    assert np.array_equal(compiled(w[0], w), w[0])


def test_trees_of_arguments():
    parameters = {"w": X, "b": [X[0], None], "unused": np.zeros(5)}

    def layer(parameters, x, scale):
        y = x + parameters["w"] * scale
        return {"y": y, "pair": (y > parameters["b"][0], parameters["b"][0])}

    compiled = check(layer, parameters, X, 2.5, others=[(parameters, X, 3)])
    with pytest.raises(LaunchError, match=r"the arguments are PyTreeDef\(.*\); expected, as the"):
        compiled({"w": X}, X, 2.5)


def test_element_types_of_a_byte():
    bytes_ = np.arange(250, 256, dtype=np.uint8).reshape(2, 3)

    def function(x, mask, number):
        return jnp.where(mask, x + number, 7), x > 252, ~mask

    check(function, bytes_, X > 0, np.uint8(3))
    # JAX takes views of any strides.
    check(function, bytes_[:, ::-1], (X > 0)[::-1], np.uint8(3))


@pytest.mark.parametrize(
    "example, number",
    [(np.int8(3), 300), (np.int32(3), 2.5), (np.bool_(True), 1), (np.int32(1), True)],
)
def test_a_number_that_does_not_fit(example, number):
    compiled = from_jax(lambda x, n: jnp.where(n > 0, x, 0), X, example, on="cpu", mixed=True)
    message = f"argument 1 is {number!r}, which {example.dtype} does not hold"
    with pytest.raises(LaunchError, match=re.escape(message)):
        compiled(X, number)


@pytest.mark.parametrize(
    "function, op",
    [
        (lambda x: jnp.fft.fft(x).real, "stablehlo.fft"),
        (lambda x: jnp.linalg.cholesky(x[:, :2]), "stablehlo.custom_call"),
    ],
)
def test_what_upstream_does_not_lower(function, op):
    with pytest.raises(CompileError, match=f"the function has {op}"):
        from_jax(function, X, on="cpu")


def test_ops_of_chlo_that_are_left():
    with pytest.raises(CompileError, match=r"the function has chlo\.zeta, which upstream does not"):
        linalg_of("%0 = chlo.zeta %x, %q")


def test_a_function_without_results():
    assert from_jax(lambda x: {}, X, on="cpu")(X) == {}


def test_a_pickled_executable():
    compiled = from_jax(lambda tree: {"sum": tree["x"] + tree["y"]}, {"x": X, "y": 1}, on="cpu")
    again = pickle.loads(pickle.dumps(compiled))
    assert np.array_equal(again({"x": X, "y": 2})["sum"], X + 2)
