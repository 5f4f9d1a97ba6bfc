"""Notes on the session, on runs and on what was found: written, shown, taken back, and harmless whoever wrote them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextDocument
from PySide6.QtWidgets import QApplication

from plaidwork.core.markdown import LONGEST
from plaidwork.core.session.session import open_session
from plaidwork.gui.dialogs import Dialog
from plaidwork.gui.notes import NotesField, NoteView
from plaidwork.gui.notes.dialog import ItemNotes
from plaidwork.gui.session_tree import NOTES, RUN, SESSION, notes_line
from plaidwork.gui.theme import theme
from tests.gui.result_runs import block_results, make_dataset, make_run
from tests.gui.window_tools import window_on

HOSTILE = (
    '<script>alert(1)</script> <img src="file:///etc/hostname"> ![x](https://track.example/x.png) '
    "[bank](javascript:alert) <a href='file:///etc/passwd'>open</a> [mine](https://x.example/a?b)"
)


@pytest.fixture
def window(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    dataset, rows, columns = make_dataset()
    workbench, _ = make_run(dataset, block_results(dataset, rows, columns))
    with window_on(workbench, tmp_path) as made:
        yield made


@pytest.fixture
def field(qtbot):
    made = NotesField("Notes on it", "Write")
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    return made


def the_run(window):
    (run,) = window.workbench.session.runs.values()
    return run


def chosen_block(window, qtbot, number=1):
    """The page of blocks with one of them chosen."""
    window.tree.select(RUN, the_run(window).id)
    page = window.workspace.current_page()
    qtbot.waitUntil(lambda: page.loaded is not None and not page.busy, timeout=20_000)
    window.workbench.selection(the_run(window)).set("layer", (number,))
    return page


def test_notes_on_the_session_are_written_taken_back_and_kept(window, qtbot, tmp_path):
    session, run = window.workbench.session, the_run(window)
    window.actions_by_key["session_notes"].trigger()
    assert window.tree.current() == (NOTES, SESSION)
    page = window.workspace.current_page()
    qtbot.keyClicks(page.notes.editor, "# Why")
    assert session.notes == "# Why"
    qtbot.waitUntil(lambda: page.notes.view.toPlainText() == "Why")
    assert window.tree.currentItem().data(0, Qt.ItemDataRole.AccessibleTextRole) == "On the session, Why"
    window.tree.select(RUN, run.id)
    window.actions_by_key["undo"].trigger()
    assert session.notes == ""
    assert page.notes.text == ""
    window.actions_by_key["redo"].trigger()
    assert session.notes == page.notes.text == "# Why"
    session.save(tmp_path / "a.plaidwork")
    assert open_session(tmp_path / "a.plaidwork").notes == "# Why"


def test_the_notes_are_a_place_that_a_session_opens_on_again(window, qtbot, tmp_path):
    window.actions_by_key["session_notes"].trigger()
    assert window.state.chosen() == (NOTES, SESSION)
    window.workbench.session.save(tmp_path / "a.plaidwork")
    window.workbench.set_session(open_session(tmp_path / "a.plaidwork"))
    assert window.tree.current() == (NOTES, SESSION)
    window.actions_by_key["remove"].trigger()
    assert window.tree.current() == (NOTES, SESSION)


def test_notes_on_a_block_are_beside_it(window, qtbot, tmp_path):
    page, run = chosen_block(window, qtbot), the_run(window)
    button = page._note
    assert button.isVisible()
    assert button.accessibleName() == "Write notes on what is chosen"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = window.findChild(ItemNotes)
    assert not dialog.isModal()
    assert dialog.windowTitle() == "Notes on Block 2"
    qtbot.keyClicks(dialog.notes.editor, "*ribosomal*")
    assert run.item_notes == {"block": {"1": "*ribosomal*"}}
    assert button.accessibleName() == "Read or change the notes on what is chosen"
    assert window.workbench.editing.undo_name == "Notes on “Block 2”"
    window.actions_by_key["undo"].trigger()
    assert run.item_notes == {}
    assert dialog.notes.text == ""
    window.actions_by_key["redo"].trigger()
    assert dialog.notes.text == "*ribosomal*"
    window.actions_by_key["item_notes"].trigger()
    assert window.findChildren(ItemNotes) == [dialog]
    window.workbench.selection(run).set("layer", (0,))
    assert button.accessibleName() == "Write notes on what is chosen"
    window.workbench.session.save(tmp_path / "a.plaidwork")
    (stored,) = open_session(tmp_path / "a.plaidwork").runs.values()
    assert stored.item_notes == run.item_notes
    window.workbench.editing.remove([run])
    assert not dialog.isVisible()


def test_without_a_block_the_command_says_what_to_do(window, qtbot):
    chosen_block(window, qtbot)
    window.workbench.selection(the_run(window)).set("layer", ())
    window.actions_by_key["item_notes"].trigger()
    assert window.messages.current.title.startswith("Choose a block, factor or topic")
    assert window.findChild(ItemNotes) is None


def test_a_hostile_note_is_words_and_nothing_is_loaded(field, qtbot, monkeypatch):
    asked = []
    load = NoteView.loadResource
    monkeypatch.setattr(NoteView, "loadResource", lambda *given: asked.append(given[1:]) or load(*given))
    field.set_text(HOSTILE)
    shown = field.view.toPlainText()
    assert '<script>alert(1)</script> <img src="file:///etc/hostname"> [Picture: x]' in shown
    assert "[bank](javascript:alert)" in shown
    assert asked == []
    assert "￼" not in shown  # what stands for a picture
    assert field.view.loadResource(
        QTextDocument.ResourceType.ImageResource.value, QUrl("file:///etc/hostname")
    ).isEmpty()


def test_a_link_is_opened_after_its_address_was_shown(field, qtbot, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()) or True)
    field.set_text("[mine](https://x.example/a?b=1)")
    QApplication.processEvents()
    at = _place_of_link(field.view)
    qtbot.mouseClick(field.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    dialog = field.window().findChild(Dialog)
    assert dialog.findChild(type(field.editor)).toPlainText() == "https://x.example/a?b=1"
    assert opened == []
    dialog._choose("cancel")
    assert opened == []
    for choice in ("copy", "open"):
        field.view.anchorClicked.emit(QUrl("https://x.example/a?b=1"))
        next(one for one in field.findChildren(Dialog) if one.isVisible())._choose(choice)
    assert QGuiApplication.clipboard().text() == "https://x.example/a?b=1"
    assert opened == ["https://x.example/a?b=1"]
    before = len(field.findChildren(Dialog))
    field.view.anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert len([one for one in field.findChildren(Dialog) if one.isVisible()]) <= before
    assert not any(one.isVisible() for one in field.findChildren(Dialog))


def _place_of_link(view):
    bounds = view.viewport().rect()
    for y in range(0, bounds.height(), 4):
        for x in range(0, bounds.width(), 4):
            if view.anchorAt(QPoint(x, y)):
                return QPoint(x + 2, y + 2)
    raise AssertionError("no link in view")


def test_a_note_has_a_longest_length(field, qtbot):
    told = []
    field.edited.connect(told.append)
    field.set_text("x" * (LONGEST - 1))
    qtbot.keyClicks(field.editor, "ab")
    assert len(field.text) == LONGEST
    assert len(told) == 1
    assert "at most 20" in field._said.text()
    QGuiApplication.clipboard().setText("y" * 100)
    field.editor.paste()
    assert "y" not in field.text
    field.set_text("z" * (LONGEST + 50))  # another program has written it: it is kept, and may be shortened
    qtbot.keyClick(field.editor, Qt.Key.Key_Delete)
    assert len(field.text) == LONGEST + 49
    assert len(told) == 2


def test_a_note_of_any_length_is_shown_in_part_and_stays_whole(field, qtbot):
    """A session of a stranger may hold megabytes."""
    told, long = [], "x y " * 2_000_000
    field.edited.connect(told.append)
    field.set_text(long)
    assert len(field.view.toPlainText()) < 2 * LONGEST
    qtbot.keyClicks(field.editor, "a")
    assert field.text == long
    assert told == []
    assert "too long to be changed here" in field._said.text()
    field.set_text("short")
    qtbot.keyClicks(field.editor, "a")
    assert told == ["ashort"]


def test_both_panes_where_there_is_room_else_one_of_them(field, qtbot):
    assert field.editor.isVisible()
    assert field.view.isVisible()
    assert not field.mode.isVisible()
    field.resize(500, 300)
    assert (field.editor.isVisible(), field.view.isVisible()) == (True, False)
    qtbot.keyClicks(field.editor, "**b**")
    field.mode.set_current("read")
    assert (field.editor.isVisible(), field.view.isVisible()) == (False, True)
    assert field.view.toPlainText() == "b"


def test_what_is_there_is_shown_as_it_reads_first(qtbot):
    made = NotesField("Notes", "Write")
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.set_text("# There")
    made.show()
    assert made.view.isVisible()
    assert made.view.toPlainText() == "There"
    assert made.view.accessibleName() == "Notes, as they read"


def test_the_colours_are_those_of_the_theme(field, qtbot):
    field.set_text("> quoted")
    for mode in ("dark", "light"):
        theme().set_mode(mode)
        assert theme().color("muted").name() in field.view.toHtml()


def test_the_line_in_the_list_is_the_first_that_says_something():
    assert notes_line("") == "nothing written yet"
    assert notes_line("\n---\n## **Aim** \nmore") == "Aim"
