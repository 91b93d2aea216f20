"""What calls of exported programs write and return, against NumPy; it needs no PyTorch.

`writing_programs.py` exported the programs, and has the same functions in NumPy.
"""

import json
from functools import partial

import numpy as np
import pytest
from linalg_programs import as_tuple
from writing_programs import BF16, COMMITTED, REFERENCES, NumpyArrays, decode_signature, export

from mlir_smem.bindings import PACKAGE
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.call_signature import ProgramCall, Signature, TensorRef, TensorType
from mlir_smem.frontend.linalg.lowering import lower_linalg
from mlir_smem.runtime import LaunchError


def random_array(seed, type_):
    values = np.random.default_rng(seed).integers(-2, 3, type_.shape)
    return values.astype(BF16 if type_.dtype == "bfloat16" else type_.dtype)


def draw(signature, seed):
    """Return random arguments, flattened, and state by name."""
    arrays = {
        place: random_array(seed + i, t) for i, (place, t) in enumerate(signature.types.items())
    }
    arguments = {p.key: array for p, array in arrays.items() if p.kind == "argument"}
    arguments |= signature.values
    state = {p.key: array for p, array in arrays.items() if p.kind == "state"}
    return [arguments[number] for number in sorted(arguments)], state


def memory(results, arguments, state):
    """Return of each result what it is, or shares memory with."""
    others = [*arguments, *state.values(), *results]
    arrays = [(i, x) for i, x in enumerate(others) if isinstance(x, np.ndarray)]
    return [
        [(i, other is x) for i, other in arrays if np.shares_memory(other, x)]
        for x in results
        if isinstance(x, np.ndarray)
    ]


@pytest.mark.parametrize("name", REFERENCES)
def test_calls_write_and_return_what_the_function_does(name):
    signature = decode_signature(json.loads((COMMITTED / f"{name}.json").read_text()))
    with new_context():
        program = parse_module((COMMITTED / f"{name}.mlir").read_text())
        lower_linalg(program)
        executable = Executable(program, on="cpu", mixed=True)
    arguments, state = draw(signature, 7)
    expected_arguments, expected_state = draw(signature, 7)
    for seed in (7, 7, 40):
        # The second call has the arguments of the first, as that has written them.
        if seed != 7:
            (arguments, _), (expected_arguments, _) = draw(signature, seed), draw(signature, seed)
        call = ProgramCall(signature, NumpyArrays(), arguments, partial(read_state, state))
        before = [x.tobytes() for x in call.inputs]
        results = executable(*call.inputs)
        assert [x.tobytes() for x in call.inputs] == before
        outputs, rebound = call.finish(as_tuple(results))
        state |= rebound
        expected = REFERENCES[name](expected_arguments, expected_state)
        for one, other in zip(
            [*outputs, *arguments, *state.values()],
            [*expected, *expected_arguments, *expected_state.values()],
            strict=True,
        ):
            assert type(one) is type(other) and np.array_equal(one, other)
        assert memory(outputs, arguments, state) == memory(
            expected, expected_arguments, expected_state
        )


def read_state(state, place):
    return state[place.key]


@pytest.mark.torch
@pytest.mark.parametrize("name", REFERENCES)
def test_a_program_is_what_torch_exports(name):
    pytest.importorskip("torch", exc_type=ImportError)
    if PACKAGE != "torch_mlir":
        pytest.skip(f"{PACKAGE} has no graphs of PyTorch")
    text, signature = export(name)
    committed = (COMMITTED / f"{name}.mlir").read_text()
    if text.splitlines()[0] != committed.splitlines()[0]:
        pytest.skip(f"it was exported by other versions: {committed.splitlines()[0]}")
    assert (text, signature) == (committed, (COMMITTED / f"{name}.json").read_text())


X, Y, CACHE = TensorRef("argument", 0), TensorRef("argument", 1), TensorRef("state", "cache")
ROWS = TensorType("float32", ("s0", 4))


def begin_call(*arguments, cache=None, **known):
    """Begin a call of a program that takes two matrices, and writes the first and a cache."""
    signature = Signature(
        types={X: ROWS, Y: ROWS, CACHE: TensorType("float32", (8, 4))},
        inputs=(X, Y, CACHE),
        writes=((X, 0), (CACHE, 1)),
        **{"values": {}, "extents": {"s0": (2, 6)}} | known,
    )
    cache = np.zeros((8, 4), np.float32) if cache is None else cache
    return ProgramCall(signature, NumpyArrays(), arguments, lambda place: cache)


def matrix(rows, columns=4, dtype=np.float32):
    return np.zeros((rows, columns), dtype)


def test_what_fits_is_taken():
    whole = matrix(4, 8)
    # Neither shares an element with the other, although their columns alternate.
    assert len(begin_call(whole[:, :4], whole[:, 4:]).inputs) == 3


SHARED = matrix(8)

#: The arguments, what is known of the program, and how the message begins.
REFUSED = [
    (
        (matrix(3, 5), matrix(3)),
        {},
        "argument 0 is float32 of shape (3, 5); expected float32 of shape (s0, 4)",
    ),
    (
        (matrix(3), matrix(3, dtype=np.int32)),
        {},
        "argument 1 is int32 of shape (3, 4); expected float32 of",
    ),
    ((matrix(3), 2.0), {}, "argument 1 is of type float; expected a tensor of float32 of shape"),
    (
        (matrix(3), matrix(4)),
        {},
        "argument 1 has the extent 4 along dimension 0; expected 3, as argument 0 has it",
    ),
    (
        (matrix(1), matrix(1)),
        {},
        "argument 0 has the extent 1 along dimension 0; expected at least 2 and at most 6",
    ),
    ((matrix(3), matrix(3)), {"cache": matrix(7)}, "state cache is float32 of shape (7, 4); exp"),
    (
        (SHARED[:4], SHARED[2:6]),
        {},
        "argument 0 is written, and shares memory with argument 1; give a copy of one of them",
    ),
    (
        (SHARED[:4], matrix(4)),
        {"cache": SHARED},
        "argument 0 is written, and shares memory with state cache; give a copy",
    ),
    (
        (matrix(3), matrix(3), 2.0),
        {"values": {2: 2}},
        "argument 2 is 2.0, but the program is compiled for 2: what is no tensor is part of",
    ),
]


@pytest.mark.parametrize("arguments, known, message", REFUSED)
def test_what_does_not_fit_is_refused(arguments, known, message):
    with pytest.raises(LaunchError) as error:
        begin_call(*arguments, **known)
    assert str(error.value).startswith(message)
