"""The documentation site: `make site` builds it from the pages of this folder."""

import ast
import inspect
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "mlir-smem"
release = metadata.version("mlir-smem")
author = copyright = "the authors of mlir-smem"
html_title = f"mlir-smem {release}"
html_theme = "furo"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

#: The page of a package index.
exclude_patterns = ["package.md"]

#: The pages of docs/api are made from docstrings; a name in single backticks is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
#: Types in signatures need no page of their own.
nitpick_ignore_regex = [("py:.*", ".*")]
#: Names of arguments in the first line of a docstring are no references.
suppress_warnings = ["ref.python"]
myst_heading_anchors = 3

#: A notebook's cells run while the site is built; an exception in one fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 60

#: Smart quotes would turn the two hyphens of an option into a dash.
smartquotes = False


def setup(app: Sphinx) -> None:
    """Add the lexer of MLIR, which Pygments lacks."""
    from mlir_lexer import MlirLexer

    app.add_lexer("mlir", MlirLexer)
    app.connect("autodoc-process-signature", _as_written)


def _as_written(
    app: Sphinx, kind: str, name: str, documented: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """Return a builder's signature as its source has it: names of types are shorter than the types."""
    if kind != "function" or not name.startswith("mlir_smem.dialect.ops."):
        return None
    (function,) = ast.parse(inspect.getsource(inspect.unwrap(documented))).body
    return f"({ast.unparse(function.args)})", ast.unparse(function.returns)
