"""A contract for import-linter: no module imports a package that contains it."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output

#: Examples import what users import.
EXAMPLES = "mlir_smem.examples."


class OwnPackage(Contract):
    """No module imports a package that contains it: `passes.emit` neither `passes` nor `mlir_smem`.

    A package's `__init__.py` imports the package's modules, so such an import makes a cycle. Contracts of
    the type `acyclic_siblings` find only cycles of sibling modules; this one finds the others.
    """

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Find the imports that violate the contract."""
        violations = [
            (module, imported)
            for module in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if module.startswith(f"{imported}.") and not module.startswith(EXAMPLES)
        ]
        return ContractCheck(kept=not violations, metadata={"violations": violations})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that violate the contract."""
        for module, imported in check.metadata["violations"]:
            output.print_error(f"{module} is not allowed to import {imported}, which contains it")
