"""An inspection as text: sections of labelled lines, the same on the screen and on the command line."""

from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import Final

from msgspec import Struct

from gputop.core.inspection.inspection import Inspection, Limit, OpenFile, Socket, Thread, Variable
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.progress import progress_facts
from gputop.core.model.sample import Gpu
from gputop.core.model.units import bytes_text, duration_text
from gputop.core.processes.gpu_use import memory_total, use_label, use_text
from gputop.core.secrets.mask import masked_arguments
from gputop.core.secrets.shapes import MASK

_NONE: Final = "none"
_PROVABLE: Final = ("slurm", "pod", "container")  # by a cgroup
_UNLIMITED: Final = "unlimited"
_OTHER_NETWORK: Final = "not visible from here: the process has another network namespace"
_NEEDS_TRACING: Final = "names need CAP_SYS_PTRACE"
_BYTES: Final = frozenset({"locked memory"})
_STATES: Final = {
    "R": "running", "S": "sleeping", "D": "blocked in the kernel", "T": "stopped", "t": "stopped by a debugger",
    "Z": "zombie", "X": "dead", "I": "idle",
}  # fmt: skip


class Row(Struct, frozen=True):
    """A line: an optional label, and a text that may be long."""

    label: str
    text: str


class Section(Struct, frozen=True):
    """A part of an inspection. ``key``: jumps to it. ``note``: shown in the title next to its name."""

    key: str
    title: str
    rows: tuple[Row, ...]
    note: str = ""


def state_text(state: str | None) -> str:
    """Return the meaning of a state letter of /proc/PID/stat."""
    return _STATES.get(state or "", state or "")


def sections(
    found: Inspection, before: Inspection | None = None, *, most_threads: int | None = None, reveal: bool = True
) -> list[Section]:
    """Return all sections. ``before``: an earlier inspection, for CPU percentages of the threads.

    ``most_threads``: show only the busiest. ``reveal`` False masks secrets even if their values are known.
    """
    made = [_command(found, reveal=reveal), _place(found), _parents(found), _threads(found, before, most_threads)]
    made += [_activity(found), _memory(found), _limits(found), _devices(found), _files(found), _sockets(found)]
    return [*made, _environment(found, reveal=reveal)]


def uses(found: Inspection, gpus: Sequence[Gpu]) -> Section:
    """Return the section of GPU uses, if `Inspection.gpus` is filled in. ``gpus``: all GPUs of the host."""
    rows = [Row(use_label(use), use_text(use, memory_total(use, gpus))) for use in found.gpus]
    return Section("gpus", "GPUs", (*rows, *(Row("", note) for note in found.gpu_notes)))


def _progress(found: Inspection) -> Iterator[Section]:
    """Return the section of the last report of progress, if `Inspection.progress` is filled in."""
    if found.progress is not None:
        facts = ", ".join(progress_facts(found.progress, found.time_s))
        memory = (Row("PyTorch", device.text) for device in found.progress.torch)
        yield Section("progress", "Progress", (Row("", facts), *memory))


def _owner(found: Inspection) -> Section:
    owner = found.owner
    named = (
        ("Slurm", "slurm", owner.slurm and owner.slurm.text), ("pod", "pod", owner.pod and owner.pod.text),
        ("container", "container", owner.container and owner.container.text), ("unit", "unit", owner.unit),
        ("session", "session", owner.session), ("terminal", "terminal", owner.terminal),
        ("kind", "framework", owner.framework), ("environment", "environment", owner.environment),
    )  # fmt: skip
    rows = [Row(label, text + claim_mark(owner, key)) for label, key, text in named if text]
    unknown: dict[Missing, list[str]] = {}
    for label, key, text in named:
        why = owner.missing.get(key, Missing.UNSUPPORTED)
        if not text and why is not Missing.UNSUPPORTED:
            unknown.setdefault(why, []).append(label)
    rows += [Row("", f"{', '.join(labels)}: {reason.text}") for reason, labels in unknown.items()]
    return Section("owner", "Belongs to", tuple(rows) or (Row("", _NONE),))


def claim_mark(owner: Owner, field: str) -> str:
    """Return the remark on a field that the process may have made up."""
    return " (unverified)" if field in _PROVABLE and not owner.proves(field) else ""


def command_text(arguments: tuple[str, ...]) -> str:
    """Return a command line quoted for a shell."""
    return " ".join(quote(argument) for argument in arguments)


def _command(found: Inspection, *, reveal: bool) -> Section:
    text = command_text(found.command if reveal else masked_arguments(found.command))
    notes = ["secrets masked"] if MASK in text else []
    notes += [cut] if (cut := _cut(found, "command")) else []
    rows = (Row("", text),) if text else _absent(found, "command")
    return Section("command", "Command line", rows, " · ".join(notes))


def _place(found: Inspection) -> Section:
    rows = [
        Row("executable", found.executable or _why(found, "executable")),
        Row("directory", found.directory or _why(found, "directory")),
    ]
    telling = [line for line in found.cgroup if not line.endswith(":/")]  # a v1 host has a dozen that say nothing
    lines = telling or found.cgroup[:1] or (_why(found, "cgroup"),)
    rows += [Row("" if number else "cgroup", line) for number, line in enumerate(lines)]
    return Section("place", "Where it runs", tuple(rows))


def _parents(found: Inspection) -> Section:
    rows = tuple(Row(str(parent.pid), parent.name or "not visible from here") for parent in found.ancestors)
    return Section("parents", "Started by", rows or (Row("", _NONE),))


def _threads(found: Inspection, before: Inspection | None, most: int | None) -> Section:
    threads = _busiest(found, before)
    shown = threads[:most]
    rows = [Row(str(thread.tid), _thread_text(thread, percent)) for thread, percent in shown]
    rest = (found.thread_count or 0) - len(shown)
    if rest > 0:
        rows.append(Row("", f"… and {rest} more"))
    note = str(found.thread_count or "")
    return Section("threads", "Threads", tuple(rows) or _absent(found, "threads"), note)


def _busiest(found: Inspection, before: Inspection | None) -> list[tuple[Thread, float | None]]:
    """Return threads with their percentage since the previous inspection, busiest first."""
    past = {thread.tid: thread.cpu_s for thread in before.threads} if before else {}
    length = found.time_s - before.time_s if before else 0.0
    if length <= 0:
        return [(thread, None) for thread in found.threads]
    measured = [
        (thread, max(0.0, thread.cpu_s - past[thread.tid]) * 100 / length if thread.tid in past else None)
        for thread in found.threads
    ]
    return sorted(measured, key=lambda pair: (-(pair[1] or 0.0), -pair[0].cpu_s, pair[0].tid))


def _thread_text(thread: Thread, percent: float | None) -> str:
    share = "" if percent is None else f"{min(percent, 100.0):>4.0f}%  "
    return f"{share}{thread.state}  {duration_text(thread.cpu_s):>7} CPU  {thread.name}"


def _activity(found: Inspection) -> Section:
    rows = []
    if found.voluntary_switches is None or found.involuntary_switches is None:
        rows.append(Row("switches", _why(found, "switches")))
    else:
        text = f"{found.voluntary_switches:,} voluntary, {found.involuntary_switches:,} involuntary"
        rows.append(Row("switches", text))
    moved = found.transfers
    if moved is None:
        rows.append(Row("I/O", _why(found, "transfers")))
    else:
        rows += [
            Row("read", f"{bytes_text(moved.read_bytes)}, {bytes_text(moved.storage_read_bytes)} from storage"),
            Row("written", f"{bytes_text(moved.written_bytes)}, {bytes_text(moved.storage_written_bytes)} to storage"),
        ]
    return Section("activity", "Context switches and I/O", tuple(rows))


def _memory(found: Inspection) -> Section:
    parts = found.memory
    if parts is None:
        rows = [Row("resident", _why(found, "memory"))]
    else:
        split = (
            ("anonymous", parts.anonymous_bytes), ("file", parts.file_bytes), ("shared", parts.shared_bytes),
            ("swapped out", parts.swapped_bytes),
        )  # fmt: skip
        text = ", ".join(f"{bytes_text(size)} {name}" for name, size in split)
        rows = [Row("resident", f"{bytes_text(parts.resident_bytes)}: {text}")]
    rows.append(Row("own", _shares_text(found)))
    rows += [Row(bytes_text(mapping.size_bytes), mapping.path) for mapping in found.mappings]
    if not found.mappings:
        rows.append(Row("files", _why(found, "mappings")))
    return Section("memory", "Memory and largest mapped files", tuple(rows))


def _shares_text(found: Inspection) -> str:
    shares = found.shares
    if shares is None:
        return _why(found, "shares")
    own, share, swap = map(bytes_text, (shares.uss_bytes, shares.pss_bytes, shares.swap_bytes))
    return f"{own} (USS), {share} with its share of shared pages (PSS), {swap} in swap"


def _limits(found: Inspection) -> Section:
    rows = tuple(Row(limit.name, _limit_text(limit)) for limit in found.limits)
    return Section("limits", "Limits", rows or _absent(found, "limits"))


def _limit_text(limit: Limit) -> str:
    write: Callable[[int], str] = bytes_text if limit.name in _BYTES else str
    soft, hard = (_UNLIMITED if value is None else write(value) for value in (limit.soft, limit.hard))
    return soft if soft == hard else f"{soft}, can be raised to {hard}"


def _devices(found: Inspection) -> Section:
    held: dict[str, list[OpenFile]] = {}
    for file in found.devices:
        held.setdefault(file.target, []).append(file)
    rows = tuple(
        Row("", f"{target}  descriptor{'s' if len(files) > 1 else ''} {_numbers(files)}")
        for target, files in sorted(held.items())
    )
    if not rows and found.missing.get("files") is Missing.FORBIDDEN and found.open_files is not None:
        rows = (Row("", f"unknown: file {_NEEDS_TRACING}"),)
    return Section("devices", "GPU device files", rows or _absent(found, "files"))


def _numbers(files: list[OpenFile]) -> str:
    return ", ".join(str(file.descriptor) for file in files)


def _files(found: Inspection) -> Section:
    rows = tuple(Row(str(file.descriptor), file.target or "closed since it was listed") for file in found.files)
    if found.missing.get("files") is Missing.FORBIDDEN and found.open_files is not None:
        return Section("files", "Open files", (Row("", f"{found.open_files} open, {_NEEDS_TRACING}"),))
    note = "" if found.open_files is None else f"{found.open_files}{_cut(found, 'files', ' · ')}"
    return Section("files", "Open files", rows or _absent(found, "files"), note)


def _sockets(found: Inspection) -> Section:
    rows = tuple(Row(socket.protocol, _socket_text(socket)) for socket in found.sockets)
    if found.missing.get("sockets") is Missing.HIDDEN:
        rows = (Row("", _OTHER_NETWORK),)
    return Section("sockets", "Sockets", rows or _absent(found, "sockets"), _cut(found, "sockets"))


def _socket_text(socket: Socket) -> str:
    way = f"{socket.local} → {socket.remote}" if socket.remote else socket.local
    return f"{way}  {socket.state}".rstrip()


def _environment(found: Inspection, *, reveal: bool) -> Section:
    rows = tuple(Row("", f"{each.name}={_value(each, reveal=reveal)}") for each in found.environment)
    masked = sum(each.is_secret and (each.value is None or not reveal) for each in found.environment)
    hidden = f" · {masked} secret{'s' if masked > 1 else ''} masked" if masked else ""
    note = f"as it was when the program started{hidden}{_cut(found, 'environment', ' · ')}"
    return Section("environment", "Environment", rows or _absent(found, "environment"), note)


def _value(variable: Variable, *, reveal: bool) -> str:
    shown = variable.value if reveal or not variable.is_secret else None
    return MASK if shown is None else shown


def _absent(found: Inspection, part: str) -> tuple[Row, ...]:
    return (Row("", _why(found, part)),)


def _why(found: Inspection, part: str) -> str:
    """Return why a part is missing; a part that the kernel does not offer does not exist for the process."""
    missing = found.missing.get(part)
    return _NONE if missing in {None, Missing.UNSUPPORTED} else missing.text


def _cut(found: Inspection, part: str, separator: str = "") -> str:
    return f"{separator}only the first are shown" if part in found.shortened else ""


def lines(found: Inspection, before: Inspection | None = None, gpus: Sequence[Gpu] = ()) -> Iterator[str]:
    """Return an inspection as plain lines. ``gpus``: all GPUs of the host, for their memory sizes."""
    state = f"{found.state} {state_text(found.state)}".strip()
    yield f"{found.pid} {found.name} · {found.user or '?'} · {state}"
    for section in (uses(found, gpus), *_progress(found), _owner(found), *sections(found, before)):
        yield ""
        yield section.title + (f" ({section.note})" if section.note else "")
        for row in section.rows:
            yield f"  {row.label + ' ' if row.label else '':<15}{row.text}" if row.label else f"  {row.text}"
