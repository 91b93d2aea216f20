"""The contract that no module imports a package that contains it."""

import pytest

pytest.importorskip("importlinter", reason="the extra `lint` is not installed")

from grimp import ImportGraph
from own_package import OwnPackage


@pytest.mark.parametrize(
    "importer, imported, is_allowed",
    [
        ("top.package.a", "top.package.b", True),
        ("top.package.a", "top.pack", True),
        ("top.package", "top.package.a", True),
        ("top.package.a", "top.package", False),
        ("top.package.a", "top", False),
    ],
)
def test_import_of_a_package_that_contains_the_module_is_found(
    importer, imported, is_allowed, capsys
):
    graph = ImportGraph()
    graph.add_import(importer=importer, imported=imported)
    contract = OwnPackage(name="", session_options={}, contract_options={})
    check = contract.check(graph, verbose=False)
    assert check.kept is is_allowed
    contract.render_broken_contract(check)
    message = f"{importer} is not allowed to import {imported}, which contains it\n"
    assert capsys.readouterr().out == ("" if is_allowed else message)
