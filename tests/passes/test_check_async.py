"""`smem-check-async` on the example: it is proven, and without any of its ordering ops it is wrong."""

import re
from pathlib import Path

import pytest
from fragment_cases import Chain, Epilogue
from programs import ARGUMENTS, PRODUCT, fragment, kernel, matrix, module, tile

from mlir_smem.bindings import ir
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.dialect import new_context
from mlir_smem.passes import OpError
from mlir_smem.passes.check_async import CheckAsync

EXAMPLE = (Path(__file__).parents[2] / "examples" / "matmul.mlir").read_text()


def messages_of(text):
    """Return the error, else the remarks."""
    remarks = []
    with new_context():
        parsed = ir.Module.parse(text)
        try:
            with remark_handler(lambda _, message: remarks.append(message)):
                CheckAsync().run(parsed)
        except OpError as error:
            return [error.message]
    return remarks


def replace_all(*changes, text=EXAMPLE):
    """Return the text with each (old, new) replaced; `old` must be in it."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


FENCE = '"smem.fence"() : () -> ()'
COMMIT = '"smem.copy_commit"() : () -> ()'
COPY_WAIT = '"smem.copy_wait"() {pending = 1 : i32} : () -> ()'
STAGES = "%c4 = arith.constant 4"
IN_LOOP = f"""      }}
      {COMMIT}

"""

RIGHT = {
    "as it is": [],
    "a fence after the barrier": [(FENCE, ""), ("gpu.barrier", f"gpu.barrier\n{FENCE}")],
    "three stages, with every mma waited for": [
        (STAGES, "%c4 = arith.constant 3"),
        ("(%d) {pending = 1", "(%d) {pending = 0"),
    ],
    "all copies waited for": [(COPY_WAIT, COPY_WAIT.replace("1", "0", 1))],
}

WRONG = {
    "no fence": ([(FENCE, "")], "put smem.fence between them"),
    "no barrier": ([("gpu.barrier", "")], "put gpu.barrier between them"),
    "no wait for copies": ([(COPY_WAIT, "")], "put smem.copy_wait with pending = 1 or less"),
    "a wait for too few copies": (
        [(COPY_WAIT, COPY_WAIT.replace("1", "2", 1))],
        "put smem.copy_wait with pending = 1 or less, smem.fence and gpu.barrier between them",
    ),
    "a fence before the copies are complete": (
        [(FENCE, ""), (COPY_WAIT, f"{FENCE}\n{COPY_WAIT}")],
        "put smem.fence between them",
    ),
    "no group": ([(COMMIT, "")], "put smem.copy_commit, smem.copy_wait with pending = 0"),
    "a group only where there are copies": (
        [(IN_LOOP, f"{COMMIT}\n}}\n")],
        "in iteration 3 (from 0) of the loop",
    ),
    "three stages": (
        [(STAGES, "%c4 = arith.constant 3")],
        "is over, in iteration 1 (from 0) of the loop",
    ),
    "two stages": ([(STAGES, "%c4 = arith.constant 2")], "put smem.wait with pending = 0"),
    "a wait for too few mma": (
        [("(%d) {pending = 1", "(%d) {pending = 2")],
        "in iteration 2 (from 0) of the loop",
    ),
    "the stage that is being read": (
        [("%ahead = arith.remui %next", "%ahead = arith.remui %i")],
        "overwrites stage 0",
    ),
}


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_the_example_is_proven(changes):
    assert messages_of(replace_all(*changes)) == []


@pytest.mark.parametrize("changes, expected", WRONG.values(), ids=WRONG)
def test_the_example_is_wrong_with(changes, expected):
    (message,) = messages_of(replace_all(*changes))
    assert expected in message
    assert "cannot prove" not in message


def test_the_example_is_wrong_without_the_wait():
    text = re.sub(r"%running = .*", "", EXAMPLE).replace("yield %running", "yield %d")
    (message,) = messages_of(text)
    assert "overwrites stage 0" in message
    assert "in iteration 2 (from 0) of the loop" in message


def test_sizes_that_a_kernel_is_never_called_with_are_not_tried():
    # The barrier is missing only where K is 1.
    sometimes = """%one = arith.constant 1 : index
    %k = memref.dim %X, %one : memref<64x?xbf16>
    %once = arith.cmpi eq, %k, %one : index
    scf.if %once {
    } else {
      gpu.barrier
    }"""
    body = replace_all(("gpu.barrier", sometimes), text=PRODUCT)
    arguments = f"{ARGUMENTS}, %X: memref<64x?xbf16>"
    (message,) = set(messages_of(module(kernel(body, arguments=arguments))))
    assert "put gpu.barrier between them" in message
    multiples = ", smem.multiples = {K = 128}"
    remarks = messages_of(module(kernel(body, arguments=arguments, attributes=multiples)))
    assert all("there may be a path without gpu.barrier" in remark for remark in remarks)


def test_functions_without_tiles_are_left_alone():
    assert messages_of("func.func private @f()\nfunc.func @g() { return }") == []


TILES, TILE, FLYING = tile(2, 64, 64), tile(64, 64), fragment(64, 64)


@pytest.mark.parametrize("period", [1000, 4093], ids=["many loop states", "a large modulus"])
def test_stages_that_change_rarely(period):
    body = f"""
    %s = "smem.alloc"() : () -> {TILES}
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %period = arith.constant {period} : index
    scf.for %i = %one to %n step %one {{
      %part = arith.divui %i, %period : index
      %slot = arith.remui %part, %two : index
      %t = "smem.stage"(%s, %slot) : ({TILES}, index) -> {TILE}
      "smem.copy"(%A, %t) : ({matrix(64, 64)}, {TILE}) -> ()
      {FENCE}
      gpu.barrier
      %d = "smem.mma"(%t, %t) : ({TILE}, {TILE}) -> {FLYING}
      %w = "smem.wait"(%d) {{pending = 0 : i32}} : ({FLYING}) -> {FLYING}
      gpu.barrier
    }}"""
    arguments = f"%A: {matrix(64, 64)}, %n: index"
    assert messages_of(module(kernel(body, arguments=arguments))) == []
    unordered = replace_all(("{pending = 0", "{pending = 1"), text=body)
    (message,) = messages_of(module(kernel(unordered, arguments=arguments)))
    assert "in iteration 1 (from 0)" in message


def test_many_paths_are_joined():
    branches = "".join(
        f"""
    %x{i} = scf.if %c{i} -> index {{
      "smem.copy_async"(%A, %a) : ({matrix(64, 64)}, {TILE}) -> ()
      "smem.copy_commit"() : () -> ()
      "smem.copy_wait"() {{pending = 0 : i32}} : () -> ()
      gpu.barrier
      scf.yield %one : index
    }} else {{
      scf.yield %zero : index
    }}"""
        for i in range(6)
    )
    constants = "%one = arith.constant 1 : index\n%zero = arith.constant 0 : index"
    wait = '"smem.copy_wait"() {pending = 0 : i32} : () -> ()'
    body = replace_all(
        (FENCE, f"{wait}\ngpu.barrier\n{constants}{branches}\n{FENCE}"), text=PRODUCT
    )
    arguments = ARGUMENTS + "".join(f", %c{i}: i1" for i in range(6))
    assert messages_of(module(kernel(body, arguments=arguments))) == []
    unwaited = replace_all((wait, ""), text=body)
    (message,) = messages_of(module(kernel(unwaited, arguments=arguments)))
    assert "put smem.copy_wait with pending = 0" in message


def test_a_loop_step_of_zero_is_not_tried():
    # With a step of 0 the second iteration would overwrite what the first one reads.
    loop = f"""
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %i = %zero to %one step %n {{
      "smem.copy"(%A, %a) : ({matrix(64, 64)}, {TILE}) -> ()
      {FENCE}
      gpu.barrier
      %d = "smem.mma"(%a, %a) : ({TILE}, {TILE}) -> {FLYING}
    }}"""
    body = replace_all((FENCE, f"{FENCE}\ngpu.barrier{loop}"), text=PRODUCT)
    (message,) = messages_of(module(kernel(body, arguments=f"{ARGUMENTS}, %n: index")))
    assert message.startswith("cannot prove")


#: An accumulator that is stored to a tile, and read by other threads, or by the tensor cores.
LOADED, MULTIPLIED = Epilogue("f32", "bf16").text, Epilogue("f32", "bf16", by_mma=True).text
STORE = '"smem.store"(%f, %t) : (!x, !t) -> ()'


@pytest.mark.parametrize(
    "text",
    [LOADED, MULTIPLIED, Chain("f32", "bf16").text, replace_all((FENCE, ""), text=LOADED)],
    ids=["loaded", "multiplied", "chain", "loaded without a fence"],
)
def test_fragments_are_proven(text):
    assert messages_of(text) == []


@pytest.mark.parametrize(
    "text, changes, expected",
    [
        (LOADED, [("gpu.barrier", "")], "put gpu.barrier between them"),
        (MULTIPLIED, [("gpu.barrier", "")], "put gpu.barrier between them"),
        (MULTIPLIED, [(FENCE, "")], "put smem.fence between them"),
        (
            LOADED,
            [('"smem.store"(%y, %D)', f'{STORE}\n"smem.store"(%y, %D)')],
            "put gpu.barrier between them",
        ),
        (
            MULTIPLIED,
            [("%y = ", f"{STORE}\n%y = ")],
            "put smem.wait with pending = 0 and gpu.barrier between them",
        ),
        (LOADED, [(STORE, "")], "which nothing writes"),
    ],
)
def test_fragments_are_wrong_with(text, changes, expected):
    (message,) = messages_of(replace_all(*changes, text=text))
    assert expected in message
    assert "cannot prove" not in message


def test_a_barrier_in_a_region_counts():
    barrier = replace_all(
        ("gpu.barrier", ""),
        (
            '"smem.load"(%t) : (!t) -> !x',
            """"smem.map"(%f) ({
    ^bb0(%v: f32):
      gpu.barrier
      gpu.yield %v : f32
    }) : (!x) -> !x
    %z = "smem.load"(%t) : (!t) -> !x""",
        ),
        text=LOADED,
    )
    assert messages_of(barrier) == []
