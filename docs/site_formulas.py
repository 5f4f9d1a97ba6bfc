"""Formulas of the pages as MathML, which browsers draw by themselves: ``$…$`` in a line, ``$$…$$`` by themselves."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

_BLOCK = r"\$\$\s*((?:[^$\\]|\\.)+?)\s*\$\$"
_INLINE = r"(?<![\\$])\$((?:[^$\\\n]|\\.)+?)\$(?!\d)"


class _Formula(InlineProcessor):
    """TeX between dollars; ``display`` is ``inline`` or ``block``."""

    def __init__(self, pattern: str, display: str, md: Markdown) -> None:
        super().__init__(pattern, md)
        self._display = display

    def handleMatch(self, m, data):
        element = fromstring(convert(m.group(1), display=self._display))
        return _plain(element), m.start(0), m.end(0)


def _plain(element: Element) -> Element:
    """The element without its name space, which HTML does not write."""
    for part in element.iter():
        part.tag = part.tag.rpartition("}")[2]
    return element


class Formulas(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        # above 180 (escapes, so that \_ within a formula stays), below 190 (code)
        md.inlinePatterns.register(_Formula(_BLOCK, "block", md), "formula_block", 189)
        md.inlinePatterns.register(_Formula(_INLINE, "inline", md), "formula", 188)


def makeExtension(**options):
    return Formulas(**options)
