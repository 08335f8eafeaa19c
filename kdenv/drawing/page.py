"""HTML pages that load nothing from elsewhere. They are made from the templates in pages/, which escape all values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jinja2 import Environment


class Rows(NamedTuple):
    """A table. The first cell of a row names it."""

    caption: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Section(NamedTuple):
    """A part of a report. Fields that are empty are left out."""

    heading: str = ""
    sentences: tuple[str, ...] = ()
    table: Rows | None = None
    items: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()  # charts as SVG, which adapt to dark pages
    drawing: str = ""  # SVG with fixed colours
    text: str = ""  # shown letter by letter


def report(title: str, lead: tuple[str, ...], sections: list[Section], version: str) -> str:
    """A page of sections below each other."""
    return render("report.html", title=title, lead=lead, sections=sections, version=version)


def notebook(before: Sequence[str], table: Rows | None = None, after: Sequence[str] = ()) -> str:
    """A table between sentences, as a notebook shows it."""
    return render("notebook.html", before=before, table=table, after=after)


def render(template: str, **values: Any) -> str:
    """Render this template with these values."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("pages")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawing"] = Markup  # our own SVG, in which texts are escaped already
    return environment
