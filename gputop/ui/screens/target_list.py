"""The frozen list of everything that a change will hit, as lines."""

from collections.abc import Mapping, Sequence

from gputop.core.identity import ProcessId
from gputop.core.sample import HostProcess, Presence
from gputop.core.units import bytes_text, duration_text
from gputop.ui.line import Line, Spans, fit, fit_right
from gputop.ui.targets import Aim, gpu_bytes

_WIDE = 48


def head(width: int) -> Line:
    """Return the titles."""
    return Line(((_columns(("PID", "USER", "AGE", "GPU-MEM", "S", "NI", "COMMAND"), width), "head"),), "text")


def lines(aim: Aim, targets: Sequence[HostProcess], led: Mapping[ProcessId, HostProcess], width: int) -> list[Line]:
    """Return a line per process, and one below it where something is to be said. ``led``: of `Aim.led`."""
    held: list[Line] = []
    for one in targets:
        launcher = led.get(one.id)
        doubt = aim.doubt(one)
        held.append(Line(((_columns(_texts(aim, one), width), "muted" if launcher else "text"),)))
        if doubt:
            held.append(_note(doubt, "warm", width))
        elif launcher:
            held.append(_note(f"not sent: launcher {launcher.pid} ends it", "muted", width))
    return held


def window(all_lines: Sequence[Line], top: int, room: int) -> tuple[list[Line], int]:
    """Return what fits, and the top that was possible; the last line tells of what is hidden."""
    if len(all_lines) <= room:
        return list(all_lines), 0
    shown = max(1, room - 1)
    top = max(0, min(top, len(all_lines) - shown))
    rest = len(all_lines) - shown
    more = Line(((f"lines {top + 1}-{top + shown} of {shown + rest}: PgUp PgDn", "muted"),))
    return [*all_lines[top : top + shown], more], top


def _note(text: str, ink: str, width: int) -> Line:
    spans: Spans = [("  └ ", "faint"), (fit(text, max(4, width - 4)), ink)]
    return Line(tuple(spans))


def _texts(aim: Aim, one: HostProcess) -> tuple[str, ...]:
    age = None if one.started_s is None else max(0.0, aim.frame.time_s - one.started_s)
    nice = "–" if one.nice is None else str(one.nice)
    command = one.command if one.presence is Presence.ALIVE else one.presence.text
    return (
        str(one.pid), one.user or "–", duration_text(age), bytes_text(gpu_bytes(one)), one.state or "–", nice, command,
    )  # fmt: skip


def _columns(texts: tuple[str, ...], width: int) -> str:
    pid, user, age, memory, state, nice, command = texts
    head = f"{fit_right(pid, 7)} {fit(user, 8)} {fit_right(age, 6)} {fit_right(memory, 7)} {fit(state, 1)} "
    if width >= _WIDE:
        head += fit_right(nice, 3) + " "
    return head + fit(_shortened(command, width - len(head)), max(1, width - len(head)))


def _shortened(command: str, room: int) -> str:
    """Return the command without the program's directory where there is no room for it."""
    program, blank, rest = command.partition(" ")
    name = program.rpartition("/")[2]
    return name + blank + rest if len(command) > room and name else command
