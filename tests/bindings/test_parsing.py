"""Text that would crash MLIR's parser is rejected before it is parsed."""

import random
import subprocess
import sys
from itertools import count

import pytest

import mlir_smem
from mlir_smem.bindings import ir, parsing
from mlir_smem.bindings.parsing import MAX_DIGITS, MAX_NESTING, parse_module
from mlir_smem.dialect import new_context

HOLDER = "module attributes {{x.y = {}}} {{}}"
MANY = 20_000


def nest(before, inner, after, depth):
    return before * depth + inner + after * depth


def aliases(first, following, depth):
    """Aliases that each contain the previous one, and a module that contains the last."""
    lines = [f"#a0 = {first}", *(f"#a{i} = {following.format(i - 1)}" for i in range(1, depth))]
    return "\n".join([*lines, HOLDER.format(f"#a{depth - 1}")])


#: Functions that give a text of a nesting depth.
DEEP = {
    "regions": lambda n: nest("module {", "", "}", n),
    "generic regions": lambda n: nest('"builtin.module"() ({', "", "}) : () -> ()", n),
    "arrays": lambda n: HOLDER.format(nest("[", "", "]", n)),
    "dictionaries": lambda n: HOLDER.format(nest("{a = ", "1", "}", n)),
    "types": lambda n: HOLDER.format(nest("tuple<", "i32", ">", n)),
    "struct types": lambda n: HOLDER.format(nest("!llvm.struct<(", "i32", ")>", n)),
    "function types": lambda n: HOLDER.format(nest("() -> (", "", ")", n)),
    "affine expressions": lambda n: HOLDER.format(f"affine_map<(i) -> ({nest('(', 'i', ')', n)})>"),
    "elements": lambda n: HOLDER.format(f"dense<{nest('[', '1', ']', n)}> : tensor<1xi32>"),
    "locations": lambda n: f"module {{}} loc({nest('fused[', 'unknown', ']', n)})",
    "unknown attributes": lambda n: HOLDER.format(f"#foo.bar{nest('<', '', '>', n)}"),
    "aliases": lambda n: aliases("[]", "[#a{}]", n),
    "aliases of two": lambda n: aliases("[]", "[1, [#a{}], 2]", n),
}


def message_of(text):
    """The message of the error for a text."""
    with new_context() as context:
        context.allow_unregistered_dialects = True
        with pytest.raises(ir.MLIRError) as error:
            parse_module(text)
    return str(error.value)


@pytest.mark.parametrize("depth", [MAX_NESTING + 1, MANY])
@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_brackets_that_nest_too_deep(deep, depth):
    assert "brackets nest 257 deep here; expected at most 256" in message_of(deep(depth))


@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_brackets_that_nest_less_deep_reach_the_parser(deep):
    with new_context() as context:
        context.allow_unregistered_dialects = True
        try:
            parse_module(deep(60))
        except ir.MLIRError as error:
            assert "brackets nest" not in str(error)


def test_the_error_is_at_the_first_bracket_that_is_too_deep():
    lines = ["module {", *["  module {" for _ in range(MAX_NESTING)], "}" * (MAX_NESTING + 1)]
    message = message_of("\n".join(lines))
    assert message == (
        'Unable to parse module assembly:\nerror: "-":257:10: brackets nest 257 deep here; expected '
        "at most 256"
    )


@pytest.mark.parametrize(
    "text, message",
    [
        (HOLDER.format("1" * 200_000 + " : i32"), f"a number of more than {MAX_DIGITS} digits"),
        (HOLDER.format("0." + "1" * 200_000), f"a number of more than {MAX_DIGITS} digits"),
        (
            HOLDER.format(f"affine_map<(i) -> ({'-' * MANY}i)>"),
            f"more than {MAX_NESTING} signs in a row",
        ),
        (
            HOLDER.format(f"affine_map<(i) -> ({'- ' * MANY}i)>"),
            f"more than {MAX_NESTING} signs in a row",
        ),
        (
            HOLDER.format(f"affine_map<(i) -> (i{' + i mod 3' * MANY})>"),
            "an affine map of more than 65536 characters",
        ),
    ],
)
def test_other_recursion_of_the_parser_is_limited(text, message):
    assert message in message_of(text)


@pytest.mark.parametrize(
    "text",
    [
        HOLDER.format(f'"{"(" * MANY}"'),
        HOLDER.format(f'"{"1" * MANY}"'),
        HOLDER.format(r'"\"' + "[" * MANY + '"'),
        f"// {'{' * MANY}\nmodule {{}}",
        f"// {'-' * MANY}\nmodule {{}}",
        "".join(f"func.func private @f{i}() -> (i32)\n" for i in range(1000)),
        "".join(f"#s{i} = affine_set<(i) : (i >= 0, i - {i} <= 0)>\n" for i in range(1000))
        + "module {}",
        "".join(f"#a{i} = [{i}]\n" for i in range(1000)) + HOLDER.format("[#a999, #a999, [#a999]]"),
        HOLDER.format("[" + ", ".join("[1]" for _ in range(1000)) + "]"),
    ],
    ids=count(),
)
def test_text_that_does_not_nest_is_parsed(text):
    with new_context() as context:
        context.allow_unregistered_dialects = True
        parse_module(text)


def test_compile_rejects_deep_text_and_deep_modules():
    body = nest("scf.if %b {", "", "}", 200)
    deep = f"gpu.module @m {{ gpu.func @f(%b: i1) {{ {body} gpu.return }} }}"
    with pytest.raises(ir.MLIRError, match=r"'scf.if' op is in 65 regions"):
        mlir_smem.compile(deep)
    with new_context():
        module = ir.Module.parse(deep)
        with pytest.raises(
            mlir_smem.codegen.CompileError, match=r"'scf.if' at 1:\d+ is in 65 region"
        ):
            mlir_smem.compile(module)


def test_very_deep_text_does_not_end_the_process():
    script = f"""
import mlir_smem
try:
    mlir_smem.compile("scf.if %b {{" * {MANY} + "}}" * {MANY})
except Exception as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0
    assert "MLIRError" in ran.stdout and "brackets nest 257 deep" in ran.stdout


ATOMIC = """llvm.func @f(%p: !llvm.ptr) {{
  %x = "some.op"() : () -> {type}
  %y = llvm.atomicrmw add %p, %x acquire {{alignment = 4 : i64}} : !llvm.ptr, {type}
  llvm.return
}}"""


@pytest.mark.parametrize("type_", ["si32", "index", "tensor<4xf32>"])
def test_an_atomic_of_a_type_that_llvm_does_not_have(type_):
    assert f"llvm.atomicrmw of {type_}; expected a signless integer" in message_of(
        ATOMIC.format(type=type_)
    )


@pytest.mark.parametrize("type_", ["i32", "f32", "bf16", "vector<2xf16>", "!llvm.ptr"])
def test_an_atomic_is_parsed(type_):
    with new_context() as context:
        context.allow_unregistered_dialects = True
        operation = "xchg" if "ptr" in type_ else "add" if type_[0] == "i" else "fadd"
        parse_module(ATOMIC.replace(" add ", f" {operation} ").format(type=type_))


STRUCT = "!llvm.struct<(f32, f32)>"


@pytest.mark.parametrize(
    "line",
    [
        f'"llvm.insertvalue"(%s, %a) <{{position = array<i64: AT>}}> : ({STRUCT}, f32) -> {STRUCT}',
        f"llvm.insertvalue %a, %s[AT] : {STRUCT}",
        f"llvm.extractvalue %s[AT] : {STRUCT}",
    ],
    ids=["generic", "insert", "extract"],
)
@pytest.mark.parametrize("position", [1 << 32, 1 << 40, 10**4000], ids=["33", "41", "many"])
def test_an_aggregate_position_of_more_than_32_bits(line, position):
    function = f"llvm.func @f(%s: {STRUCT}, %a: f32) {{ %r = {line} llvm.return }}"
    with new_context():
        parse_module(function.replace("AT", "1"))
    assert "a position of more than 32 bits" in message_of(function.replace("AT", str(position)))


COUNT = """gpu.module @kernels {
  "gpu.func"() <{function_type = () -> (), workgroup_attributions = AT}> ({
  ^bb0(%a: memref<4xf32, #gpu.address_space<workgroup>>):
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}"""


@pytest.mark.parametrize("number", ["4294967295", "9223372036854775807", "0xffffffff"])
def test_a_count_that_overflows_32_bits(number):
    with new_context():
        parse_module(COUNT.replace("AT", "1"))
    assert "a count of more than 31 bits" in message_of(COUNT.replace("AT", number))


#: The loop's verifier reads the constant before the constant is verified.
CONSTANT = """"builtin.module"() ({
  "scf.for"(%1, %arg0, %2) ({
  ^bb0(%arg1: index):
    %3 = "smem.fill"(%4) : (f32) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    "scf.yield"() : () -> ()
  }) : (index, index, index) -> ()
  "func.func"() <{function_type = (index, f32) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: index, %4: f32):
    %1 = "CONSTANT"() HAS : () -> index
    %2 = "arith.constant"() <{value = 1 : index}> : () -> index
  }) : () -> ()
}) : () -> ()"""


@pytest.mark.parametrize("has", ["", "<{x = 1 : index}>", "{\n}"], ids=["none", "another", "lines"])
@pytest.mark.parametrize(
    "name", ["arith.constant", "index.constant", "spirv.Constant", "tosa.const"]
)
def test_a_constant_without_its_value(name, has):
    text = CONSTANT.replace("CONSTANT", name).replace("HAS", has)
    value = "values" if name == "tosa.const" else "value"
    assert f"'{name}' op requires attribute '{value}'" in message_of(text)


def test_a_constant_of_a_dialect_that_mlir_does_not_know_needs_no_value():
    with new_context() as context:
        context.allow_unregistered_dialects = True
        parse_module('%0 = "host.constant"() {number = 1 : i32} : () -> i32')


@pytest.mark.parametrize(
    "line, message",
    [
        ('"smem.fence() : () -> ()', "a string that does not end in its line"),
        ("@ next", "'@' without a name"),
        ('"a.\\8Bb"() : () -> ()', "an op with a name that is not ASCII"),
        ("%v = ub.poison : vector<4294967296xf32>", "a vector of more than 16777216 elements"),
        ("%v = ub.poison : vector<4096x5000xi1>", "a vector of more than 16777216 elements"),
    ],
)
def test_text_that_the_parser_crashes_on_or_skips(line, message):
    pipeline = (
        '"smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32}'
    )
    text = f"""func.func @f() {{ // "no string, @ no name, vector<4294967296xf32>
  %r = {pipeline} : () -> !smem.pipeline
  LINE
  return
}}"""
    with new_context():
        parse_module(text.replace("LINE", "// " + line))
    error_text = message_of(text.replace("LINE", line))
    assert message in error_text and ":3:" in error_text


def test_a_function_name_can_be_non_ascii():
    with new_context():
        text = str(parse_module('func.func @"é"() { return }'))
        assert '@"\\C3\\A9"()' in text
        parse_module(text)


#: Tokens of brackets, strings and comments, and of what is limited.
TOKENS = [
    *("{", "}", "[", "]", "(", ")", "<", ">", "()", "[]", "{}", "<>") * 3,
    *(
        '"',
        '"((\\""',
        "@",
        "@f",
        '@"x"',
        "//",
        "// ((\n",
        "->",
        "=>",
        "<=",
        ">=",
        "-",
        "- ",
        "\n",
        " ",
    ),
    *("[" * 120, "]" * 120, "-" * 150, "- " * 150, "1" * 2500, "1.", "x", "\ud800"),
]


def random_text(generator):
    """Text in which aliases use aliases that are defined before them."""
    lines, tokens = [], list(TOKENS)
    for i in range(generator.randrange(20)):
        line = "".join(generator.choices(tokens, k=generator.choice((2, 8, 20))))
        lines.append(f"#a{i} = {line}" if generator.random() < 0.8 else line)
        tokens += [f"#a{i} ", f"[#a{i}]"] * 4
    return "\n".join(lines)


def test_the_fast_bound_is_never_weaker_than_the_exact_search(monkeypatch):
    """The bound may say no where the search finds nothing, but not the other way round."""
    monkeypatch.setattr(parsing, "_FEW_ALIASES", 0)
    generator = random.Random(42)
    outcomes = {True: 0, False: 0}
    for _ in range(800):
        text = random_text(generator)
        within = parsing._is_within_limits(text)
        outcomes[within] += 1
        assert not within or parsing._first_problem(text) is None, text
    assert min(outcomes.values()) > 20


def test_the_fast_bound_takes_what_the_package_prints(monkeypatch):
    """The exact search would take most of the time of an emulated run."""
    monkeypatch.delattr(parsing, "_first_problem")
    compiled = mlir_smem.compile(mlir_smem.examples.path("mma.mlir").read_text(), emit="nvvm")
    with new_context():
        parse_module(compiled.located)
        parse_module(str(ir.Module.parse(compiled.nvvm)))


@pytest.mark.parametrize("name", ["arith.constant", "index.constant"])
def test_a_module_that_is_built_without_a_constant_s_value(name):
    """`compile` prints the module of a host and parses it again; an op may be wrong."""
    with new_context() as context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            ir.Operation.create(name, results=[ir.IndexType.get()])
        context.emit_error_diagnostics = True
        with pytest.raises(ir.MLIRError, match=f"'{name}' op requires attribute 'value'"):
            mlir_smem.compile(module)
