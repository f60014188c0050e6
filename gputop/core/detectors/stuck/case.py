"""The wording of a hang: verdict, the odd rank, numbers, confidence, and what to do."""

from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.detectors.activity.ranks import Stance
from gputop.core.model.finding import Evidence, Stage, Subject, confidence_of
from gputop.core.model.units import duration_text
from gputop.core.processes.ending import end_command

# These decide the confidence and the wording only.
_SPINS: Final = 90.0
_SAME_S: Final = 10.0
_STEADY_SM: Final = 2.0
_DROPPED: Final = 0.6  # of the power when it worked
_ESSENTIAL: Final = "power draw"
_MOST_NAMED: Final = 3
_STATES: Final = {
    "T": "is stopped", "t": "is held by a debugger", "Z": "has exited and is a zombie",
    "D": "is blocked inside the kernel (state D)",
}  # fmt: skip


class Case(Struct, frozen=True):
    """A hang. ``out``: the ranks that neither wait nor work. ``ranks``: number of ranks of the job on this host."""

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
        """Return the track that has waited longest."""
        return max(self.waiting, key=lambda track: track.wait_s)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Return the signals that are missing for certainty."""
        unseen = () if self.has_worked else ("whether it ever worked (gputop has not seen it work)",)
        return (*self.first.board.lacking(), *unseen)

    @property
    def lacks_power(self) -> bool:
        """Return whether the hang is judged without the power draw."""
        return any(name.startswith(_ESSENTIAL) for name in self.lacking)


def hang_claim(case: Case, stage: Stage, context: Context) -> Claim:
    """Return the claim that a process or job hangs."""
    culprit = case.out[0] if len(case.out) == 1 else None
    return Claim(
        code=case.code,
        stage=stage,
        subject=case.subject,
        summary=f"hung for {duration_text(case.lasted_s)}: {_cause(case, context)} · {_numbers(case)}",
        evidence=_evidence(case, culprit),
        remedy=_remedy(case, culprit),
        action="process",
        confidence=_confidence(case),
        lacking=case.lacking,
        began_s=context.now_s - case.lasted_s,
        hold_s=10.0,
    )


def busy_claim(subject: Subject, stage: Stage, waiting: list[Track], working: list[Track], context: Context) -> Claim:
    """Return the claim that some ranks wait while others work: an evaluation by one rank, or a rank that lags."""
    lasted_s = max(track.wait_s for track in waiting)
    others = " and ".join(rank_text(track) for track in working[:_MOST_NAMED]) or "another rank"
    return Claim(
        code="stuck.collective",
        stage=stage,
        subject=subject,
        summary=f"{len(waiting)} ranks have waited in a collective for {duration_text(lasted_s)} while {others} works: "
        "this may be an evaluation or a checkpoint",
        evidence=(
            Evidence("waiting_ranks", len(waiting), f"{len(waiting)} ranks at 100% utilization and idle power"),
            Evidence("lasted_s", round(lasted_s, 1), f"in a collective for {duration_text(lasted_s)}"),
        ),
        remedy=f"If it continues: gputop explain {(working or waiting)[0].process.pid}",
        action="process",
        confidence=0.4,
        began_s=context.now_s - lasted_s,
    )


def rank_text(track: Track) -> str:
    """Return ``rank 3 (pid 4711)``, or the GPU if the rank is unknown."""
    rank = track.process.owner.rank
    name = f"rank {rank}" if rank is not None else f"GPU {track.board.index}"
    return f"{name} (pid {track.process.pid})"


def _numbers(case: Case) -> str:
    """Return ``GPU at 100% but 104 W (idle 98 W, normally 612 W), no traffic to memory or PCIe``."""
    track, board = case.first, case.first.board
    if board.watts is None:
        power = f"has tensor cores at {board.tensor or 0:.0f}% and memory at {board.dram or 0:.0f}%"
    else:
        normally = f", normally {track.work_w:.0f} W" if track.work_w else ""
        power = f"draws {board.watts:.0f} W (idle {board.idle_w() or 0:.0f} W{normally})"
    whose = f"GPU {board.index}" if case.ranks > 1 else "its GPU"
    return f"{whose} is {track.gu or 0:.0f}% busy, but {power}{_quiet(case)}"


def _quiet(case: Case) -> str:
    """Return the kinds of traffic that are known to be absent."""
    board = case.first.board
    known = (("memory", board.memory), ("PCIe", board.pcie), ("NVLink", board.nvlink))
    names = [name for name, value in known if value is not None]
    return f" · no traffic to {' or '.join(filter(None, (', '.join(names[:-1]), names[-1])))}" if names else ""


def _cause(case: Case, context: Context) -> str:
    if case.code == "stuck.kernel":
        return "a kernel does not end"
    waiting = _waiting_text(case)
    if len(case.out) == 1:
        track, stance = case.out[0]
        return f"{waiting} in a collective, {rank_text(track)} {_state(track, stance, context)}"
    if case.out:
        named = ", ".join(rank_text(track) for track, _ in case.out[:_MOST_NAMED])
        return f"{waiting} for {len(case.out)} idle ranks ({named}{', …' if len(case.out) > _MOST_NAMED else ''})"
    return f"{waiting} in a collective: the ranks disagree, or one on another host is missing"


def _waiting_text(case: Case) -> str:
    count = len(case.waiting)
    return f"{count} of {case.ranks} ranks {'waits' if count == 1 else 'wait'}" if case.ranks > 1 else "it waits"


def _state(track: Track, stance: Stance, context: Context) -> str:
    """Return what the odd rank does."""
    if stance is Stance.EXITED:
        return f"exited {duration_text(context.now_s - track.seen_s)} ago"
    if stance is Stance.LOST:
        return "has a GPU that does not respond"
    process, thread = track.process, busiest(track.process)
    if process.state in _STATES:
        return _STATES[process.state]
    if thread is not None and thread >= _SPINS:
        return f"spins on the CPU at {thread:.0f}%"
    return "sleeps"


def _evidence(case: Case, culprit: tuple[Track, Stance] | None) -> tuple[Evidence, ...]:
    track, board = case.first, case.first.board
    longest_s = track.longest_wait_s or None
    found = [
        Evidence("waiting_s", round(case.lasted_s, 1), f"hung for {duration_text(case.lasted_s)}", longest_s),
        Evidence("gpu_utilization_percent", track.gu, f"is {track.gu or 0:.0f}% busy"),
        Evidence("power_w", board.watts, f"{board.watts or 0:.0f} W", track.work_w),
        Evidence("idle_power_w", board.idle_w(), f"idle {board.idle_w() or 0:.0f} W"),
        Evidence("worked_s", round(track.worked_s, 1), f"worked for {duration_text(track.worked_s)} before"),
    ]
    if case.ranks > 1:
        found.append(Evidence("waiting_ranks", len(case.waiting), _waiting_text(case)))
    if culprit:
        found.append(Evidence("odd_pid", culprit[0].process.pid, rank_text(culprit[0])))
    return tuple(one for one in found if one.value is not None and one.value != 0)


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
        0.6 if any(one.longest_step_s for one in case.waiting) else 0.0,  # it stopped reporting
    )
    return min(sure, 0.6) if case.lacks_power or not case.has_worked else sure


def _remedy(case: Case, culprit: tuple[Track, Stance] | None) -> str:
    end = end_command(case.first.process)
    if culprit and culprit[1] is Stance.EXITED:
        return f"A rank has exited and does not return. End the job ({end}) and restart it from its checkpoint."
    if culprit and culprit[1] is Stance.LOST:
        return f"A GPU does not respond: see sudo dmesg | grep -i xid, then end the job: {end}"
    odd = culprit[0] if culprit else case.first
    process = odd.process
    if process.state in ("T", "t"):
        return f"Continue it: kill -CONT {process.pid}."
    ask = f"gputop explain {process.pid}"
    if case.code == "stuck.kernel":
        return f"See which kernel: {ask} --native, or cuda-gdb -p {process.pid}. It does not end by itself."
    return (
        f"See where it waits: {ask}. Then end the job. For the next run, set TORCH_NCCL_TRACE_BUFFER_SIZE: PyTorch "
        "then records the last collectives."
    )
