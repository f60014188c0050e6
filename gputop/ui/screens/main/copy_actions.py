"""Actions that copy: a pid, a command line, a finding, the table as CSV, the screen as text."""

import os
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.finding import Finding, further_evidence
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.text.fit import fit_words
from gputop.core.text.osc import can_copy
from gputop.ui.options import CsvPart
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.selection import find, pointed_at

_WORDS: Final = 50  # cells of the message for what was copied


class _Part(Struct, frozen=True):
    """What can be copied. ``text``: its text, empty if there is none; ``ending``: of its file, if it may be long."""

    label: str
    text: Callable[[Frame], str]
    ending: str = ""


class CopyActions:
    """Copies to the clipboard with OSC 52, or to a file: on request, or where the terminal cannot.

    Everything comes from frames, in which secrets are masked, or from the main screen, which shows none.
    """

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._parts = {
            "pid": _Part("PID", self._pid),
            "command": _Part("command line", self._command),
            "finding": _Part("finding", self._finding, "txt"),
            "processes": _Part("processes as CSV", self._processes, "csv"),
            "gpus": _Part("GPUs as CSV", lambda frame: self._csv(frame, "gpus"), "csv"),
            "screen": _Part("screen as text", lambda _: self._host.text, "txt"),
        }

    def choose(self) -> None:
        """Choose what to copy."""
        from gputop.ui.screens.dialogs.menu import Choice, MenuScreen

        frame = self._host.view.frame
        offered = {name: text for name, part in self._parts.items() if frame is not None and (text := part.text(frame))}
        choices = [Choice(name, self._parts[name].label, _short(text)) for name, text in offered.items()]
        choices += [
            Choice(f"{name} file", f"{self._parts[name].label}, to a file")
            for name in offered
            if self._parts[name].ending
        ]
        if choices:
            self._host.push(MenuScreen("Copy", choices, None), lambda chosen: self._take(chosen, offered))

    def copy(self, name: str) -> None:
        """Copy a part."""
        frame = self._host.view.frame
        text = "" if frame is None else self._parts[name].text(frame)
        if text:
            self._put_part(name, text)
        else:
            self._host.notify(f"there is no {self._parts[name].label} to copy: select a row", timeout=3)

    def copy_finding(self, finding: Finding) -> None:
        """Copy a finding in full."""
        self._put_part("finding", finding_text(finding))

    def copy_page(self, title: str, text: str) -> None:
        """Copy the text of a page."""
        self._put(f"{title}, as text", "page.txt", text)

    def _take(self, chosen: str | None, offered: dict[str, str]) -> None:
        """Copy as it was when the menu opened."""
        name, _, file = (chosen or "").partition(" ")
        if name:
            self._put_part(name, offered[name], to_file=bool(file))

    def _put_part(self, name: str, text: str, *, to_file: bool = False) -> None:
        part = self._parts[name]
        self._put(part.label, f"{name}.{part.ending or 'txt'}", text, to_file=to_file)

    def _put(self, label: str, file: str, text: str, *, to_file: bool = False) -> None:
        if not to_file and can_copy(text, os.environ):
            self._host.copy_to_clipboard(text)
            self._host.notify(f"copied, if the terminal supports OSC 52: {label}, {_short(text)}", timeout=6)
            return
        why = "" if to_file else "the terminal cannot take it, so it is in a file: "
        self._host.notify(why + self._kept(file, text), timeout=12)

    def _kept(self, name: str, text: str) -> str:
        """Write a file that only this user can read; return its path, or why it was not written."""
        keep = self._host.options.keep_copy
        if keep is None:
            return "no file can be written here"
        try:
            path = keep(f"{time.strftime('%Y%m%d-%H%M%S')}-{name}", text.encode("utf-8", "replace"))
        except OSError as error:
            return f"cannot write a file: {error.strerror}"
        return f"wrote {path}"

    # --- parts -----------------------------------------------------------------------------------------------------
    def _selected(self, frame: Frame) -> list[HostProcess]:
        """Return the tagged processes, or the one under the cursor."""
        table = self._host.processes
        if table.tags.ids:
            found = (find(frame, name) for name in table.tags.ids)
            return sorted((one for one in found if one is not None), key=lambda one: one.pid)
        one = pointed_at(table.selected_line, frame) if table.selected_line is not None else None
        return [one] if one is not None else []

    def _pid(self, frame: Frame) -> str:
        return " ".join(str(one.pid) for one in self._selected(frame))

    def _command(self, frame: Frame) -> str:
        return "\n".join(one.command for one in self._selected(frame) if one.command)

    def _finding(self, frame: Frame) -> str:
        view = self._host.view
        about = [one for process in self._selected(frame) for one in view.standing.of(process.id)]
        found = about or list(view.findings)
        return finding_text(found[0]) if found else ""

    def _processes(self, frame: Frame) -> str:
        """Return the rows that the table shows, also those that it would show below, in the order of the CSV."""
        table, focus = self._host.processes, self._host.view.focus
        rows = [row for row in table.all_rows if focus is None or row.use.gpu_index == focus]
        kept = {id(row.use) for row in table.row_filter.of(rows)}
        bare = (replace(one, gpus=tuple(use for use in one.gpus if id(use) in kept)) for one in frame.processes)
        return self._csv(replace(frame, processes=tuple(one for one in bare if one.gpus)), "processes")

    def _csv(self, frame: Frame, what: CsvPart) -> str:
        return self._host.options.csv(frame, what) if self._host.options.csv is not None else ""


def finding_text(finding: Finding) -> str:
    """Return a finding in full: what, about what, the evidence, what to do."""
    remedy = [f"What to do: {finding.remedy}"] if finding.remedy else []
    title = f"{finding.stage.value} {finding.code}: {finding.subject.label}"
    return "\n".join([title, finding.summary, *further_evidence(finding), *remedy])


def _short(text: str) -> str:
    first, *others = text.splitlines()
    return f"{len(others) + 1} lines" if others else fit_words(first, _WORDS).strip()
