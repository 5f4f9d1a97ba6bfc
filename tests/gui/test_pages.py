"""What the window may ask of a page: declared in one class, and kept to by all."""

from importlib import import_module

import pytest
from source_tree import files, module_of

from plaidwork.gui.page import FrontPage, Page
from plaidwork.gui.workspace import PageInfo, Workspace

COMMANDS = ("export_picture", "show_data", "find_in_page")


def _pages():
    for path in files("gui"):
        import_module(module_of(path))
    found, todo = [], [Page]
    while todo:
        kinds = [kind for kind in todo.pop().__subclasses__() if kind.__module__.startswith("plaidwork.")]
        found += kinds
        todo += kinds
    return dict.fromkeys(found)


def test_a_page_offers_what_it_can_do_and_nothing_else(qapp):
    pages = _pages()
    assert len(pages) > 20
    for kind in pages:
        can = {name for name in COMMANDS if getattr(kind, name) is not getattr(Page, name)}
        assert can == kind.offers, kind


def test_a_page_of_which_nothing_is_asked_does_nothing(qtbot, tmp_path):
    page = Page()
    qtbot.addWidget(page)
    assert page.side_panel() is page.found_item() is page.data_in_focus is page.show_data() is None
    assert page.export_picture(tmp_path / "a.png") is None
    for act in (page.tick, page.find_in_page, page.rename, page.rename_item):
        act()
    assert not list(tmp_path.iterdir())


def test_commands_go_to_the_page_in_front(qtbot, tmp_path):
    class Picture(Page):
        def export_picture(self, path):
            return path

        def show_data(self):
            return self

    class Around(FrontPage):
        front = None

    page, picture = Around(), Picture()
    for widget in (page, picture):
        qtbot.addWidget(widget)
    assert page.export_picture(tmp_path / "a.png") is page.show_data() is None
    page.front = picture
    assert page.export_picture(tmp_path / "a.png") == tmp_path / "a.png"
    assert page.show_data() is picture


def test_the_window_hears_of_a_page_once(qtbot):
    made = Workspace()
    qtbot.addWidget(made)
    heard = []
    made.page_made.connect(heard.append)
    made.set_pages([PageInfo(key, key, "chart", Page) for key in "ab"])
    for key in "abab":
        made.go_to(key)
    assert heard == [made.page("a"), made.page("b")]


@pytest.mark.parametrize("offer", COMMANDS)
def test_offers_are_methods(offer):
    assert callable(getattr(Page, offer))
