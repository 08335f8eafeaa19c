"""Makes the project's page on PyPI from README.md, whenever the package is built.

A link to a file of the repository does not work there, so the page has the words of the link and the path of the file in place of it.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]*)\)")


def page_of(readme: str) -> str:
    """The README with paths in place of links to files, and without pictures that are files."""

    def instead(link: re.Match[str]) -> str:
        is_picture, words, path = link.groups()
        return "" if is_picture else words if words == path else f"{words} (`{path}`)"

    return _LINK.sub(instead, readme)


class Page(MetadataHookInterface):
    """Gives hatchling the page as the readme of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the readme to the metadata."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page_of(readme)}
