"""The walk of ``tests/walk.py`` sees what it is there to see, and nothing in a tidy window."""

from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton, QVBoxLayout, QWidget

from plaidwork.gui.widgets import Label, SegmentedControl, SliderField, StatePane, scrolled
from tests.walk import complaints, options, settle

WORDS = "Some words that need more room than they have here"


def shown(qtbot, *children):
    """A window of 400 x 300 with these widgets where they want to be."""
    window = QWidget()
    window.resize(400, 300)
    qtbot.addWidget(window)
    for child in children:
        child.setParent(window)
    window.show()
    settle(window)
    return window


def test_a_tidy_window_has_no_complaints(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    inner = QWidget()
    column = QVBoxLayout(inner)
    for _ in range(30):
        column.addWidget(Label(WORDS, wrap=True))
    layout = QVBoxLayout(window)
    for widget in (Label(WORDS), Label(WORDS * 9, elide=True), QPushButton("Run"), scrolled(inner)):
        layout.addWidget(widget)
    window.resize(500, 300)
    window.show()
    settle(window)
    assert complaints(window) == []


def test_cut_words_are_seen_unless_a_tool_tip_has_them(qtbot):
    plain, wrapped, told = QLabel(WORDS), Label(WORDS * 3, wrap=True), QLabel(WORDS)
    press, tick, combo = QPushButton(WORDS), QCheckBox(WORDS), QComboBox()
    combo.addItem(WORDS)
    told.setToolTip(WORDS)
    cut = (plain, wrapped, press, tick, combo)
    for place, widget in enumerate((*cut, told)):
        widget.setGeometry(0, 40 * place, 90, 20)
    found = complaints(shown(qtbot, *cut, told))
    assert len(found) == len(cut)
    assert all("is cut" in words or "needs" in words for words in found)


def test_a_line_that_is_too_low_is_seen_even_where_it_elides(qtbot):
    squeezed = Label(WORDS, elide=True)
    squeezed.setGeometry(0, 0, 380, 9)
    (words,) = complaints(shown(qtbot, squeezed))
    assert "has 9 px of height" in words


def test_a_widget_outside_its_parent_is_seen(qtbot):
    lost = QPushButton("Run")
    lost.setGeometry(350, 10, 90, 30)
    (words,) = complaints(shown(qtbot, lost))
    assert "is not within its parent of 400 × 300" in words


def test_a_failure_on_a_pane_is_seen(qtbot):
    pane = StatePane("error", "This picture could not be drawn", "KeyError: 'rate'")
    pane.setGeometry(0, 0, 400, 300)
    (words,) = complaints(shown(qtbot, pane))
    assert "KeyError: 'rate'" in words


def test_every_option_is_chosen_and_put_back(qtbot):
    mode, top, lines = (
        SegmentedControl(["Data", "Fit", "Rest"]),
        SliderField("", 1, 9, 5, step=1),
        QCheckBox("Lines"),
    )
    for place, control in enumerate((mode, top, lines)):
        control.setGeometry(0, 40 * place, 300, 34)
    window = shown(qtbot, mode, top, lines)
    seen = []
    for name, choose in options(window):
        choose()
        seen.append(name)
    assert seen[:3] == ["SegmentedControl = Fit", "SegmentedControl = Rest", "SegmentedControl = Data"]
    assert "SliderField = 9" in seen
    assert "Lines = True" in seen
    assert (mode.current, top.value, lines.isChecked()) == ("Data", 5, False)
