"""Alerting rules for Prometheus: a row per rule, for gputop's own series and for those of dcgm-exporter alone."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.xid import XIDS, XidKind

GPUTOP: Final = "gputop"
DCGM: Final = "dcgm"
_CRITICAL, _WARNING, _INFO = "critical", "warning", "info"
_HARDWARE: Final = "findings.md#hardware"
_XIDS: Final = "doctor.md#xids"
_OWN: Final = "GPU {{ $labels.gpu }} of {{ $labels.instance }}"
_HOST: Final = "{{ $labels.instance }}"
_PERCENT: Final = "{{ $value | humanizePercentage }}"


class Rule(Struct, frozen=True, kw_only=True):
    """A rule. ``wait``: how long the condition must hold, as Prometheus writes it; ``page``: of docs/, with anchor."""

    name: str
    expr: str
    severity: str
    summary: str
    description: str
    page: str
    wait: str = ""


class _XidGroup(Struct, frozen=True):
    """The Xids that need the same action, and the words of their rule."""

    kind: XidKind
    name: str
    severity: str
    summary: str
    description: str


_XID_GROUPS: Final = (
    _XidGroup(
        XidKind.HARDWARE, "XidHardware", _CRITICAL, "needs a repair",
        "Take the GPU out of service. The runbook says what to inspect or replace for this Xid.",
    ),
    _XidGroup(
        XidKind.NODE, "XidNode", _CRITICAL, "and its host need a restart",
        "Drain the host. The runbook says what to do for this Xid.",
    ),
    _XidGroup(
        XidKind.RESET, "XidReset", _CRITICAL, "needs a reset",
        "Do not trust its results. Stop the processes on the GPU, then reset it: sudo nvidia-smi --gpu-reset -i N.",
    ),
    _XidGroup(
        XidKind.APP, "XidApplication", _INFO, "reports an error that an application caused",
        "Check the program first: sudo dmesg names its pid. If several programs fail on this GPU only, test the GPU.",
    ),
    _XidGroup(
        XidKind.WATCH, "XidWatch", _WARNING, "reports an error to watch",
        "Act if it comes again. The runbook says what it means.",
    ),
)  # fmt: skip


def rules_for(names: str) -> tuple[Rule, ...]:
    """Return the rules for `GPUTOP` or `DCGM`."""
    return _OF_DCGM if names == DCGM else _OF_GPUTOP


def to_yaml(names: str, runbooks: str = "") -> str:
    """Return the rules as a file for Prometheus. ``runbooks``: URL of the folder with the documents."""
    head = f"# Alerting rules of gputop for the series of {'dcgm-exporter' if names == DCGM else 'gputop export'}."
    lines = [head, "groups:", f"  - name: {names}", "    rules:"]
    for rule in rules_for(names):
        lines += _lines(rule, f"{runbooks.rstrip('/') or 'docs'}/{rule.page}")
    return "\n".join([*lines, ""])


def _lines(rule: Rule, runbook: str) -> Iterator[str]:
    yield f"      - alert: {rule.name}"
    yield f"        expr: {_quoted(rule.expr)}"
    if rule.wait:
        yield f"        for: {rule.wait}"
    yield "        labels:"
    yield f"          severity: {rule.severity}"
    yield "        annotations:"
    yield f"          summary: {_quoted(rule.summary)}"
    yield f"          description: {_quoted(rule.description)}"
    yield f"          runbook_url: {_quoted(runbook)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # JSON is YAML


# --- Xids --------------------------------------------------------------------------------------------------------
def _xid_rules(prefix: str, label: str, expr: Callable[[str], str]) -> Iterator[Rule]:
    """Yield a rule for each group of Xids. ``expr``: of a matcher of their numbers."""
    for group in _XID_GROUPS:
        numbers = "|".join(str(row.number) for row in XIDS.values() if row.kind is group.kind)
        yield Rule(
            name=f"{prefix}{group.name}",
            expr=expr(f'{label}=~"{numbers}"'),
            severity=group.severity,
            summary=f"{_OWN} {group.summary}: Xid {{{{ $labels.{label} }}}}",
            description=group.description,
            page=_XIDS,
        )
    known = "|".join(map(str, (0, *XIDS)))
    yield Rule(
        name=f"{prefix}XidUnknown",
        expr=expr(f'{label}!~"{known}"'),
        severity=_WARNING,
        summary=f"{_OWN} reports an Xid that gputop does not know: {{{{ $labels.{label} }}}}",
        description="Look it up in NVIDIA's catalogue, which the runbook names.",
        page=_XIDS,
    )


def _silent(name: str, series: str, program: str) -> Rule:
    """Return the rule for an exporter that does not answer. The alert itself remembers it, however long that lasts."""
    fired = f'last_over_time(ALERTS{{alertname="{name}",alertstate="firing"}}[1h])'
    by = "count by (job, instance)"
    return Rule(
        name=name,
        expr=f"up == 0 and on (job, instance) ({by} ({series} offset 10m) or {by} ({fired}))",
        wait="5m",
        severity=_CRITICAL,
        summary=f"{program} on {_HOST} does not answer",
        description=f"The GPUs of this host are not watched. Check that the host is up and that {program} runs.",
        page="doctor.md#checks",
    )


# --- gputop's own series -----------------------------------------------------------------------------------------
_SAMPLED: Final = "(time() - gputop_sample_timestamp_seconds)"  # also of a file that is no longer replaced
_TEMPERATURE, _LIMIT = "gputop_gpu_temperature_celsius", "gputop_gpu_temperature_slowdown_celsius"
_FINDINGS: Final[Sequence[tuple[str, str, str, str, str, str, str]]] = (
    (
        "GputopHang", r"(stuck|stalled)\\..+", "alarm", _CRITICAL, "hangs",
        "Its processes make no progress and hold GPUs. To see where it hangs, run on that host: gputop explain PID.",
        "findings.md#stuck",
    ),
    (
        "GputopLeak", r"leak\\..+", "suspect|alarm", _WARNING, "leaks GPU memory",
        "Its GPU memory grows and is not freed. To see how fast, run on that host: gputop watch.", "findings.md#leak",
    ),
    (
        "GputopIdleHolder", r"idle\\.holder", "suspect|alarm", _INFO, "holds GPU memory and does nothing",
        "Ask the owner of the idle process or job to end it. To see it, run on that host: gputop.", "findings.md#idle",
    ),
)  # fmt: skip
_COVERED: Final = (
    r"(stuck|stalled|leak)\\..+|idle\\.holder|gpu\\.(lost|hung|recovery)|driver\\.hung|xid\\..+|ecc\\.uncorrected"
    r"|remap\\.(failed|pending)|retired\\.pending|throttle\\..+|memory\\.full|temperature\\.gpu"
)


def _finding_rules() -> Iterator[Rule]:
    who = "{{ with $labels.job_id }}job {{ . }}{{ else }}a process{{ end }}{{ with $labels.user }} of {{ . }}{{ end }}"
    where = f"{{{{ with $labels.gpu }}}} on GPU {{{{ . }}}}{{{{ end }}}} of {_HOST}"
    for name, codes, stages, severity, summary, description, page in _FINDINGS:
        yield Rule(
            name=name,
            expr=f'gputop_finding{{code=~"{codes}",stage=~"{stages}"}} > 0',
            severity=severity,
            summary=f"{who}{where} {summary} ({{{{ $labels.code }}}})",
            description=description,
            page=page,
        )
    yield Rule(
        name="GputopAlarm",
        expr=f'gputop_finding{{code!~"{_COVERED}",stage="alarm"}} > 0',
        severity=_CRITICAL,
        summary=f"gputop reports an alarm on {_HOST}: {{{{ $labels.code }}}}",
        description="To see it with its evidence and what to do, run on that host: gputop watch.",
        page="findings.md#detectors",
    )


_OF_GPUTOP: Final = (
    Rule(
        name="GputopMemoryFull",
        expr="gputop_gpu_memory_used_bytes / gputop_gpu_memory_total_bytes > 0.9"
        " or gputop_gpu_instance_memory_used_bytes / gputop_gpu_instance_memory_total_bytes > 0.9",
        wait="10m",
        severity=_INFO,
        summary=f"memory of {_OWN} is {_PERCENT} full",
        description="The next allocation may fail. For an inference server such as vLLM this is normal.",
        page="findings.md#pressure",
    ),
    Rule(
        name="GputopTemperatureHigh",
        expr=f"{_TEMPERATURE} > {_LIMIT} - 5 or ({_TEMPERATURE} > 85 unless {_LIMIT})",
        wait="5m",
        severity=_WARNING,
        summary=f"{_OWN} is {{{{ $value }}}} °C hot",
        description="It is near the temperature at which it slows down, or over 85 °C if the board reports no limit."
        " Check fans and airflow.",
        page="findings.md#pressure",
    ),
    *_xid_rules("Gputop", "xid", lambda xids: f"time() - gputop_gpu_xid_last_timestamp_seconds{{{xids}}} < 900"),
    Rule(
        name="GputopEccUncorrected",
        expr='gputop_gpu_ecc_errors_total{counter="volatile",error="uncorrected"} > 0',
        severity=_CRITICAL,
        summary=f"{_OWN} has {{{{ $value }}}} uncorrected memory errors",
        description="Do not trust results from this GPU. Reset it when it is idle; the alert ends after that.",
        page=_HARDWARE,
    ),
    Rule(
        name="GputopRowRemapFailed",
        expr="gputop_gpu_row_remap_failed == 1",
        severity=_CRITICAL,
        summary=f"{_OWN} has bad memory that it cannot replace",
        description="Take the GPU out of service. Collect a report for the vendor: nvidia-bug-report.sh.",
        page=_HARDWARE,
    ),
    Rule(
        name="GputopRowRemapPending",
        expr="gputop_gpu_row_remap_pending == 1 or gputop_gpu_retired_pages_pending == 1",
        severity=_WARNING,
        summary=f"{_OWN} replaces bad memory at the next reset",
        description="When nothing runs on the GPU, reset it: sudo nvidia-smi --gpu-reset -i N.",
        page=_HARDWARE,
    ),
    Rule(
        name="GputopRecoveryAction",
        expr='gputop_gpu_recovery_action{action!="none"} == 1',
        severity=_CRITICAL,
        summary=f"the driver requests for {_OWN}: {{{{ $labels.action }}}}",
        description="To recover, the GPU needs the action that the alert names. Drain it first.",
        page=_HARDWARE,
    ),
    Rule(
        name="GputopThrottled",
        expr='avg_over_time(gputop_gpu_clocks_event_reason{reason=~"hardware_thermal|software_thermal|power_brake"}[5m])'
        " > 0.5",
        wait="5m",
        severity=_WARNING,
        summary=f"{_OWN} is slow: {{{{ $labels.reason }}}}",
        description="It reduces its clocks because of heat or because the power supply demands it. Check cooling and"
        " power.",
        page="findings.md#throttle",
    ),
    Rule(
        name="GputopGpuLost",
        expr='gputop_gpu_state{state="lost"} == 1',
        severity=_CRITICAL,
        summary=f"{_OWN} is lost",
        description="It fell off the bus or needs a reset. See why: sudo dmesg. Then reset it, or reboot the host.",
        page=_HARDWARE,
    ),
    Rule(
        name="GputopGpuHung",
        expr='gputop_gpu_state{state="hung"} == 1',
        wait="1m",
        severity=_CRITICAL,
        summary=f"the driver does not respond for {_OWN}",
        description="See sudo dmesg. If it continues, reboot the host: processes on this GPU cannot be killed.",
        page=_HARDWARE,
    ),
    *_finding_rules(),
    _silent("GputopSilent", "gputop_build_info", "gputop export"),
    Rule(
        name="GputopSampleOld",
        expr="gputop_sample_age_seconds > 60 and gputop_sample_age_seconds > 5 * gputop_sample_interval_seconds"
        f" or {_SAMPLED} > 300 and {_SAMPLED} > 5 * gputop_sample_interval_seconds",
        wait="1m",
        severity=_CRITICAL,
        summary=f"the GPUs of {_HOST} have not been read for {{{{ $value | humanizeDuration }}}}",
        description="The driver may hang. See sudo dmesg. If the series come from a file of node_exporter, gputop"
        " export may have ended.",
        page=_HARDWARE,
    ),
)


# --- the series of dcgm-exporter ---------------------------------------------------------------------------------
_BOARD: Final = "job, instance, gpu, UUID"


_EARLIER: Final = " or ".join(  # each covers as much time as the one before
    f"max by ({_BOARD}) (DCGM_FI_DEV_GPU_TEMP offset {before})"
    for before in ("15m", "30m", "1h", "2h", "4h", "8h", "16h", "1d")
)


def _new_xid(xids: str) -> str:
    """Return whether an Xid came within 15 minutes: dcgm-exporter serves it until it is restarted."""
    series = f"DCGM_FI_DEV_XID_ERRORS{{{xids}}}"
    return f"max by ({_BOARD}, err_code) ({series} > 0) unless max by ({_BOARD}, err_code) ({series} offset 15m)"


_OF_DCGM: Final = (
    Rule(
        name="DcgmMemoryFull",
        expr="DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) > 0.9",
        wait="10m",
        severity=_INFO,
        summary=f"memory of {_OWN} is {_PERCENT} full",
        description="The next allocation may fail. For an inference server such as vLLM this is normal.",
        page="findings.md#pressure",
    ),
    Rule(
        name="DcgmTemperatureHigh",
        expr=f"max by ({_BOARD}) (DCGM_FI_DEV_GPU_TEMP) > 85",
        wait="5m",
        severity=_WARNING,
        summary=f"{_OWN} is {{{{ $value }}}} °C hot",
        description="Check fans and airflow. dcgm-exporter does not serve the limit of the board; gputop does.",
        page="findings.md#pressure",
    ),
    *_xid_rules("Dcgm", "err_code", _new_xid),
    Rule(
        name="DcgmEccUncorrected",
        expr=f"max by ({_BOARD}) (DCGM_FI_DEV_ECC_DBE_VOL_TOTAL) > 0",
        severity=_CRITICAL,
        summary=f"{_OWN} has {{{{ $value }}}} uncorrected memory errors",
        description="Do not trust results from this GPU. Reset it when it is idle; the alert ends after that.",
        page=_HARDWARE,
    ),
    Rule(
        name="DcgmRowRemapFailed",
        expr=f"max by ({_BOARD}) (DCGM_FI_DEV_ROW_REMAP_FAILURE) == 1",
        severity=_CRITICAL,
        summary=f"{_OWN} has bad memory that it cannot replace",
        description="Take the GPU out of service. Collect a report for the vendor: nvidia-bug-report.sh.",
        page=_HARDWARE,
    ),
    Rule(
        name="DcgmRowRemapped",
        expr=f"max by ({_BOARD}) (increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1h])) > 0",
        severity=_WARNING,
        summary=f"{_OWN} had an uncorrected memory error and replaces the bad memory",
        description="When nothing runs on the GPU, reset it: sudo nvidia-smi --gpu-reset -i N.",
        page=_HARDWARE,
    ),
    Rule(
        name="DcgmThrottled",
        expr=f"max by ({_BOARD}) (rate(DCGM_FI_DEV_THERMAL_VIOLATION[5m])) / 1e9 > 0.1",
        wait="5m",
        severity=_WARNING,
        summary=f"{_OWN} is too hot and slow for {_PERCENT} of the time",
        description="Check cooling. dcgm-exporter serves this series only on request.",
        page="findings.md#throttle",
    ),
    Rule(
        name="DcgmGpuLost",
        expr=f"(({_EARLIER}) unless max by ({_BOARD}) (DCGM_FI_DEV_GPU_TEMP)) and on (job, instance) up == 1",
        wait="2m",
        severity=_CRITICAL,
        summary=f"{_OWN} is no longer there",
        description="dcgm-exporter served this GPU and does not now. See why: sudo dmesg. Then reset it, or reboot the"
        " host. The alert ends a day later at the latest, because the board may have been taken out.",
        page=_HARDWARE,
    ),
    Rule(
        name="DcgmBusyWithoutWork",
        expr="DCGM_FI_DEV_GPU_UTIL > 95 and DCGM_FI_PROF_DRAM_ACTIVE < 0.01 and DCGM_FI_PROF_PIPE_TENSOR_ACTIVE < 0.01",
        wait="10m",
        severity=_WARNING,
        summary=f"{_OWN} is busy and does no work: it may hang",
        description="A kernel runs and uses neither memory nor tensor cores, as in a hung collective. To see who"
        " waits for whom, run on that host: gputop explain PID.",
        page="findings.md#stuck",
    ),
    Rule(
        name="DcgmIdleHolder",
        expr="max_over_time(DCGM_FI_DEV_GPU_UTIL[1h]) == 0 and min_over_time(DCGM_FI_DEV_FB_USED[1h]) > 1024",
        severity=_INFO,
        summary=f"{_OWN} is idle, and its memory is held for an hour",
        description="To see who holds it, run on that host: gputop.",
        page="findings.md#idle",
    ),
    _silent("DcgmSilent", "DCGM_FI_DEV_GPU_TEMP", "dcgm-exporter"),
)
