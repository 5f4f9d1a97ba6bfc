"""What every command does. Each method is the command of that key in ``gui/actions.py``."""

from plaidwork.gui.commands.exports import ExportCommands
from plaidwork.gui.commands.files import FileCommands
from plaidwork.gui.commands.fits import FitCommands
from plaidwork.gui.commands.studies import StudyCommands
from plaidwork.gui.commands.views import ViewCommands

__all__ = ["Commands"]


class Commands(FileCommands, ExportCommands, FitCommands, StudyCommands, ViewCommands):
    """All commands of the window."""
