"""Values from outside of a body in the places of its own arguments, on the emulator against NumPy."""

import itertools
import random

import ml_dtypes
import numpy as np
import pytest
from contractions import MM

from mlir_smem.bindings import passmanager
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.passes import add_passes

M, N, K = 16, 32, 24
MEMORY = f"memref<{M}x{K}xbf16>", f"memref<{K}x{N}xbf16>", f"memref<{M}x{N}xf32>"
SCALAR, CONSTANT = 2.0, 3.0

#: What a fill writes: its text, and the value with which C begins.
FILLS = {
    "none": ("", lambda c: c),
    "zeros of an input": ("%z", lambda c: 0 * c),
    "zeros from outside": ("%none", lambda c: 0 * c),
    "a number": ("%s", lambda c: 0 * c + SCALAR),
    "another number": ("%r", lambda c: 0 * c + 1),
    "itself": ("%o", lambda c: c),
    "a number of an input": ("%p", lambda c: 0 * c + SCALAR),
}
FACTORS = ("x", "y", "s", "three", "o", "r")
SUMS = ("o", "s", "r")


def program(fill, factors, total):
    """C, perhaps filled, plus a sum of products in whose body values from outside are."""
    value, _ = FILLS[fill]
    read = "%s" if value == "%p" else "%zero"
    value = {"%z": "%p", "%none": "%zero"}.get(value, value)
    filling = f"""
  linalg.generic {{indexing_maps = [affine_map<(m, n)->()>, affine_map<(m, n)->(m, n)>],
    iterator_types = ["parallel", "parallel"]}} ins({read} : f32) outs(%c : {MEMORY[2]}) {{
  ^bb0(%p: f32, %o: f32):
    linalg.yield {value} : f32 }}"""
    maps = ", ".join(f"affine_map<{expression}>" for expression in MM)
    return f"""func.func @main(%r: f32, %s: f32, %a: {MEMORY[0]}, %b: {MEMORY[1]}, %c: {MEMORY[2]}) {{
  %zero = arith.constant 0.0 : f32
  %three = arith.constant {CONSTANT} : f32 {filling if value else ""}
  linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %b : {MEMORY[0]}, {MEMORY[1]}) outs(%c : {MEMORY[2]}) {{
  ^bb0(%p: bf16, %q: bf16, %o: f32):
    %x = arith.extf %p : bf16 to f32
    %y = arith.extf %q : bf16 to f32
    %3 = arith.mulf %{factors[0]}, %{factors[1]} : f32
    %4 = arith.addf %{total}, %3 : f32
    linalg.yield %4 : f32 }}
  return
}}"""


def sums_in_f64(fill, factors, total, a, b, c):
    """What the program leaves in C, computed in f64."""
    _, begin = FILLS[fill]
    sums = begin(c.astype(np.float64))
    for k in range(K):
        values = {"x": a[:, [k]].astype(np.float64), "y": b[[k]].astype(np.float64), "o": sums}
        values |= {"s": SCALAR, "r": 1.0, "three": CONSTANT}
        sums = values[total] + values[factors[0]] * values[factors[1]] + 0 * sums
    return sums


def run(text, passes, *arguments):
    """Run a program whose contractions are kernels where they can be."""
    with new_context():
        module = parse_module(text)
        manager = passmanager.PassManager("builtin.module")
        for name in passes:
            add_passes(manager, name)
        manager.run(module.operation)
        launches = str(module).count("gpu.launch_func")
        Executable(module, on="cpu", mixed=True)(*arguments)
    return launches


#: Arguments of the function that have the numbers of the body's, and fills before a product.
CHOSEN = [
    ("none", ("r", "y"), "o"),
    ("none", ("x", "s"), "o"),
    ("another number", ("x", "y"), "o"),
]
_EVERY = list(itertools.product(FILLS, itertools.product(FACTORS, FACTORS), SUMS))
RANDOM = [(fill, ("y", "x"), "o") for fill in FILLS] + random.Random(7).sample(_EVERY, 24)


@pytest.mark.parametrize("case", CHOSEN, ids=str)
def test_arguments_of_the_function(case):
    check(case, prepare=False)


@pytest.mark.parametrize("case", RANDOM, ids=str)
@pytest.mark.parametrize("prepare", [False, True], ids=["alone", "prepared"])
def test_values_from_outside(case, prepare):
    check(case, prepare)


def check(case, prepare):
    """Run a program, and compare what it leaves in C."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-2, 3, size).astype(ml_dtypes.bfloat16) for size in ((M, K), (K, N)))
    c = rng.integers(-8, 8, (M, N)).astype(np.float32)
    passes = ["linalg-to-smem-prepare"] * prepare + ["linalg-to-smem"]
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = sums_in_f64(*case, a, b, c).astype(np.float32)
    launches = run(program(*case), passes, 1.0, SCALAR, a, b, c)
    assert launches == (set(case[1]) == {"x", "y"} and case[2] == "o")
    # A product of a sum with itself grows beyond f32.
    close = np.isclose(c, wanted, rtol=1e-4, atol=1e-4)
    assert (close | ~np.isfinite(wanted)).all()
