"""The one source of colours and fonts: `theme()`, with a `changed` signal for live switches."""

from __future__ import annotations

import sys
from importlib import resources
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette

from plaidwork.gui import tokens
from plaidwork.gui.tokens import size, space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PySide6.QtWidgets import QApplication

__all__ = ["CONTRASTS", "MODES", "TEXT_SCALES", "Theme", "ink_on", "size", "space", "theme"]

MODES = ("light", "dark", "system")
CONTRASTS = ("usual", "high", "system")
TEXT_SCALES = (1.0, 1.25, 1.5, 2.0)
"""How many times as large as the system's texts may be shown."""


class Theme(QObject):
    """Current colour scheme and fonts.

    Widgets read colours when they paint, or in a ``restyle`` slot connected to `changed`;
    they never keep a colour. Get the instance with `theme`, not by calling this class.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.space = space
        self.size = size
        self._mode = "system"
        self._scheme = "light"
        self._app: QApplication | None = None
        self._families: list[str] = []
        self._colors: dict[str, QColor] = {}
        self._fonts: dict[str, QFont] = {}
        self._base = 0.0
        self._text_scale = 1.0
        self._contrast_mode = "system"
        self._high = False

    # -- scheme ---------------------------------------------------------------------------------
    @property
    def scheme(self) -> str:
        """The scheme on screen, "light" or "dark"."""
        return self._scheme

    @property
    def is_dark(self) -> bool:
        """True when the dark scheme is on screen."""
        return self._scheme == "dark"

    @property
    def mode(self) -> str:
        """What the user chose: "light", "dark" or "system"."""
        return self._mode

    def set_mode(self, mode: str) -> None:
        """Choose "light", "dark" or "system" (follow the desktop)."""
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        self._mode = mode
        self._set_scheme(_system_scheme() if mode == "system" else mode)

    @property
    def high_contrast(self) -> bool:
        """True when colours of high contrast are on screen, in the light or the dark scheme."""
        return self._high

    @property
    def contrast_mode(self) -> str:
        """What the user chose: "usual", "high" or "system"."""
        return self._contrast_mode

    def set_contrast(self, mode: str) -> None:
        """Choose "usual" or "high" contrast, or "system" (what the desktop asks for)."""
        if mode not in CONTRASTS:
            raise ValueError(f"mode must be one of {', '.join(CONTRASTS)}, got {mode!r}")
        self._contrast_mode = mode
        self._set_high(_system_contrast() if mode == "system" else mode == "high")

    def _set_high(self, high: bool) -> None:
        if high != self._high:
            self._high = high
            self._refresh()

    @property
    def text_scale(self) -> float:
        """How many times as large as the system's the texts are, one of `TEXT_SCALES`."""
        return self._text_scale

    def set_text_scale(self, scale: float) -> None:
        """Make all texts so many times as large; heights follow in windows that are opened afterwards."""
        if scale not in TEXT_SCALES:
            raise ValueError(f"scale must be one of {', '.join(map(str, TEXT_SCALES))}, got {scale!r}")
        if scale != self._text_scale:
            self._text_scale, self._base = scale, 0.0
            self._refresh()

    def _follow_system(self) -> None:
        if self._mode == "system":
            self._set_scheme(_system_scheme())

    def _follow_contrast(self) -> None:
        if self._contrast_mode == "system":
            self._set_high(_system_contrast())

    def _set_scheme(self, scheme: str) -> None:
        if scheme == self._scheme:
            return
        self._scheme = scheme
        self._refresh()

    def _refresh(self) -> None:
        self._colors.clear()
        self._fonts.clear()
        size.fit_text(self.base_points / _usual_points())
        if self._app is not None:
            self._app.setPalette(self.palette())
            self._app.setFont(self.font("body"))
            _deliver_palette()
        self.changed.emit()

    # -- colours --------------------------------------------------------------------------------
    def color(self, name: str) -> QColor:
        """Return a token ("window", "accent", "warn_on" ...) or a thread ("blue") as QColor."""
        found = self._colors.get(name)
        if found is None:
            found = self._colors[name] = QColor(self.hex(name))
        return QColor(found)

    def hex(self, name: str) -> str:
        """Return the token as ``#RRGGBB``."""
        if name in tokens.COLORS:
            return tokens.color_code(name, self._scheme, self._high)
        if name in tokens.THREADS:
            return tokens.CATEGORIES[self._scheme][tokens.THREADS.index(name)]
        from difflib import get_close_matches

        near = get_close_matches(name, [*tokens.COLORS, *tokens.THREADS], 1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise KeyError(f"no colour token {name!r}{hint}")

    def category(self, index: int) -> QColor:
        """Colour of group `index`: the six threads in order, neutral for all later groups."""
        threads = tokens.CATEGORIES[self._scheme]
        return QColor(threads[index]) if 0 <= index < len(threads) else self.color("neutral")

    def grey_step(self, index: int) -> QColor:
        """Grey for class `index` of an annotation strip, strongest first (four steps)."""
        steps = tokens.GREYS[self._scheme]
        return QColor(steps[min(max(index, 0), len(steps) - 1)])

    def lut(self, name: str) -> NDArray[np.uint8]:
        """Colour map as a read-only (256, 4) uint8 table: "tide" (sequential, its low end near the background),
        "loom" (diverging, blue below and orange above, the centre is zero) or "soft_loom" (its middle, for maps that
        carry marks on top)."""
        from plaidwork.gui.palettes import lut

        return lut(name, self._scheme)

    def palette(self) -> QPalette:
        """Build the QPalette of the current scheme (Mid = border, Dark = control)."""
        result = QPalette()
        for role, name in _ROLES.items():
            result.setColor(role, self.color(name))
        disabled = QColor(self.color("faint"))
        disabled.setAlphaF(0.75)
        for role in (_R.WindowText, _R.Text, _R.ButtonText, _R.HighlightedText):
            result.setColor(QPalette.ColorGroup.Disabled, role, disabled)
        return result

    # -- fonts ----------------------------------------------------------------------------------
    @property
    def base_points(self) -> float:
        """Base size: that of the system font, at least 10 pt (13 on macOS), times `text_scale`."""
        if not self._base:
            system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
            self._base = max(system.pointSizeF(), _usual_points()) * self._text_scale
        return self._base

    def font(self, role: str = "body") -> QFont:
        """Font of a type role: display, figure, headline, title, strong, body or caption."""
        if role not in self._fonts:
            if role not in tokens.FONT_ROLES:
                raise KeyError(f"font role must be one of {', '.join(tokens.FONT_ROLES)}, got {role!r}")
            ratio, weight = tokens.FONT_ROLES[role]
            font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
            if self._families:
                font.setFamilies([*self._families, font.family()])
            font.setPointSizeF(max(self.base_points * ratio, tokens.MIN_CAPTION_POINTS))
            font.setWeight(QFont.Weight(weight))
            font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
            font.setFeature(QFont.Tag("tnum"), 1)
            self._fonts[role] = font
        return QFont(self._fonts[role])

    # -- start ----------------------------------------------------------------------------------
    def install(self, app: QApplication) -> None:
        """Load the fonts and set palette and font of `app`; call once before the first widget."""
        self._app = app
        if not self._families:
            self._families = _load_fonts()
            hints = QGuiApplication.styleHints()
            hints.colorSchemeChanged.connect(self._follow_system)
            hints.accessibility().contrastPreferenceChanged.connect(self._follow_contrast)
            app.destroyed.connect(self._forget_app)
        if self._mode == "system":
            self._scheme = _system_scheme()
        if self._contrast_mode == "system":
            self._high = _system_contrast()
        self._refresh()

    def _forget_app(self) -> None:
        self._app = None


_R = QPalette.ColorRole
_ROLES = {
    _R.Window: "window",
    _R.WindowText: "text",
    _R.Base: "surface",
    _R.AlternateBase: "sunken",
    _R.Text: "text",
    _R.Button: "surface",
    _R.ButtonText: "text",
    _R.BrightText: "error",
    _R.Light: "surface",
    _R.Midlight: "hover",
    _R.Mid: "border",
    _R.Dark: "control",
    _R.Shadow: "axis",
    _R.Highlight: "tint",
    _R.HighlightedText: "text",
    _R.Link: "link",
    _R.LinkVisited: "link",
    _R.ToolTipBase: "surface",
    _R.ToolTipText: "text",
    _R.PlaceholderText: "muted",
    _R.Accent: "accent",
}


def _deliver_palette() -> None:
    """Let widgets have the new palette at once, before `Theme.changed` makes them restyle."""
    for kind in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.ApplicationFontChange):
        QCoreApplication.sendPostedEvents(None, kind.value)


def _system_scheme() -> str:
    hints = QGuiApplication.styleHints()
    return "dark" if hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark else "light"


def _system_contrast() -> bool:
    hints = QGuiApplication.styleHints()
    return (
        hints is not None and hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
    )


def _usual_points() -> float:
    return 13.0 if sys.platform == "darwin" else 10.0


def _load_fonts() -> list[str]:
    """Load the shipped fonts; a damaged or missing file leaves the system font in use."""
    families: list[str] = []
    folder = resources.files("plaidwork.resources") / "fonts"
    for name in tokens.FONT_FILES:
        try:
            number = QFontDatabase.addApplicationFontFromData((folder / name).read_bytes())
        except OSError:
            continue
        if number >= 0:
            families += [f for f in QFontDatabase.applicationFontFamilies(number) if f not in families]
    return [f for f in families if f == tokens.FONT_FAMILY]


def ink_on(ground: QColor) -> QColor:
    """Text colour on a filled ground: white or black, whichever contrasts more, which is 4.5:1 at least on any."""
    from plaidwork.gui.palettes import contrast

    code = ground.name()
    return QColor("#FFFFFF" if contrast(code, "#FFFFFF") >= contrast(code, "#000000") else "#000000")


_instance: Theme | None = None


def theme() -> Theme:
    """Return the one `Theme` of the process."""
    global _instance
    if _instance is None:
        _instance = Theme()
    return _instance
