"""Has a module of the package imported with an edit."""

from importlib.machinery import SourceFileLoader

from mutation.mutations import ROOT, Mutant


def import_with(mutant: Mutant) -> list[str]:
    """Has the mutant's module imported with its edit from now on.

    Returns:
        A list that names the module once it is imported.
    """
    whole, code, imported = SourceFileLoader.get_code, mutant.code(), []

    def get_code(self, fullname):
        at = self.get_filename(fullname)
        if at.endswith(mutant.file) and (ROOT / mutant.file).samefile(at):
            imported.append(fullname)
            return code
        return whole(self, fullname)

    SourceFileLoader.get_code = get_code
    return imported
