"""The detector of exited processes and zombies that hold GPU memory, orphans, and memory that no process owns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gputop.core.detection.detector import FORGET_S, Claim, Context, Dial, Kind
from gputop.core.detectors.orphan.busy import UnownedWork
from gputop.core.detectors.orphan.memory import MemoryGaps
from gputop.core.detectors.orphan.parent import Strays
from gputop.core.detectors.orphan.track import Track, has_ended, held_text, memory_of
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import HostProcess, Presence
from gputop.core.model.units import duration_text
from gputop.core.processes.ending import is_first, kill_command

KIND: Final = Kind(
    name="orphan",
    question="Do exited or unknown processes hold GPU memory?",
    codes={
        "orphan.gone": "The driver lists a process that no longer exists.",
        "orphan.zombie": "A process has exited, but its children or threads still hold its GPU memory.",
        "orphan.parent": "The parent of a process has exited, and the process still runs.",
        "memory.unexplained": "Some GPU memory is used, but by no process that the driver lists.",
        "busy.unowned": "The GPU is busy, but the driver lists no process on it.",
    },
    remedies={
        "orphan.gone": "Find the process that still holds the memory: `sudo fuser -v /dev/nvidia*`. If there is none, "
        "reset the GPU: `sudo nvidia-smi --gpu-reset -i N`.",
        "orphan.zombie": "End its remaining children or threads: `kill -9 PID`. `t` shows the tree.",
        "orphan.parent": "Ask its owner: a job under `nohup` looks the same. To end it: `gputop signal SIGTERM "
        "--pid PID`.",
        "memory.unexplained": "Find the process that holds the memory: `sudo fuser -v /dev/nvidiaN`. If there is none, "
        "reset the GPU.",
        "busy.unowned": "Find a process that has the device open: `sudo fuser -v /dev/nvidiaN`. If there is none, "
        "reset the GPU.",
    },
    dials=(
        Dial(
            "gone_s", 45.0, 2.0, 3600.0,
            "If the driver still lists a process this long after its exit, that is an observation.",
        ),
        Dial(
            "suspect_s", 60.0, 5.0, 3600.0,
            "If an exited process or a zombie holds memory for this time, that is a suspect.",
        ),
        Dial("alarm_s", 300.0, 10.0, 86400.0, "If no running process owns the memory for this time, that is an alarm."),
        Dial(
            "unexplained_alarm_s", 150.0, 10.0, 86400.0,
            "If no process is on the GPU and unexplained memory remains for this time, that is an alarm.",
        ),
        Dial("idle_s", 600.0, 10.0, 86400.0, "If an orphan is idle for this time, that is a suspect."),
        Dial(
            "teardown_s", 90.0, 0.0, 3600.0,
            "gputop reports an orphan after this time. After the end of a launcher, its ranks need time to exit.",
        ),
        Dial(
            "parent_s", 60.0, 0.0, 86400.0,
            "If the parent exits within this time after it started the process, the process is a daemon and not an "
            "orphan.",
        ),
        Dial("unexplained_bytes", 536870912.0, 1e6, 1e13, "gputop ignores unexplained memory up to this size."),
        Dial(
            "unexplained_percent", 2.0, 0.1, 100.0,
            "gputop ignores unexplained memory up to this share of the GPU's memory. The larger of the two limits "
            "applies.",
        ),
        Dial("unexplained_s", 60.0, 5.0, 3600.0, "gputop reports unexplained memory after this time."),
        Dial(
            "context_bytes", 134217728.0, 0.0, 1e10,
            "The driver does not list all memory of a process. gputop assumes this much more for each process.",
        ),
        Dial(
            "unowned_s", 180.0, 10.0, 86400.0,
            "If a GPU is busy for this time and the driver lists no process on it, that is an observation.",
        ),
        Dial("unowned_percent", 50.0, 1.0, 100.0, "In unowned_s: a GPU is busy if its utilization is at least this."),
        Dial("idle_percent", 1.0, 0.0, 50.0, "An orphan is idle if its GPU utilization is at most this."),
        Dial(
            "left_s", 120.0, 0.0, 3600.0,
            "If unexplained memory appears within this time of the exit of a process, gputop reports that exit as the "
            "cause.",
        ),
    ),
)  # fmt: skip
_HOLDERS: Final = "To see which processes have the device files open: sudo fuser -v /dev/nvidia*"
_NO_HOLDER: Final = (
    f"{_HOLDERS}. If there are none, reset the GPU to free the memory: sudo nvidia-smi --gpu-reset -i {{n}}"
)


class OrphanDetector:
    """Follows processes to their exit, and further while the driver lists them."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._tracks: dict[int, Track] = {}
        self._strays = Strays(dials)
        self._gaps = MemoryGaps(dials)
        self._unowned = UnownedWork(dials)
        self._swept_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per process or GPU whose memory is lost."""
        processes, idle_percent = _Processes(context), self._dials["idle_percent"]
        for process in context.due:
            track = self._tracks.get(process.pid)
            if track is None or not track.is_of(process):
                track = self._tracks[process.pid] = Track(process, context.now_s, processes.words(process.parent_pid))
            track.take(process, context, processes.of, idle_percent)
            if has_ended(process):
                yield from self._gone(process, track, context)
            elif process.state == "Z":
                yield from self._zombie(process, track, context, processes)
            elif track.parted_s is not None:
                self._strays.take(track)
        yield from self._strays.detect(context)
        self._sweep(context)
        yield from self._gaps.detect(context)
        yield from self._unowned.detect(context)

    def _gone(self, process: HostProcess, track: Track, context: Context) -> Iterator[Claim]:
        lasts_s = context.now_s - track.since_s
        if lasts_s < self._dials["gone_s"]:
            return
        held = memory_of(process)
        heirs = f"; its child processes: {_pids(track.children)}" if track.children else ""
        yield Claim(
            code="orphan.gone",
            stage=self._stage(lasts_s, held),
            subject=process_subject(process),
            summary=f"{held_text(held)} held by an exited process for {duration_text(lasts_s)}{_once(track)}{heirs}",
            evidence=(
                Evidence("gone_s", round(lasts_s, 1), _exited_text(process, lasts_s)),
                Evidence("memory_bytes", held, f"{held_text(held)} held"),
            ),
            remedy=_end(track.children, track.user) or _find_holder(process),
            began_s=track.since_s,
        )

    def _zombie(self, process: HostProcess, track: Track, context: Context, processes: "_Processes") -> Iterator[Claim]:
        lasts_s = context.now_s - track.since_s
        if lasts_s < self._dials["suspect_s"]:
            return
        held, children = memory_of(process), processes.children(process.pid)
        others = (process.threads or 1) - 1
        if children:
            holder, remedy = f"{_children_text(children)} the memory", _end(children, process.user)
        elif others > 0:
            holder = f"{others} of its threads still run"
            remedy = f"End them: {kill_command([process], process.user)}"
        else:
            holder = f"its parent {process.parent_pid} has not collected its exit status"
            remedy = f"{processes.how_to_free(process)} {_HOLDERS}"
        yield Claim(
            code="orphan.zombie",
            stage=self._stage(lasts_s, held),
            subject=process_subject(process),
            summary=f"{held_text(held)} held by a zombie for {duration_text(lasts_s)}{_once(track)}, because {holder}",
            evidence=(
                Evidence("zombie_s", round(lasts_s, 1), f"by a zombie for {duration_text(lasts_s)}"),
                Evidence("memory_bytes", held, f"{held_text(held)} held"),
                Evidence(
                    "living_children",
                    len(children),
                    f"living child processes: {len(children)}, other threads: {others}",
                ),
            ),
            remedy=remedy,
            began_s=track.since_s,
        )

    def _stage(self, lasts_s: float, held: int | None) -> Stage:
        if lasts_s >= self._dials["alarm_s"] and held != 0:
            return Stage.ALARM
        return Stage.SUSPECT if lasts_s >= self._dials["suspect_s"] else Stage.OBSERVATION

    def _sweep(self, context: Context) -> None:
        if context.now_s - self._swept_s >= FORGET_S:
            self._swept_s = context.now_s
            longest_s = FORGET_S + context.round_s
            self._tracks = {pid: one for pid, one in self._tracks.items() if context.now_s - one.seen_s <= longest_s}


class _Processes:
    """All processes of a sample by pid, collected on first use."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._by_pid: dict[int, HostProcess] | None = None

    def words(self, pid: int | None) -> str:
        """Return the command line of a process; empty if the sample does not have it."""
        one = self.of(pid)
        return one.command if one else ""

    def of(self, pid: int | None) -> HostProcess | None:
        """Return the process of a pid; None if the sample does not have it."""
        return self._held().get(pid or 0)

    def how_to_free(self, zombie: HostProcess) -> str:
        """Return how to make the kernel forget a zombie without children and threads."""
        is_initial = self._context.sample.host.is_initial_pid_namespace is True
        return _free(zombie, self.of(zombie.parent_pid), is_initial=is_initial)

    def children(self, pid: int) -> tuple[HostProcess, ...]:
        """Return the living children of a process."""
        found = [one for one in self._held().values() if one.parent_pid == pid and one.state not in {"Z", "X"}]
        return tuple(sorted(found, key=lambda one: one.pid))

    def _held(self) -> dict[int, HostProcess]:
        if self._by_pid is None:
            sample = self._context.sample
            self._by_pid = {one.pid: one for one in (*sample.relatives, *sample.processes)}
        return self._by_pid


def _exited_text(process: HostProcess, lasts_s: float) -> str:
    reused = f"; {process.presence.text}" if process.presence is Presence.REUSED else ""
    return f"exited {duration_text(lasts_s)} ago, but the driver still lists it{reused}"


def _once(track: Track) -> str:
    return f" ({track.words[:60]})" if track.words else ""


def _children_text(children: Sequence[HostProcess]) -> str:
    if len(children) == 1:
        return f"its child process {children[0].pid} still uses"
    return f"its child processes {_pids(children)} still use"


def _pids(processes: Sequence[HostProcess]) -> str:
    more = f" and {len(processes) - 8} more" if len(processes) > 8 else ""
    return ", ".join(str(one.pid) for one in processes[:8]) + more


def _end(processes: Sequence[HostProcess], user: str | None) -> str:
    """Return how to end what a process left behind; empty if it left nothing."""
    how = kill_command(processes, user)
    pids = ",".join(str(one.pid) for one in processes[:32])
    return f"End the processes that still run (see ps -fp {pids}): {how}. {_HOLDERS}" if how else ""


def _free(zombie: HostProcess, parent: HostProcess | None, *, is_initial: bool) -> str:
    """Return how to free a zombie. To end its parent is advice only for a parent of the same user that is no init."""
    pid = zombie.parent_pid
    if pid == 1 and is_initial:
        return "The init of this host has not collected it: see the kernel log. Do not end init."
    if pid == 1 or (parent and is_first(parent)):
        return "Restart its container with --init: the first process in the container does not collect exited ones."
    if parent is None:
        return f"See what its parent is before you end it: ps -fp {pid}."
    if zombie.user is None or parent.user != zombie.user:
        return f"Ask {parent.user or 'the owner'}, who owns the parent {pid}, to end it."
    return f"End the parent to free it: kill {pid}."


def _find_holder(process: HostProcess) -> str:
    return _NO_HOLDER.format(n=",".join(str(use.gpu_index) for use in process.gpus) or "N")
