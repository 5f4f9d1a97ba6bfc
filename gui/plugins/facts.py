"""What the Plugins window says about a plugin, as words and without widgets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaidwork.core.draws.counting import counted
from plaidwork.core.plugins.registry import PluginInfo, Registry

#: state -> (icon, colour token, word)
STATES = {
    "ok": ("check", "ok", "OK"),
    "disabled": ("pause", "muted", "Disabled"),
    "failed": ("error", "error", "Failed"),
    "incompatible": ("warning", "warn", "Not compatible"),
    "loading": ("clock", "muted", "Loading"),
}
SOURCES = {"built-in": "built in"}
NEW_COMMAND = "plaidwork plugin new my-model"
NONE_SELECTED = ("No plugin selected", "Choose one in the table to see what it brings, or why it failed.")
NONE_ADDED = ("No added plugins yet", f"Install one that others wrote, or begin your own: {NEW_COMMAND}")
"""Title and text where no plugin is shown."""
_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')


def state_of(info: PluginInfo) -> tuple[str, str, str]:
    """Icon, colour and word of a plugin's state."""
    return STATES.get(info.state, STATES["failed"])


def plugins_line(plugins: Sequence[PluginInfo], safe_mode: bool) -> str:
    """The line under the headline: "9 found, 6 in use, 1 failed."."""
    parts = [f"{len(plugins)} found", f"{sum(info.state == 'ok' for info in plugins)} in use"]
    for state, word in (
        ("failed", "failed"), ("incompatible", "not compatible"), ("disabled", "disabled"), ("loading", "loading")
    ):  # fmt: skip
        count = sum(info.state == state for info in plugins)
        if count:
            parts.append(f"{count} {word}")
    text = ", ".join(parts) + "."
    return f"{text} Safe mode: added plugins are left out." if safe_mode else text


def first_broken(plugins: Iterable[PluginInfo]) -> str:
    """Name of the first plugin that failed or does not fit; empty where all is well."""
    return next((info.name for info in plugins if info.state in ("failed", "incompatible")), "")


def none_found(words: str) -> tuple[str, str]:
    """Title and text where no plugin has these words."""
    return "Nothing found", f"No plugin has “{words}” in its name, models or state."


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a plugin failed: the file and line, the code there, and the error."""

    where: str
    code: str
    error: str

    @property
    def text(self) -> str:
        """What the code box shows."""
        lines = [self.where, *([f"    {self.code}"] if self.code else []), self.error]
        return "\n".join(line for line in lines if line)


def cause_of(info: PluginInfo) -> Cause | None:
    """The first cause of a failure: the line of the plugin nearest to the error; None when there is none."""
    fault = info.fault
    if fault is None:
        return None
    frames = _frames(fault.traceback)
    location = fault.frame.split(",")[0]  # file:line
    file, _, line = location.rpartition(":")
    found = [frame for frame in frames if file and frame[0].endswith(file) and frame[1] == line]
    if found:
        path, number, code = found[-1]
        parts = Path(path).parts[-2:]
        return Cause(f"{'/'.join(parts)}, line {number}", code, fault.error)
    return Cause(location.replace(":", ", line "), "", fault.error)


def _frames(traceback: str) -> list[tuple[str, str, str]]:
    """(file, line, code) of every frame of a traceback text."""
    lines = traceback.splitlines()
    found = []
    for index, line in enumerate(lines):
        match = _FRAME.match(line)
        if match:
            code = lines[index + 1].strip() if index + 1 < len(lines) else ""
            found.append((match["file"], match["line"], "" if _FRAME.match(code) else code))
    return found


def failed_title(info: PluginInfo) -> str:
    """One line: what is wrong with which version of what."""
    if info.state == "incompatible":
        return f"{info.title} does not fit this version of Plaidwork"
    if info.state == "loading":
        return f"{info.title} is being loaded"
    if info.state == "disabled":
        return f"{info.title} is disabled"
    hook = info.fault.hook if info.fault else ""
    if hook in ("", "import"):
        return f"{info.title} failed while loading"
    return f"{info.title} failed in {hook}()"


def sentence(info: PluginInfo) -> str:
    """What the state means for the user's work."""
    if info.state == "disabled":
        return "Its models are not offered. Sessions made with it open and show their results."
    if info.state == "loading":
        return f"{info.message} Everything else works meanwhile."
    if info.state not in ("failed", "incompatible"):
        return ""
    rest = f"The other plugins are not affected; sessions made with {info.name} open and show their results."
    if info.state == "incompatible":
        return f"{info.message} {rest}"
    error = info.fault.error if info.fault else info.message
    missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", error)
    if missing:
        return f"It needs “{missing[1].split('.')[0]}”, which is not installed. {rest}"
    return rest


def what_to_do(info: PluginInfo) -> str:
    """The next step, for a plugin that cannot be used."""
    if info.state == "incompatible":
        return "What to do: update the plugin or Plaidwork, or disable it."
    if info.state != "failed":
        return ""
    error = info.fault.error if info.fault else ""
    if error.startswith("ModuleNotFoundError"):
        return "What to do: install the missing package, or disable this plugin."
    return "What to do: update or disable it, or send the details to its author."


def details(info: PluginInfo) -> str:
    """Everything about a plugin, for its author."""
    rows = [
        ("Plugin", info.title),
        ("State", f"{state_of(info)[2]}. {info.message}".strip()),
        ("From", SOURCES.get(info.source, info.source)),
        ("Module", info.module),
        ("Path", str(info.path or "")),
        ("API", version_text(info.api)),
        ("Licence", info.licence),
        ("Brings", ", ".join(_provided(info))),
    ]
    head = "\n".join(f"{name}: {value}" for name, value in rows if value)
    return f"{head}\n\n{info.details}".strip()


def version_text(api: tuple[int, int] | None) -> str:
    return f"{api[0]}.{api[1]}" if api else ""


def _provided(info: PluginInfo) -> list[str]:
    return [*info.models, *info.analyses, *info.views, *info.readers, *info.samples]


def brings(info: PluginInfo, registry: Registry) -> list[tuple[str, str]]:
    """(title, summary) of the models; they are loaded already, so that nothing is imported here."""
    wanted = set(info.models)
    return [(spec.title, plain(spec.summary)) for spec in registry.specs() if spec.id in wanted]


def also_brings(info: PluginInfo) -> str:
    """What there is besides models: "2 analyses, 3 examples"."""
    counts = (
        (info.analyses, "analysis", "analyses"), (info.views, "view", "views"),
        (info.readers, "file format", "file formats"), (info.samples, "example", "examples"),
    )  # fmt: skip
    return ", ".join(counted(len(own), one, many) for own, one, many in counts if own)


def plain(markdown: str) -> str:
    """The first paragraph without marks."""
    first = markdown.strip().split("\n\n")[0]
    return " ".join(re.sub(r"[*_`]|\[([^\]]*)\]\([^)]*\)", r"\1", first).split())


# -- conformance -------------------------------------------------------------------------------------


def check_word(kept: dict[str, Any] | None) -> tuple[str, str, str]:
    """Icon, colour and words for the table; empty when the checks never ran on this version."""
    if not kept:
        return "", "muted", ""
    if kept["ok"]:
        return "check", "ok", f"{kept['passed']} passed"
    return "error", "error", f"{kept['failed']} failed"


def check_sentence(kept: dict[str, Any] | None) -> str:
    """The result of the checks in a line."""
    if not kept:
        return ""
    level = "long" if kept.get("level") == "full" else "quick"
    when = str(kept.get("when", ""))[:10]
    counts = f"{kept['passed']} passed, {kept['failed']} failed, {kept['skipped']} do not apply"
    return f"Checked on {when} ({level}): {counts}."


def check_report(kept: dict[str, Any] | None) -> str:
    """The failures, for the code box and for copying; the reason of a fault stands at the first one."""
    lines: list[str] = []
    for row in (kept or {}).get("failures", ()):
        reason = f"{row['message']} {row['hint']}".rstrip()
        first = row.get("same_as")
        lines += [f"{row['title']} ({row['id']})", f"    {f'see above: {first}' if first else reason}"]
    return "\n".join(lines)


def matches(info: PluginInfo, words: Iterable[str]) -> bool:
    """Whether a plugin has all the words in its name, its models, its state or its source."""
    text = " ".join([info.title, info.source, state_of(info)[2], info.licence, *_provided(info)]).casefold()
    return all(word in text for word in words)
