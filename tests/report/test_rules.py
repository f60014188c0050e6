"""Alerting rules: the real promtool runs each on its case, and on a harmless one. Without promtool, they skip."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.core.model.xid import XIDS, XidKind
from gputop.core.usage.past import past_of
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group
from gputop.report.prometheus.table import SERIES, of_frame
from gputop.report.rules import DCGM, GPUTOP, rules_for, to_yaml

PROMTOOL = shutil.which("promtool")
DOCS = Path(__file__).parents[2] / "docs"
PATIENCE_S = 120
END = 220  # minutes
OWN = 'job="gputop",instance="a",gpu="0",uuid="GPU-0"'
DCGM_GPU = 'job="dcgm",instance="a",gpu="0",UUID="GPU-0"'


class Case(Struct, frozen=True):
    """Series, a value a minute, with the minutes at which the rule fires and at which it does not."""

    series: Mapping[str, str]
    fires: Sequence[int] = (59,)
    calm: Sequence[int] = (29, END)


def phases(good: str, bad: str) -> str:
    """Return 30 minutes without, 30 with, and the rest without a fault. The sign _ is no sample."""
    return " ".join(f"{value}x{count - 1}" if value != "_" else f"_x{count}" for value, count in (
        (good, 30), (bad, 30), (good, END - 60),
    ))  # fmt: skip


def own(name: str, more: str = "", *, good: str = "0", bad: str = "1") -> dict[str, str]:
    return {f"gputop_{name}{{{OWN}{more}}}": phases(good, bad)}


def dcgm(name: str, more: str = "", *, good: str = "0", bad: str = "1") -> dict[str, str]:
    return {f"DCGM_FI_{name}{{{DCGM_GPU}{more}}}": phases(good, bad)}


def finding(code: str, stage: str, calm_stage: str = "observation") -> Case:
    """Return a case of a finding; another of a lower stage stays all the time."""
    labels = f',code="{code}",job_kind="slurm",job_id="7",user="ann"'
    return Case(own("finding", f'{labels},stage="{stage}"', good="_") | {
        f'gputop_finding{{job="gputop",instance="b",gpu="0",uuid="GPU-9"{labels},stage="{calm_stage}"}}': f"1x{END}",
    })  # fmt: skip


def xid(number: int) -> Case:
    """Return a case of an Xid that comes after half an hour; a harmless one is there all the time."""
    last = {f'gputop_gpu_xid_last_timestamp_seconds{{{OWN},xid="{number}"}}': f"_x30 1800x{END - 31}"}
    note = {f'gputop_gpu_xid_last_timestamp_seconds{{{OWN},xid="63"}}': f"0+60x{END}"}
    return Case(last | note, fires=(31, 44), calm=(29, 46, END))


def sticky_xid(number: int) -> Case:
    """Return the same from a plain dcgm-exporter, which never takes it back."""
    before = {f'DCGM_FI_DEV_XID_ERRORS{{{DCGM_GPU},err_code="0"}}': "0x29 stale"}
    after = {f'DCGM_FI_DEV_XID_ERRORS{{{DCGM_GPU},err_code="{number}"}}': f"_x30 {number}x{END - 31}"}
    note = {f'DCGM_FI_DEV_XID_ERRORS{{{DCGM_GPU.replace("GPU-0", "GPU-1")},err_code="63"}}': f"_x30 63x{END - 31}"}
    return Case(before | after | note, fires=(31, 44), calm=(29, 46, END))


def first(kind: XidKind) -> int:
    return next(row.number for row in XIDS.values() if row.kind is kind)


GROUPS = {
    "XidHardware": first(XidKind.HARDWARE), "XidNode": 79, "XidReset": 119, "XidApplication": 31,
    "XidWatch": first(XidKind.WATCH), "XidUnknown": 999,
}  # fmt: skip
GIB = 1 << 30
CASES: Mapping[str, Case] = {
    "GputopMemoryFull": Case(
        own("gpu_memory_used_bytes", good=f"{70 * GIB}", bad=f"{73 * GIB}")
        | own("gpu_memory_total_bytes", good=f"{80 * GIB}", bad=f"{80 * GIB}"),
        calm=(29, 39, END),
    ),
    "GputopTemperatureHigh": Case(
        own("gpu_temperature_celsius", good="86", bad="88")
        | own("gpu_temperature_slowdown_celsius", good="92", bad="92"),
        calm=(29, 34, END),
    ),
    **{f"Gputop{name}": xid(number) for name, number in GROUPS.items()},
    "GputopEccUncorrected": Case(
        own("gpu_ecc_errors_total", ',counter="volatile",error="uncorrected"')
        | own("gpu_ecc_errors_total", ',counter="volatile",error="corrected"', good="9", bad="99")
        | own("gpu_ecc_errors_total", ',counter="aggregate",error="uncorrected"', good="3", bad="3")
    ),
    "GputopRowRemapFailed": Case(own("gpu_row_remap_failed")),
    "GputopRowRemapPending": Case(own("gpu_row_remap_pending") | own("gpu_row_remap_failed", bad="0")),
    "GputopRecoveryAction": Case(
        own("gpu_recovery_action", ',action="reset_gpu"', good="_")
        | {f'gputop_gpu_recovery_action{{{OWN.replace("GPU-0", "GPU-1")},action="none"}}': f"1x{END}"}
    ),
    "GputopThrottled": Case(
        own("gpu_clocks_event_reason", ',reason="hardware_thermal"')
        | own("gpu_clocks_event_reason", ',reason="power_cap"', good="1", bad="1"),
        calm=(29, 34, END),
    ),
    "GputopGpuLost": Case(
        own("gpu_state", ',state="lost"') | own("gpu_state", ',state="ok"', good="1", bad="0")
    ),
    "GputopGpuHung": Case(own("gpu_state", ',state="hung"') | own("gpu_state", ',state="lost"', bad="0")),
    "GputopHang": finding("stuck.collective", "alarm", "suspect"),
    "GputopLeak": finding("leak.process", "suspect"),
    "GputopIdleHolder": finding("idle.holder", "suspect"),
    "GputopAlarm": finding("process.blocked", "alarm", "suspect"),
    "GputopSilent": Case(
        {
            'up{job="gputop",instance="a"}': phases("1", "0"),
            'gputop_build_info{job="gputop",instance="a",version="1"}': phases("1", "_"),
            'up{job="node",instance="a"}': f"0x{END}",
        },
        calm=(29, 34, END),
    ),
    "GputopSampleOld": Case(
        {
            'gputop_sample_age_seconds{job="gputop",instance="a"}': phases("61", "301"),
            'gputop_sample_interval_seconds{job="gputop",instance="a"}': f"60x{END}",
        }
    ),
    "DcgmMemoryFull": Case(
        dcgm("DEV_FB_USED", good="70000", bad="79000") | dcgm("DEV_FB_FREE", good="11000", bad="2000"),
        calm=(29, 39, END),
    ),
    "DcgmTemperatureHigh": Case(dcgm("DEV_GPU_TEMP", good="85", bad="86"), calm=(29, 34, END)),
    **{f"Dcgm{name}": sticky_xid(number) for name, number in GROUPS.items()},
    "DcgmEccUncorrected": Case(
        dcgm("DEV_ECC_DBE_VOL_TOTAL") | dcgm("DEV_ECC_SBE_VOL_TOTAL", good="9", bad="99")
    ),
    "DcgmRowRemapFailed": Case(dcgm("DEV_ROW_REMAP_FAILURE")),
    "DcgmRowRemapped": Case(
        {f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{DCGM_GPU}}}": f"0x29 1x{END - 30}"}, calm=(29, 150, END)
    ),
    "DcgmThrottled": Case(
        {f"DCGM_FI_DEV_THERMAL_VIOLATION{{{DCGM_GPU}}}": f"0x29 0+12000000000x30 360000000000x{END - 61}"},
        calm=(29, 34, END),
    ),
    "DcgmGpuLost": Case(
        {
            f"DCGM_FI_DEV_GPU_TEMP{{{DCGM_GPU}}}": phases("40", "_"),
            f"DCGM_FI_DEV_GPU_TEMP{{{DCGM_GPU.replace('GPU-0', 'GPU-1')}}}": f"40x{END}",
            'up{job="dcgm",instance="a"}': f"1x{END}",
        },
        fires=(40, 50, 59),
        calm=(29, END),
    ),
    "DcgmBusyWithoutWork": Case(
        dcgm("DEV_GPU_UTIL", good="100", bad="100")
        | dcgm("PROF_DRAM_ACTIVE", good="0.3", bad="0.001")
        | dcgm("PROF_PIPE_TENSOR_ACTIVE", good="0.2", bad="0"),
        calm=(29, 39, END),
    ),
    "DcgmIdleHolder": Case(
        {
            f"DCGM_FI_DEV_GPU_UTIL{{{DCGM_GPU}}}": f"50x29 0x120 50x{END - 151}",
            f"DCGM_FI_DEV_FB_USED{{{DCGM_GPU}}}": f"40000x{END}",
        },
        fires=(140,),
        calm=(29, 80, END),
    ),
    "DcgmSilent": Case(
        {
            'up{job="dcgm",instance="a"}': phases("1", "0"),
            f"DCGM_FI_DEV_GPU_TEMP{{{DCGM_GPU}}}": phases("40", "_"),
            'up{job="node",instance="a"}': f"0x{END}",
        },
        calm=(29, 34, END),
    ),
}  # fmt: skip
HARMLESS: Mapping[str, Mapping[str, str]] = {
    "a host that was never there is not silent": {'up{job="gputop",instance="x"}': f"0x{END}"},
    "a hot board below its limit of 101 °C is not hot": {
        f"gputop_gpu_temperature_celsius{{{OWN}}}": f"90x{END}",
        f"gputop_gpu_temperature_slowdown_celsius{{{OWN}}}": f"101x{END}",
    },
    "a board of 85 °C without a limit is not hot": {f"gputop_gpu_temperature_celsius{{{OWN}}}": f"85x{END}"},
    "a power cap is no throttling": {f'gputop_gpu_clocks_event_reason{{{OWN},reason="power_cap"}}': f"1x{END}"},
    "a dcgm-exporter that is down has lost no GPU": {
        f"DCGM_FI_DEV_GPU_TEMP{{{DCGM_GPU}}}": "40x29 stale", 'up{job="other",instance="a"}': f"1x{END}",
    },
    "an idle GPU without memory in use is nobody's": {
        f"DCGM_FI_DEV_GPU_UTIL{{{DCGM_GPU}}}": f"0x{END}", f"DCGM_FI_DEV_FB_USED{{{DCGM_GPU}}}": f"4x{END}",
    },
}  # fmt: skip
LASTING = {  # over a day
    "GputopSilent": {
        'up{job="gputop",instance="a"}': "1x29 0x1800",
        'gputop_build_info{job="gputop",instance="a",version="1"}': "1x29 stale",
    },
    "GputopSampleOld": {
        'gputop_sample_age_seconds{job="node",instance="a"}': "0x1800",  # of a file that is not replaced any more
        'gputop_sample_timestamp_seconds{job="node",instance="a"}': "0+60x29 1740x1800",
        'gputop_sample_interval_seconds{job="node",instance="a"}': "10x1800",
    },
}  # fmt: skip
FURTHER: Mapping[str, Mapping[str, str]] = {
    "GputopTemperatureHigh": own("gpu_temperature_celsius", good="85", bad="86"),
    "GputopMemoryFull": own("gpu_instance_memory_used_bytes", ',gpu_instance_id="1"', good="7", bad="9.5")
    | own("gpu_instance_memory_total_bytes", ',gpu_instance_id="1"', good="10", bad="10"),
    "GputopRowRemapPending": own("gpu_retired_pages_pending"),
}


def promtool(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    if PROMTOOL is None:
        pytest.skip("promtool is not installed")
    return subprocess.run(
        [PROMTOOL, *words], capture_output=True, check=False, text=True, timeout=PATIENCE_S, cwd=folder
    )


def written(folder: Path) -> list[str]:
    for names in (GPUTOP, DCGM):
        (folder / f"{names}.yml").write_text(to_yaml(names))
    return [f"{GPUTOP}.yml", f"{DCGM}.yml"]


def tried(folder: Path, parts: Mapping[str, tuple[Mapping[str, str], Mapping[int, int]]], compared: str = "") -> str:
    """Run promtool once on all parts, each of them another host; return what it prints, empty if all hold.

    A part has series, and how many alerts with its name fire at these minutes; a name with a blank is any alert.
    ``compared``: the number is compared with this.
    """
    series: dict[str, str] = {}
    checks = []
    for number, (name, (inputs, counts)) in enumerate(parts.items()):
        series |= {key.replace('instance="', f'instance="{number}-'): values for key, values in inputs.items()}
        alert = f'alertname="{name.partition("+")[0]}",' if " " not in name else ""
        expr = f'count(ALERTS{{{alert}instance=~"{number}-.*",alertstate="firing"}}) {compared}'
        checks += [
            {
                "expr": expr,
                "eval_time": f"{minute}m",
                "exp_samples": [{"labels": "{}", "value": count}] if count else [],
            }
            for minute, count in counts.items()
        ]
    given = [{"series": key, "values": values} for key, values in series.items()]
    test = {"interval": "1m", "input_series": given, "promql_expr_test": checks}
    file = {"rule_files": written(folder), "evaluation_interval": "1m", "tests": [test]}
    (folder / "tests.yml").write_text(json.dumps(file))
    done = promtool("test", "rules", "tests.yml", folder=folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_prometheus_accepts_the_rules(tmp_path: Path) -> None:
    done = promtool("check", "rules", *written(tmp_path), folder=tmp_path)

    assert done.returncode == 0, done.stderr


def test_each_rule_fires_on_its_case_and_not_before_and_resolves(tmp_path: Path) -> None:
    parts: dict[str, tuple[Mapping[str, str], Mapping[int, int]]] = {
        name: (case.series, dict.fromkeys(case.calm, 0) | dict.fromkeys(case.fires, 1)) for name, case in CASES.items()
    }
    parts |= {f"{name}+": (series, {29: 0, 59: 1, END: 0}) for name, series in FURTHER.items()}

    assert tried(tmp_path, parts) == ""


def test_an_alert_ends_although_the_fault_lasts(tmp_path: Path) -> None:
    parts = {name: (series, {29: 0, 59: 1, 1799: 1}) for name, series in LASTING.items()}

    assert tried(tmp_path, parts) == ""


def test_no_rule_fires_on_a_harmless_case(tmp_path: Path) -> None:
    minutes = dict.fromkeys((20, 59, 120, END), 0)

    assert tried(tmp_path, {about: (series, minutes) for about, series in HARMLESS.items()}) == ""


def simulated(box: str) -> dict[str, str]:
    """Return the series that gputop serves of a simulated host, the same for 20 minutes."""
    source = open_source(BackendRequest(demo=box), is_once=False)
    step = frames(source, BackendRequest(demo=box), waits=True)
    step()
    shown = step()
    text = of_frame(shown, Shape(groups=(Group.DCGM, Group.DCGM_MORE, Group.GPUTOP)), past_of(shown))
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            key, value = line.rsplit(" ", 1)
            name, _, labels = key.partition("{")
            found[f'{name}{{job="gputop",instance="{box}",{labels or "}"}'] = f"{value}x20"
    return found


def test_what_gputop_serves_of_simulated_hosts_is_what_the_rules_read(tmp_path: Path) -> None:
    faults = ("EccUncorrected", "Hang", "IdleHolder", "Leak", "RowRemapPending")
    trouble = simulated("trouble")
    parts: dict[str, tuple[Mapping[str, str], Mapping[int, int]]] = {
        "no alert on a host without a fault": (simulated("mig"), {18: 0})
    }
    for rule in rules_for(GPUTOP):
        if rule.name.removeprefix(GPUTOP.title()) in faults:
            read = {key: values for key, values in trouble.items() if key.partition("{")[0] in rule.expr}
            parts[rule.name] = read, {18: 1}
    assert len(parts) == 1 + len(faults)

    assert tried(tmp_path, parts, "> bool 0") == ""


def test_a_test_of_rules_can_fail(tmp_path: Path) -> None:
    assert "FAILED" in tried(tmp_path, {"GputopRowRemapFailed": (own("gpu_row_remap_failed"), {59: 0})})


def test_each_rule_has_a_case() -> None:
    assert {rule.name for names in (GPUTOP, DCGM) for rule in rules_for(names)} == CASES.keys()


@pytest.mark.parametrize("names", [GPUTOP, DCGM])
def test_each_series_of_a_rule_is_served(names: str) -> None:
    used = {
        name for rule in rules_for(names) for name in re.findall(r"\b(?:gputop_|DCGM_)\w+", rule.expr)
    }  # fmt: skip

    assert used
    assert used <= {row.name for row in SERIES}


def test_the_rules_for_dcgm_need_no_series_of_gputop() -> None:
    assert "gputop_" not in "".join(rule.expr for rule in rules_for(DCGM))


@pytest.mark.parametrize("rule", [*rules_for(GPUTOP), *rules_for(DCGM)], ids=lambda rule: rule.name)
def test_each_rule_has_a_runbook_that_exists(rule: Any) -> None:
    page, _, anchor = rule.page.partition("#")
    headings = re.findall(r"^#+ (.+)$", (DOCS / page).read_text(), re.MULTILINE)

    assert anchor in {heading.lower().replace(" ", "-") for heading in headings}
    assert rule.summary
    assert rule.description.endswith(".")
    assert rule.severity in {"critical", "warning", "info"}


def test_every_xid_that_matters_is_in_exactly_one_rule() -> None:
    for names, label in ((GPUTOP, "xid"), (DCGM, "err_code")):
        matched = [re.search(rf'{label}=~"([0-9|]+)"', rule.expr) for rule in rules_for(names)]
        numbers = [int(number) for found in matched if found for number in found[1].split("|")]

        assert sorted(numbers) == sorted(row.number for row in XIDS.values() if row.kind is not XidKind.IGNORE)


def test_the_runbooks_are_links_if_the_settings_say_where_the_documents_are() -> None:
    assert '"https://example.org/docs/findings.md#hardware"' in to_yaml(GPUTOP, "https://example.org/docs/")
    assert '"docs/findings.md#hardware"' in to_yaml(GPUTOP)
