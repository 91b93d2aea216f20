"""Random sequences of launches: kept checks refuse and pack what fresh ones do."""

from ctypes import c_float, c_int32, c_int64
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import kernel, module
from stand_in import Tensor, parameters

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError

TEXT = module(
    kernel(
        "",
        name="mixed",
        arguments="%n: i32, "
        '%x: memref<?x64xbf16, strided<[?, 1]>> {smem.name = "X", smem.shape = ["M", "K"]}, %f: f32, '
        '%y: memref<?xf32> {smem.name = "Y", smem.shape = ["M"]}',
        attributes=', smem.grid = [["M", 32]], smem.multiples = {M = 8}',
    )
)

#: What fits, and what differs from it in one part of a call: values that fit as well, and that do not.
EXTENTS, ADDRESSES = st.sampled_from([8, 16, 32]), st.sampled_from([0x1000, 0x2000, 0x3002])
FITS = {
    "n": st.integers(-(2**31), 2**31 - 1),
    "m": EXTENTS,
    "step": st.sampled_from([64, 72, 128]),
    "x": ADDRESSES,
    "dtype": st.just("bfloat16"),
    "device": st.just(0),
    "f": st.floats(width=32),
    "y": st.sampled_from([0x8000, 0x9004]),
}
CHANGES = st.one_of(
    st.just({}),
    st.just({}),
    st.sampled_from(
        [
            *({"n": number} for number in (2**31, 1.0, True, "1")),
            *({"f": number} for number in (1e300, 3, True, "1", None, Decimal("1.5"))),
            *({"m": extent} for extent in (12, 0)),
            *({"x": address} for address in (0, 0x4001)),
            *({"y": 0xA002}, {"y_step": 2}, {"y_m": 64}, {"k": 32}),
            *({"x_step": 2}, {"dtype": "float16"}, {"device": 1}),
        ]
    ),
)
BASE = st.fixed_dictionaries(FITS)
#: Most calls of a sequence differ from one base in one part, so that kept checks are met.
CALLS = st.tuples(BASE, BASE, st.lists(st.tuples(st.booleans(), CHANGES), min_size=4, max_size=16))


def arguments_of(fits, change):
    """Return the arguments of a call."""
    p = {**fits, **change}
    steps = (p["step"], p.get("x_step", 1))
    x = Tensor((p["m"], p.get("k", 64)), p["dtype"], p["x"], steps, device=p["device"])
    y = Tensor((p.get("y_m", p["m"]),), "float32", p["y"], (p.get("y_step", 1),))
    return p["n"], x, p["f"], y


@pytest.fixture(scope="module")
def compiled_kernel():
    return mlir_smem.compile(TEXT)


def outcome(kernel, gpu, arguments):
    """Return the values of the parameters and the grid; None if the launch is refused."""
    before = len(gpu.launches)
    try:
        kernel.launch(*arguments)
    except LaunchError:
        assert len(gpu.launches) == before
        return None
    launch = gpu.launches[-1]
    words = [c_int32, *[c_int64] * 7, c_float, *[c_int64] * 5]
    # NaN is not equal to itself.
    return [repr(parameter.value) for parameter in parameters(launch, *words)], launch.gridDimX


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS)
def test_kept_checks_are_those_of_a_fresh_kernel(gpu, compiled_kernel, calls):
    reused_kernel = Kernel(compiled_kernel)
    first_base, second_base, changes = calls
    argument_lists = [
        arguments_of(second_base if use_second else first_base, change)
        for use_second, change in changes
    ]
    for arguments in [arguments_of(first_base, {}), *argument_lists, *argument_lists]:
        expected = outcome(Kernel(compiled_kernel), gpu, arguments)
        assert outcome(reused_kernel, gpu, arguments) == expected
