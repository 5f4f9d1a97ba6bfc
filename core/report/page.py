"""A report as one HTML file that needs nothing else: no scripts, no links to files, every text escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path

from plaidwork.core.markdown import html_of_markdown
from plaidwork.core.quoting import markup
from plaidwork.core.report.content import BESIDE, PAGE, Figure, Listed, Report, RunPart

MOST_NOTES = 100
"""Notes on what a run has found that are on the page; a session may hold more."""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_SHORT = 12
"""Letters of the longest words of a column that is never broken."""
_STYLE = """
body { font-family: Inter, Helvetica, Arial, sans-serif; font-size: 15px; line-height: 1.5; color: #16181d;
  background: #ffffff; margin: 0; }
main { max-width: 860px; margin: 0 auto; padding: 32px 24px 64px 24px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 4px 0; }
h2 { font-size: 22px; line-height: 1.25; margin: 48px 0 4px 0; }
h3 { font-size: 17px; margin: 32px 0 8px 0; }
p { margin: 6px 0; }
.muted { color: #565f6e; }
.found { font-size: 18px; margin: 8px 0 12px 0; }
.verdict { border-left: 4px solid #8f5b00; background: #fbf5ea; padding: 10px 16px; margin: 12px 0; }
.ok { border-color: #1f7a4d; background: #eef7f1; }
.error { border-color: #b3261e; background: #fcefee; }
table { border-collapse: collapse; margin: 8px 0; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; border-bottom: 1px solid #767f8d; padding: 4px 18px 4px 0; vertical-align: bottom; }
td { border-bottom: 1px solid #e3e6eb; padding: 4px 18px 4px 0; vertical-align: top; overflow-wrap: break-word; }
.facts td { overflow-wrap: anywhere; }
.number { text-align: right; }
td.number, td.short { white-space: nowrap; }
.wide { overflow-x: auto; }
figure { margin: 0; font-size: 13.5px; }
figure img { max-width: 100%; height: auto; }
figure p { margin: 2px 0; }
.image { line-height: 1; }
.verdict p { margin: 0; }
.strong { font-weight: 600; margin-top: 20px; }
.beside { width: 100%; margin: 0; table-layout: fixed; }
.beside td { border: none; padding: 18px 8px 0 0; }
.beside .strong { margin-top: 2px; }
pre, code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12.5px; }
pre { background: #f3f4f7; padding: 10px 14px; white-space: pre-wrap; overflow-wrap: anywhere; margin: 4px 0 12px 0; }
.note { margin: 12px 0; overflow-wrap: anywhere; }
h4, h5, h6 { font-size: 15px; margin: 20px 0 4px 0; }
.note h3, .note h5 { font-size: 16px; margin: 16px 0 4px 0; }
.note ul, .note ol { margin: 6px 0; padding-left: 24px; }
.note blockquote { border-left: 3px solid #c9ced6; margin: 8px 0; padding-left: 14px; color: #565f6e; }
.note hr { border: none; border-top: 1px solid #c9ced6; margin: 16px 0; }
nav ul { margin: 8px 0; padding-left: 20px; }
a { color: #2456c4; }
@media print { main { max-width: none; padding: 0; } figure, tr, .verdict { break-inside: avoid; } h2, h3 { break-after: avoid; } }
"""


def html_of(report: Report, width: int = PAGE) -> str:
    """The report as one page; figures are drawn for one that is ``width`` wide, in 1/96 inch."""
    title = markup(report.title)
    parts = [
        f"<h1>{title}</h1>",
        f'<p class="muted">{markup(report.made)}</p>',
        _note(report.notes),
        _contents(report.runs),
        "<h2>Data</h2>",
        _table(report.data, ""),
        *(_run(number, run, width / PAGE) for number, run in enumerate(report.runs)),
    ]
    if report.searches:
        parts += ["<h2>Searches</h2>", *(_table(one) for one in report.searches)]
    body = "\n".join(filter(None, parts))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def write_report(report: Report, path: Path) -> Path:
    """Write the page as a whole, or leave what was there. Raises ``OSError``."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(html_of(report), encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _paragraphs(text: str) -> str:
    """A text as it was typed: paragraphs where lines are empty."""
    found = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    return "\n".join(f"<p>{markup(part).replace(chr(10), '<br>')}</p>" for part in found)


def _note(text: str, heading: int = 3) -> str:
    """A note in Markdown; its headings stand below those of the report."""
    return f'<div class="note">{html_of_markdown(text, heading)}</div>' if text.strip() else ""


def _item_notes(notes: Sequence[tuple[str, str]]) -> str:
    """Notes on blocks, factors or topics, each below its name."""
    found = "\n".join(f"<h4>{markup(name)}</h4>\n{_note(text, 5)}" for name, text in notes[:MOST_NOTES])
    left = len(notes) - MOST_NOTES
    more = f'<p class="muted">{left} more notes are in the session.</p>' if left > 0 else ""
    return f"<h3>Notes on what was found</h3>\n{found}{more}" if found else ""


def _contents(runs: Iterable[RunPart]) -> str:
    """Links to the runs, with what each found; none where there is one."""
    runs = list(runs)
    if len(runs) < 2:
        return ""
    lines = [
        f'<li><a href="#run-{number}">{markup(run.title)}</a>: {markup(run.headline)}</li>'
        for number, run in enumerate(runs)
    ]
    return f"<nav><ul>{''.join(lines)}</ul></nav>"


def _run(number: int, run: RunPart, scale: float) -> str:
    tables = "\n".join(_table(one) for one in run.tables)
    left_out = (
        f'<p class="muted">Not shown here: {markup(", ".join(run.left_out))}.</p>' if run.left_out else ""
    )
    commands = "\n".join(f"<p>{markup(what)}:</p><pre>{markup(line)}</pre>" for what, line in run.commands)
    return f"""<h2 id="run-{number}">{markup(run.title)}</h2>
<p class="muted">{markup(run.model)}</p>
<p class="found">{markup(run.headline)}</p>
<div class="verdict {run.kind}"><p><b>{markup(run.verdict)}</b></p><p>{markup(run.advice)}</p></div>
{_note(run.notes)}
{_figures(run.figures, scale)}
{left_out}
{_item_notes(run.item_notes)}
{tables}
<h3>Model</h3>
<p>{markup(run.summary)}</p>
{_paragraphs(run.citation)}
{_pairs(run.facts)}
{_table(run.settings)}
<h3>How to repeat it</h3>
{commands}
<h3>Made with</h3>
{_pairs(run.versions)}"""


def _figures(figures: Sequence[Figure], scale: float) -> str:
    """One across the page, two beside each other, or a narrow one beside its words: as a table, which every reader of pages
    and the printer lay out alike."""
    rows: list[list[Figure]] = []
    for figure in figures:
        narrow = figure.drawing.width <= BESIDE
        if narrow and rows and len(rows[-1]) == 1 and rows[-1][0].drawing.width <= BESIDE:
            rows[-1].append(figure)
        else:
            rows.append([figure])
    return "\n".join(_beside(row, scale) for row in rows)


def _beside(row: Sequence[Figure], scale: float) -> str:
    if len(row) == 1 and row[0].drawing.width > BESIDE:
        return _figure(row[0], scale)
    found = [_figure(figure, scale) for figure in row] if len(row) > 1 else _image_and_words(row[0], scale)
    cells = "".join(f"<td>{cell}</td>" for cell in found)
    return f'<table class="beside" role="presentation"><tr>{cells}</tr></table>'


def _figure(figure: Figure, scale: float) -> str:
    above, image, notes = _parts(figure, scale)
    return f"<figure><figcaption>{above}</figcaption>{image}{notes}</figure>"


def _image_and_words(figure: Figure, scale: float) -> tuple[str, str]:
    """A narrow figure, and what is said of it, which stands where another figure would."""
    above, image, notes = _parts(figure, scale)
    return f"<figure>{image}</figure>", f"<figure><figcaption>{above}</figcaption>{notes}</figure>"


def _parts(figure: Figure, scale: float) -> tuple[str, str, str]:
    """Headline and caption, image, and notes."""
    drawing = figure.drawing
    wide, high = round(drawing.width * scale), round(drawing.height * scale)
    data = b64encode(drawing.data).decode("ascii")
    image = f'<img src="data:{drawing.media};base64,{data}" width="{wide}" height="{high}" alt="{markup(drawing.text)}">'
    lines = (("strong", figure.headline), ("muted", figure.caption))
    above = "".join(f'<p class="{kind}">{markup(text)}</p>' for kind, text in lines if text)
    notes = f'<p class="muted">{markup(figure.notes)}</p>' if figure.notes else ""
    return above, f'<p class="image">{image}</p>', notes


def _table(table: Listed, title: str | None = None) -> str:
    """A table below its title; nothing where it has no rows."""
    if not table.rows:
        return ""
    head = table.title if title is None else title
    marks = [_mark(table, at) for at in range(len(table.heads))]
    heads = "".join(f"<th {mark}>{markup(text)}</th>" for mark, text in zip(marks, table.heads, strict=True))
    rows = "\n".join(
        "<tr>"
        + "".join(f"<td {mark}>{markup(cell)}</td>" for mark, cell in zip(marks, row, strict=True))
        + "</tr>"
        for row in table.rows
    )
    more = f'<p class="muted">{markup(table.more)}</p>' if table.more else ""
    above = f"<h3>{markup(head)}</h3>" if head else ""
    return f'{above}\n<div class="wide"><table><tr>{heads}</tr>\n{rows}</table></div>{more}'


def _mark(table: Listed, column: int) -> str:
    """What sets a column apart: numbers at the right, short words that are not broken."""
    if column in table.numbers:
        return 'class="number"'
    return 'class="short"' if all(len(row[column]) <= _SHORT for row in table.rows) else ""


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    rows = "\n".join(
        f'<tr><td class="muted">{markup(name)}</td><td>{markup(value)}</td></tr>' for name, value in pairs
    )
    return f'<div class="wide"><table class="facts">{rows}</table></div>'
