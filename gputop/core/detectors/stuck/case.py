"""How a hang is told: the numbers, since when, who is the odd one out, how sure that is, what to do."""

from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.detectors.activity.ranks import Stance
from gputop.core.model.finding import Evidence, Stage, Subject, confidence_of
from gputop.core.model.units import duration_text

# These only tell how sure it is, and in which words.
_SPINS: Final = 90.0
_SAME_S: Final = 10.0
_STEADY_SM: Final = 2.0
_DROPPED: Final = 0.6  # of the power when it worked
_ESSENTIAL: Final = "power draw"
_MOST_NAMED: Final = 3
_STATES: Final = {
    "T": "is stopped", "t": "is held by a debugger", "Z": "has ended and is a zombie",
    "D": "is blocked in the kernel (state D)",
}  # fmt: skip


class Case(Struct, frozen=True):
    """What is known of a hang. ``out``: the ranks that neither wait nor work. ``ranks``: of the job, on this box."""

    code: str
    subject: Subject
    lasted_s: float
    limit_s: float
    waiting: list[Track]
    out: list[tuple[Track, Stance]] = []
    ranks: int = 1
    has_worked: bool = False

    @property
    def first(self) -> Track:
        """Return the one that has waited longest."""
        return max(self.waiting, key=lambda track: track.wait_s)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Return the signals that would be needed to be sure."""
        unseen = () if self.has_worked else ("whether it ever worked: not since gputop looks",)
        return (*self.first.board.lacking(), *unseen)

    @property
    def lacks_power(self) -> bool:
        """Say whether it is judged without the power draw."""
        return any(name.startswith(_ESSENTIAL) for name in self.lacking)


def hang_claim(case: Case, stage: Stage, context: Context) -> Claim:
    """Return the finding of a hang."""
    culprit = case.out[0] if len(case.out) == 1 else None
    ranks = f"; {len(case.waiting)} of {case.ranks} ranks alike" if case.ranks > 1 else ""
    return Claim(
        code=case.code,
        stage=stage,
        subject=case.subject,
        summary=f"{_picture(case)}{_nothing(case)}{ranks}{_odd(case, context)}",
        evidence=_evidence(case, culprit),
        remedy=_remedy(case, culprit),
        action="process",
        confidence=_confidence(case),
        lacking=case.lacking,
        began_s=context.now_s - case.lasted_s,
        hold_s=10.0,
    )


def busy_claim(subject: Subject, stage: Stage, waiting: list[Track], working: list[Track], context: Context) -> Claim:
    """Return that some ranks wait while others work: an evaluation of one rank, or one that lags behind."""
    lasted_s = max(track.wait_s for track in waiting)
    others = " and ".join(rank_text(track) for track in working[:_MOST_NAMED]) or "another rank"
    return Claim(
        code="stuck.collective",
        stage=stage,
        subject=subject,
        summary=f"{len(waiting)} ranks wait in a collective for {duration_text(lasted_s)} while {others} works: "
        "an evaluation or a checkpoint looks like this",
        evidence=(
            Evidence("waiting_ranks", len(waiting), f"{len(waiting)} ranks at 100% without power"),
            Evidence("lasted_s", round(lasted_s, 1), f"for {duration_text(lasted_s)}"),
        ),
        remedy=f"If it lasts: py-spy dump --pid {(working or waiting)[0].process.pid}",
        action="process",
        confidence=0.4,
        began_s=context.now_s - lasted_s,
    )


def rank_text(track: Track) -> str:
    """Return rank 3 (pid 4711); the GPU where the rank is not known."""
    rank = track.process.owner.rank
    name = f"rank {rank}" if rank is not None else f"GPU {track.board.index}"
    return f"{name} (pid {track.process.pid})"


def _picture(case: Case) -> str:
    """Return util 100% but 104 W (idle level 98 W, was 612 W) for 6m10."""
    track, board = case.first, case.first.board
    if board.watts is None:
        power = f"tensor cores at {board.tensor or 0:.0f}% and memory at {board.dram or 0:.0f}%"
    else:
        was = f", was {track.work_w:.0f} W" if track.work_w else ""
        power = f"{board.watts:.0f} W (idle level {board.idle_w() or 0:.0f} W{was})"
    return f"util {track.gu or 0:.0f}% but {power} for {duration_text(case.lasted_s)}"


def _nothing(case: Case) -> str:
    """Return which signals are known to say that nothing is moved."""
    board = case.first.board
    known = (("memory", board.memory), ("PCIe", board.pcie), ("NVLink", board.nvlink))
    names = [name for name, value in known if value is not None]
    return f"; no {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))} traffic" if names else ""


def _odd(case: Case, context: Context) -> str:
    if case.code == "stuck.kernel":
        return " -> a kernel that does not end"
    if len(case.out) == 1:
        track, is_so = case.out[0]
        return (
            f", {rank_text(track)} {_state(track, is_so, context)} -> waiting in a collective; "
            f"{rank_text(track).partition(' (')[0]} is the odd one out"
        )
    if case.out:
        named = ", ".join(rank_text(track) for track, _ in case.out[:_MOST_NAMED])
        return f", {len(case.out)} at 0% ({named}{', …' if len(case.out) > _MOST_NAMED else ''}) -> waiting for them"
    return " -> all ranks on this box wait: a mismatch between them, or a rank on another node"


def _state(track: Track, is_so: Stance, context: Context) -> str:
    """Return what the odd one does."""
    if is_so is Stance.GONE:
        return f"is gone for {duration_text(context.now_s - track.seen_s)}"
    if is_so is Stance.LOST:
        return "has a GPU that does not answer"
    process, thread = track.process, busiest(track.process)
    if process.state in _STATES:
        return _STATES[process.state]
    if thread is not None and thread >= _SPINS:
        return f"at 0% with a thread at {thread:.0f}% CPU"
    return "at 0% and asleep"


def _evidence(case: Case, culprit: tuple[Track, Stance] | None) -> tuple[Evidence, ...]:
    track, board = case.first, case.first.board
    held = [
        Evidence("waiting_s", round(case.lasted_s, 1), f"for {duration_text(case.lasted_s)}"),
        Evidence("alarm_after_s", round(case.limit_s, 1), f"an alarm after {duration_text(case.limit_s)}"),
        Evidence("gpu_utilization_percent", track.gu, f"GPU at {track.gu or 0:.0f}%"),
        Evidence("power_w", board.watts, f"draws {board.watts or 0:.0f} W"),
        Evidence("power_before_w", track.work_w, f"{track.work_w or 0:.0f} W when it worked"),
        Evidence("idle_power_w", board.idle_w(), f"{board.idle_w() or 0:.0f} W with a context that does nothing"),
        Evidence("worked_s", round(track.worked_s, 1), f"worked for {duration_text(track.worked_s)} before"),
        Evidence("longest_wait_s", track.longest_wait_s, f"waited {duration_text(track.longest_wait_s)} when well"),
    ]
    if case.ranks > 1:
        held.append(Evidence("waiting_ranks", len(case.waiting), f"{len(case.waiting)} of {case.ranks} ranks wait"))
    if culprit:
        held.append(Evidence("odd_pid", culprit[0].process.pid, f"odd one out: {rank_text(culprit[0])}"))
    return tuple(one for one in held if one.value is not None and one.value != 0)


def _confidence(case: Case) -> float:
    track, board = case.first, case.first.board
    thread = busiest(track.process)
    waits = [one.wait_s for one in case.waiting]
    has_dropped = track.work_w is not None and board.watts is not None and board.watts < _DROPPED * track.work_w
    is_flat = track.sm_high >= 0 and track.sm_high - track.sm_low <= _STEADY_SM and (board.tensor or 0.0) < 1
    sure = confidence_of(
        0.7 if has_dropped else 0.0,
        0.5 if board.is_static else 0.3,
        0.5 if len(waits) > 1 and max(waits) - min(waits) <= 2 * _SAME_S else 0.0,
        0.5 if case.out else 0.0,
        0.4 if is_flat else 0.0,
        0.2 if thread is not None and thread >= _SPINS else 0.0,
        0.6 if any(one.longest_step_s for one in case.waiting) else 0.0,  # it reported, and does so no more
    )
    return min(sure, 0.6) if case.lacks_power or not case.has_worked else sure


def _remedy(case: Case, culprit: tuple[Track, Stance] | None) -> str:
    end = f"gputop signal SIGTERM --pid {case.first.process.pid}"
    if culprit and culprit[1] is Stance.GONE:
        return f"Its rank is gone and does not come back: end the job ({end}) and start it from its checkpoint."
    if culprit and culprit[1] is Stance.LOST:
        return f"Its GPU does not answer: see sudo dmesg | grep -i xid, then end the job: {end}"
    odd = culprit[0] if culprit else case.first
    process = odd.process
    if process.state in ("T", "t"):
        return f"Let it go on: kill -CONT {process.pid}."
    dump = f"py-spy dump --pid {process.inner_pid or process.pid}"
    if case.code == "stuck.kernel":
        return f"See which kernel: {dump}, or cuda-gdb -p {process.pid}; it does not end by itself."
    return f"See where it is: {dump}; then end the job. TORCH_NCCL_TRACE_BUFFER_SIZE keeps the last collectives."
