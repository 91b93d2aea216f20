"""Puts a mutant into this process: into the functions that are loaded, or into what will be imported."""

import gc
import types
from importlib.machinery import SourceFileLoader

from mutants.edits import ROOT, Mutant


def functions(mutant: Mutant) -> list[types.FunctionType]:
    """The functions of this process that have the code that a mutant edits."""
    at = (str(ROOT / mutant.file), *(mutant.function or ("", 0)))
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, types.FunctionType)
        and at
        == (each.__code__.co_filename, each.__code__.co_qualname, each.__code__.co_firstlineno)
    ]


def patch(mutant: Mutant) -> bool:
    """Gives the function that a mutant edits its code; whether it is there."""
    found = functions(mutant)
    for each in found:
        each.__code__ = _code_at(mutant.code(), *(mutant.function or ("", 0)))
    return bool(found)


def _code_at(code: types.CodeType, name: str, line: int) -> types.CodeType:
    """The code of the function of that name and line."""
    held = [code]
    for each in held:
        if (each.co_qualname, each.co_firstlineno) == (name, line):
            return each
        held += [inner for inner in each.co_consts if isinstance(inner, types.CodeType)]
    raise LookupError(f"{name} at line {line} of {code.co_filename}")


def import_with(mutant: Mutant) -> None:
    """Has its module imported with the edit, from now on."""
    whole = SourceFileLoader.get_code

    def get_code(self, fullname):
        at = self.get_filename(fullname)
        same = at.endswith(mutant.file) and ROOT.samefile(at.removesuffix(mutant.file))
        return mutant.code() if same else whole(self, fullname)

    SourceFileLoader.get_code = get_code
