"""The contract that no module imports a package that it lies in."""

import pytest
from grimp import ImportGraph
from own_package import OwnPackage


@pytest.mark.parametrize(
    "importer, imported, kept",
    [
        ("house.room.chair", "house.room.table", True),
        ("house.room.chair", "house.roo", True),
        ("house.room", "house.room.chair", True),
        ("house.room.chair", "house.room", False),
        ("house.room.chair", "house", False),
    ],
)
def test_an_import_of_the_own_package_is_found(importer, imported, kept, capsys):
    graph = ImportGraph()
    graph.add_import(importer=importer, imported=imported)
    contract = OwnPackage(name="", session_options={}, contract_options={})
    check = contract.check(graph, verbose=False)
    assert check.kept is kept
    contract.render_broken_contract(check)
    said = f"{importer} is not allowed to import {imported}, in which it lies\n"
    assert capsys.readouterr().out == ("" if kept else said)
