"""Builds the site: `make docs`.

Pages of games and public names are made by `extension`, and the words of READMEs are taken from where they are.
"""

import os
import sys
import tomllib
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # kernels as plain functions: they have signatures, and building compiles nothing
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import extension.games  # noqa: E402
import extension.names  # noqa: E402
from extension.pages import filled, write_sections  # noqa: E402

import kdenv  # noqa: E402

project = "kdenv"
author = copyright = "the authors of kdenv"
release = version = kdenv.__version__

extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
nitpicky = True
# Types in signatures that are not public have no page.
nitpick_ignore_regex = [("py:class", ".*")]
exclude_patterns = ["_build", "README.md"]
copybutton_prompt_text = ">>> "
highlight_language = "none"
python_maximum_signature_line_length = 88  # a longer signature has a line for each parameter

html_theme = "furo"
html_title = f"kdenv {release}"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
html_theme_options = {"source_repository": URLS["Repository"], "source_branch": "main", "source_directory": "docs/"}
html_theme_options["footer_icons"] = [
    {"name": name, "url": URLS[name], "html": name, "class": "footer-link"} for name in ("Repository", "Issues")
]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False


def _make_pages(app):
    extension.games.write_pages(HERE / "games")
    extension.names.write_pages(HERE / "api")
    write_sections("baselines/papers/RESULTS.md", HERE / "results")


def _fill(app, name, source):
    source[0] = filled(source[0])


def setup(app):
    """Make the pages before Sphinx looks for them, and fill the others as they are read."""
    app.connect("builder-inited", _make_pages)
    app.connect("source-read", _fill)
