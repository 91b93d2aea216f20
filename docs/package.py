"""Prints docs/package.md, the page of the package on a package index, from README.md.

Such a page has no files beside it. If `project.urls` in pyproject.toml has a `Source`, links lead there;
without it, a link becomes its text and the path of its file.
"""

import re
import tomllib
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_IMAGE = re.compile(r"^!\[([^\]]*)\]\((?!https?:)([^)\s]+)\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def page(readme: str, source: str | None) -> str:
    """Return a README as a page without files beside it.

    Args:
        readme: the text, whose links are relative to the repository's root.
        source: the URL of the repository; None if it has none.
    """

    def replace_link(link: re.Match[str]) -> str:
        text, target = link.groups()
        if source:
            return f"[{text}]({source.rstrip('/')}/blob/HEAD/{target})"
        path = target.partition("#")[0]
        return text if path in text else f"{text} (`{path}`)"

    def replace_image(image: re.Match[str]) -> str:
        return f"![{image[1]}]({source.rstrip('/')}/raw/HEAD/{image[2]})\n\n" if source else ""

    # Code is kept as it is.
    parts = _FENCED.split(readme)
    parts[::2] = [_LINK.sub(replace_link, _IMAGE.sub(replace_image, part)) for part in parts[::2]]
    text = "".join(parts).replace("pip install .  ", "pip install mlir-smem  ")
    title, _, body = text.partition("\n\n")
    note = "" if source else "Paths on this page are those of the repository's files. "
    return f"{title}\n\n{note}`python -m mlir_smem.examples examples` copies `examples/`.\n\n{body}"


def main() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    source = project.get("urls", {}).get("Source")
    print(page((_ROOT / "README.md").read_text(), source), end="")


if __name__ == "__main__":
    main()
