"""Import a module of the package with an edit."""

from importlib.machinery import SourceFileLoader

from mutation.mutations import ROOT, Mutant


def import_with(mutant: Mutant) -> list[str]:
    """Import the mutant's module with its edit from now on.

    Returns:
        A list that contains the module's name once it is imported.
    """
    original, code, imported = SourceFileLoader.get_code, mutant.code(), []

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        if path.endswith(mutant.file) and (ROOT / mutant.file).samefile(path):
            imported.append(fullname)
            return code
        return original(self, fullname)

    SourceFileLoader.get_code = get_code
    return imported
