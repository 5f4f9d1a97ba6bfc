"""What the window shows in the language that is set; the rooms below it write English, and so do files.

`tr` is Qt's translation: a `QTranslator` answers for a text, with what is put into it, from Qt Linguist's file
``resources/translations/plaidwork_LANGUAGE.ts``. Names that people gave are best not handed to it.
"""

from plaidwork.gui.language.catalogue import LANGUAGES, chosen_language, language, set_language, tr, tr_name

__all__ = ["LANGUAGES", "chosen_language", "language", "set_language", "tr", "tr_name"]
