"""The window in another language: every text has a translation, and what is put into texts stays where it belongs."""

import re
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from plaidwork.core.pictures import Axis, Key, Line, Panel, Picture, Ramp
from plaidwork.core.plugins.registry import registry
from plaidwork.gui.language import chosen_language, language, set_language, tr, tr_name
from plaidwork.gui.language.catalogue import read_translations
from plaidwork.gui.language.matching import Matcher
from plaidwork.gui.language.pictures import described, told
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.widgets import DataTable, Label, button
from plaidwork.gui.workbench import Workbench

ROOT = Path(__file__).resolve().parents[2]
GERMAN = ROOT / "resources" / "translations" / "plaidwork_de.ts"


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "installer"))
    import texts

    yield texts
    sys.modules.pop("texts", None)


@pytest.fixture
def german(qapp):
    set_language("de")
    yield
    set_language("en")


# -- the catalogue --------------------------------------------------------------------------------
def test_every_text_of_the_program_is_translated_and_none_is_left_over(texts):
    wanted, known = set(texts.all_texts()), read_translations(GERMAN)
    missing = sorted(wanted - set(known))
    assert not missing, "python installer/texts.py, and translate: " + "\n".join(missing)
    assert set(known) == wanted, "python installer/texts.py"


def test_places_and_quotation_marks_are_those_of_the_source():
    wrong = [
        (source, told)
        for source, told in read_translations(GERMAN).items()
        if set(re.findall(r"%\d", source)) != set(re.findall(r"%\d", told))
        or "“" in told.replace("“", "", told.count("„"))
    ]
    assert not wrong


def test_what_stands_in_the_sources(texts):
    source = '''
"""A docstring of several words."""
def f(n, name, x):
    say("Two words", key="not_words", title="share")
    show(f"{counted(n, 'chain')} {agree(n, 'is', 'are')} in “{name}”{' too' if x else ''}.")
    counted(n, "draw")
    if x == "this is compared": raise ValueError("for authors only")
    re.compile("a pattern of it")
'''
    assert {text for _, text in texts.visible(source)} == {
        "Two words", "share", "%1 chain is in “%2”.", "%1 chain is in “%2” too.", "%1 chains are in “%2”.",
        "%1 chains are in “%2” too.", "%1 chain", "%1 chains", "%1 draw", "%1 draws",
    }  # fmt: skip


# -- finding a translation ------------------------------------------------------------------------
@pytest.fixture
def matcher():
    return Matcher(
        {
            "Close": "Schließen",
            "%1 chains": "%1 Ketten",
            "%1 chains agree on “%2”": "%1 Ketten stimmen bei „%2“ überein",
            "%1 of %2": "%1 von %2",
            "%2 after %1": "nach %1: %2",
            "It ended.": "Es endete.",
            "share of the variance": "Anteil der Varianz",
            "Class %1 is left out, and so is every sample of it": "Klasse %1 und alle ihre Proben fehlen",
            "%1s of the table": "%1n der Tabelle",
            "row": "Zeile",
            "chains": "Ketten",
        }
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Close", "Schließen"),
        ("Close…", "Schließen…"),
        ("  Close ", "  Schließen "),
        ("4 chains", "4 Ketten"),
        ("4 chains agree on “Close”", "4 Ketten stimmen bei „Close“ überein"),  # a name is not touched
        ("4 chains agree on “a of b”. It ended.", "4 Ketten stimmen bei „a of b“ überein. Es endete."),
        ("Share of the variance", "Anteil der Varianz"),
        ("3 of 12", "3 von 12"),
        ("3 chains of 12", "3 Ketten von 12"),
        ("rows of the table", "Zeilen der Tabelle"),
        ("4 chains · It ended", "4 Ketten · Es endete"),
        ("It ended.\nIt ended.", "Es endete.\nEs endete."),
        ("Class a b is left out, and so is every sample of it", "Klasse a b und alle ihre Proben fehlen"),
    ],
)  # fmt: skip
def test_a_text_is_found(matcher, text, shown):
    assert matcher.translate(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "The rest of the story",
        "Nobody knows this one, 4 chains",
        "age",
        "12 345.6",
        "“Close”",
        "",
        "It " * 3000,
    ],
)
def test_what_is_not_known_stays_whole(matcher, text):
    assert matcher.translate(text) == text


def test_what_is_put_in_ends_with_the_sentence():
    matcher = Matcher({"%1 % of %2 in %3.": "%3: %1 % von %2.", "%1 restarts in %2.": "%1 Neustarts in %2."})
    text = "98 % of crabs. 2 restarts in 0.3 s."
    assert matcher.translate(text) == "98 % of crabs. 2 Neustarts in 0.3 s."


def test_a_sentence_that_is_not_known_stays_beside_one_that_is(matcher):
    assert matcher.translate("Nobody knows this of it. It ended.") == "Nobody knows this of it. Es endete."


# -- the window -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("variable", "kept", "chosen"),
    [("", "de", "de"), ("de", "en", "de"), ("", "xx", "en"), ("fr", "de", "en")],
)
def test_which_language_is_chosen(monkeypatch, variable, kept, chosen):
    monkeypatch.setenv("PLAIDWORK_LANGUAGE", variable)
    assert chosen_language(kept) == chosen


def test_widgets_translate_and_names_stay(german, qtbot):
    label, pressed = Label("Close"), button("Cancel")
    qtbot.addWidget(label)
    qtbot.addWidget(pressed)
    assert (label.text(), pressed.text()) == ("Schließen", "Abbrechen")
    label.setText("Settled")
    assert label.text() == "Konvergiert"
    assert tr("4 chains") == "4 Ketten"
    assert tr_name("rows") == "rows"
    table = DataTable({"Sample": ["missing"], "x": [1.5]})
    qtbot.addWidget(table)
    model = table.view.model()
    assert model.index(0, 0).data() == "missing"


def test_qt_speaks_it_too(german):
    assert QApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"


def test_pictures_are_told_and_their_names_stay(german):
    panel = Panel(
        (Line(x=[0, 1], y=[0, 1]),), x=Axis("loading"), y=Axis(names=("missing", "b"), scale="category")
    )
    shown = told(Picture("Seen", panels=(panel,), legend=(Key("missing", 0), Ramp("loading"))))
    assert shown.panels[0].x.label == "Ladung"
    assert shown.panels[0].y.names == ("missing", "b")
    assert [entry.text for entry in shown.legend] == ["fehlend", "Ladung"]


def test_a_picture_is_described_in_one_language(german):
    panel = Panel((Line(x=[0, 1], y=[0, 1], name="a"),), x=Axis("loading"))
    words = described(Picture("It ended.", panels=(panel,), table={"sample": ["missing"], "x": [1.0]})).split(
        "\n"
    )
    assert words[1:] == ["sample\tx", "missing\t1"]  # titles and names as in a file


def test_the_choice_is_kept_and_told(qapp, qtbot, tmp_path, monkeypatch):
    monkeypatch.delenv("PLAIDWORK_LANGUAGE")
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path))
    window = MainWindow(Workbench(registry()), Settings(tmp_path))
    qtbot.addWidget(window)
    window.actions_by_key["german"].trigger()
    assert Settings(tmp_path).text("language") == "de"
    assert "Deutsch" in window.messages._messages[-1].title
    assert language() == "en"  # from the next start on
    wait_for_tasks()


def test_the_window_in_german(german, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path))
    window = MainWindow(Workbench(registry()), Settings(tmp_path))
    qtbot.addWidget(window)
    titles = [action.text().replace("&", "") for action in window.menuBar().actions()]
    assert titles[0] == "Datei"
    words = {label.text() for label in window.findChildren(Label)}
    assert not words & {"Data", "Runs", "Untitled", "Open", "Examples"}
    wait_for_tasks()


def test_the_size_that_a_model_is_meant_for_is_told_in_german(german):
    told = tr("Meant for tables with at most 250 samples and 20 inputs.")
    assert told == "Gedacht für Tabellen mit höchstens 250 Proben und 20 Eingaben."
