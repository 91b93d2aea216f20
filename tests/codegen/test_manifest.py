"""The manifest of a kernel, computed from its types and attributes."""

import pytest
from manifests import arguments, at_the_kernel, kernels
from programs import kernel, module

import mlir_smem
from mlir_smem.codegen import CompileError


def attributes(text):
    """Return the manifest of a kernel with matrices M x K and K x N, and more attributes."""
    matrices = (
        '%A: memref<?x?xbf16> {smem.name = "A", smem.shape = ["M", "K"]}, '
        '%B: memref<?x?xbf16> {smem.name = "B", smem.shape = ["K", "N"]}'
    )
    return kernels(kernel("", arguments=matrices, attributes=text))[0]


def test_the_whole_manifest():
    manifest = mlir_smem.compile(module(), emit="nvvm").manifest
    assert {k: v for k, v in manifest.items() if k != "kernels"} == {"version": 1, "arch": "sm_90a"}
    assert manifest["kernels"][0] == {
        "entry": "product",
        "arguments": [
            {
                "name": name,
                "kind": "memref",
                "element": element,
                "shape": shape,
                "strides": [shape[1], 1],
                "alignment": alignment,
            }
            for name, element, shape, alignment in (
                ("A", "bf16", [64, 64], 16),
                ("B", "bf16", [64, 8], 16),
                ("D", "f32", [64, 8], 8),
            )
        ],
        "extents": {},
        "block": [128, 1, 1],
        "cluster": None,
        "grid": None,
        "multiples": {},
        "programmatic": False,
        "shared_bytes": 64 * 64 * 2 + 1024,
        "tensor_maps": [],
    }


def test_it_is_the_same_at_every_stage():
    texts = [mlir_smem.compile(module(), emit=e).manifest for e in ("nvvm", "llvm", "ptx")]
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize(
    "type_, shape, strides",
    [
        ("memref<4x8xf32>", [4, 8], [8, 1]),
        ("memref<?x8xf32>", [None, 8], [8, 1]),
        ("memref<?x?xf32>", [None, None], [None, 1]),
        ("memref<4x8xf32, strided<[1, 4]>>", [4, 8], [1, 4]),
        ("memref<?x8xf32, strided<[1, ?]>>", [None, 8], [1, None]),
        ("memref<4x8xf32, strided<[?, 1], offset: ?>>", [4, 8], [None, 1]),
        ("memref<16xi32>", [16], [1]),
        ("memref<2x3x4xi8>", [2, 3, 4], [12, 4, 1]),
        ("memref<f32>", [], []),
    ],
)
def test_shapes_and_strides(type_, shape, strides):
    (argument,) = arguments(f"%x: {type_}")
    assert (argument["shape"], argument["strides"]) == (shape, strides)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i8", "i32", "f8E4M3FN", "f64"])
def test_element_types_have_mlirs_names(element):
    assert arguments(f"%x: memref<4x{element}>")[0]["element"] == element


def test_dynamic_extents_have_names():
    (argument,) = arguments('%x: memref<?x8xf32> {smem.shape = ["M", "N"]}')
    assert argument["shape"] == ["M", 8]


def test_an_extent_can_be_given_as_a_number():
    (argument,) = arguments('%x: memref<?x?xf32> {smem.shape = ["M", 64]}')
    assert argument["shape"] == ["M", 64]


def test_scalars():
    scalars = arguments('%i: i32, %n: index {smem.name = "n"}, %x: f32, %p: !llvm.ptr')
    assert scalars == [
        {"name": "arg0", "kind": "scalar", "type": "i32"},
        {"name": "n", "kind": "scalar", "type": "index"},
        {"name": "arg2", "kind": "scalar", "type": "f32"},
        {"name": "arg3", "kind": "scalar", "type": "!llvm.ptr"},
    ]


def test_arguments_without_a_name_are_numbered():
    assert [a["name"] for a in arguments("%a: memref<4xf32>, %b: memref<4xf32>")] == [
        "arg0",
        "arg1",
    ]


def test_grid_and_multiples():
    entry = attributes(', smem.grid = [["N", 256], ["M", 128]], smem.multiples = {K = 64, N = 8}')
    assert entry["grid"] == [["N", 256], ["M", 128]]
    assert entry["multiples"] == {"K": 64, "N": 8}


def test_a_kernel_of_unknown_block_size():
    text = "gpu.module @k { gpu.func @f() kernel { gpu.return } }"
    assert mlir_smem.compile(text, emit="nvvm").manifest["kernels"][0]["block"] is None


def test_a_kernel_without_tiles():
    assert kernels(kernel("", arguments=""))[0]["shared_bytes"] == 0


def test_reserved_bytes_count():
    manifest = mlir_smem.compile(module(), emit="nvvm", reserved_bytes=1024).manifest
    assert manifest["kernels"][0]["shared_bytes"] == 64 * 64 * 2 + 2 * 1024


def test_static_buffers_do_not_count():
    text = """gpu.module @k {
      gpu.func @f() workgroup(%x: memref<64xbf16, #gpu.address_space<workgroup>>) kernel {
        gpu.return } }"""
    entry = mlir_smem.compile(text, emit="nvvm").manifest["kernels"][0]
    assert (entry["shared_bytes"], entry["arguments"]) == (0, [])


def test_each_kernel_has_its_own():
    first, second = kernels(kernel(), kernel("", name="empty", arguments="%n: index"))
    assert (first["entry"], second["entry"]) == ("product", "empty")
    assert second["arguments"] == [{"name": "arg0", "kind": "scalar", "type": "index"}]
    assert second["shared_bytes"] == 0


@pytest.mark.parametrize(
    "size, cluster", [("2, 1, 1", [2, 1, 1]), ("1, 2, 1", [1, 2, 1]), ("1, 1, 1", None)]
)
def test_a_cluster(size, cluster):
    entries = kernels(kernel("", attributes=f", known_cluster_size = array<i32: {size}>"))
    assert entries[0]["cluster"] == cluster


# Attributes without the documented form.


@pytest.mark.parametrize(
    "text",
    [
        'smem.shape = ["M"]',
        'smem.shape = ["M", "N", "K"]',
        'smem.shape = ["M", 1.0]',
        'smem.shape = "M"',
        "smem.shape = {M = 1}",
        'smem.shape = "MN"',
        "smem.shape = 5",
        'smem.shape = [["M"], "N"]',
        'smem.shape = ["M", 0]',
        'smem.shape = ["M", -1]',
        "smem.name = unit",
        "smem.name = 5",
        'smem.name = ["A"]',
        'smem.name = ""',
    ],
)
def test_attributes_of_an_argument_that_are_refused(text):
    with pytest.raises(CompileError):
        arguments(f"%x: memref<?x?xf32> {{{text}}}")


@pytest.mark.parametrize(
    "text",
    [
        'smem.grid = [["N", 1.0]]',
        "smem.grid = array<i32: 1, 2>",
        "smem.grid = 5",
        'smem.grid = "N"',
        'smem.grid = ["N", 256]',
        'smem.grid = [["N"]]',
        'smem.grid = [["N", 1, 2]]',
        'smem.grid = [[256, "N"]]',
        'smem.grid = [["N", 0]]',
        'smem.grid = [["N", -256]]',
        "smem.grid = []",
        'smem.grid = [["N", 1], ["N", 1], ["N", 1], ["N", 1]]',
        'smem.grid = [["Q", 1]]',
        "smem.multiples = 5",
        "smem.multiples = [64]",
        'smem.multiples = {K = "64"}',
        "smem.multiples = {K = 0}",
        "smem.multiples = {K = -64}",
        "smem.multiples = {Q = 64}",
    ],
)
def test_attributes_of_a_kernel_that_are_refused(text):
    with pytest.raises(CompileError):
        attributes(f", {text}")


def test_the_number_of_extents_is_in_the_message():
    with pytest.raises(CompileError) as error:
        arguments('%x: memref<?x?xf32> {smem.name = "X", smem.shape = ["M"]}')
    assert at_the_kernel(error) == "smem.shape of X names 1 extents, but memref<?x?xf32> has 2"


def test_a_number_that_contradicts_the_type():
    with pytest.raises(CompileError):
        arguments("%x: memref<4x8xf32> {smem.shape = [4, 9]}")


def test_the_grid_can_use_a_static_extent():
    from mlir_smem.runtime.arguments import launch_grid, solve_extents

    (entry,) = kernels(
        kernel(
            "",
            arguments='%x: memref<64x256xf32> {smem.name = "X", smem.shape = ["M", "N"]}',
            attributes=', smem.grid = [["N", 64]]',
        )
    )
    assert launch_grid(entry, solve_extents(entry, {"X": (64, 256)}), None) == (4, 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        '%x: memref<4xf32> {smem.name = "X"}, %y: memref<4xf32> {smem.name = "X"}',
        '%x: memref<4xf32> {smem.name = "arg1"}, %y: memref<4xf32>',
    ],
)
def test_two_arguments_of_one_name(text):
    with pytest.raises(CompileError):
        arguments(text)


@pytest.mark.parametrize("layout", ["(i, j) -> (j, i)", "(i, j) -> (i floordiv 2, j, i mod 2)"])
def test_a_matrix_without_strides(layout):
    with pytest.raises(CompileError):
        arguments(f"%x: memref<4x4xf32, affine_map<{layout}>>")


@pytest.mark.parametrize("type_", ["memref<*xf32>", "tensor<4xf32>", "vector<4xf32>"])
def test_an_argument_that_cannot_be_passed(type_):
    with pytest.raises(CompileError):
        arguments(f"%x: {type_}")


# Programmatic dependent launch.


@pytest.mark.parametrize(
    "body, programmatic",
    [
        ("", False),
        ("nvvm.griddepcontrol launch_dependents", False),
        ("nvvm.griddepcontrol launch_dependents\n nvvm.griddepcontrol wait", True),
    ],
)
def test_only_a_kernel_that_waits_is_programmatic(body, programmatic):
    assert kernels(kernel(body))[0]["programmatic"] is programmatic
