"""How files can be read: every option of every built-in reader, declared once.

The command line (its help and its checks), the fields of the import dialog and the options that Python calls accept
are all made from :data:`READING_OPTIONS`. Nothing but the standard library is needed here.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from plaidwork.core.errors import DataError

Kind = Literal["choice", "flag", "text", "number", "columns", "column", "texts", "size"]

TABLES = ("delimited", "spreadsheet")
MATRICES = ("numpy", "matrix_market", "annotated", "hdf5", "matlab", "parquet")
IMAGES = ("idx", "image_folder")
EVERY = (*TABLES, *MATRICES, *IMAGES)


@dataclass(frozen=True, slots=True)
class ReadingOption:
    """One way to say how a file is read.

    ``kind`` is what its value looks like: ``choice`` (one of ``choices``, or of those that the file offers),
    ``column`` (number from 0 or title), ``columns`` (several), ``texts`` (a list), ``size`` (height and width), ``flag``,
    ``number`` (whole, from 0) or ``text``. ``off`` are the words for "not given", ``default`` is what a flag then is.
    ``spelled`` are other words for values.
    """

    name: str
    kind: Kind
    title: str
    doc: str
    readers: tuple[str, ...]
    choices: tuple[tuple[Any, str], ...] = ()
    off: str = "Found in the file"
    spelled: Mapping[str, Any] | None = None
    default: bool = False

    def parsed(self, value: Any) -> Any:
        """The value as readers take it, from what was typed or stored in a job. Raises ``DataError``."""
        if self.spelled is not None and isinstance(value, (str, bool)):
            value = self.spelled.get(str(value).lower(), value)
        fault = _FAULTS.get(self.kind, lambda option, value: "")(self, value)
        if fault:
            raise DataError(
                f"The option {self.name} must be {fault}. Found “{value}”.", f"{self.title}: {self.doc}."
            )
        return value


def _choice_fault(option: ReadingOption, value: Any) -> str:
    allowed = [item for item, _ in option.choices]
    if not allowed or any(type(item) is type(value) and item == value for item in allowed):
        return ""
    spelled = [word for word, value in (option.spelled or {}).items() if value in allowed and word.isalpha()]
    texts = [
        str(item).lower() if isinstance(item, bool) else str(item) for item in allowed if str(item).isalnum()
    ]
    return f"one of {', '.join(dict.fromkeys([*texts, *spelled]))}"


def _flag_fault(option: ReadingOption, value: Any) -> str:
    return "" if isinstance(value, bool) else "true or false"


def _number_fault(option: ReadingOption, value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if whole else "a whole number from 0"


def _column_fault(option: ReadingOption, value: Any) -> str:
    fits = isinstance(value, (str, int)) and not isinstance(value, bool)
    return "" if fits else "a column: its title, or its number from 0"


def _columns_fault(option: ReadingOption, value: Any) -> str:
    several = value if isinstance(value, (list, tuple)) else [value]
    return (
        "columns: titles, or numbers from 0" if any(_column_fault(option, item) for item in several) else ""
    )


_FAULTS: dict[str, Callable[[ReadingOption, Any], str]] = {
    "choice": _choice_fault,
    "flag": _flag_fault,
    "number": _number_fault,
    "column": _column_fault,
    "columns": _columns_fault,
}
_MARKS = {"comma": ",", "point": ".", "blank": " ", "space": " ", "apostrophe": "'"}
_OF_TEXT = ("delimited",)


def _drop(what: str, which: str, text: str) -> ReadingOption:
    name = f"drop_{which}_{what}"
    return ReadingOption(name, "flag", f"Drop {which} {what}", f"leave out {what} {text}", EVERY)


READING_OPTIONS: tuple[ReadingOption, ...] = (
    ReadingOption("sheet", "choice", "Sheet", "sheet of a spreadsheet, by name", ("spreadsheet",)),
    ReadingOption("modality", "choice", "Modality", "modality of a .h5mu file", ("annotated",)),
    ReadingOption("layer", "choice", "Layer", "X, layers/NAME or raw/X", ("annotated",)),
    ReadingOption("array", "choice", "Array", "which array of a file of several", ("numpy", "hdf5", "matlab")),
    ReadingOption(
        "images_along", "choice", "Images are along", "which of three axes counts the images: last or first", ("matlab",),
        (("last", "Last axis counts the images"), ("first", "First axis does")),
    ),
    ReadingOption(
        "layout", "choice", "Table is", "wide (a matrix) or long (one row per value)", TABLES,
        (("wide", "A matrix"), ("long", "One row per value")),
    ),
    ReadingOption("sample", "column", "Samples are in", "long table: column of the samples", TABLES),
    ReadingOption("feature", "column", "Features are in", "long table: column of the features", TABLES),
    ReadingOption("value", "column", "Values are in", "long table: column of the values", TABLES),
    ReadingOption("view", "column", "Views are in", "long table: column of the views, -1 for none", TABLES),
    ReadingOption(
        "delimiter", "choice", "Separator", "comma, tab, semicolon, space or bar", _OF_TEXT,
        ((",", "Comma  ,"), ("\t", "Tab"), (";", "Semicolon  ;"), (" ", "Space"), ("|", "Bar  |")),
        spelled={"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "space": " ", "bar": "|"},
    ),
    ReadingOption(
        "decimal", "choice", "Decimal mark", "point or comma", TABLES,
        ((".", "Point  1.25"), (",", "Comma  1,25")), spelled=_MARKS,
    ),
    ReadingOption(
        "thousands", "choice", "Thousands mark", "comma, point, blank, apostrophe or none", TABLES,
        (("none", "None"), (",", "Comma  1,234,567"), (".", "Point  1.234.567"), (" ", "Blank  1 234 567"), ("'", "Apostrophe  1'234'567")),
        off="Follows the decimal mark", spelled=_MARKS,
    ),
    ReadingOption(
        "percent", "choice", "Percent signs", "number (12.5 % is 12.5) or share (12.5 % is 0.125)", TABLES,
        (("number", "Leave out: 12.5"), ("share", "As a share: 0.125")), off="Ask",
    ),
    ReadingOption(
        "missing", "texts", "Missing values", 'texts that mean “missing”, such as usual, n.d., "<0,05" (usual: NA and the like; empty: an empty cell)', TABLES,
    ),
    ReadingOption(
        "header", "choice", "Names of columns", "true: they are in the first row; false: there are none", TABLES,
        ((True, "In the first row"), (False, "None: number the columns")),
    ),
    ReadingOption("names", "column", "Names of rows", "column with the names of the rows, -1 for none", (*TABLES, "parquet")),
    ReadingOption(
        "samples_in", "choice", "Samples are", "which axis holds the samples: rows or columns", EVERY,
        (("rows", "the rows"), ("columns", "the columns"), ("", "not known or not needed")),
    ),
    ReadingOption(
        "encoding", "choice", "Encoding", "utf-8, windows-1252, latin-1 or utf-16", _OF_TEXT,
        (("utf-8", "UTF-8"), ("windows-1252", "Windows-1252 (Western)"), ("latin-1", "Latin-1 (Western)"), ("utf-16", "UTF-16")),
    ),
    ReadingOption(
        "colour", "choice", "Colours", "grey (one value per pixel) or colour (red, green and blue)", ("image_folder",),
        (("grey", "Grey values"), ("colour", "Red, green and blue")), off="Grey values",
    ),
    ReadingOption(
        "resize", "choice", "Images of other sizes", "scale or crop (around the middle) to one size", ("image_folder",),
        (("scale", "Scale them"), ("crop", "Crop around the middle")), off="Refuse them",
    ),
    ReadingOption("size", "size", "Height × width", "height and width in pixels, such as [28, 28]", ("image_folder",), off="That of the files"),
    # -- further options ---------------------------------------------------------------------------
    ReadingOption("labels", "columns", "Labels", "columns that are labels, not numbers", (*TABLES, "parquet"), off="None"),
    ReadingOption("labels", "flag", "Join the labels beside", "IDX: false leaves the file of labels alone", ("idx",), default=True),
    ReadingOption(
        "answers", "text", "Answers in order", "answers in words that become numbers, lowest first, such as never < sometimes < often; no < yes", TABLES, off="Words are labels",
    ),
    ReadingOption(
        "categories", "columns", "Categories", "columns of words that are measured as categories, for mixtures: each word becomes a number", TABLES, off="None",
    ),
    ReadingOption(
        "alleles", "columns", "Alleles", "first columns of pairs that hold the two alleles of a locus, as loc1.a1 and loc1.a2: each pair becomes one column of copies of the rarer allele", TABLES, off="None",
    ),
    ReadingOption(
        "dates", "choice", "Dates", "dates that become numbers: years (2024.5) or days (since 1970); -dmy or -mdy say what comes first where 3/4/2024 may be either, -ymd that 202404 is a month; labels leaves them as they are", TABLES,
        (("years", "Years with decimals"), ("years-dmy", "Years, the day comes first"), ("years-mdy", "Years, the month comes first"),
         ("years-ymd", "Years, of 202404 or 20240403"),
         ("days", "Days since 1970"), ("days-dmy", "Days, the day comes first"), ("days-mdy", "Days, the month comes first"),
         ("days-ymd", "Days, of 202404 or 20240403"), ("labels", "Labels, or names of the rows")),
        off="Labels, but years in a time series",
    ),
    ReadingOption("skip", "columns", "Left out columns", "columns that are left out", (*TABLES, "parquet"), off="None"),
    ReadingOption("skip_rows", "number", "Rows to skip", "rows before the table that are skipped", TABLES, off="0"),
    ReadingOption("label_rows", "number", "Rows of labels", "so many rows under the titles hold labels of the columns, such as classes of samples", TABLES, off="0"),
    ReadingOption("drop_units", "flag", "Drop the row of units", "leave out the row under the titles that holds units such as mg/l or [mm]", TABLES),
    ReadingOption("drop_totals", "flag", "Drop totals", "leave out rows called Total, Sum, Summe and the like", TABLES),
    ReadingOption("column", "column", "Only this column", "read one column, as a vector or as labels", TABLES, off="The whole table"),
    ReadingOption("part", "text", "Only this view", "long table: the one view to read", TABLES, off="All views"),
    ReadingOption(
        "repeated", "choice", "Repeated cells", "long table: mean of cells given more than once", TABLES,
        (("mean", "Take the mean"),), off="Refuse them",
    ),
    ReadingOption(
        "absent", "choice", "Combinations without a row", "long table: zero or missing, for pairs that have no row", TABLES,
        (("zero", "Are 0"), ("missing", "Are missing")), off="0 in a list of counts, else missing",
    ),
    ReadingOption(
        "repeated", "choice", "Repeated entries", "Matrix Market: sum or mean of entries given more than once",
        ("matrix_market",), (("sum", "Add them up"), ("mean", "Take the mean")), off="Refuse them",
    ),
    ReadingOption(
        "ragged", "choice", "Rows of other length", "drop, or pad with missing cells", TABLES,
        (("drop", "Leave out"), ("pad", "Fill up with missing cells")), off="Refuse them",
    ),
    ReadingOption(
        "infinite", "choice", "Infinite values", "missing: infinite values, and those too large for a float, become missing", (*TABLES, "numpy", "annotated", "hdf5", "parquet"),
        (("missing", "Treat as missing"),), off="Refuse them",
    ),
    ReadingOption(
        "inexact", "choice", "Numbers with too many digits", "nearest or missing, for 9007199254740993 and 1E-400",
        (*TABLES, "parquet"), (("nearest", "Take the nearest"), ("missing", "Treat as missing")), off="Refuse them",
    ),
    ReadingOption(
        "inexact", "choice", "Numbers with too many digits", "Matrix Market: nearest, for 9007199254740993 and 1E-400",
        ("matrix_market",), (("nearest", "Take the nearest"),), off="Refuse them",
    ),
    ReadingOption(
        "truth", "choice", "TRUE and FALSE", "text or numbers (1 and 0)", ("spreadsheet",),
        (("text", "Text"), ("numbers", "1 and 0")), off="Text",
    ),
    ReadingOption(
        "merged", "choice", "Merged cells", "fill: repeat their value in each cell", ("spreadsheet",),
        (("fill", "Repeat the value in each"),), off="Value in the first cell",
    ),
    ReadingOption("sparse", "flag", "Keep it sparse", "keep a matrix sparse, however full it is", ("matrix_market", "numpy")),
    ReadingOption(
        "image_shape", "choice", "Rows are images", "none: take the rows for plain numbers", ("numpy",),
        (("none", "No: plain numbers"),),
    ),
    ReadingOption(
        "values_in", "choice", "Values stay in", "file: they stay out of memory and are read a part at a time; memory: all are read now", ("numpy", "matrix_market", "annotated", "hdf5"),
        (("file", "Their file"), ("memory", "Memory")), off="Their file when they need over a third of the free memory",
    ),
    ReadingOption("row_word", "text", "Word for a row", "what rows without names are called", ("numpy", "hdf5"), off="row"),
    ReadingOption("column_word", "text", "Word for a column", "what columns without names are called", ("numpy", "hdf5"), off="column"),
    ReadingOption("rename_duplicates", "flag", "Number repeated names", "add a number to names that occur more than once", EVERY),
    ReadingOption("distinct_labels", "flag", "Distinct labels", "add the row name to labels that occur more than once", TABLES),
    ReadingOption("transpose", "flag", "Swap rows and columns", "swap rows and columns", EVERY),
    ReadingOption(
        "kind", "choice", "Kind of values", "real, count, binary, ordinal or categorical", EVERY,
        (("real", "Real numbers"), ("count", "Counts"), ("binary", "0 and 1"), ("ordinal", "Ordered levels"), ("categorical", "Labels (of one column)")),
    ),
    _drop("rows", "empty", "without any value"),
    _drop("columns", "empty", "without any value"),
    _drop("rows", "constant", "with one value throughout"),
    _drop("columns", "constant", "with one value throughout"),
    ReadingOption(
        "log", "choice", "Logarithms", "log (of the values) or log1p (of 1 + value)", EVERY,
        (("log", "Of the values"), ("log1p", "Of 1 + value")), off="None", spelled={"true": "log"},
    ),
)  # fmt: skip
MAIN = tuple(option.name for option in READING_OPTIONS[: [o.name for o in READING_OPTIONS].index("labels")])
"""Options that a dialog shows at once; the others are further options."""
COMMON = ("annotations", "rename_rows")
"""Options that :func:`read_dataset` itself takes, for every format: tables and mappings, which have no field."""
_BY_NAME = {option.name: option for option in reversed(READING_OPTIONS)}


def options_of(reader: str) -> tuple[ReadingOption, ...]:
    """The options of a built-in reader, in the order in which they are shown; empty for other readers."""
    return tuple(option for option in READING_OPTIONS if reader in option.readers)


def reading_option(name: str) -> ReadingOption | None:
    """The declaration of an option, if it is one of the built-in readers."""
    return _BY_NAME.get(name)


def declared_choices(name: str) -> list[tuple[Any, str]]:
    """The values of an option with their words."""
    return list(_BY_NAME[name].choices)


def checked_options(reader: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as a reader takes them. Raises ``DataError`` for one that a built-in reader does not know.

    Readers of plugins check their own. An option that is ``None`` counts as not given.
    """
    declared = {option.name: option for option in options_of(reader)}
    if not declared:
        return dict(options)
    found = {}
    for name, value in options.items():
        if value is None:
            continue
        if name not in declared:
            raise _unknown(name, declared)
        found[name] = declared[name].parsed(value)
    return found


def _unknown(name: str, known: Iterable[str]) -> DataError:
    near = difflib.get_close_matches(name, list(known), 1)
    elsewhere = reading_option(name)
    if elsewhere is not None:
        return DataError(
            f"The reading option {name} is not for this format: {elsewhere.doc}.", _listed(known)
        )
    hint = f"Did you mean {near[0]}?" if near else _listed(known)
    return DataError(f"There is no reading option “{name}” for this format.", hint)


def _listed(known: Iterable[str]) -> str:
    return f"Its options: {', '.join(known)}."


def help_text() -> str:
    """One line for each option, for the help of the command line."""
    lines = ["How files are read, with --import-option [INPUT.]KEY=VALUE:"]
    lines += [f"  {option.name:<22}{option.doc}" for option in READING_OPTIONS]
    return "\n".join(lines)
