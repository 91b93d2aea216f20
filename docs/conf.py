"""The documentation site: `make site` builds it from the pages of this folder."""

import sys
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "mlir-smem"
release = metadata.version("mlir-smem")
author = copyright = "the authors of mlir-smem"
html_title = f"mlir-smem {release}"
html_theme = "furo"

extensions = ["myst_nb"]
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
