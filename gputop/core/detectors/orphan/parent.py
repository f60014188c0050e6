"""Processes whose parent exited while gputop watched: one finding for all children of the same parent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.role import serves
from gputop.core.detectors.orphan.track import Track, held_text, memory_of
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.owner import SlurmStep
from gputop.core.model.sample import HostProcess
from gputop.core.model.units import duration_text
from gputop.core.processes.ending import end_command
from gputop.core.processes.program import LAUNCHERS, arguments_of, program_of

_IN_ORDER: Final = frozenset({"tmux", "screen"})
_CONTAINER_CLIENTS: Final = frozenset({"docker", "podman", "nerdctl", "ctr", "crictl", "lxc", "kubectl"})
_BACKGROUND: Final = frozenset({"--daemon", "--daemonize", "--background", "--detach", "-daemon"})
_UNSEEN_S: Final = 30.0  # the driver's lists flicker
_LONGEST: Final = 60


class Left:
    """The idle orphans of this sample, by pid and start time: the `idle` detector does not report them again."""

    def __init__(self) -> None:
        self.idle: set[tuple[int, int | None]] = set()

    @classmethod
    def of(cls, context: Context) -> "Left":
        """Return the instance that the detectors of this judge share."""
        held = context.shared.setdefault(cls, cls())
        return held if isinstance(held, Left) else cls()


class Strays:
    """Remembers which processes lost which parent."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._idle_s, self._parent_s, self._alarm_s = dials["idle_s"], dials["parent_s"], dials["alarm_s"]
        self._teardown_s = dials["teardown_s"]
        self._parted: dict[int, dict[int, Track]] = {}  # by pid of the parent, and of the child

    def take(self, track: Track) -> None:
        """Add a process whose parent exited, if that is unusual for it."""
        is_new = track.had_parent_s >= self._parent_s and track.parent_pid_before is not None
        if is_new and _is_stray(track.process) and not _is_meant(track):
            self._parted.setdefault(track.parent_pid_before or 0, {})[track.process.pid] = track

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per exited parent that left children on a GPU."""
        Left.of(context).idle.clear()
        for parent, children in tuple(self._parted.items()):
            left = {
                pid: track
                for pid, track in children.items()
                if context.now_s - track.seen_s <= max(_UNSEEN_S, 2 * context.round_s)
                and track.parted_s is not None
                and track.is_alive
            }
            self._parted[parent] = left
            if left and context.now_s - min(track.parted_s or 0.0 for track in left.values()) >= self._teardown_s:
                claim = self._claim([left[pid] for pid in sorted(left)], context)
                if (
                    claim.stage is not Stage.OBSERVATION
                    or not program_of(next(iter(left.values())).parent_words).is_border
                ):
                    yield claim  # who logs out and leaves a job under nohup means it
            elif not left:
                del self._parted[parent]

    def _claim(self, tracks: Sequence[Track], context: Context) -> Claim:
        first = tracks[0]
        slurm, words = _proven_step(first.process), first.parent_words
        ago_s = context.now_s - (first.parted_s or 0.0)
        idle_s = _idle_s(tracks, context.now_s)
        is_idle = idle_s is not None and idle_s >= self._idle_s
        was_launcher = _was_launcher(words, len(tracks)) or words == first.words  # a fork outlives it by mistake
        is_over = slurm is not None and not words  # its parent was outside of the job: slurmstepd
        is_rank = (first.process.owner.world_size or 1) > 1 and was_launcher  # ranks never outlive their launcher
        doubts = (is_idle or (is_rank and ago_s >= self._alarm_s)) + (was_launcher or is_over)
        if is_idle:
            Left.of(context).idle.update((one.process.pid, one.process.start_ticks) for one in tracks)
        count = f"{len(tracks)} processes " if len(tracks) > 1 else ""
        what = "their" if count else "its"
        step = f"; Slurm step {slurm.text} seems to have ended" if is_over and slurm else ""
        idle = f"; {_idle_text(idle_s)}" if is_idle else ""
        held = _held(tracks)
        parent = f"{words[:_LONGEST]} ({first.parent_pid_before})" if words else f"({first.parent_pid_before})"
        return Claim(
            code="orphan.parent",
            stage=(Stage.OBSERVATION, Stage.SUSPECT, Stage.ALARM)[doubts if is_over or is_rank else min(doubts, 1)],
            subject=process_subject(first.process),
            summary=f"{count}orphaned for {duration_text(ago_s)}, {held_text(held)} held: {what} parent {parent} "
            f"exited{step}{idle}",
            evidence=(
                Evidence("parent_ended_s", round(ago_s, 1), f"the new parent is pid {first.process.parent_pid}"),
                Evidence("processes", len(tracks), f"orphans: {' '.join(str(one.process.pid) for one in tracks[:32])}"),
                Evidence("idle_s", idle_s and round(idle_s, 1), _idle_text(idle_s)),
                Evidence("memory_bytes", held, f"{held_text(held)} held"),
            ),
            remedy="Ask the owner: a job under nohup or disown looks the same. If it is no longer needed: "
            + end_command(*(one.process for one in tracks[:8])),
            action="signal",
            confidence=0.9 if was_launcher and is_idle else 0.7 if doubts else 0.4,
            lacking=("its terminal session",) if "session" in first.process.owner.missing else (),
            began_s=first.parted_s,
            hold_s=_UNSEEN_S,
        )


def _was_launcher(words: str, children: int) -> bool:
    """Return whether the parent led its children: a launcher, a server, or a program with several of them."""
    what = program_of(words)
    return bool(words) and (what.known in LAUNCHERS or serves(words) or (what.leads and children > 1))


def _proven_step(process: HostProcess) -> SlurmStep | None:
    """Return the Slurm step of a process, unless the process only claims it."""
    owner = process.owner
    return owner.slurm if "slurm" in owner.trusted else None


def _is_stray(process: HostProcess) -> bool:
    """Return whether a process is unattended: no systemd service, no tmux or screen."""
    owner = process.owner
    is_kept = (owner.unit or "").endswith(".service") or (owner.session or "").split(" ")[0] in _IN_ORDER
    return not is_kept and any("G" not in use.type for use in process.gpus)


def _is_meant(track: Track) -> bool:
    """Return whether its parent exits by design: the client of a container, or a program that becomes a daemon."""
    parent, own = program_of(track.parent_words), program_of(track.process.command)
    if parent.name in _CONTAINER_CLIENTS and track.process.owner.container is not None:
        return True
    arguments = {*arguments_of(track.parent_words), *arguments_of(track.process.command)}
    return parent.text == own.text and not _BACKGROUND.isdisjoint(arguments)


def _idle_s(tracks: Sequence[Track], now_s: float) -> float | None:
    """Return the seconds for which all of them have been idle; None if one works or is unknown."""
    shortest: float | None = None
    for track in tracks:
        idle_s = track.idle_s(now_s)
        if idle_s is None:
            return None
        shortest = idle_s if shortest is None else min(shortest, idle_s)
    return shortest


def _idle_text(idle_s: float | None) -> str:
    return "it may still use the GPU" if idle_s is None else f"idle for at least {duration_text(idle_s)}"


def _held(tracks: Sequence[Track]) -> int | None:
    amounts = [memory_of(track.process) for track in tracks]
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
