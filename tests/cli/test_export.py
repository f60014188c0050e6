"""The series of Prometheus on the command line."""

import subprocess
import sys

from expositions import promtool, read


def gputop(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments], capture_output=True, check=False, text=True, timeout=60
    )


def test_a_snapshot_in_the_format_of_prometheus_has_both_vocabularies() -> None:
    done = gputop("snapshot", "--demo", "mig", "--format", "prometheus", "--wait", "0")
    names = {sample.name for sample in read(done.stdout)}

    assert (done.returncode, done.stderr) == (0, "")
    assert {"DCGM_FI_DEV_GPU_TEMP", "gputop_gpu_temperature_celsius", "gputop_gpu_instance_info"} <= names


def test_promtool_finds_nothing_wrong_with_gputops_own_series() -> None:
    shown = gputop("snapshot", "--demo", "trouble", "--format", "prometheus").stdout
    own = [
        line for line in shown.splitlines(keepends=True) if line.startswith(("gputop_", "# ")) and "DCGM" not in line
    ]

    assert promtool("".join(own)) == ""
