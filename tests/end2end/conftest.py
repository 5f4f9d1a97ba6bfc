"""The window's fixtures serve the end-to-end tests too."""

from tests.gui.conftest import qapp, tidy  # noqa: F401
