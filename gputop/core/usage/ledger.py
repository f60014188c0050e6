"""The ledger: what each user and each job has used of the GPUs, summed over frames and over restarts of gputop."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, GpuProcess
from gputop.core.usage.accounts import OTHER, Account, accounts_of
from gputop.core.usage.names import Names

_MOST_USERS: Final = 256
_MOST_JOBS: Final = 512
_MOST_JOBS_OF_USER: Final = 64
_NEW_PROCESSES: Final = 10  # an hour, as a multiple of those that may be shown
_LONGEST_S: Final = 60.0  # between two frames: what happened in a longer gap is unknown
_JOB_KEPT_S: Final = 3600.0  # after its last process: a job may pause between two steps
_USER_KEPT_S: Final = 30 * 86_400.0
_MOST_KEPT: Final = 2048
_GRAPHICS: Final = "G"  # a desktop holds no GPU for itself

N = TypeVar("N", int, float)

Device = tuple[str, int | None]  # UUID, GPU instance
Part = tuple[ProcessId, str, int | None, int | None]


class Totals(Struct):
    """The use so far; None if it was never known.

    ``gpu_seconds``: for which it held GPUs. ``busy_seconds``: in which its kernels ran. ``idle_seconds``: for which it
    held a GPU and ran nothing there.
    """

    gpu_seconds: float = 0.0
    busy_seconds: float | None = None
    idle_seconds: float | None = None
    energy_j: float | None = None


class Kept(Struct, frozen=True):
    """The totals of an account, as a file keeps them. ``seen_s``: its last process, in seconds since the epoch."""

    account: Account
    totals: Totals
    seen_s: float


class Use(Struct, frozen=True):
    """The present use of an account. ``memory`` and ``sm_percent``: by device, None if not known.

    ``totals``: None if they are not counted.
    """

    account: Account
    processes: int
    memory: Mapping[Device, int | None]
    sm_percent: Mapping[Device, float | None]
    totals: Totals | None


class Usage(Struct, frozen=True):
    """The use of a frame. ``accounts``: of its processes, as far as they have labels of their own.

    ``processes``: those that have series of their own. ``merged_jobs``, ``merged_users``: how many have no such labels.
    """

    users: Sequence[Use] = ()
    jobs: Sequence[Use] = ()
    accounts: Mapping[ProcessId, Account] = {}
    processes: frozenset[ProcessId] = frozenset()
    merged_jobs: int = 0
    merged_users: int = 0


class Ledger:
    """Adds up the use of frames. ``counts``: False for a single frame, which has no totals.

    ``processes``: how many have series of their own, those with most GPU memory.
    """

    def __init__(self, kept: Iterable[Kept] = (), *, counts: bool = True, processes: int = 0) -> None:
        self._kept = {each.account: each for each in kept}
        self._counts = counts
        self._before: dict[Part, tuple[float, float]] = {}
        self._users: Names[str] = Names(_MOST_USERS, _MOST_USERS)
        self._jobs: Names[Account] = Names(_MOST_JOBS, 2 * _MOST_JOBS)
        self._processes: Names[ProcessId] = Names(processes, _NEW_PROCESSES * processes)
        self._jobs_of: dict[str, Names[Account]] = {}
        self._taken_s: float | None = None

    def take(self, frame: Frame, now_s: float) -> Usage:
        """Add a frame, and return its use. ``now_s``: monotonic seconds."""
        passed_s = 0.0 if self._taken_s is None else now_s - self._taken_s
        self._taken_s = now_s
        wanted = accounts_of(frame)
        memory = _memory(frame)
        named = self._named(wanted, memory, now_s)
        uses = _uses(frame, named)
        if self._counts:
            self._add(frame, named, uses, passed_s if 0 <= passed_s <= max(_LONGEST_S, 3 * frame.interval_s) else 0.0)
        found = [_use(account, parts, self._totals(account)) for account, parts in uses.items()]
        return Usage(
            users=[use for use in found if not use.account.is_job],
            jobs=[use for use in found if use.account.is_job],
            accounts=named,
            processes=frozenset(self._processes.take(sorted(memory, key=lambda one: -memory[one]), now_s)),
            merged_jobs=len({one for one in wanted.values() if one.is_job} - set(named.values())),
            merged_users=len({one.user for one in wanted.values()} - {one.user for one in named.values()}),
        )

    def kept(self) -> tuple[Kept, ...]:
        """Return what a later ledger needs to go on, the last seen first."""
        return tuple(sorted(self._kept.values(), key=lambda each: -each.seen_s)[:_MOST_KEPT])

    # --- names ---------------------------------------------------------------------------------------------------
    def _named(
        self, wanted: Mapping[ProcessId, Account], memory: Mapping[ProcessId, int], now_s: float
    ) -> dict[ProcessId, Account]:
        """Return the accounts whose names are admitted, the largest first; the others are merged."""
        size: dict[Account, int] = {}
        for process, account in wanted.items():
            size[account] = size.get(account, 0) + memory.get(process, 0)
        largest = sorted(size, key=lambda account: -size[account])
        users = self._users.take((account.user for account in largest), now_s)
        jobs = self._admitted([account for account in largest if account.is_job and account.user in users], now_s)
        self._jobs_of = {user: names for user, names in self._jobs_of.items() if user in users}
        return {process: _merged(account, users, jobs) for process, account in wanted.items()}

    def _admitted(self, jobs: Sequence[Account], now_s: float) -> set[Account]:
        of_user: dict[str, list[Account]] = {}
        for job in jobs:
            of_user.setdefault(job.user, []).append(job)
        admitted: set[Account] = set()
        for user, own in of_user.items():
            names = self._jobs_of.setdefault(user, Names(_MOST_JOBS_OF_USER, 2 * _MOST_JOBS_OF_USER))
            admitted |= names.take(own, now_s)
        return self._jobs.take((job for job in jobs if job in admitted), now_s)

    # --- totals --------------------------------------------------------------------------------------------------
    def _totals(self, account: Account) -> Totals | None:
        kept = self._kept.get(account)
        return kept.totals if kept else None

    def _add(
        self, frame: Frame, named: Mapping[ProcessId, Account], uses: "Mapping[Account, _Parts]", passed_s: float
    ) -> None:
        for account, parts in uses.items():
            kept = self._kept.get(account)
            totals = kept.totals if kept else Totals()
            self._kept[account] = Kept(account, totals, frame.time_s)
            _hold(totals, parts, passed_s)
        self._spend(frame, named)
        self._kept = {account: kept for account, kept in self._kept.items() if _is_kept(kept, frame.time_s)}

    def _spend(self, frame: Frame, named: Mapping[ProcessId, Account]) -> None:
        """Add what the driver's sums of each process have grown by."""
        before, self._before = self._before, {}
        for process in frame.processes:
            account = named[process.id]
            for use in process.gpus:
                part = (process.id, use.gpu, use.gpu_instance, use.compute_instance)
                old = before.get(part, (0.0, 0.0))
                sums = (use.gpu_seconds, use.energy_j)
                self._before[part] = (old[0] if sums[0] is None else sums[0], old[1] if sums[1] is None else sums[1])
                for one in {account, Account(account.user)}:
                    totals = self._kept[one].totals
                    totals.busy_seconds = _grown(totals.busy_seconds, use.gpu_seconds, old[0])
                    totals.energy_j = _grown(totals.energy_j, use.energy_j, old[1])


class _Parts(Struct):
    """The parts of an account: its processes, and its uses of each device."""

    processes: set[ProcessId]
    devices: dict[Device, list[GpuProcess]]


def _memory(frame: Frame) -> dict[ProcessId, int]:
    return {process.id: sum(use.memory_bytes or 0 for use in process.gpus) for process in frame.processes}


def _merged(account: Account, users: set[str], jobs: set[Account]) -> Account:
    if account.user not in users:
        return Account(OTHER)
    return account if not account.is_job or account in jobs else Account(account.user, OTHER)


def _uses(frame: Frame, named: Mapping[ProcessId, Account]) -> dict[Account, _Parts]:
    found: dict[Account, _Parts] = {}
    for process in frame.processes:
        account = named[process.id]
        for one in dict.fromkeys((Account(account.user), account)):
            parts = found.setdefault(one, _Parts(set(), {}))
            parts.processes.add(process.id)
            for use in process.gpus:
                parts.devices.setdefault((use.gpu, use.gpu_instance), []).append(use)
    return found


def _use(account: Account, parts: _Parts, totals: Totals | None) -> Use:
    return Use(
        account,
        len(parts.processes),
        {device: _sum(use.memory_bytes for use in uses) for device, uses in parts.devices.items()},
        {device: _sum(use.sm_percent for use in uses) for device, uses in parts.devices.items()},
        totals,
    )


def _sum(values: Iterable[N | None]) -> N | None:
    """Return the sum of the known values; None if none is known."""
    total: N | None = None
    for value in values:
        if value is not None:
            total = value if total is None else total + value
    return total


def _hold(totals: Totals, parts: _Parts, passed_s: float) -> None:
    """Add the time for which devices were held, and were idle as far as that is known."""
    for uses in parts.devices.values():
        own = [use for use in uses if use.type != _GRAPHICS]
        if not own:
            continue
        totals.gpu_seconds += passed_s
        if all(use.sm_percent is not None for use in own):
            is_idle = not any(use.sm_percent for use in own)
            totals.idle_seconds = (totals.idle_seconds or 0.0) + (passed_s if is_idle else 0.0)


def _grown(total: float | None, now: float | None, before: float) -> float | None:
    """Return a total with the growth of a sum. A sum that is smaller than before began again."""
    if now is None:
        return total
    return (total or 0.0) + (now - before if now >= before else now)


def _is_kept(kept: Kept, now_s: float) -> bool:
    return now_s - kept.seen_s < (_JOB_KEPT_S if kept.account.is_job else _USER_KEPT_S)
