"""Every command of the window, declared once; menus, tool bar, palette and help are made from this."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """A command: ``key`` is the name of the window's method; ``shortcut`` in portable form."""

    key: str
    text: str
    icon: str = ""
    shortcut: str = ""
    tip: str = ""
    checkable: bool = False


ACTIONS = {
    action.key: action
    for action in (
        ActionInfo("welcome", "Welcome page", "tiles", "", "Examples and recent sessions"),
        ActionInfo(
            "new_session", "New session", "plus", "Ctrl+Shift+N", "Close this session and begin an empty one"
        ),
        ActionInfo("import_data", "Import data…", "database", "Ctrl+I", "Read a matrix from a file"),
        ActionInfo("import_text", "Import texts…", "document", "", "Count the words of documents in a table"),
        ActionInfo(
            "import_text_folder", "Import a folder of texts…", "folder", "", "Count the words of .txt files"
        ),
        ActionInfo(
            "import_image_folder",
            "Import a folder of images…",
            "image",
            "",
            "Read PNG, JPEG and other image files, a row each",
        ),
        ActionInfo("open_file", "Open…", "open", "Ctrl+O", "Open a saved session"),
        ActionInfo("save", "Save", "save", "Ctrl+S", "Save the session"),
        ActionInfo("save_as", "Save as…", "", "Ctrl+Shift+S", "Save the session under another name"),
        ActionInfo(
            "save_without_data",
            "Save a copy without data…",
            "",
            "",
            "A session to give away: runs and results without the data they were fitted to",
        ),
        ActionInfo(
            "save_compact", "Save a compact copy…", "", "", "A small session to look at, with fewer draws"
        ),
        ActionInfo(
            "save_linked",
            "Save a copy with linked data…",
            "",
            "",
            "A session whose data stay in the files they were imported from",
        ),
        ActionInfo(
            "save_embedded",
            "Save a copy with all data…",
            "",
            "",
            "A session that holds the data of linked files itself",
        ),
        ActionInfo(
            "compare_sessions",
            "Compare with a session…",
            "",
            "",
            "Say what differs between this session and a saved one",
        ),
        ActionInfo(
            "export_picture", "Export picture…", "image", "Ctrl+E", "Save the picture in front as a file"
        ),
        ActionInfo(
            "copy_picture", "Copy picture", "", "Ctrl+Shift+C", "Put the picture in front on the clipboard"
        ),
        ActionInfo(
            "export_run", "Export results…", "export", "", "Tables, draws and traces of this run as files"
        ),
        ActionInfo(
            "export_annotated",
            "Export annotated data…",
            "",
            "",
            "The data with what was found of samples and features, as AnnData or MuData read it",
        ),
        ActionInfo("export_script", "Export as Python script…", "", "", "A script that repeats this run"),
        ActionInfo(
            "export_job", "Export as job…", "", "", "A job file for the command line that repeats this run"
        ),
        ActionInfo(
            "write_report",
            "Write report…",
            "document",
            "",
            "The session as a page to read, with its figures, as HTML or PDF",
        ),
        ActionInfo(
            "write_methods",
            "What to write in the paper…",
            "",
            "",
            "Data, model, settings, convergence and versions of this run as a methods paragraph with references",
        ),
        ActionInfo(
            "results_as_data",
            "New data from results…",
            "",
            "",
            "Scores, weights or clusters of this run as data that another model can be fitted to",
        ),
        ActionInfo(
            "guard_tables",
            "Guard tables for spreadsheets",
            "",
            "",
            "Put an apostrophe before exported texts that begin with =, +, - or @, so that no spreadsheet computes them",
            True,
        ),
        ActionInfo("quit", "Quit", "", "Ctrl+Q", "Close Plaidwork"),
        ActionInfo("undo", "Undo", "undo", "Ctrl+Z", "Take the last change of the session back"),
        ActionInfo("redo", "Redo", "", "Ctrl+Shift+Z", "Make the change that was taken back again"),
        ActionInfo(
            "show_actions",
            "Record of actions…",
            "clock",
            "",
            "What was done in this session, when, and by which version",
        ),
        ActionInfo(
            "session_notes",
            "Notes on the session",
            "note",
            "",
            "What you write about the session: a report begins with it",
        ),
        ActionInfo(
            "item_notes",
            "Notes on what is chosen…",
            "",
            "Ctrl+M",
            "What you write about the chosen block, factor or topic",
        ),
        ActionInfo(
            "rename",
            "Rename…",
            "pencil",
            "F2",
            "Give another name to the chosen block, factor or topic, else to the data or run",
        ),
        ActionInfo("remove", "Remove", "trash", "Del", "Take what is chosen in the list out of the session"),
        ActionInfo("find", "Find in view", "search", "Ctrl+F", "Find a row, a column or a line of the table"),
        ActionInfo("new_fit", "New fit", "plus", "Ctrl+N", "Choose a model and its settings"),
        ActionInfo(
            "start",
            "Start or resume",
            "play",
            "Ctrl+Return",
            "Start the fit that is set up, or go on with this run",
        ),
        ActionInfo(
            "search",
            "Search settings…",
            "search",
            "Ctrl+Shift+F",
            "Fit many combinations of settings and compare them",
        ),
        ActionInfo("pause", "Pause", "pause", "Ctrl+.", "Hold the chains; nothing is lost"),
        ActionInfo("stop", "Stop", "stop", "Ctrl+Shift+.", "End the chains; what was kept stays"),
        ActionInfo(
            "fit_again", "Fit again with these settings…", "refresh", "", "Set up a new fit like this run"
        ),
        ActionInfo(
            "compare_runs",
            "Compare runs…",
            "",
            "",
            "Runs or chains beside each other: what each found again, scores, settings",
        ),
        ActionInfo(
            "verify",
            "Verify…",
            "",
            "",
            "Run the beginning again from the seed, and say whether it is equal to the bit",
        ),
        ActionInfo(
            "hold", "Hold drawing", "eye", "Ctrl+H", "Stop redrawing live plots; the fit goes on", True
        ),
        ActionInfo("show_data", "Show data", "table", "Ctrl+D", "The numbers behind the picture in front"),
        ActionInfo(
            "show_beside",
            "Show beside…",
            "",
            "Ctrl+Shift+B",
            "Another view, of this run or another, beside the one in front",
        ),
        ActionInfo("next_tab", "Next view", "", "Ctrl+Tab"),
        ActionInfo("previous_tab", "Previous view", "", "Ctrl+Shift+Tab"),
        ActionInfo("next_pane", "Next pane", "", "F6", "Move to the next pane"),
        ActionInfo("previous_pane", "Previous pane", "", "Shift+F6", "Move to the previous pane"),
        ActionInfo("show_session", "Session", "", "", "Show or hide the list of data and runs", True),
        ActionInfo("show_side", "Side panel", "", "", "Show or hide the panel at the right", True),
        ActionInfo("show_log", "Log and jobs", "", "Ctrl+L", "Show or hide the log", True),
        ActionInfo("reset_layout", "Reset layout", "", "", "All panes back in their places"),
        ActionInfo(
            "plugins", "Plugins…", "plug", "", "What is installed, why something failed, install more"
        ),
        ActionInfo("light", "Light", "sun", "", "Light colours", True),
        ActionInfo("dark", "Dark", "moon", "", "Dark colours", True),
        ActionInfo("follow_system", "Follow the system", "", "", "Light or dark as the desktop is", True),
        ActionInfo("high_contrast", "High contrast", "", "", "Stronger lines and no grey text", True),
        ActionInfo(
            "english", "English", "", "", "Texts of the window in English from the next start on", True
        ),
        ActionInfo("german", "Deutsch", "", "", "Texts of the window in German from the next start on", True),
        ActionInfo(
            "system_language", "Language of the system", "", "", "English where there is no translation", True
        ),
        ActionInfo("larger_text", "Larger text", "plus", "Ctrl+Alt+=", "Texts of the window, up to 200 %"),
        ActionInfo("smaller_text", "Smaller text", "minus", "Ctrl+Alt+-", "Texts of the window"),
        ActionInfo("commands", "Find a command…", "search", "Ctrl+Shift+P", "Every command by name"),
        ActionInfo("documentation", "Documentation", "help", "F1", "The page about what is in front"),
        ActionInfo("take_tour", "Take the tour", "map", "", "Five steps from an example to a report"),
        ActionInfo("shortcuts", "Keyboard shortcuts", "", "Ctrl+F1", "All shortcuts"),
        ActionInfo(
            "system_information", "System information", "info", "", "Versions, for a report of an error"
        ),
        ActionInfo("about", "About Plaidwork", "", "", "Version and licence"),
    )
}

SEPARATOR = "-"
RECENT = "recent"
"""Place of the sub-menu of recent sessions."""

MENUS: dict[str, tuple[str, ...]] = {
    "File": (
        "new_session", "import_data", "import_text", "import_text_folder", "import_image_folder", "open_file", RECENT, SEPARATOR, "save", "save_as", "save_without_data", "save_compact", "save_linked", "save_embedded", "compare_sessions", SEPARATOR,
        "export_picture", "export_run", "export_annotated", "export_job", "export_script", "guard_tables", SEPARATOR, "write_report", "write_methods", SEPARATOR, "welcome", "quit",
    ),
    "Edit": ("undo", "redo", "show_actions", SEPARATOR, "copy_picture", SEPARATOR, "rename", "remove", SEPARATOR, "item_notes", "session_notes", SEPARATOR, "find"),
    "Fit": ("new_fit", "search", "start", "pause", "stop", SEPARATOR, "fit_again", "results_as_data", "compare_runs", "verify"),
    "Views": ("show_data", "hold", "show_beside", SEPARATOR, "next_tab", "previous_tab"),
    "Window": (
        "show_session", "show_side", "show_log", "reset_layout", SEPARATOR, "plugins", SEPARATOR,
        "light", "dark", "follow_system", "high_contrast", SEPARATOR, "larger_text", "smaller_text", SEPARATOR, "english", "german", "system_language", SEPARATOR, "next_pane", "previous_pane",
    ),
    "Help": ("documentation", "take_tour", SEPARATOR, "commands", "shortcuts", SEPARATOR, "system_information", "about"),
}  # fmt: skip

TOOLBAR = ("open_file", "save")


def action_info(key: str) -> ActionInfo:
    """The command of this key; an unknown key says what may have been meant."""
    found = ACTIONS.get(key)
    if found is None:
        near = get_close_matches(key, ACTIONS, 1)
        raise KeyError(f"no command {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return found
