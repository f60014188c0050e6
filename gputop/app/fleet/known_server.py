"""One server of a fleet, with what it said before: hosts that are gone stay, and each failure lengthens the pause."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.errors import BadRequestError
from gputop.core.fleet.answer import Answers, Sample
from gputop.core.fleet.build import STALE_S, alerts_of, hosts_of, natural
from gputop.core.fleet.history import FleetHistory, Stretch, Subject, history_queries
from gputop.core.fleet.model import FleetAlert, FleetHost, FleetServer
from gputop.core.fleet.plan import FREE, NAMES, OTHER_NAMES, USED, WHOLE, Query, details, naming
from gputop.core.model.units import duration_text
from gputop.wire.prometheus.client import PrometheusClient, Round
from gputop.wire.prometheus.http import Access

_FIRST_WAIT_S: Final = 15.0
_LONGEST_WAIT_S: Final = 120.0
_MEMORY_S: Final = 300.0
_MOST_GONE: Final = 10_000

Clock = Callable[[], float]


class Part(Struct, frozen=True):
    """What one server knows. ``alerts``: None if it has no rules to ask for."""

    server: FleetServer
    hosts: tuple[FleetHost, ...] = ()
    alerts: tuple[FleetAlert, ...] | None = None


class KnownServer:
    """Asks one server. ``access``: reads the credentials anew, after a failure; it may raise BadRequestError."""

    def __init__(
        self, client: PrometheusClient, access: Callable[[], Access], asked: Sequence[Query], labels: Sequence[str], *,
        clock: Clock = time.monotonic, wall: Clock = time.time,
    ) -> None:  # fmt: skip
        self._client = client
        self._access = access
        self._queries = asked
        self._labels = labels
        self._clock = clock
        self._wall = wall
        self._last = Part(FleetServer(name=self._client.name, took_s=0.0))
        self._read_s = 0.0  # when the last good reading was
        self._failures = 0
        self._reason = ""
        self._again_s = float("-inf")
        self._gone: dict[str, FleetHost] = {}
        self._memory: list[Sample] = []
        self._memory_until_s = float("-inf")

    @property
    def name(self) -> str:
        """Return the address of the server."""
        return self._client.name

    def read(self, *, is_urgent: bool, detailed: Sequence[str] = ()) -> Part:
        """Return what the server knows; if it does not answer, what it said before, with the age and the reason.

        ``detailed``: instances whose GPUs are looked at.
        """
        if self._clock() < self._again_s and not is_urgent:
            return self._old()
        began = self._clock()
        found = self._client.ask(self._asked(detailed, is_urgent=is_urgent))
        if NAMES not in found.answers.labels:
            return self._failed("; ".join(found.problems))
        self._failures, self._again_s, self._read_s = 0, float("-inf"), self._clock()
        hosts = hosts_of(self.name, self._with_memory(found.answers), self._labels)
        server = FleetServer(name=self.name, took_s=self._clock() - began, problems=self._problems(found, hosts))
        alerts = None if found.alerts is None else alerts_of(self.name, found.alerts)
        self._last = Part(server, self._with_gone(hosts), alerts)
        return self._last

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Return the curves of a part of the fleet."""
        curves, problems = self._client.curves(history_queries(subject, stretch.step_s), stretch)
        return FleetHistory(subject=subject, stretch=stretch, curves=curves, problems=problems)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    # --- what is asked seldom ------------------------------------------------------------------------------------
    def _asked(self, detailed: Sequence[str], *, is_urgent: bool) -> list[Query]:
        """Return the queries of a reading. The memory of a GPU seldom changes, and is a third of all values."""
        has_memory = not is_urgent and self._clock() < self._memory_until_s
        found = [query for query in self._queries if query.key != FREE or not has_memory]
        return [*found, *(details(detailed) if detailed else ())]

    def _with_memory(self, answers: Answers) -> Answers:
        """Return the answers with the memory of each GPU as it was when free memory was asked for."""
        used = answers.values.get(USED, ())
        if FREE in answers.values:
            known = {one.metric: one.value[1] for one in used}
            free = [one for one in answers.values[FREE] if one.metric in known]
            self._memory = [Sample(one.metric, (0.0, one.value[1] + known[one.metric])) for one in free]
            self._memory_until_s = self._clock() + _MEMORY_S
        if len(used) > len(self._memory):  # new GPUs
            self._memory_until_s = float("-inf")
        return replace(answers, values={**answers.values, WHOLE: self._memory})

    # --- failures ------------------------------------------------------------------------------------------------
    def _failed(self, reason: str) -> Part:
        self._failures += 1
        wait_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** min(10, self._failures - 1)) if self._failures > 1 else 0.0
        self._again_s = self._clock() + wait_s
        self._reason = reason
        try:
            self._client.use(self._access())
        except BadRequestError as error:
            self._reason = str(error)
        return self._old()

    def _old(self) -> Part:
        """Return the last good reading, with its age."""
        age_s = self._clock() - self._read_s
        wait_s = self._again_s - self._clock()
        parts = [self._reason]
        parts += [f"values of {duration_text(age_s)} ago"] if self._last.hosts else []
        parts += [f"gputop asks again in {duration_text(wait_s)}"] if wait_s > 0 else []
        server = FleetServer(name=self.name, took_s=0.0, problems=("; ".join(parts),))
        return replace(self._last, server=server, hosts=tuple(_aged(host, age_s) for host in self._last.hosts))

    def _problems(self, found: Round, hosts: Sequence[FleetHost]) -> tuple[str, ...]:
        if hosts or found.problems:
            return found.problems
        names = self._client.ask((Query(OTHER_NAMES, naming()),)).answers.labels.get(OTHER_NAMES, ())
        return (_without_gpus(sorted(series.metric.get("__name__", "") for series in names)),)

    # --- hosts that are gone -------------------------------------------------------------------------------------
    def _with_gone(self, hosts: Sequence[FleetHost]) -> tuple[FleetHost, ...]:
        """Return the hosts, and those that were there before; one that is down keeps the name that it had."""
        before = {instance: host for host in self._last.hosts for instance in host.instances}
        named = tuple(_renamed(host, before) for host in hosts)
        present = {host.name for host in named}
        for host in self._last.hosts:
            if host.name not in present and host.name not in self._gone and len(self._gone) < _MOST_GONE:
                self._gone[host.name] = _gone(host, time.strftime("%H:%M", time.localtime(self._wall())))
        self._gone = {name: host for name, host in self._gone.items() if name not in present}
        return tuple(sorted((*named, *self._gone.values()), key=lambda host: natural(host.name)))


def _gone(host: FleetHost, since: str) -> FleetHost:
    return FleetHost(
        name=host.name, server=host.server, instances=host.instances, models=host.models, labels=host.labels,
        problem=f"gone since {since}",
    )  # fmt: skip


def _renamed(host: FleetHost, before: dict[str, FleetHost]) -> FleetHost:
    known = before.get(host.instances[0]) if host.problem == "down" and host.instances else None
    if known is None:
        return host
    return replace(host, name=known.name, models=known.models, labels=known.labels)


def _aged(host: FleetHost, by_s: float) -> FleetHost:
    if host.age_s is None:
        return host
    age_s = host.age_s + by_s
    return replace(host, age_s=age_s, problem=host.problem or ("old values" if age_s > STALE_S else ""))


def _without_gpus(names: Sequence[str]) -> str:
    if any(name.startswith("DCGM_FI_") for name in names):
        return "its exporters do not serve DCGM_FI_DEV_GPU_TEMP, by which gputop finds hosts: add it to their counters"
    if names:
        return f"it has GPUs by other names ({names[0]}): gputop fleet reads those of dcgm-exporter and gputop export"
    return "it has no series of GPUs: no DCGM_FI_DEV_GPU_TEMP of a dcgm-exporter or gputop export"
