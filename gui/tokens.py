"""Design tokens: every colour, ratio and size of the look, as plain data (no Qt)."""

from __future__ import annotations

SCHEMES = ("light", "dark")

#: Token name -> (light, dark). ``*_on`` is the ground that carries text in the status colour.
COLORS: dict[str, tuple[str, str]] = {
    "window": ("#F3F4F6", "#14171C"),
    "surface": ("#FFFFFF", "#1B1F26"),
    "sunken": ("#F8F9FB", "#171A20"),
    "hover": ("#ECEFF3", "#262C35"),
    "border": ("#DADEE5", "#323945"),
    "control": ("#838C99", "#7A8494"),
    "text": ("#1A2029", "#E7EAEF"),
    "muted": ("#566070", "#A6AFBC"),
    "faint": ("#636C7A", "#8E98A6"),
    "accent": ("#2C5CC5", "#4C7DF0"),
    "link": ("#2450B0", "#8DB0FF"),
    "on_accent": ("#FFFFFF", "#0B1020"),
    "tint": ("#E3EBFB", "#22314F"),
    "tint_line": ("#A9C0EE", "#3E5C9A"),
    "ok": ("#1C7A50", "#5FCD9F"),
    "ok_on": ("#E4F4EC", "#17332A"),
    "warn": ("#955F00", "#E8B54A"),
    "warn_on": ("#FCF1DA", "#3A2E14"),
    "error": ("#982523", "#FF8A80"),
    "error_on": ("#FCE9E7", "#40211F"),
    "grid": ("#E7EAEF", "#2A303A"),
    "axis": ("#9AA3AF", "#5F6977"),
    "neutral": ("#A7AFBB", "#5D6673"),
}

#: What high contrast puts in place of `COLORS`: lines that are seen (4.5:1) and no grey text.
HIGH_CONTRAST: dict[str, tuple[str, str]] = {
    "window": ("#FFFFFF", "#000000"),
    "surface": ("#FFFFFF", "#000000"),
    "sunken": ("#FFFFFF", "#000000"),
    "hover": ("#E0E6F2", "#26324A"),
    "border": ("#4A515C", "#B4BCC8"),
    "control": ("#1A2029", "#E7EAEF"),
    "text": ("#000000", "#FFFFFF"),
    "muted": ("#1A2029", "#F0F2F5"),
    "faint": ("#2B323D", "#E0E4EA"),
    "accent": ("#0B3FB0", "#8DB0FF"),
    "link": ("#0B3FB0", "#A9C4FF"),
    "on_accent": ("#FFFFFF", "#000000"),
    "tint": ("#D3E0FA", "#20345F"),
    "tint_line": ("#0B3FB0", "#A9C4FF"),
    "ok": ("#0B5A36", "#7FE3B5"),
    "warn": ("#6E4300", "#FFD070"),
    "error": ("#8A0F12", "#FFA8A0"),
    "axis": ("#4A515C", "#B4BCC8"),
    "neutral": ("#828B98", "#6E7886"),
}

#: Names of the category colours "Threads", in the order of use.
THREADS = ("blue", "rust", "teal", "plum", "amber", "violet")

CATEGORIES: dict[str, tuple[str, ...]] = {
    "light": ("#2B35A8", "#A33A05", "#1F9485", "#6F1D4B", "#C07800", "#9E70F6"),
    "dark": ("#70B5FA", "#E87718", "#5FEDD0", "#AA738E", "#E0D631", "#6F73F5"),
}

GREYS: dict[str, tuple[str, ...]] = {
    "light": ("#232A34", "#6B7482", "#A7AFBB", "#D5DAE1"),
    "dark": ("#E7EAEF", "#A6AFBC", "#6A7482", "#3A424E"),
}

TIDE: dict[str, tuple[str, ...]] = {
    "light": (
        "#EAF8FA",
        "#B5E5F2",
        "#80CFEB",
        "#4CB5E4",
        "#1B99DA",
        "#097CC6",
        "#0A5FB2",
        "#164198",
        "#19237D",
    ),
    "dark": (
        "#1B1B31",
        "#22305D",
        "#194B87",
        "#0168A0",
        "#0288B3",
        "#13A7C4",
        "#55C4CE",
        "#9BDCD7",
        "#DCEEE9",
    ),
}

LOOM: dict[str, tuple[str, ...]] = {
    "light": (
        "#215089",
        "#186BC7",
        "#4D91E4",
        "#85B5F1",
        "#BED6F4",
        "#F4F3F2",
        "#F0C6B4",
        "#E79976",
        "#D36B39",
        "#B04802",
        "#7E3915",
    ),
    "dark": (
        "#81C5FE",
        "#40A9F7",
        "#2884C6",
        "#256291",
        "#27435B",
        "#242526",
        "#513625",
        "#814B21",
        "#B36321",
        "#E28135",
        "#FDA669",
    ),
}


def color_code(name: str, scheme: str, contrast: bool = False) -> str:
    """``#RRGGBB`` of a token of `COLORS` in a scheme, with high contrast or without. Raises ``KeyError``."""
    pair = HIGH_CONTRAST.get(name) if contrast else None
    return (pair or COLORS[name])[SCHEMES.index(scheme)]


#: Type role -> (ratio to the base size, weight).
FONT_ROLES: dict[str, tuple[float, int]] = {
    "display": (2.0, 600),
    "figure": (1.7, 600),
    "headline": (1.5, 600),
    "title": (1.2, 600),
    "strong": (1.0, 600),
    "body": (1.0, 400),
    "caption": (0.88, 400),
}

FONT_FAMILY = "Inter"
FONT_FILES = ("Inter-Regular.otf", "Inter-SemiBold.otf")
MIN_CAPTION_POINTS = 8.5


class space:
    """Spacing steps in logical pixels; layouts use nothing else."""

    XS = 4
    S = 8
    M = 12
    L = 16
    XL = 20
    XXL = 24
    GROUP = 28
    HUGE = 40
    VIEW_EDGE = 20
    DOCK_EDGE = 16
    DIALOG_EDGE = 24
    WELCOME_EDGE = 44


class _Sizes:
    """Heights, radii and line widths in logical pixels; heights of what holds text, and icons, grow with it."""

    CONTROL = 32
    COMPACT = 30
    ROW = 28
    ROW_DOCK = 26
    ROW_DIALOG = 32
    TABLE_HEAD = 30
    MENU_BAR = 28
    TOOL_BAR = 46
    TAB = 42
    DOCK_HEADER = 42
    STATUS_BAR = 30
    ICON = 16
    ICON_EMPTY = 28
    HIT = 24
    RADIUS = 6
    RADIUS_CARD = 8
    RADIUS_CHECK = 4
    RADIUS_CHIP = 11
    FOCUS = 2
    PROGRESS = 6
    SCROLL_BAR = 10
    COLOR_BAR = 9

    def fit_text(self, ratio: float) -> None:
        """Make room for text that is so many times as large as usual, 1 at least."""
        more = round((max(ratio, 1.0) - 1.0) * _LINE)
        for name in _HOLD_TEXT:
            setattr(self, name, getattr(_Sizes, name) + more)
        self.RADIUS_CHIP = _Sizes.RADIUS_CHIP + more // 2
        self.ICON = _Sizes.ICON + 2 * (
            3 * more // 8
        )  # three quarters as fast, so that tabs keep room for their words


_LINE = 17
"""Height of a line of usual text; what is around it stays as it is."""

_HOLD_TEXT = (
    "CONTROL", "COMPACT", "ROW", "ROW_DOCK", "ROW_DIALOG", "TABLE_HEAD", "MENU_BAR", "TOOL_BAR", "TAB", "DOCK_HEADER", "STATUS_BAR",
)  # fmt: skip

size = _Sizes()
