"""Is GPU memory held by nobody? Processes that are gone, zombies, workers without a parent, memory without an owner."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import FORGET_S, Claim, Context, Dial, Kind
from gputop.core.detectors.orphan.memory import MemoryGaps
from gputop.core.detectors.orphan.parent import Strays
from gputop.core.detectors.orphan.track import Track, has_ended, memory_of
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import HostProcess
from gputop.core.model.units import bytes_text, duration_text

KIND: Final = Kind(
    name="orphan",
    question="Is GPU memory held by processes that are gone, by zombies or orphans, or by nobody who can be seen?",
    codes={
        "orphan.gone": "The driver lists a process that does not exist any more.",
        "orphan.zombie": "A process has ended, but others still hold what it allocated.",
        "orphan.parent": "The parent of a process has died, and it runs on.",
        "memory.unexplained": "Memory of a GPU is used by no process that the driver lists.",
    },
    remedies={
        "orphan.gone": "Who holds it: `sudo fuser -v /dev/nvidia*`; if nobody, `sudo nvidia-smi --gpu-reset -i N`.",
        "orphan.zombie": "End its children or threads that live on: `kill -9 PID`; `t` shows the tree.",
        "orphan.parent": "Ask its owner: `nohup` looks like this. Else `gputop signal SIGTERM --pid PID`.",
        "memory.unexplained": "Who holds the device: `sudo fuser -v /dev/nvidiaN`; if nobody, a reset frees it.",
    },
    dials=(
        Dial(
            key="gone_s", default=10.0, least=2.0, most=3600.0,
            help="A process that is gone, for so long: worth a line.",
        ),
        Dial(
            key="suspect_s", default=30.0, least=5.0, most=3600.0,
            help="A process that is gone or a zombie, for so long: a suspect.",
        ),
        Dial(
            key="alarm_s", default=300.0, least=10.0, most=86400.0,
            help="Memory that is lost for so long is an alarm.",
        ),
        Dial(key="idle_s", default=600.0, least=10.0, most=86400.0, help="Idle time that makes an orphan a suspect."),
        Dial(
            key="parent_s", default=60.0, least=0.0, most=86400.0,
            help="How long it must have had the parent: who becomes a service loses it at once.",
        ),
        Dial(
            key="unexplained_bytes", default=536870912.0, least=1e6, most=1e13,
            help="Memory that nobody explains, from which it is told.",
        ),
        Dial(
            key="unexplained_percent", default=2.0, least=0.1, most=100.0,
            help="The same as a share of all memory; the larger of both holds.",
        ),
        Dial(key="unexplained_s", default=30.0, least=5.0, most=3600.0, help="For how long it must be unexplained."),
        Dial(
            key="context_bytes", default=134217728.0, least=0.0, most=1e10,
            help="What a process may take that is not counted as its own.",
        ),
        Dial(key="idle_percent", default=1.0, least=0.0, most=50.0, help="GPU utilization of one that is idle."),
        Dial(
            key="left_s", default=120.0, least=0.0, most=3600.0,
            help="A process that left so shortly before explains whose the memory was.",
        ),
    ),
)  # fmt: skip
_HOLDERS: Final = "See who holds the device files: sudo fuser -v /dev/nvidia*"
_NOBODY: Final = f"{_HOLDERS}. If nobody does, the memory comes back with a reset: sudo nvidia-smi --gpu-reset -i {{n}}"


class OrphanDetector:
    """Follows processes to their end, and beyond as long as the driver lists them."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._tracks: dict[int, Track] = {}
        self._strays = Strays(dials)
        self._gaps = MemoryGaps(dials)
        self._swept_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return who holds memory without a right."""
        everybody, idle_percent = _Everybody(context), self._dials["idle_percent"]
        for process in context.due:
            track = self._tracks.get(process.pid)
            if track is None or not track.is_of(process):
                track = self._tracks[process.pid] = Track(process, context.now_s, everybody.words(process.parent_pid))
            track.take(process, context, everybody.words, idle_percent)
            if has_ended(process):
                yield from self._gone(process, track, context)
            elif process.state == "Z":
                yield from self._zombie(process, track, context, everybody)
            elif track.parted_s is not None:
                self._strays.take(track)
        yield from self._strays.detect(context)
        self._sweep(context)
        yield from self._gaps.detect(context)

    def _gone(self, process: HostProcess, track: Track, context: Context) -> Iterator[Claim]:
        lasts_s = context.now_s - track.since_s
        if lasts_s < self._dials["gone_s"]:
            return
        held = memory_of(process)
        heirs = f"; its children were {_pids(track.children)}" if track.children else ""
        yield Claim(
            code="orphan.gone",
            stage=self._stage(lasts_s, held),
            subject=process_subject(process),
            summary=f"{_memory(held)} held for {duration_text(lasts_s)} by a process that is gone{_once(track)}{heirs}",
            evidence=(
                Evidence("gone_s", round(lasts_s, 1), f"{process.presence.text}, for {duration_text(lasts_s)}"),
                Evidence("memory_bytes", held, f"{_memory(held)} of GPU memory"),
            ),
            remedy=_end(track.children) if track.children else _nobody(process),
            began_s=track.since_s,
        )

    def _zombie(self, process: HostProcess, track: Track, context: Context, everybody: "_Everybody") -> Iterator[Claim]:
        lasts_s = context.now_s - track.since_s
        if lasts_s < self._dials["suspect_s"]:
            return
        held, children = memory_of(process), everybody.children(process.pid)
        others = (process.threads or 1) - 1
        if children:
            who, remedy = f"its children {_pids(children)} live on and hold it", _end(children)
        elif others > 0:
            who, remedy = f"{others} of its threads live on and hold it", f"End them: kill -9 {process.pid}"
        else:
            who = f"its parent {process.parent_pid} has not taken note of its end"
            remedy = f"End the parent, which frees it: kill {process.parent_pid}. {_HOLDERS}"
        yield Claim(
            code="orphan.zombie",
            stage=self._stage(lasts_s, held),
            subject=process_subject(process),
            summary=f"{_memory(held)} held for {duration_text(lasts_s)} by a zombie{_once(track)}: {who}",
            evidence=(
                Evidence("zombie_s", round(lasts_s, 1), f"a zombie for {duration_text(lasts_s)}"),
                Evidence("memory_bytes", held, f"{_memory(held)} of GPU memory"),
                Evidence("living_children", len(children), f"children alive: {len(children)}, other threads: {others}"),
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


class _Everybody:
    """All processes of a look by pid, put together when somebody asks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._by_pid: dict[int, HostProcess] | None = None

    def words(self, pid: int | None) -> str:
        """Return the command line of a process, nothing where it is not among those that are shown."""
        one = self._held().get(pid or 0)
        return one.command if one else ""

    def children(self, pid: int) -> tuple[int, ...]:
        """Return the children of a process that live."""
        held = self._held().values()
        return tuple(sorted(one.pid for one in held if one.parent_pid == pid and one.state not in {"Z", "X"}))

    def _held(self) -> dict[int, HostProcess]:
        if self._by_pid is None:
            sample = self._context.sample
            self._by_pid = {one.pid: one for one in (*sample.relatives, *sample.processes)}
        return self._by_pid


def _once(track: Track) -> str:
    return f" ({track.words[:60]})" if track.words else ""


def _memory(held: int | None) -> str:
    return "an unknown amount of memory" if held is None else bytes_text(held)


def _pids(pids: Iterable[int]) -> str:
    held = list(pids)
    return ", ".join(map(str, held[:8])) + (f" and {len(held) - 8} more" if len(held) > 8 else "")


def _end(pids: Iterable[int]) -> str:
    return f"If they are still there, end them: kill -9 {' '.join(map(str, list(pids)[:32]))}. {_HOLDERS}"


def _nobody(process: HostProcess) -> str:
    return _NOBODY.format(n=",".join(str(use.gpu_index) for use in process.gpus) or "N")
