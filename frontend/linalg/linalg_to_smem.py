"""`linalg-to-smem`: contractions and attention become launches of library kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Module, Op
from ...bindings.mlir import ir
from ...ir.errors import OpError
from ...ir.walk import walk
from ...kernels.attention.generator.kernel import text as attention_text
from ...kernels.gemm.generator.kernel import text as gemm_text
from ...layout.arch import Arch
from ...passes import Pass, option
from .attention import ATTENTION
from .attention_plan import AttentionPlan, plan_attention
from .contraction import Contraction, match_contraction
from .epilogue import Epilogue, match_epilogue
from .gemm_plan import GemmPlan, plan_gemm
from .generic import is_filled_with_zeros, is_needed
from .rewriting import DIALECTS, Rewriter
from .schedule import config_of
from .unsupported import NoContraction, Unsupported

#: A part of the remark at an op that becomes no kernel.
STAYS = " stays as it is: "

#: Ops that need no kernel: memory, and constants.
_SILENT = ("linalg.fill", "linalg.yield", "linalg.index")


@dataclass(frozen=True)
class LinalgToSmem(Pass):
    """Each contraction that tensor cores compute becomes a kernel, and its launch by the host.

    An element-wise op after it becomes the kernel's epilogue. Two contractions with a softmax between
    them become one kernel of attention. The other ops stay as they are, each with a remark that says why.
    """

    name = "linalg-to-smem"
    description = (
        "make kernels of contractions of linalg, with what is element-wise behind, and attention"
    )

    arch: Arch = option(
        Arch.SM_90,
        "the architecture of the kernels; the GEMM library has Hopper's",
        choices=(Arch.SM_90,),
    )
    f32: str = option(
        "refuse", "what f32 operands are: refuse, or tf32 to round them", choices=("refuse", "tf32")
    )
    narrow_sums: str = option(
        "f32",
        "f32 where a program sums in bf16 or f16, rounded once, and in attention; or refuse",
        choices=("f32", "refuse"),
    )
    math: str = option(
        "exact",
        "exact, or approx for approximate divisions and functions",
        choices=("exact", "approx"),
    )
    unaligned: str = option(
        "version",
        "where it is not known whether TMA reads an operand: version, or refuse",
        choices=("version", "refuse"),
    )
    only: str = option("", "names of the functions to look at, with + between them; empty for all")
    remarks: str = option(
        "all",
        "the ops that stay and get a remark: all, or products alone",
        choices=("all", "products"),
    )
    explain: bool = option(False, "print the configuration of each kernel as a remark")

    def run(self, module: Module) -> None:
        for name in DIALECTS:
            _ = module.context.dialects[name]
        functions = self._functions(module)
        ops = [op for function in functions for op in walk(function) if _is_linalg(op)]
        plans, reasons_left = self._plans(ops)
        # Nothing is changed before every kernel is built; layers of a model have equal ones.
        texts: dict[Any, str] = {}
        for plan in plans:
            if (plan.problem, plan.config) not in texts:
                texts[plan.problem, plan.config] = _text(plan)
        rewriter = Rewriter(module)
        for plan in plans:
            name = rewriter.add(plan, texts[plan.problem, plan.config])
            if self.explain:
                remark(plan.op.location, f"becomes the kernel {name}: {_describe(plan)}")
        for op, reason in reasons_left:
            # Ops that only a replaced product used are unused now.
            is_named = self.remarks == "all" or not isinstance(reason, NoContraction)
            if is_named and is_needed(op):
                remark(op.location, f"'{op.name}'{STAYS}it {reason}")
        rewriter.finish()
        if plans:
            module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()

    def _functions(self, module: Module) -> list[Op]:
        functions = [
            op.operation
            for op in module.operation.regions[0].blocks[0].operations
            if op.operation.name == "func.func"
        ]
        wanted = [name for name in self.only.split("+") if name]
        named = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in functions}
        for name in wanted:
            if name not in named:
                raise OpError(
                    module.operation,
                    f"has no function '{name}', which the option only names; it has "
                    f"{', '.join(named) or 'none'}",
                )
        return [named[name] for name in wanted] if wanted else functions

    def _plans(
        self, ops: list[Op]
    ) -> tuple[list[GemmPlan | AttentionPlan], list[tuple[Op, Unsupported]]]:
        """Return the plans, in the program's order, and the ops that stay, with the reasons."""
        contractions: dict[Op, Contraction] = {}
        reasons: dict[Op, Unsupported] = {}
        plan_by_product: dict[Op, GemmPlan | AttentionPlan] = {}
        plan_by_product.update(self._attention(ops, reasons))
        in_attention = {op for plan in plan_by_product.values() for op in plan.products}
        for op in ops:
            if op in in_attention or op.name == ATTENTION:
                continue
            try:
                contractions[op] = match_contraction(
                    op, self.f32 == "tf32", self.narrow_sums == "f32"
                )
            except Unsupported as error:
                reasons[op] = error
        planned: set[Op] = set()
        # A gated op is the epilogue of the last contraction that it reads, so that one is planned first.
        for op in reversed(list(contractions)):
            if op in planned:
                continue
            try:
                plan = self._plan(contractions[op], contractions, planned, reasons)
            except Unsupported as error:
                reasons[op] = error
                continue
            plan_by_product[op] = plan
            planned |= set(plan.ops)
        for op in planned:
            reasons.pop(op, None)
        unplanned = [
            (op, reasons[op])
            for op in ops
            if op in reasons and not is_filled_with_zeros(op) and op.name not in _SILENT
        ]
        return [plan_by_product[op] for op in ops if op in plan_by_product], unplanned

    def _attention(self, ops: list[Op], reasons: dict[Op, Unsupported]) -> dict[Op, AttentionPlan]:
        """Return the plans of attention by their last products; a remark says why others have none."""
        plans: dict[Op, AttentionPlan] = {}
        hidden: set[Op] = set()
        for op in ops:
            try:
                plan = plan_attention(op, hidden, self.narrow_sums == "f32")
            except Unsupported as error:
                if op.name == ATTENTION:
                    reasons[op] = error
                else:
                    remark(
                        op.location,
                        f"'{op.name}' is a product of its own, no attention: it {error}",
                    )
                continue
            if plan is not None:
                plans[op] = plan
                hidden |= plan.hidden
        return plans

    def _plan(
        self,
        product: Contraction,
        contractions: dict[Op, Contraction],
        planned: set[Op],
        reasons: dict[Op, Unsupported],
    ) -> GemmPlan:
        approximate, config = self.math == "approx", config_of(product.op)
        epilogue: Epilogue | None = None
        if not product.on_memrefs:
            try:
                epilogue = match_epilogue(product, contractions, approximate)
                # An op that reads two products is the epilogue of one of them.
                if epilogue is not None and epilogue.op not in planned:
                    return self._check_alignment(plan_gemm(product, epilogue, approximate, config))
            except Unsupported as error:
                for use in product.op.results[0].uses:
                    reasons[use.owner.operation] = error
        return self._check_alignment(plan_gemm(product, None, approximate, config))

    def _check_alignment(self, plan: GemmPlan) -> GemmPlan:
        if plan.maybe_unaligned and self.unaligned == "refuse":
            argument, group = plan.maybe_unaligned[0]
            loops = " ".join(f"d{loop}" for loop in group)
            raise Unsupported(
                f"has an operand {argument.name} of which it is not known whether its neighbours along "
                f"{loops} are a multiple of 16 bytes apart; unaligned=version makes two versions"
            )
        return plan


def _is_linalg(op: Op) -> bool:
    return op.name.split(".")[0] in ("linalg", "tm_tensor") and op.name not in _SILENT


def _text(plan: GemmPlan | AttentionPlan) -> str:
    """Return the text of the module with a plan's kernel."""
    if isinstance(plan, AttentionPlan):
        return attention_text(plan.problem, plan.config)
    return gemm_text(plan.problem, plan.config)


def _describe(plan: GemmPlan | AttentionPlan) -> str:
    """Return the problem and the configuration of a kernel, for a remark."""
    if isinstance(plan, AttentionPlan):
        return plan.description
    problem, config = plan.problem, plan.config
    products = f"{problem.a} x {problem.b} -> {', '.join(problem.results)}"
    majors = f"A {problem.a_major}-major, B {problem.b_major}-major"
    tile = "x".join(map(str, config.tile))
    details = (
        [f"cluster {config.cluster[0]}x{config.cluster[1]}"] if config.cluster != (1, 1) else []
    )
    details += [f"K in {config.cluster_k} of a cluster"] if config.cluster_k > 1 else []
    details += ["exchanged"] if config.exchanged else []
    details += ["two products"] if problem.gated else []
    details += ["an epilogue"] if problem.fusion else []
    details += ["two versions"] if plan.maybe_unaligned else []
    return ", ".join([f"{products}, {majors}, tiles {tile} in {config.stages} stages", *details])
