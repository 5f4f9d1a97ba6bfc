"""Visible texts count in words by one way: `plaidwork.core.draws.counting`."""

import pytest
from count_words import by_hand, wrong_counts
from slips import slips
from source_tree import files, name_of

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.draws.counting import agree, counted, labelled, plural
from plaidwork.core.findings.settings import shown_value

EXCEPTIONS = {
    ("core/quoting.py", "{count} cells"): "below the rooms of numbers as text; one cell has its own words",
    ("core/report/making.py", "{schedule.thin} sweeps"): "only where it is not 1",
    ("core/data/importers/_npz_load.py", "{parts} rows"): "several counts in a row",
    ("core/views/sources.py", "{found.held.dtype} values"): "a type",
    ("plugins/plaid/wording.py", "{low} blocks"): "a mean with a decimal",
    ("plugins/plaid/wording.py", "{high} blocks"): "a mean with a decimal",
    ("plugins/supervised_ibp/analyses.py", "{level} intervals"): "a percentage",
    ("gui/setup/matrix_edit.py", "{features} features"): "a text, perhaps of several numbers",
    ("gui/setup/input_field.py", "{shown} samples"): "a name, or several data sets already counted",
    ("plugins/factor_tools/enriched.py", "{params['within']} within sets"): "a correlation",
}
"""File and words, and why they may stay."""

ALIGNED = ("core/cli/", "gui/log_panel.py")
"""Texts of a terminal, in columns."""

NO_SLIPS = {
    ("core/data/reading_options.py", "Comma  ,"): "a name and its sign",
    ("core/data/reading_options.py", "Semicolon  ;"): "the same",
    ("gui/dialogs.py", "Esc;  Alt+Left  and  Alt+Right"): "keys",
    ("gui/studies/grid_row.py", "whole numbers; 2..6 is a range"): "what is typed",
}
"""File and text, and why it may stay."""

DEEPER = ("core/contract/", "core/numerics/")
"""Rooms that know no numbers as text (tests/test_rooms.py): they speak to those who write models."""


def texts():
    for path in files("core", "gui", "plugins"):
        if not name_of(path).startswith(DEEPER):
            yield name_of(path), path.read_text(encoding="utf-8")


def test_no_number_stands_before_a_fixed_plural():
    found = [
        f"{name}:{line}: {words}"
        for name, source in texts()
        for line, words in wrong_counts(source)
        if (name, words) not in EXCEPTIONS
    ]
    assert not found, "use counted(number, word), or its plural is wrong for one:\n" + "\n".join(found)


def test_no_other_way_to_write_a_plural():
    found = [
        f"{name}:{line}: {words}"
        for name, source in texts()
        if name != "core/draws/counting.py"
        for line, words in by_hand(source)
    ]
    assert not found, "use counted, plural or agree:\n" + "\n".join(found)


def test_exceptions_are_still_needed():
    known = {(name, words) for name, source in texts() for _, words in wrong_counts(source)}
    assert set(EXCEPTIONS) <= known


def test_no_slips_of_writing():
    found = [
        f"{name}:{line}: {text}"
        for name, source in texts()
        if not name.startswith(ALIGNED)
        for line, text in slips(source)
        if (name, text) not in NO_SLIPS
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Between 1 and 2..", True), ("and so on...", False), ("It is is so.", True), ("An block of a index.", True),
        ("an hour, a unit, an x", False), ("two  spaces", True), ("Wait , then go.", True), ("A list: 1, 2.", False),
    ],
)  # fmt: skip
def test_what_a_slip_is(text, wrong):
    assert bool(list(slips(f"x = {text!r}"))) is wrong
    assert not list(slips(f"def f():\n    {text!r}"))


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ('f"{n} chains"', True),
        ('f"{format_count(len(x))} warm-up sweeps"', True),
        ('f"of {run.schedule.chains} chains are"', True),
        ('f"{x:.2f} nats in {MOST} sweeps"', False),  # a fraction, and a constant that is never 1
        ('f"{run.chains} {run.chain_word}s, seed"', True),
        ('f"{name} holds samples"', False),
        ("f\"{counted(n, 'chain')} and more\"", False),
    ],
)
def test_what_is_found(source, wrong):
    assert bool(list(wrong_counts(source))) is wrong


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("x = 'run' if n == 1 else 'runs'", True),
        ("f\"{n} fit{'s' if n != 1 else ''}\"", True),
        ("x = 's are' if n > 1 else ' is'", True),
        ("x = 'all' if n == 1 else 'the first'", False),
    ],
)
def test_what_is_found_by_hand(source, wrong):
    assert bool(list(by_hand(source))) is wrong


@pytest.mark.parametrize(
    ("word", "several"),
    [
        ("chain", "chains"), ("matrix", "matrices"), ("class", "classes"), ("category", "categories"), ("day", "days"),
        ("mouse", "mice"), ("samples", "samples"), ("data set", "data sets"), ("covariance matrix", "covariance matrices"),
        ("analysis", "analyses"), ("match", "matches"), ("SNP", "SNPs"),
    ],
)  # fmt: skip
def test_plurals(word, several):
    assert plural(word) == several
    assert counted(1, word) == f"1 {word}"
    assert counted(0, word) == f"0 {several}"
    assert counted(12_300, word) == f"12\u202f300 {several}"


def test_verbs_agree():
    assert [agree(n, "is", "are") for n in (0, 1, 2)] == ["are", "is", "are"]


@pytest.mark.parametrize(
    ("number", "words", "shown"),
    [
        (1, "inputs", "1 input"),
        (2, "inputs", "2 inputs"),
        (1, "analyses", "1 analysis"),
        (1, "classes", "1 class"),
        (1, "raw counts", "1 raw count"),
        (1, "CpGs", "1 CpG"),
        (1, "series", "1 series"),
        (1, "studies", "1 study"),
        (1, "staff", "1 staff"),
    ],
)
def test_labels_of_axes_go_with_their_number(number, words, shown):
    assert labelled(number, words) == shown


def test_a_setting_that_is_left_open_is_not_shown_as_nothing():
    reference = Hyperparameter("reference", "text", "")
    assert shown_value(reference, "") == "not set"
    assert shown_value(reference, "anna") == "anna"
