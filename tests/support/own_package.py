"""A contract for import-linter: no module imports a package that it lies in."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class OwnPackage(Contract):
    """No module imports a package that it lies in: `passes.emit` not `passes`, nor `mlir_smem`.

    What a package's `__init__.py` names comes from its modules, so such an import closes a circle. The
    contracts of the type `acyclic_siblings` see circles of modules side by side; with this one, all.
    """

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Finds the imports that break it."""
        wrong = [
            (module, imported)
            for module in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if module.startswith(f"{imported}.")
        ]
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Prints the imports that break it."""
        for module, imported in check.metadata["wrong"]:
            output.print_error(f"{module} is not allowed to import {imported}, in which it lies")
