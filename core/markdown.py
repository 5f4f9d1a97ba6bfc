"""Notes in Markdown as HTML that is safe to show: nothing is loaded or run.

Notes come from a session file, which may be anybody's. CommonMark with tables, read by markdown-it-py without its raw HTML: tags that
somebody typed are shown as they were typed, pictures by their words and their address, and the address of a link always stands beside
its words. The length of a note that is shown is bounded, and how deep its parts nest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.quoting import lines, markup

LONGEST = 20_000
"""Letters of one note; of a longer one, which another program has written, the beginning is shown."""
LONGEST_ADDRESS = 2_000
MOST_LINES = 800
"""Lines of it: more would take long to lay out."""
MOST_ROWS = 100
"""Rows of a table that are shown: a page with longer ones is slow to lay out."""
_DEEPEST = 12
"""Levels of parts within each other; what is deeper is left out."""
_LEVELS = 3
"""Levels of headings that are told apart."""
_SAFE = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'*+,;=%]"
_HTTP = rf"https?://[A-Za-z0-9.-]{{1,255}}(?::\d{{1,5}})?(?:[/?#]{_SAFE}{{0,{LONGEST_ADDRESS}}})?"
_MAIL = r"mailto:[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}"
_LINKED = re.compile(f"{_HTTP}|{_MAIL}")


def html_of_markdown(text: str, heading: int = 4) -> str:
    """A note as HTML; line breaks are kept as typed, and ``heading`` is the level of its highest headings.

    At most ``LONGEST`` letters, ``MOST_LINES`` lines and ``MOST_ROWS`` rows of a table are shown; a sentence tells when there are more.
    """
    shown = "".join(text[:LONGEST].splitlines(keepends=True)[:MOST_LINES])
    left = len(text) - len(shown)
    reader = _reader()
    tokens = list(_bounded(reader.parse(lines(shown.replace("\r\n", "\n"))), heading))
    found = reader.renderer.render(tokens, reader.options, {}).strip()
    if left > 0:
        found += f'\n<p class="muted">The note goes on for {counted(left, "more character")}, {agree(left, "which is", "which are")} not shown here.</p>'
    return found


def is_address(text: str) -> bool:
    """Whether a text is an address that notes link to: of the web or of mail, in plain letters, with no name or password in it."""
    return _LINKED.fullmatch(text) is not None


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt(
        "commonmark",
        {"html": False, "breaks": True, "xhtmlOut": False, "maxNesting": _DEEPEST},
        renderer_cls=_Safe,
    )
    reader.enable(["table", "strikethrough"])
    reader.disable(["code", "reference", "entity", "html_block", "html_inline"])
    reader.validateLink = is_address  # type: ignore[method-assign,assignment]
    reader.normalizeLink = str  # type: ignore[method-assign,assignment]
    reader.normalizeLinkText = str  # type: ignore[method-assign,assignment]
    return reader


class _Safe(RendererHTML):
    """Links that say where they lead, and no attribute that a note has chosen."""

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, _env: Any) -> str:
        return ""

    def link_close(self, tokens: Sequence[Token], at: int, options: Any, _env: Any) -> str:
        opened = next(one for one in reversed(tokens[:at]) if one.type == "link_open")
        return "" if opened.info == "auto" else _beside(opened, "href")

    def text(self, tokens: Sequence[Token], at: int, options: Any, _env: Any) -> str:
        before = tokens[at - 1] if at else None
        alone = before is not None and before.type == "link_open" and before.info == "auto"
        return _link(before, "href") if alone and before is not None else markup(tokens[at].content)

    def image(self, tokens: Sequence[Token], at: int, options: Any, _env: Any) -> str:
        return f"[Picture: {markup(tokens[at].content)}]{_beside(tokens[at], 'src')}"

    def fence(self, tokens: Sequence[Token], at: int, options: Any, _env: Any) -> str:
        return f"<pre>{markup(tokens[at].content)}</pre>\n"


def _beside(token: Token, name: str) -> str:
    """The address behind the words of a link or a picture; nothing where it has none, as ``[]()``."""
    return f" ({_link(token, name)})" if token.attrGet(name) else ""


def _link(token: Token, name: str) -> str:
    """The address of a link or a picture, as a link to it."""
    address = markup(str(token.attrGet(name)))
    return f'<a href="{address}" rel="noreferrer noopener">{address}</a>'


def _bounded(tokens: Sequence[Token], heading: int) -> Iterator[Token]:
    """The blocks with headings of our levels, without attributes but the number at which a list begins, long tables cut."""
    rows = 0
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(heading + min(int(token.tag[1]), _LEVELS) - 1, 6)}"
        token.attrs = {"start": int(token.attrs["start"])} if "start" in token.attrs else {}
        if token.type == "table_open":
            rows = -1  # that of the heads
        rows += token.type == "tr_open"
        inside = token.type.startswith(("tr_", "td_", "inline")) and rows > MOST_ROWS
        if not inside:
            yield token
        if token.type == "table_close":
            left, rows = rows - MOST_ROWS, 0
            if left > 0:
                yield from _sentence(
                    f"{counted(left, 'more row')} {agree(left, 'is', 'are')} not shown here."
                )


def _sentence(text: str) -> Iterator[Token]:
    words = Token("text", "", 0, content=text)
    yield Token("paragraph_open", "p", 1, attrs={"class": "muted"})
    yield Token("inline", "", 0, content=text, children=[words])
    yield Token("paragraph_close", "p", -1)
