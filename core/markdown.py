"""Notes in Markdown as HTML that is safe to show: every tag is one of ours, and nothing is loaded or run.

Notes come from a session file, which may be anybody's. Raw HTML is shown as it was typed, pictures by their words and their
address, and the address of a link always stands beside its words. Time and memory grow with the length of the text, which is
bounded, and with nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from plaidwork.core.quoting import lines, markup

LONGEST = 20_000
"""Letters of one note; of a longer one, which another program has written, the beginning is shown."""
LONGEST_ADDRESS = 2_000
MOST_ROWS = 100
"""Rows of a table that are shown: a page with longer ones is slow to lay out."""

_DEEPEST = 4
"""Levels of lists and quotes within each other; what is deeper stands at the deepest."""
_TAB = 4
_SAFE = r"[A-Za-z0-9\-._~:/?#\[\]@!$&'*+,;=%]"
_HTTP = rf"https?://[A-Za-z0-9.-]{{1,255}}(?::\d{{1,5}})?(?:[/?#]{_SAFE}{{0,{LONGEST_ADDRESS}}})?"
_MAIL = r"mailto:[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}"
_LINKED = re.compile(f"{_HTTP}|{_MAIL}")
_TOKEN = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    rf"|(?P<image>!?)\[(?P<words>[^\[\]\n]{{0,300}})\]\((?P<target>[^()\s]{{1,{LONGEST_ADDRESS}}})\)"
    rf"|<(?P<between>{_HTTP}|{_MAIL})>"
    rf"|(?P<bare>{_HTTP})"
    r"|(?P<marks>\*{1,3}|_{1,3}|~~)"
)
_TAGS = {"**": "b", "__": "b", "*": "i", "_": "i", "~~": "s"}
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_RULE = re.compile(r"(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}")
_FENCE = re.compile(r"[ ]{0,3}(```+|~~~+)[^`]*")
_ITEM = re.compile(r"([ ]*)(?:([-*+])|(\d{1,9})[.)])[ ]+(.*)")
_BELOW_HEAD = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?")


def html_of_markdown(text: str, heading: int = 4) -> str:
    """A note as HTML: headings (``heading`` is the level of the highest, three are told apart), paragraphs with line breaks as typed, bold,
    italic, struck and code, lists, quotes, tables, rules, links to web and mail addresses.

    Nothing else of the text becomes markup. At most ``LONGEST`` letters are shown; a sentence tells when there are more.
    """
    left = len(text) - LONGEST
    shown = text[:LONGEST].replace("\r\n", "\n")
    found = "\n".join(_blocks(lines(shown).replace("\t", " " * _TAB).split("\n"), heading, 0))
    if left > 0:
        found += (
            f'\n<p class="muted">The note goes on for {left} more characters, which are not shown here.</p>'
        )
    return found


def is_address(text: str) -> bool:
    """Whether a text is an address that notes link to: of the web or of mail, in plain letters, with no name or password in it."""
    return _LINKED.fullmatch(text) is not None


class _Lines:
    """Lines with a place among them."""

    def __init__(self, rows: list[str]) -> None:
        self.rows, self.at = rows, 0

    @property
    def now(self) -> str | None:
        """The line at the place; None behind the last."""
        return self.rows[self.at] if self.at < len(self.rows) else None

    @property
    def next(self) -> str:
        """The line behind it, or an empty one."""
        return self.rows[self.at + 1] if self.at + 1 < len(self.rows) else ""

    def take(self) -> str:
        """The line at the place, which is behind it then."""
        self.at += 1
        return self.rows[self.at - 1]


def _blocks(rows: list[str], heading: int, depth: int) -> Iterator[str]:
    """The blocks of a text or of a quote, as HTML."""
    read = _Lines(rows)
    while (row := read.now) is not None:
        bare = row.strip()
        if not bare:
            read.take()
        elif fence := _FENCE.fullmatch(row):
            yield _code(read, fence[1])
        elif found := _HEADING.fullmatch(bare):
            read.take()
            level = min(heading + min(len(found[1]), 3) - 1, 6)
            yield f"<h{level}>{_inline(found[2].rstrip('# '))}</h{level}>"
        elif _RULE.fullmatch(bare):
            read.take()
            yield "<hr>"
        elif bare.startswith(">"):
            yield _quote(read, heading, depth)
        elif _ITEM.fullmatch(row):
            yield _list(read)
        elif _is_table(read):
            yield _table(read)
        else:
            yield _paragraph(read)


def _begins(read: _Lines) -> bool:
    """Whether a block other than a paragraph begins at the place, or the text ends."""
    row = read.now
    if row is None or not (bare := row.strip()):
        return True
    begun = bare.startswith(">") or _FENCE.fullmatch(row) or _HEADING.fullmatch(bare)
    return bool(begun or _RULE.fullmatch(bare) or _ITEM.fullmatch(row))


def _paragraph(read: _Lines) -> str:
    found = [read.take().strip()]
    while not _begins(read) and not _is_table(read):
        found.append(read.take().strip())
    return f"<p>{_inline(chr(10).join(found))}</p>"


def _code(read: _Lines, fence: str) -> str:
    """Lines between fences, as they are; to the end where none closes them."""
    read.take()
    found = []
    while (row := read.now) is not None:
        read.take()
        if row.strip().startswith(fence) and not row.strip().strip(fence[0]):
            break
        found.append(row)
    return f"<pre>{markup(chr(10).join(found))}</pre>"


def _quote(read: _Lines, heading: int, depth: int) -> str:
    found = []
    while (row := read.now) is not None and row.strip().startswith(">"):
        read.take()
        found.append(row.strip()[1:].removeprefix(" "))
    if depth == _DEEPEST:  # signs of still deeper quotes stay as they are
        return f"<p>{_inline(chr(10).join(found))}</p>"
    return f"<blockquote>{''.join(_blocks(found, heading, depth + 1))}</blockquote>"


def _list(read: _Lines) -> str:
    """Items one after the other; those that are further in are lists within."""
    found: list[str] = []
    open_: list[tuple[int, str]] = []  # how far in, and the tag of each list that is open
    while (
        (row := read.now) is not None and (item := _ITEM.fullmatch(row)) and not _RULE.fullmatch(row.strip())
    ):
        read.take()
        far, tag = len(item[1]), "ol" if item[3] else "ul"
        while len(open_) > 1 and far < open_[-1][0]:
            found.append(f"</li></{open_.pop()[1]}>")
        if not open_ or (far > open_[-1][0] + 1 and len(open_) < _DEEPEST):
            open_.append((far, tag))
            found.append(f'<ol start="{int(item[3])}">' if item[3] else "<ul>")
        else:
            found.append("</li>")
        words = [item[4]]
        while not _begins(read):  # lines that go on with the item
            words.append(read.take().strip())
        found.append(f"<li>{_inline(chr(10).join(words))}")
    found += [f"</li></{tag}>" for _, tag in reversed(open_)]
    return "".join(found)


def _is_table(read: _Lines) -> bool:
    return "|" in (read.now or "") and _BELOW_HEAD.fullmatch(read.next.strip()) is not None


def _table(read: _Lines) -> str:
    heads = _cells(read.take())
    read.take()
    rows = [f"<tr>{''.join(f'<th>{_inline(cell)}</th>' for cell in heads)}</tr>"]
    left = 0
    while "|" in (read.now or ""):
        cells = _cells(read.take())[: len(heads)]
        if len(rows) > MOST_ROWS:
            left += 1
        else:
            rows.append(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in cells)}</tr>")
    more = f'<p class="muted">{left} more rows are not shown here.</p>' if left else ""
    return f"<table>{''.join(rows)}</table>{more}"


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


def _inline(text: str) -> str:
    """Words with their marks; those that nothing closes stay as they were typed."""
    pieces: list[str] = []
    opened: list[
        tuple[str, int]
    ] = []  # marks that are open, each once, and where they stand among the pieces
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", text):
        ticks.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while hit := _TOKEN.search(text, at):
        pieces.append(_plain(text[at : hit.start()]))
        at = hit.end()
        if hit["escaped"]:
            pieces.append(markup(hit["escaped"]))
        elif hit["ticks"]:
            wide = len(hit["ticks"])
            ends = ticks.get(wide, [])
            end = next(iter(ends[bisect_left(ends, at) :][:1]), None)
            pieces.append(hit["ticks"] if end is None else f"<code>{markup(text[at:end])}</code>")
            at = at if end is None else end + wide
        elif hit["marks"]:
            _mark(hit["marks"], text[hit.start() - 1 : hit.start()], text[at : at + 1], pieces, opened)
        elif hit["bare"]:
            address = hit["bare"].rstrip(".,;:!?'*_~")  # which end the sentence, or close a mark
            pieces.append(_address(address))
            at = hit.start() + len(address)
        else:
            pieces.append(_link(hit))
    pieces.append(_plain(text[at:]))
    return "".join(pieces)


def _mark(mark: str, before: str, behind: str, pieces: list[str], opened: list[tuple[str, int]]) -> None:
    """Open or close bold, italic or struck words with a mark between two letters, or take it as it is."""
    closes, opens = before.strip() != "", behind.strip() != ""
    if mark[0] == "_":  # part of a name, such as ``sample_id``
        closes, opens = closes and not behind.isalnum(), opens and not before.isalnum()
    wanted = {mark[:2], mark[0]} if len(mark) == 3 else {mark}
    known = {one for one, _ in opened}
    if closes and wanted <= known:
        while wanted:
            one, place = opened.pop()
            if one in wanted:
                wanted.remove(one)
                pieces[place] = f"<{_TAGS[one]}>"
                pieces.append(f"</{_TAGS[one]}>")
    elif opens and not wanted & known:
        for one in sorted(wanted, reverse=True):
            opened.append((one, len(pieces)))
            pieces.append(one)
    else:
        pieces.append(mark)


def _link(hit: re.Match[str]) -> str:
    """The words of a link or a picture and their address, which is the link."""
    if hit["between"]:
        return _address(hit["between"])
    words, address = _plain(hit["words"]), _address(hit["target"])
    if hit["image"]:
        return f"[Picture: {words}] ({address})" if words else f"[Picture] ({address})"
    return f"{words} ({address})" if words and hit["words"] != hit["target"] else address


def _address(text: str) -> str:
    """An address, as a link where it is one that notes link to."""
    if not is_address(text):
        return _plain(text)
    return f'<a href="{markup(text)}" rel="noreferrer noopener">{markup(text)}</a>'


def _plain(text: str) -> str:
    """Words without marks; lines end where they were ended."""
    return markup(text).replace("\n", "<br>")
