"""The users and jobs that hold the GPUs of each host: from gputop's own series, and from labels of dcgm-exporter."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from gputop.core.fleet.answer import Answers
from gputop.core.fleet.model import FleetGpu, Holding
from gputop.core.fleet.plan import HOLDERS, PODS, USERS
from gputop.core.text.text import clean

_MOST_LABEL: Final = 120
_MOST_HOLDINGS: Final = 200  # of a host
_MOST_GPUS: Final = 1024
_LOCAL: Final = ("tree:", "container:")  # such a job is of one host, and its number means nothing elsewhere
_Held: TypeAlias = dict[tuple[str, str], dict[str, None]]  # job and user: indices of GPUs


class Holders:
    """The users and jobs of all hosts, by instance."""

    def __init__(self, answers: Answers) -> None:
        self._counts = _counts(answers)
        self._jobs = _jobs(answers)

    def of(self, instances: Sequence[str], gpus: Sequence[FleetGpu]) -> tuple[Holding, ...]:
        """Return what each user and each job holds on a host."""
        if not self._counts and not self._jobs:
            return ()
        counts: dict[str, int] = {}
        jobs: _Held = {}
        for instance in instances:
            counts.update(self._counts.get(instance, {}))
            for key, indices in self._jobs.get(instance, {}).items():
                jobs.setdefault(key, {}).update(indices)
        if not counts and not jobs:
            return ()
        found = [_of_user(user, count, jobs, gpus, is_alone=len(counts) == 1) for user, count in counts.items()]
        found += [
            Holding(user=user, job=job, count=len(indices), gpus=tuple(indices))
            for (job, user), indices in jobs.items()
        ]
        return tuple(sorted(found, key=lambda one: (one.user, one.job))[:_MOST_HOLDINGS])


def job_name(job: str, host: str) -> str:
    """Return the name of a job in the whole fleet: one that a process or a container gives its name is of its host."""
    return f"{job}@{host}" if job.startswith(_LOCAL) else job


def _of_user(
    user: str,
    count: int,
    jobs: Mapping[tuple[str, str], Mapping[str, None]],
    gpus: Sequence[FleetGpu],
    *,
    is_alone: bool,
) -> Holding:
    """Return what a user holds. The GPUs are known by the jobs, or if it is all that is held on the host."""
    known = {index: None for (_, owner), indices in jobs.items() if owner == user for index in indices}
    if len(known) < count and is_alone:
        held = [gpu.index for gpu in gpus if gpu.use in {"busy", "idle"}]
        known = dict.fromkeys(held) if len(held) == count else known
    return Holding(user=user, count=max(count, len(known)), gpus=tuple(known))


def _counts(answers: Answers) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for series in answers.labels.get(USERS, ()):
        count = series.value[1]
        if 0 < count <= _MOST_GPUS:
            labels = series.metric
            found.setdefault(labels.get("instance", ""), {})[_text(labels.get("user", ""))] = int(count)
    return found


def _jobs(answers: Answers) -> dict[str, _Held]:
    found: dict[str, _Held] = {}
    for series in answers.labels.get(HOLDERS, ()):
        labels = series.metric
        job = f"{labels.get('job_kind', '')}:{labels.get('job_id', '')}"
        _hold(found, labels, job, labels.get("user", ""))
    own = frozenset(found)
    for series in answers.labels.get(PODS, ()):
        labels = series.metric
        if labels.get("instance", "") not in own:  # gputop's own series say the same, and the user
            _hold(found, labels, _dcgm_job(labels), "")
    return found


def _dcgm_job(labels: Mapping[str, str]) -> str:
    if labels.get("hpc_job"):
        return f"hpc:{labels['hpc_job']}"
    return f"pod:{labels.get('exported_namespace', '')}/{labels.get('exported_pod', '')}"


def _hold(found: dict[str, _Held], labels: Mapping[str, str], job: str, user: str) -> None:
    held = found.setdefault(labels.get("instance", ""), {}).setdefault((_text(job), _text(user)), {})
    held[_text(labels.get("gpu", ""))] = None


def _text(text: str) -> str:
    return clean(text[:_MOST_LABEL])
