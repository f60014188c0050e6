"""gputop's series about the exporter itself: how old its last sample is, and what it could not read."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Frame
from gputop.core.usage.ledger import Usage
from gputop.report.prometheus.labels import Number
from gputop.report.prometheus.series import Entity, Labelled, Series


class Exporter(Entity):
    """The exporter. ``frame``: the last one; None before the first. ``samples``: how many it took.

    ``unread``: in a word, why a file or service could not be read.
    """

    version: str
    frame: Frame | None
    usage: Usage
    age_s: float | None
    samples: int
    duration_s: float
    unread: Mapping[str, str] = {}


def _of_frame(value: Callable[[Frame], Number | None]) -> Callable[[Exporter], Number | None]:
    return lambda exporter: None if exporter.frame is None else value(exporter.frame)


def _age(exporter: Exporter) -> float | None:
    return None if exporter.age_s is None else round(exporter.age_s, 3)


def _build(exporter: Exporter) -> list[Labelled]:
    return [((("version", exporter.version),), 1)]


def _driver(exporter: Exporter) -> list[Labelled]:
    if exporter.frame is None:
        return []
    driver = exporter.frame.driver
    versions = {"driver": driver.version, "cuda": driver.cuda_version, "nvml": driver.nvml_version}
    known = tuple((f"{name}_version", value or "") for name, value in versions.items())
    return [((("host", exporter.frame.host.name), *known, ("simulated", driver.simulated or "")), 1)]


def _missing_of_processes(exporter: Exporter) -> list[Labelled]:
    """Return how many readings of processes are missing, by reason, as for GPUs."""
    processes = exporter.frame.processes if exporter.frame else ()
    read = [missing for one in processes for missing in (one.missing, *(use.missing for use in one.gpus)) if missing]
    reasons = Counter(why for missing in read for why in missing.values())
    return [((("reason", why.value),), count) for why, count in sorted(reasons.items()) if why is not Missing.NOT_YET]


def _unread(exporter: Exporter) -> list[Labelled]:
    return [((("source", source), ("reason", why)), 1) for source, why in sorted(exporter.unread.items())]


def _row(name: str, unit: str, about: str, value: Callable[[Exporter], Any], *labels: str) -> Series[Exporter]:
    kind: Any = "counter" if name.endswith("_total") else "gauge"
    return Series(name=name, type=kind, unit=unit, help=about, labels=labels, of=Exporter, value=value)


EXPORTER: Final[tuple[Series[Exporter], ...]] = (
    _row("gputop_build_info", "", "The version of gputop; the value is 1.", _build, "version"),
    _row(
        "gputop_driver_info", "", "The driver; the value is 1.", _driver,
        "host", "driver_version", "cuda_version", "nvml_version", "simulated",
    ),
    _row("gputop_sample_age_seconds", "s", "Age of the last sample. It grows if the driver hangs.", _age),
    _row(
        "gputop_sample_timestamp_seconds", "s", "When the last sample was taken, since the epoch.",
        _of_frame(lambda frame: round(frame.time_s, 3)),
    ),
    _row(
        "gputop_sample_interval_seconds", "s", "Time between two samples.", _of_frame(lambda frame: frame.interval_s)
    ),
    _row(
        "gputop_sample_duration_seconds", "s", "How long the last sample took.",
        lambda e: round(e.duration_s, 6) if e.samples else None,
    ),
    _row("gputop_samples_total", "", "Samples since the exporter started.", lambda e: e.samples),
    _row(
        "gputop_merged_jobs", "", "Jobs without labels of their own, because there are too many: see job_kind=(other).",
        lambda e: e.usage.merged_jobs,
    ),
    _row(
        "gputop_merged_users", "", "Users without labels of their own, because there are too many: see user=(other).",
        lambda e: e.usage.merged_users,
    ),
    _row(
        "gputop_problems", "", "How many problems gputop had with taking the last sample.",
        _of_frame(lambda frame: len(frame.problems)),
    ),
    _row(
        "gputop_missing_process_readings", "", "How many readings of processes are missing, by reason.",
        _missing_of_processes, "reason",
    ),
    _row(
        "gputop_unread_source", "", "A file or service that gputop could not read; the value is 1.", _unread,
        "source", "reason",
    ),
    _row(
        "gputop_judging_seconds_left", "s", "Time until gputop has watched long enough to find problems; 0 after that.",
        _of_frame(lambda frame: frame.judged_in_s or 0.0),
    ),
)  # fmt: skip
