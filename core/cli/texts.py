"""The command ``text``: raw text to a sparse matrix of documents by words, in a session or as Matrix Market."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.cli import pairs
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.cli.progress import emit
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers.base import ImportOptions
from plaidwork.core.data.input_addresses import plain_value
from plaidwork.core.data.text import (
    REASONS,
    Counter,
    TermCounts,
    TextOptions,
    find_issues,
    guess_kind,
    load_documents,
    make_dataset,
)
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.quoting import guarded_text
from plaidwork.core.session.bundle import BundleWriter
from plaidwork.core.session.session import Session

DONE = 0
_SHOWN = 20
_FLAGS = (
    "stop_words", "stem", "ngrams", "min_documents", "max_documents", "max_words", "min_length", "numbers",
    "punctuation", "empty",
)  # fmt: skip


def text(options: argparse.Namespace) -> int:
    """``plaidwork text SOURCE [--text-column T] [--outcome Y] … [--out FILE]``."""
    out = pairs.check_output(options.out, options.force) if options.out else None
    if out is not None and not out.name.lower().endswith((".plaidwork", ".mtx")):
        raise SettingError(
            f"{out.name} is neither a session nor a Matrix Market file.", "End --out with .plaidwork or .mtx."
        )
    given = _given(options)
    path = options.source.expanduser()
    if not path.exists():
        raise DataError(f"{path} does not exist.", "Check the name and the folder.")
    given["text_source"] = guess_kind(path, given)
    documents = load_documents(path, given)
    chosen = TextOptions.of(given, counted=documents.texts is None)
    counts = Counter(documents).count(chosen)
    for issue in find_issues(documents, counts, chosen, given):
        if issue.severity == "warning":
            warn(f"plaidwork: {issue.message}. {issue.detail}.")
    dataset = make_dataset(documents, counts, chosen, given)
    saved = _write(dataset, out) if out is not None else None
    if options.json:
        emit("text", **_as_json(dataset, counts), **({} if saved is None else {"path": str(saved)}))
    else:
        _tell(dataset, counts)
        if saved is not None:
            tell(f"{'Session' if saved.suffix == '.plaidwork' else 'Matrix'}: {saved}")
    return DONE


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """The import options that the flags stand for."""
    given: dict[str, Any] = {name: getattr(options, name) for name in _FLAGS}
    given |= {"text_column": options.text_column, "names": options.names, "encoding": options.encoding}
    if options.keep_case:
        given["lower"] = False
    if options.stop_word_file is not None:
        given["add_stop_words"] = _words(options.stop_word_file)
    roles = dict.fromkeys(options.covariate, "covariate")
    for role in ("outcome", "cluster", "group"):
        title = getattr(options, role)
        if title is not None:
            roles[title] = role
    roles |= dict.fromkeys(options.skip, "skip")
    given["roles"] = roles
    given = {name: value for name, value in given.items() if value not in (None, {})}
    for item in options.import_option:
        key, value = pairs.pair(item, "--import-option")
        given[key] = plain_value(value)
    return given


def _words(file: Path) -> list[str]:
    try:
        return file.expanduser().read_text(encoding="utf-8-sig").split()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{file} cannot be read: {error}.", "It needs one word per line, in UTF-8."
        ) from error


def _write(dataset: Dataset, out: Path) -> Path:
    if out.name.lower().endswith(".plaidwork"):
        session = Session(name=dataset.name)
        session.add_dataset(dataset)
        return session.save(out).absolute()
    writer = BundleWriter(out.parent)
    writer.market(dataset.with_(name=out.stem))
    writer.annotations(dataset.row_names, dataset.row_table, f"{out.stem}_documents.csv")
    if writer.guarded:
        warn(guarded_text(writer.guarded))
    return out.absolute()


def _by_reason(counts: TermCounts) -> dict[str, int]:
    return {word: counts.n_of(code) for code, word in enumerate(REASONS) if counts.n_of(code)}


def _as_json(dataset: Dataset, counts: TermCounts) -> dict[str, Any]:
    options: ImportOptions = dataset.source.options
    return {
        "documents": dataset.shape[0],
        "words": dataset.shape[1],
        "nonzero": int(dataset.values.nnz),
        "terms": _by_reason(counts),
        "options": options,
    }


def _tell(dataset: Dataset, counts: TermCounts) -> None:
    density = dataset.values.nnz / max(int(np.prod(dataset.shape)), 1)
    tell(f"{dataset.described}, {dataset.values.nnz} counts above 0 ({100 * density:.2g} %)")
    dropped = [
        counted(number, word, "" if word in ("stop word", "number") else word)
        for word, number in _by_reason(counts).items()
        if word != "kept"
    ]
    if dropped:
        tell(f"Words left out: {', '.join(dropped)}")
    roles = dataset.source.options.get("roles", {})
    if roles:
        tell(f"Columns: {', '.join(f'{title} ({role})' for title, role in roles.items())}")
    order = np.lexsort((np.array(dataset.column_names), -dataset.column_table["count"]))[:_SHOWN]
    width = max(len(dataset.column_names[i]) for i in order)
    tell(f"{'Word':<{width}}  {'Count':>8}  {'Documents':>9}")
    for i in order:
        count, documents = dataset.column_table["count"][i], dataset.column_table["documents"][i]
        tell(f"{dataset.column_names[i]:<{width}}  {count:>8}  {documents:>9}")
