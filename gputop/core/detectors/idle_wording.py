"""What is told of memory that is held without work: for how long, how much, what it costs, whom to ask."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from gputop.core.detection.detector import Look, Sign
from gputop.core.detectors.activity.party import Party, count_text
from gputop.core.detectors.activity.process import Track
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.catalogue import MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.metric import Unit
from gputop.core.model.sample import Gpu
from gputop.core.model.units import bytes_text, duration_text, value_text

_MOST_NAMED: Final = 3


def sign_of(party: Party, look: Look, suspect_s: float, full_percent: float) -> Sign:
    """Return the finding about a process or a job."""
    track = party.first
    idle_s = min(one.idle_s for one in party.tracks)
    held = sum(one.use.memory_bytes or 0 for one in party.tracks)
    is_suspect = idle_s >= suspect_s or any(used_percent(one.board.gpu) > full_percent for one in party.tracks)
    watts, watts_text = _watts(party)
    energy = value_text(watts * idle_s, Unit.JOULES)
    spent = held / 2**30 * idle_s / 3600
    has_worked = track.busy_s > 0
    since = "no GPU work for" if has_worked else "no GPU work since gputop looks, for"
    return Sign(
        code="idle.holder",
        stage=Stage.SUSPECT if is_suspect and not track.role.is_server else Stage.OBSERVATION,
        subject=party.subject,
        summary=f"{count_text(party)}{since} {duration_text(idle_s)}, holds {_held_text(party, held)}; "
        f"cost so far {spent:.1f} GiB·h{watts_text and f' and {energy} ({watts_text})'}{_who(track)}",
        evidence=(
            *_evidence(idle_s, held, spent),
            *((Evidence("power_w", round(watts, 1), watts_text),) if watts else ()),
            *((Evidence("energy_j", round(watts * idle_s), f"{energy} at that power"),) if watts else ()),
        ),
        remedy=_remedy(track),
        action="signal",
        confidence=0.9 if has_worked or idle_s >= suspect_s else 0.7,
        lacking=() if has_worked else ("when it last worked, before gputop looked",),
        began_s=look.now_s - idle_s,
    )


def crowd_sign(gpu: Gpu, tracks: Sequence[Track], look: Look, suspect_s: float, full_percent: float) -> Sign:
    """Return one finding about many processes on one GPU: nobody reads hundreds."""
    held = sum(one.use.memory_bytes or 0 for one in tracks)
    spent = sum((one.use.memory_bytes or 0) / 2**30 * one.idle_s / 3600 for one in tracks)
    least_s, most_s = min(one.idle_s for one in tracks), max(one.idle_s for one in tracks)
    users = Counter(one.process.user or "?" for one in tracks).most_common()
    named = ", ".join(f"{user} {count}" for user, count in users[:_MOST_NAMED])
    more = f", {len(users) - _MOST_NAMED} more users" if len(users) > _MOST_NAMED else ""
    is_suspect = least_s >= suspect_s or used_percent(gpu) > full_percent
    return Sign(
        code="idle.holder",
        stage=Stage.SUSPECT if is_suspect else Stage.OBSERVATION,
        subject=gpu_subject(gpu),
        summary=f"{len(tracks)} processes ({named}{more}) without GPU work for {duration_text(least_s)} to "
        f"{duration_text(most_s)} hold {bytes_text(held)}; cost so far {spent:.1f} GiB·h",
        evidence=(*_evidence(least_s, held, spent), Evidence("processes", len(tracks), f"{len(tracks)} processes")),
        remedy="Sort by GPU memory (G), filter for sm=0 (F4), and ask their owners whether they are still needed.",
        confidence=0.9,
        began_s=look.now_s - least_s,
    )


def _evidence(idle_s: float, held: int, spent: float) -> tuple[Evidence, ...]:
    return (
        Evidence("idle_s", round(idle_s, 1), f"idle for {duration_text(idle_s)}"),
        Evidence("memory_bytes", held, f"holds {bytes_text(held)}"),
        Evidence("memory_gib_hours", round(spent, 2), f"{spent:.1f} GiB·h held in vain"),
    )


def used_percent(gpu: Gpu | None) -> float:
    """Return how full the memory of a GPU is; 0 where that is not known."""
    used, total = (gpu[MEMORY_USED], gpu[MEMORY_TOTAL]) if gpu else (None, None)
    return 100 * used / total if used and total else 0.0


def _held_text(party: Party, held: int) -> str:
    gpu = party.first.board.gpu
    total = gpu[MEMORY_TOTAL] if gpu and len(party.tracks) == 1 else None
    return f"{bytes_text(held)} ({100 * held / total:.0f}%)" if total else bytes_text(held)


def _watts(party: Party) -> tuple[float, str]:
    """Return what the contexts draw: all of a GPU that nobody else is on, else what a context was seen to add."""
    alone = [one.board for one in party.tracks if one.board.holders == 1 and one.board.watts is not None]
    if len(alone) == len(party.tracks):
        watts = sum(board.watts or 0.0 for board in alone)
        return watts, f"{watts:.0f} W of an otherwise empty GPU" if len(alone) == 1 else f"{watts:.0f} W of empty GPUs"
    learned = [(one.board.context_w, one.board.empty_w) for one in party.tracks]
    added = sum(max(0.0, context - empty) for context, empty in learned if context and empty)
    return added, f"about {added:.0f} W for its context" if added else ""


def _who(track: Track) -> str:
    if track.role.is_server:
        return "; it serves, and no requests come"
    if track.role.is_interactive:
        return "; a notebook or prompt"
    return ""


def _remedy(track: Track) -> str:
    owner = track.process.user or "its owner"
    end = f"gputop signal SIGTERM --pid {track.process.pid}"
    if track.role.is_server:
        return f"Stop it while nobody asks ({end}), or let another model share its GPU."
    if track.role.is_interactive:
        return f"Ask {owner} to shut the kernel down, or to delete what it keeps on the GPU. To end it: {end}"
    return f"Ask {owner} whether it is still needed; ending it frees the memory: {end}"
