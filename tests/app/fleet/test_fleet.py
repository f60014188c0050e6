"""gputop fleet: against a real Prometheus, exporters without one, and a simulated fleet."""

import json
import os
import subprocess
import sys
import time
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from fake_slurm import install
from msgspec.structs import replace
from prometheus_server import PROMETHEUS, VICTORIA, exporters, prometheus, refusing_port, victoria
from real_terminal import ENTER, GPUTOP, terminal

from gputop.app.fleet.readers import reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.core.fleet.history import Stretch, Subject

_PATIENCE_S = 60


def _gputop(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", "fleet", *arguments],
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
        env=os.environ | environment,
    )


def _json(*arguments: str) -> dict[str, Any]:
    done = _gputop(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.skipif(PROMETHEUS is None, reason="there is no prometheus on this machine (Debian: prometheus)")
def test_a_real_prometheus_gives_hosts_gpus_labels_and_free_ones(tmp_path: Path) -> None:
    names = [f"host{number:04d}" for number in range(1, 13)]
    with exporters() as port, prometheus(tmp_path, names, port) as url:
        fleet = _json("--prometheus", url, "--label", "rack")
        assert [host["name"] for host in fleet["hosts"]] == names
        assert fleet["totals"] | {"gpus": 96, "busy": 48, "idle": 16, "free": 32, "unknown": 0} == fleet["totals"]
        assert fleet["servers"][0]["problems"] == []
        assert fleet["alerts"] == []
        host = fleet["hosts"][0]
        assert (host["labels"], host["models"]) == ({"rack": "r7"}, ["NVIDIA H100 80GB HBM3"])
        assert host["tensor_percent"] == pytest.approx(sum(gpu["utilization_percent"] for gpu in host["gpus"]) / 8)
        assert host["age_s"] < _PATIENCE_S

        free = _json("free", "-n", "8", "--where", "model:h100", "--prometheus", url)
        assert [host["host"] for host in free["hosts"]] == ["host0003", "host0006", "host0009", "host0012"]
        assert _gputop("free", "-n", "9", "--prometheus", url).returncode == 1

        _every_history_has_values_and_no_query_is_wrong(url)
        _details_come_only_for_the_host_that_is_looked_at(url)

        table = _gputop("--prometheus", url, "--where", "idle>=8", "--sort", "power").stdout
        assert "oooooooo" in table
        assert "host0005" in table
        assert "host0001" not in table


def _every_history_has_values_and_no_query_is_wrong(url: str) -> None:
    reader = reader_of(FleetRequest(prometheus=(url,)))
    server = url.removeprefix("http://")
    now = time.time()
    host = Subject(kind="host", name="host0001", server=server, instances=("host0001:9400",))
    some = [
        host, replace(host, kind="gpu", gpu="3"), replace(host, kind="fleet", instances=()),
        replace(host, kind="rack", name="r7", instances=()), replace(host, kind="model", name="NVIDIA H100 80GB HBM3"),
    ]  # fmt: skip
    for subject in some:
        for stretch in (Stretch(now - 60, now, 15), Stretch(now - 86_400, now, 600)):
            found = reader.history(subject, stretch)
            assert found.problems == (), subject
            assert {curve.key for curve in found.curves} > {"util", "mem", "power"}
            assert all(not isnan(curve.values[-1]) for curve in found.curves), subject
    for kind, name in (("user", 'a"\\n'), ("job", "slurm:7"), ("job", "tree:7@host0001"), ("job", "hpc:7")):
        found = reader.history(replace(host, kind=kind, name=name), Stretch(now - 60, now, 15))
        assert found.problems == (), name
        assert all(isnan(value) for curve in found.curves for value in curve.values), name
    reader.close()


def _details_come_only_for_the_host_that_is_looked_at(url: str) -> None:
    reader = reader_of(FleetRequest(prometheus=(url,)))
    first, second = reader.read(detailed=("host0001:9400",)).hosts[:2]
    assert all(gpu.power_w and gpu.tensor_percent for gpu in first.gpus)
    assert sum(gpu.power_w or 0 for gpu in first.gpus) == pytest.approx(first.power_w)
    assert all(gpu.power_w is None and gpu.tensor_percent is None for gpu in second.gpus)
    reader.close()


@pytest.mark.skipif(VICTORIA is None, reason="there is no VictoriaMetrics here (Debian: victoria-metrics)")
def test_victoria_metrics_answers_the_same_questions(tmp_path: Path) -> None:
    names = [f"host{number:04d}" for number in range(1, 5)]
    with exporters() as port, victoria(tmp_path, names, port) as url:
        fleet = _json("--prometheus", url, "--label", "rack")
        assert [host["name"] for host in fleet["hosts"]] == names
        assert fleet["totals"] | {"gpus": 32, "busy": 24, "free": 8, "unknown": 0} == fleet["totals"]
        assert fleet["servers"][0]["problems"] == []
        assert {host["labels"]["rack"] for host in fleet["hosts"]} == {"r7"}
        (group,) = _json("--prometheus", url, "--by", "rack")["groups"]
        assert (group["name"], group["totals"]["gpus"]) == ("r7", 32)
        server, now = url.removeprefix("http://"), time.time()
        reader = reader_of(FleetRequest(prometheus=(url,)))
        host = Subject(kind="host", name="host0001", server=server, instances=("host0001:9400",))
        for step_s in (15, 600):
            assert reader.history(host, Stretch(now - 4 * step_s, now, step_s)).problems == ()
        reader.close()


def test_exporters_are_read_without_a_server_and_those_that_fail_say_why() -> None:
    with exporters() as port, refusing_port() as silent:
        fleet = _json("--hosts", f"127.0.0.1:{port},127.0.0.1:{silent}")
    assert [(host["name"], len(host["gpus"]), host["problem"]) for host in fleet["hosts"]] == [
        ("127.0.0.1:" + str(silent), 0, "nothing listens there"),
        ("host0000", 8, ""),
    ]


def test_a_simulated_fleet_needs_no_server_and_says_that_it_is_simulated() -> None:
    fleet = _json("--demo")
    assert fleet["simulated"]
    assert fleet["totals"]["hosts"] == len(fleet["hosts"]) == 128
    assert "SIMULATED" in _gputop("--demo").stdout
    rows = _gputop("--demo", "--format", "csv", "--where", "lost=1").stdout.splitlines()
    assert rows[0].startswith("host,server,label,model,gpus,busy,idle,free")
    assert [row.split(",")[0] for row in rows[1:]] == ["alpha-051"]


def test_the_ranks_of_a_job_name_the_straggler_with_numbers_for_programs_too() -> None:
    (job,) = [group for group in _json("--demo", "--by", "job")["groups"] if group["name"] == "llama-70b"]
    odd = [rank for rank in job["ranks"] if rank["odd"]]
    assert len(job["ranks"]) == job["totals"]["gpus"]
    assert [(rank["gpu"]["index"], rank["gpu"]["utilization_percent"]) for rank in odd] == [("3", 24.0)]
    assert job["straggler"] == f"{odd[0]['host']} GPU 3: " + odd[0]["odd"].partition(";")[0]
    assert {part.split()[0] for part in odd[0]["odd"].split("; ")} >= {"utilization", "tensor"}
    assert all(rank["gpu"]["power_w"] > 0 for rank in job["ranks"] if rank["gpu"]["use"] != "lost")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--prometheus URL"),
        (("--prometheus", "http://p", "--hosts", "n1"), "either"),
        (("--prometheus", "http://ann:topsecret@p"), "must not contain a password"),
        (("--hosts", "n[1-"), "brackets"),
        (("--demo", "--where", "fre>1"), "Did you mean free?"),
        (("--demo", "--sort", "pwer"), "Did you mean power?"),
        (("--demo", "--label", "a)b"), "not the name of a label"),
        (("--demo", "--by", "a)b"), "not the name of a label"),
        (("--demo", "--by", "user", "--sort", "temp"), "unknown column temp"),
    ],
)
def test_bad_input_ends_with_2_and_says_what_to_do(arguments: tuple[str, ...], words: str) -> None:
    done = _gputop(*arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "topsecret" not in done.stderr


def test_a_server_that_does_not_answer_ends_with_3() -> None:
    with refusing_port() as port:
        done = _gputop("--prometheus", f"http://127.0.0.1:{port}", "--json")
    assert done.returncode == 3
    assert "nothing listens there" in done.stderr


def test_groups_show_who_holds_idle_gpus_and_which_host_of_a_job_stands_out() -> None:
    rows = _gputop("--demo", "--by", "user", "--sort", "idle", "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("name,hosts,gpus,busy,idle")
    assert rows[1].split(",")[:5] == ["emma", "11", "84", "0", "84"]
    groups = _json("--demo", "--by", "cluster")["groups"]
    assert [group["name"] for group in groups] == ["alpha", "beta", "(none)"]
    assert "alpha-006: utilization" in _gputop("--demo", "--by", "job", "--where", "host~alpha").stdout


def test_the_configuration_file_names_the_hosts_so_that_no_option_is_needed(tmp_path: Path) -> None:
    folder = tmp_path / "gputop"
    folder.mkdir()
    with exporters() as port:
        (folder / "config.toml").write_text(f'[fleet]\nhosts = ["127.0.0.1:{port}"]\n')
        done = _gputop("--json", XDG_CONFIG_HOME=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert [host["name"] for host in json.loads(done.stdout)["hosts"]] == ["host0000"]
    (folder / "config.toml").write_text("[fleet]\nlabls = []\n")
    done = _gputop("--json", XDG_CONFIG_HOME=str(tmp_path))
    assert done.returncode == 2
    assert "fleet.labls: unknown setting. Did you mean labels?" in done.stderr


_SSH = """#!/bin/sh
echo "ssh: connect to host: Connection refused" >&2
exit 255
"""


def test_enter_on_a_host_goes_there_by_ssh_and_comes_back_with_the_reason_if_that_fails(tmp_path: Path) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text(_SSH)
    ssh.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    with exporters() as port:
        command = (*GPUTOP, "fleet", "--hosts", f"127.0.0.1:{port}")
        with terminal(*command, size=(100, 30), PATH=path) as shown:
            shown.until("host0000", "8 free")
            shown.insist(ENTER, "live gputop by ssh")
            shown.press(ENTER)
            shown.until("Connection refused", "Press Enter to go back to the fleet")
            shown.press(ENTER)
            shown.until("live gputop by ssh")
            shown.press("q")


def test_the_hosts_of_slurm_are_read_and_a_slurm_that_fails_ends_with_3_and_its_words(tmp_path: Path) -> None:
    with exporters() as port:
        path = install(tmp_path, sinfo=f"echo '127.0.0.1:{port}|gpu:8'")["PATH"]
        done = _gputop("--hosts", "slurm", "--json", PATH=path)
        assert [host["name"] for host in json.loads(done.stdout)["hosts"]] == ["host0000"]
    install(tmp_path, sinfo="echo no controller >&2; exit 1")
    done = _gputop("--hosts", "slurm:gpu", "--json", PATH=path)
    assert (done.returncode, done.stderr) == (3, "gputop: sinfo failed: no controller\n")
