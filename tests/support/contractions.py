"""Contractions in linalg, as text, and what `linalg-to-smem` makes of them."""

from mlir_smem.bindings import passmanager
from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.passes import add_passes

MM = "(m, n, k)->(m, k)", "(m, n, k)->(k, n)", "(m, n, k)->(m, n)"
WIDEN = "%x = arith.extf %p : bf16 to f32\n%y = arith.extf %q : bf16 to f32\n"
BODY = f"{WIDEN}%z = arith.mulf %x, %y : f32\n%t = arith.addf %o, %z : f32\nlinalg.yield %t : f32"
TYPES = "tensor<64x64xbf16>", "tensor<64x64xbf16>", "tensor<64x64xf32>"


def lower(text, **options):
    """Run the pass; return the module as text, and the remarks."""
    remarks = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        module = parse_module(text)
        manager = passmanager.PassManager("builtin.module")
        add_passes(manager, "linalg-to-smem", **options)
        manager.run(module.operation)
        module.operation.verify()
        return str(module), remarks


def generic(maps=MM, body=BODY, types=TYPES, loops="ppr"):
    """A function with one `linalg.generic` of two inputs."""
    kinds = ", ".join({"p": '"parallel"', "r": '"reduction"'}[loop] for loop in loops)
    maps = ", ".join(f"affine_map<{map_}>" for map_ in maps)
    elements = [type_.strip(">").split(",")[0].split("<")[1].split("x")[-1] for type_ in types]
    results = "" if types[2].startswith("memref") else f" -> {types[2]}"
    result = "" if not results else "%d = "
    arguments = ", ".join(f"%{n}: {t}" for n, t in zip("abc", types, strict=True))
    block = ", ".join(f"%{n}: {t}" for n, t in zip("pqo", elements, strict=True))
    back = f"return %d : {types[2]}" if results else "return"
    return f"""func.func @f({arguments}){results} {{
  {result}linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
    ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
  ^bb0({block}):
    {body}
  }}{results}
  {back}
}}"""


def tensors(*shapes, element="bf16", result="f32"):
    inputs = [f"tensor<{'x'.join(map(str, (*shape, element)))}>" for shape in shapes[:2]]
    return *inputs, f"tensor<{'x'.join(map(str, (*shapes[2], result)))}>"


def ints(a, c, widen="extsi"):
    wide = "".join(f"%{x} = arith.{widen} %{p} : {a} to {c}\n" for x, p in ("xp", "yq"))
    return (
        f"{wide}%z = arith.muli %x, %y : {c}\n%t = arith.addi %o, %z : {c}\nlinalg.yield %t : {c}"
    )


def floats(product):
    return f"{WIDEN}{product}\n%t = arith.addf %o, %z : f32\nlinalg.yield %t : f32"


NARROW = "%z = arith.mulf %p, %q : bf16\n%t = arith.addf %o, %z : bf16\nlinalg.yield %t : bf16"
