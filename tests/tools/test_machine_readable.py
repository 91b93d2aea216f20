"""Output for programs: diagnostics and the list of passes as JSON, and IR for another version of LLVM."""

import json
from functools import partial

import pytest
from programs import COMPLAINT, WRONG, module

from mlir_smem.interop.host_version import bindings_version
from mlir_smem.passes.driver.base import pass_named, passes
from mlir_smem.tools.smem_compile import smem_compile
from mlir_smem.tools.smem_opt import smem_opt

#: Two definitions of one symbol: an error of upstream, with a note at the first.
REDEFINED = "func.func private @f()\nfunc.func private @f()\n"

#: A barrier that only LLVM 24 has.
SUBGROUP = module("gpu.func @k() kernel {\n  gpu.barrier scope <subgroup>\n  gpu.return\n}")

needs_llvm_24 = pytest.mark.skipif(
    bindings_version() < 24, reason="the bindings have no barrier of a subgroup"
)


@pytest.fixture
def run(run_command):
    """Run the command on a text; return (exit code, standard output, standard error)."""
    return partial(run_command, smem_opt)


@pytest.fixture
def objects(run):
    """Run `smem-opt --diagnostics=json`; return its exit code and the objects that it prints."""

    def go(*arguments, text=""):
        code, _, err = run("--diagnostics=json", *arguments, text=text)
        return code, [json.loads(line) for line in err.splitlines()]

    return go


# Diagnostics.


def test_an_error_is_one_object(objects):
    code, (error,) = objects(text=WRONG)
    line = next(i for i, text in enumerate(WRONG.splitlines(), 1) if "smem.copy" in text)
    assert code == 1
    assert error.pop("message").startswith(COMPLAINT)
    assert error == {
        "severity": "error",
        "file": "<stdin>",
        "line": line,
        "column": 5,
        "notes": [],
    }


def test_notes_are_in_the_object_of_their_error(objects):
    code, (error,) = objects(text=REDEFINED)
    assert (code, error["line"], error["message"]) == (1, 2, "redefinition of symbol named 'f'")
    assert error["notes"] == [
        {
            "severity": "note",
            "file": "<stdin>",
            "line": 1,
            "column": 1,
            "message": "see existing symbol definition here",
            "notes": [],
        }
    ]


def test_remarks_of_a_run_that_succeeds(objects):
    code, remarks = objects("--smem-to-nvvm=explain=true", text=module())
    assert code == 0
    assert {remark["severity"] for remark in remarks} == {"remark"}
    assert any("was chosen" in remark["message"] for remark in remarks)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--smem-allocate=speed=1"], "smem-allocate has no option 'speed'; its options: "),
        (["none.mlir"], "none.mlir: No such file or directory"),
    ],
)
def test_an_error_without_a_position(objects, arguments, message):
    code, (error,) = objects(*arguments)
    assert code == 1
    assert (error["file"], error["line"], error["column"]) == ("", 0, 0)
    assert error["message"].startswith(message)


def test_smem_compile_prints_json_too(run_command, tmp_path):
    code, _, err = run_command(smem_compile, "-", "--diagnostics=json", "-o", "-", text=WRONG)
    assert code == 1
    assert json.loads(err)["message"].startswith(COMPLAINT)
    output = str(tmp_path / "x.ptx")
    assert run_command(
        smem_compile, "-", "--diagnostics=json", "--emit=ptx", "-o", output, text=module()
    ) == (0, "", "")
    code, _, err = run_command(smem_compile, "-", "--diagnostics=json", text=module())
    assert json.loads(err)["message"].startswith("the input has no name")


def test_json_is_not_for_verifying(run):
    assert run("--diagnostics=json", "--verify-diagnostics")[::2] == (
        1,
        "smem-opt: error: --verify-diagnostics and --diagnostics=json cannot be combined\n",
    )


# Passes.


def test_passes_as_json(run):
    code, out, err = run("--list-passes=json")
    entries = json.loads(out)
    assert (code, err) == (0, "")
    assert [entry["name"] for entry in entries] == list(passes())
    for entry in entries:
        # The defaults are what a pipeline would write.
        defaults = {option["name"]: option["default"] for option in entry["options"]}
        assert pass_named(entry["name"]).from_options(defaults) == pass_named(entry["name"])()
        assert entry["description"]


# Other versions of LLVM.


def test_a_module_for_llvm_22_is_read_again(run):
    code, out, err = run("--smem-to-nvvm", "--host-llvm=22", text=module())
    assert (code, err) == (0, "")
    assert '"gpu.barrier"() : () -> ()' in out
    again = run("--host-llvm=22", text=out)
    assert again == (0, out, "")
    assert run(text=out)[1] == run("--smem-to-nvvm", text=module())[1]


def test_pass_by_pass_for_llvm_22_is_the_pipeline(run):
    text = module()
    for pass_ in pass_named("smem-to-nvvm")().passes():
        code, text, err = run(f"--pass-pipeline={pass_}", "--host-llvm=22", text=text)
        assert (code, err) == (0, "")
    assert run(text=text)[1] == run("--smem-to-nvvm", text=module())[1]


@needs_llvm_24
@pytest.mark.parametrize("locations", [(), ("--mlir-print-debuginfo",)])
def test_an_op_that_llvm_22_lacks(objects, locations):
    code, (error,) = objects("--host-llvm=22", *locations, text=SUBGROUP)
    assert (code, error["line"], error["column"]) == (1, 2, 3)
    assert error["message"] == (
        "'gpu.barrier' op has scope = #gpu.barrier_scope<subgroup>, which LLVM 24 introduced; "
        "LLVM 22 does not have it"
    )


@needs_llvm_24
def test_an_op_that_only_llvm_22_has(objects):
    text = (
        '%0 = "arith.constant"() <{value = true}> : () -> i1\n'
        '%1 = "nvvm.barrier"(%0) <{operandSegmentSizes = array<i32: 0, 0, 1>, '
        'reductionOp = #nvvm.reduction<popc>}> : (i1) -> i32 loc("a.mlir":7:3)\n'
    )
    code, (error,) = objects("--host-llvm=22", text=text)
    assert (code, error["file"], error["line"], error["column"]) == (1, "a.mlir", 7, 3)
    assert error["message"].startswith(
        "'nvvm.barrier' op has reductionOp = #nvvm.reduction<popc>, which LLVM 22 has"
    )


def test_a_version_that_is_too_old(run):
    assert run("--host-llvm=21")[::2] == (
        1,
        "smem-opt: error: --host-llvm: LLVM 21 is too old to exchange IR with; expected 22 or newer\n",
    )
