"""The activity of one process on one GPU, in seconds: work, idle time, waiting in a kernel that moves no data."""

from collections.abc import Iterable, Sequence

from gputop.core.detectors.activity.board import Board, Window
from gputop.core.detectors.activity.role import Role, is_loader
from gputop.core.model.sample import GpuProcess, HostProcess

(
    GU,
    THREAD,
    WORKERS,
    BLOCKED,
    LOADERS,
    CPU,
    WATTS,
    MEMORY,
    PCIE,
    NVLINK,
    SM,
    OCCUPANCY,
    TENSOR,
    DRAM,
    EFFORT,
    HEAVY,
) = range(16)  # the positions in the window: first the values of the process, then those of the GPU

Key = tuple[int, int | None, str, int | None]  # pid, start, GPU, GPU instance
_BUSY = 1.0  # percent of a core


class Track:
    """The durations of a process on a GPU. None of them grows during a gap in sampling.

    ``gu``: its share of the GPU's time in percent; None if unknown. ``wait_s``: how long it has looked like a
    kernel that waits: high utilization, low power, no traffic; short interruptions do not end this.
    ``longest_wait_s``: the longest wait after which it worked again. ``pause_s``: time since it last used the GPU;
    ``idle_s``: the same without heartbeats of a second or two. ``worked_s``: time of real work, judged by power,
    which took ``work_w``. ``stepped_s``: when the reported step last changed. ``sm_low``, ``sm_high``: SM activity
    while it waits. ``is_fed``: its data loaders work. ``ranks``: key of its job, if that is on several GPUs.
    ``wait_memory``: its mean memory utilization during the wait. ``rests_s``: time without CPU use, while the
    use of the GPU is unknown; ``rest_percent``: its mean CPU use during that.
    ``moved_s``: time with much traffic of its own in GPU memory; ``shared_still_s``: how
    long it has moved no data while it used a GPU on which a neighbour computes.
    """

    __slots__ = (
        "_at_work_s", "_blip_at_s", "_blip_s", "_broken_s", "_grew_s", "_hidden_s", "_is_odd", "_odd_at_s",
        "_pending_s", "_resumed_s", "_shared_bytes", "_top_bytes", "board", "busy_s", "computes_s", "first_s", "gu",
        "held_bytes", "held_since_s", "idle_s", "is_child_busy", "is_fed", "key", "longest_pause_s", "longest_spin_s",
        "longest_step_s", "longest_wait_s", "low", "moved_s", "pause_s", "process", "ranks", "rest_percent", "rests_s",
        "role", "role_due_s", "seen_s", "shared_still_s", "sm_high", "sm_low", "spin_s", "step", "step_s", "stepped_s",
        "still_s", "use", "wait_memory", "wait_s", "window", "work_effort", "work_memory", "work_nvlink", "work_pcie",
        "work_w", "worked_s",
    )  # fmt: skip

    def __init__(self, key: Key, process: HostProcess, use: GpuProcess, board: Board, now_s: float) -> None:
        self.key, self.process, self.use, self.board = key, process, use, board
        self.role, self.role_due_s = Role(), 0.0
        self.first_s = self.seen_s = now_s
        self.step_s = 0.0
        self.gu: float | None = None
        self.window: Window | None = None
        self.is_fed = False
        self.busy_s = self.worked_s = 0.0
        self.work_w: float | None = None
        self.work_effort = self.work_memory = self.work_pcie = self.work_nvlink = 0.0
        self.low = board.limits.low
        self.step: float | None = None
        self.stepped_s: float | None = None
        self.longest_step_s = 0.0
        self.longest_wait_s = self.longest_pause_s = self.longest_spin_s = 0.0
        self.still_s = 0.0
        self.is_child_busy = False
        self.computes_s = 0.0
        self.held_bytes, self.held_since_s = -1, now_s
        self.ranks: str | None = None
        self._blip_at_s = self._blip_s = self._pending_s = self._resumed_s = self._hidden_s = 0.0
        self._broken_s = 0.0
        self._odd_at_s = self._at_work_s = -board.limits.heartbeat_within_s
        self._is_odd = False
        self.idle_s = self.pause_s = self.wait_s = self.spin_s = 0.0
        self.sm_low = self.sm_high = -1.0
        self.wait_memory = self.rests_s = 0.0
        self.rest_percent: float | None = None
        self._top_bytes, self._grew_s = use.memory_bytes or 0, -board.limits.left_out_s
        self.shared_still_s = self.moved_s = 0.0
        self._shared_bytes: int | None = None

    def is_progressing(self, now_s: float) -> bool:
        """Return whether the process reports progress."""
        quick_s = max(self.board.limits.progress_s, self.board.limits.progress_times * self.longest_step_s)
        return self.stepped_s is not None and now_s - self.stepped_s <= quick_s

    def has_stopped_to_report(self, now_s: float) -> bool:
        """Return whether the process reported progress before and has stopped."""
        return self.longest_step_s > 0 and not self.is_progressing(now_s)

    @property
    def has_link_traffic(self) -> bool:
        """Whether its GPU has more NVLink traffic than a kernel of this process causes while it waits."""
        limits = self.board.limits
        return (self.board.nvlink or 0.0) > max(limits.quiet_nvlink, limits.quiet_nvlink_of_work * self.work_nvlink)

    def report(self, step: float, now_s: float) -> None:
        """Take a reported step."""
        if step != self.step:
            if self.stepped_s is not None:
                self.longest_step_s = max(self.longest_step_s, now_s - self.stepped_s)
            self.stepped_s = None if self.step is None else now_s
            self.step = step

    def advance(self, use: GpuProcess, step_s: float, now_s: float) -> None:
        """Count the activity of the process since its previous sample."""
        board = self.board
        gu = use.sm_percent
        if board.holders == 1 and (gu is None or gu > board.limits.own_percent) and board.utilization is not None:
            gu = board.utilization if gu is None or board.utilization > gu else gu
        self.gu = gu = gu if board.is_known else None
        if gu is None:
            return  # durations continue when it is known again
        if gu > board.limits.idle_percent or use.encoder_percent or use.decoder_percent:
            self._busy(gu, step_s, now_s)
        else:
            self._rest(step_s, now_s)

    def follow(self, host: tuple[float | None, ...]) -> None:
        """Add to the means, unless it pauses. ``host``: the result of `followed`."""
        _, cpu, blocked, count, _ = host
        limits = self.board.limits
        is_usual = self.idle_s <= max(limits.left_out_s, limits.fed_times * self.longest_pause_s)
        works = (cpu or 0.0) >= limits.fed_percent * max(1.0, count or 0.0) or bool(blocked)
        self.is_fed = works and is_usual  # a longer pause than ever is a standstill and not a slow input
        if self.idle_s >= limits.means_s and not self.is_fed:
            self.window = None  # what it did before the pause says nothing about what follows
        is_left_out = self.idle_s >= limits.left_out_s and not self.is_fed
        if is_left_out or self._is_loading() or self.awaits_others:
            return
        if self.window is None:
            if not self.busy_s and not self.is_fed:
                return  # it has not worked yet
            self.window = Window(HEAVY + 1, limits.means_s)
        self.window.add(self.step_s, (self.gu, *host, *self.board.values()))

    def _is_loading(self) -> bool:
        """Return whether it fills its memory before it works: to load a model is no slow input."""
        limits, held = self.board.limits, self.use.memory_bytes or 0
        if held >= self._top_bytes + limits.loaded_bytes:
            self._top_bytes, self._grew_s = held, self.seen_s
        return self.worked_s < limits.settled_s and self.seen_s - self._grew_s < limits.left_out_s

    @property
    def awaits_others(self) -> bool:
        """Whether it waits in a kernel for others or for requests, which does not belong to the means of its work."""
        limits = self.board.limits
        is_of_job = self.ranks is not None or (self.role.world or 1) > 1 or self.worked_s > limits.often * self.busy_s
        return self.wait_s > 0 and is_of_job

    def _is_blip(self, now_s: float) -> bool:
        """Return whether a single sample of work in a pause is a wrong reading: there is no power, and it is rare."""
        limits = self.board.limits
        was_blip, self._is_odd = self._is_odd, False
        if self.pause_s <= limits.pause_s or was_blip or (self.board.effort or 0.0) > limits.low:
            return False
        if now_s - self._odd_at_s < limits.heartbeat_within_s:
            return False
        self._is_odd, self._odd_at_s = True, now_s
        return True

    def _rest(self, step_s: float, now_s: float) -> None:
        limits = self.board.limits
        self.pause_s += step_s
        self.idle_s += step_s
        if self.wait_s:
            self._break(step_s)
        if self.shared_still_s:
            self._shorten_shared_still(step_s)
        if self._blip_s and now_s - self._blip_at_s > limits.heartbeat_within_s:
            self._blip_s = 0.0

    def _busy(self, gu: float, step_s: float, now_s: float) -> None:
        board = self.board
        limits = board.limits
        if self.pause_s:
            self._end_pause(step_s, now_s)
        if self.idle_s:
            self._wake(step_s, now_s)
        self.busy_s += step_s
        if gu >= limits.active_percent:
            board.touch(self, now_s)
        if board.is_shared or self.shared_still_s:
            self._follow_own(gu, step_s)
        effort = board.effort
        if effort is None:
            return
        if self._is_waiting(gu, effort):
            self._wait(step_s)
        elif board.is_shared:
            self._hide(gu, effort, step_s)
        else:
            if self.wait_s:
                self._interrupt(gu, effort, step_s, now_s)
            if gu > limits.own_percent:
                self._work(effort, step_s)

    def _end_pause(self, step_s: float, now_s: float) -> None:
        if self._is_blip(now_s):
            self.pause_s += step_s
            return
        if self.pause_s > self.board.limits.pause_s and self.busy_s and self.pause_s > self.longest_pause_s:
            self.longest_pause_s = self.pause_s
        self.pause_s = 0.0

    def _wake(self, step_s: float, now_s: float) -> None:
        """End the idle time, unless this may be a heartbeat."""
        if not self._blip_s:
            self._blip_at_s = now_s
        self._blip_s += step_s
        limits = self.board.limits
        if self._blip_s >= limits.heartbeat_s or self.idle_s < limits.heartbeat_within_s:
            self.idle_s = self._blip_s = 0.0
        else:
            self.idle_s += step_s

    def _wait(self, step_s: float) -> None:
        sm, board = self.board.sm, self.board
        if not self.wait_s:
            self.wait_memory = 0.0
        touched = max(board.memory or 0.0, board.dram or 0.0)
        self.wait_memory += (touched - self.wait_memory) * step_s / (step_s + board.limits.means_s)
        if not self.wait_s:
            self.sm_low = self.sm_high = -1.0 if sm is None else sm
        elif sm is not None:
            self.sm_low, self.sm_high = min(self.sm_low, sm), max(self.sm_high, sm)
        self.wait_s += step_s
        self._hidden_s = self._resumed_s = self._broken_s = 0.0

    def _is_waiting(self, gu: float, effort: float) -> bool:
        """Return whether it looks like a kernel that waits: high utilization, low power, no traffic."""
        board, limits = self.board, self.board.limits
        full = limits.full_percent
        if gu < full and not (board.is_shared and gu >= limits.shared_percent and (board.utilization or 0.0) >= full):
            return False
        if not board.is_quiet or (board.pcie or 0.0) > self._polling():
            return False
        if self.has_link_traffic:
            return False
        return effort <= limits.low or (board.is_static and effort <= max(self.low, self._low_of_silent()))

    def _low_of_silent(self) -> float:
        """Return the power of a wait if hardly anything of the memory traffic of its work is left; else 0.

        For a rank that has not worked yet, no traffic at all is the evidence.
        """
        limits, touched = self.board.limits, max(self.board.memory or 0.0, self.board.dram or 0.0)
        if not self.worked_s and (self.role.world or 1) > 1:
            return limits.low_most if touched <= limits.own_still_percent else 0.0
        if self.work_memory < limits.own_memory_percent or touched > limits.silent * self.work_memory:
            return 0.0
        return min(limits.low_most, limits.low_of_silent * self.work_effort)

    @property
    def waits_now(self) -> bool:
        """Whether its GPU waits in a kernel at this instant; a single sample is no evidence."""
        board = self.board
        is_full = (self.gu or 0.0) >= board.limits.full_percent and board.is_quiet
        return is_full and board.present_effort is not None and board.present_effort <= self.low

    @property
    def works_now(self) -> bool:
        """Whether its GPU computes at this instant; a single sample is no evidence."""
        board = self.board
        return (self.gu or 0.0) > board.limits.own_percent and not board.is_quiet

    def _polling(self) -> float:
        """Return the PCIe traffic that a kernel of this process may cause while it waits."""
        limits = self.board.limits
        most = max(limits.quiet_pcie, limits.quiet_pcie_of_work * self.work_pcie)
        is_rank = self.ranks is not None or (self.role.world or 1) > 1
        return max(most, limits.polling) if is_rank else most

    def _hide(self, gu: float, effort: float, step_s: float) -> None:
        """Assume no change while a neighbour works: its power and PCIe traffic hide those of the process.

        If the process moves memory, it works: the driver reports that for each process.
        """
        limits = self.board.limits
        if effort > limits.working and gu >= limits.shared_percent:
            own = self.use.memory_utilization_percent
            self.worked_s += step_s if own is not None and own >= limits.own_memory_percent else 0.0
        self._hidden_s += step_s
        if self._hidden_s > limits.hidden_s:
            self.wait_s = 0.0

    def _follow_own(self, gu: float, step_s: float) -> None:
        """Count by the readings per process: its share of the time and its memory utilization."""
        limits, memory, own = self.board.limits, self.use.memory_bytes, self.use.memory_utilization_percent
        if not self.board.is_shared:
            self.shared_still_s = 0.0  # power decides from now on
        elif own is not None and own >= limits.own_memory_percent:
            self.moved_s += step_s
            self.longest_wait_s = max(self.longest_wait_s, self.shared_still_s)
            self.shared_still_s = 0.0
        elif memory != self._shared_bytes:
            self._shared_bytes, self.shared_still_s = memory, 0.0
        elif own is None or own > limits.own_still_percent or gu < limits.shared_percent:
            self._shorten_shared_still(step_s)
        else:
            self.shared_still_s += step_s

    def _shorten_shared_still(self, step_s: float) -> None:
        self.shared_still_s = max(0.0, self.shared_still_s - self.board.limits.interruption_times * step_s)

    def _interrupt(self, gu: float, effort: float, step_s: float, now_s: float) -> None:
        """Take other activity during a wait: a second sample of real work ends it, anything else makes it shorter."""
        limits = self.board.limits
        if self.board.is_at_work and gu > limits.own_percent:
            if now_s - self._at_work_s <= limits.heartbeat_within_s:
                self._end_wait()
            self._at_work_s = now_s
        elif effort > limits.working or gu < limits.own_percent:
            self._break(step_s)
        else:
            self._pending_s = max(self._pending_s, self.wait_s)
            self.wait_s = max(0.0, self.wait_s - limits.interruption_times * step_s)

    def _break(self, step_s: float) -> None:
        self._broken_s += step_s
        if self._broken_s >= self.board.limits.ended_s:
            self._end_wait()

    def _end_wait(self) -> None:
        self._pending_s = max(self._pending_s, self.wait_s)
        self.wait_s = self._broken_s = 0.0

    def _work(self, effort: float, step_s: float) -> None:
        limits = self.board.limits
        if self._pending_s:
            self._resumed_s += step_s
            if self._resumed_s >= limits.resumed_s:
                self.longest_wait_s = max(self.longest_wait_s, self._pending_s)
                self._pending_s = self._resumed_s = 0.0
        touched = max(self.board.memory or 0.0, self.board.dram or 0.0)
        if effort <= limits.working and (effort <= limits.low or touched < limits.own_memory_percent):
            return
        if not self.worked_s:
            self.window = None  # what it did before its first work was its start
        if (self.use.memory_utilization_percent or 0.0) >= limits.own_memory_percent:
            self.moved_s += step_s
        self.worked_s += step_s
        watts = self.board.watts
        part = step_s / (step_s + limits.work_smooth_s)
        self.work_pcie += ((self.board.pcie or 0.0) - self.work_pcie) * part
        self.work_nvlink += ((self.board.nvlink or 0.0) - self.work_nvlink) * part
        self.work_memory += (touched - self.work_memory) * part
        self.work_effort += (effort - self.work_effort) * (part if self.work_effort else 1.0)
        if watts is not None:
            self.work_w = watts if self.work_w is None else self.work_w + (watts - self.work_w) * part
        self.low = min(limits.low_most, max(limits.low, limits.low_of_work * self.work_effort))


def busiest(process: HostProcess) -> float | None:
    """Return the CPU use of the busiest thread, in percent of a core."""
    if process.busiest_thread_percent is None and process.threads == 1:
        return process.cpu_percent
    return process.busiest_thread_percent


def workers(process: HostProcess, children: Iterable[HostProcess]) -> tuple[HostProcess, ...]:
    """Return the data loaders among the children; if none is recognizable, the children that work."""
    loaders = tuple([child for child in children if is_loader(child, process)])
    return loaders or tuple([child for child in children if (child.cpu_percent or 0.0) >= _BUSY or child.state == "D"])


def followed(process: HostProcess, children: Sequence[HostProcess]) -> tuple[float | None, ...]:
    """Return busiest thread, CPU of the workers, whether one waits for storage, number of workers, its own CPU use."""
    cpu = process.cpu_percent
    if not children:
        return busiest(process), None, float(process.state == "D"), 0.0, cpu
    found = workers(process, children)
    is_blocked = process.state == "D" or any(child.state == "D" for child in found)
    used = sum([child.cpu_percent or 0.0 for child in found])
    return busiest(process), used, float(is_blocked), float(len(found)), cpu
