"""gputop on a simulated driver that falls ill: a box that NVML_MOCK_SCENARIO describes. Skipped on a real one."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from blocking_process import blocking_or_skip
from commands import Run, Stream

pytestmark = pytest.mark.skipif("NVML_MOCK_BOX" not in os.environ, reason="needs a driver that can be told to fall ill")


class Scenario:
    """A scenario file that a test rewrites while gputop runs."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "box.scn"
        self.environment = {"NVML_MOCK_SCENARIO": str(self._path), "NVML_MOCK_STATE": str(folder / "state")}

    def write(self, text: str) -> None:
        """Replace the scenario at one stroke, as the simulated driver wants it."""
        fresh = self._path.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(self._path)


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return Scenario(tmp_path)


@pytest.fixture
def children() -> Iterator[list[int]]:
    """Start three real processes; they end with the test."""
    started = [subprocess.Popen(["sleep", "600"]) for _ in range(3)]
    yield [child.pid for child in started]
    for child in started:
        child.kill()
        child.wait()


def states(frame: dict[str, Any]) -> list[str]:
    return [gpu["state"] for gpu in frame["gpus"]]


def snapshot(run: Run, scenario: Scenario, *arguments: str) -> dict[str, Any]:
    done = run("snapshot", "--json", "--wait", "0.2", *arguments, **scenario.environment)
    assert done.stderr == ""
    return dict(json.loads(done.stdout))


def test_real_processes_are_joined_with_what_the_host_says(run: Run, scenario: Scenario, children: list[int]) -> None:
    sections = (f"[process]\npid = {pid}\ngpu = 0\nmem = {n + 1}GiB\n" for n, pid in enumerate(children))
    scenario.write("[box]\ngpus = 1\nmodel = h100\n" + "".join(sections))
    found = {process["pid"]: process for process in snapshot(run, scenario)["processes"]}

    assert found.keys() == set(children)
    for n, pid in enumerate(children):
        assert found[pid]["command"] == "sleep 600"
        assert found[pid]["gpus"][0]["memory_bytes"] == (n + 1) * 1024**3
        assert found[pid]["presence"] == "alive"


def test_a_process_on_two_gpus_is_one_process(run: Run, scenario: Scenario, children: list[int]) -> None:
    scenario.write(f"[box]\ngpus = 2\nmodel = h100\n[process]\npid = {children[0]}\ngpu = 0-1\nmem = 1GiB\n")
    (process,) = snapshot(run, scenario)["processes"]

    assert [use["gpu_index"] for use in process["gpus"]] == [0, 1]


def test_a_pid_that_is_gone_is_shown_as_gone(run: Run, scenario: Scenario) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    scenario.write(f"[box]\ngpus = 1\nmodel = h100\n[process]\npid = {ended.pid}\nmem = 1GiB\n")
    (process,) = snapshot(run, scenario)["processes"]

    assert process["presence"] in ("gone", "hidden")  # hidden where we are in a PID namespace ourselves
    assert process["command"] == ""
    assert process["gpus"][0]["memory_bytes"] == 1024**3


@pytest.mark.parametrize(("kind", "shown"), [("C", "C"), ("G", "G"), ("C+G", "C+G"), ("MPS", "M")])
def test_each_kind_of_process_is_found(
    run: Run, scenario: Scenario, children: list[int], kind: str, shown: str
) -> None:
    scenario.write(f"[box]\ngpus = 1\nmodel = h100\n[process]\npid = {children[0]}\ntype = {kind}\nmem = 1GiB\n")
    (process,) = snapshot(run, scenario)["processes"]

    assert process["gpus"][0]["type"] == shown


def test_refused_process_utilization_is_absent_and_not_zero(run: Run, scenario: Scenario, children: list[int]) -> None:
    scenario.write(
        "[box]\ngpus = 1\nmodel = h100\nunsupported = *ProcessUtilization*, *ProcessesUtilization*\n"
        f"[process]\npid = {children[0]}\nmem = 1GiB\nsm = 50\n"
    )
    (use,) = snapshot(run, scenario)["processes"][0]["gpus"]

    assert use["sm_percent"] is None
    assert use["missing"]["sm_percent"] == "unsupported"


def test_a_gpu_that_is_lost_says_so_with_its_xid_and_comes_back(
    stream: Callable[..., Stream], scenario: Scenario
) -> None:
    healthy = "[box]\ngpus = 3\nmodel = h100\n"
    scenario.write(healthy)
    running = stream(**scenario.environment)
    running.until(lambda frame: states(frame) == ["ok"] * 3)
    scenario.write(healthy + "[gpu 1]\nxid = 79 @ 0.1\nlost = after(1s)\n")
    lost = running.until(lambda frame: states(frame) == ["ok", "lost", "ok"])
    scenario.write(healthy)
    back = running.until(lambda frame: states(frame) == ["ok"] * 3)

    assert [event["xid"] for event in lost["gpus"][1]["xids"]] == [79]
    assert lost["gpus"][1]["missing"]["temperature_c"] == "lost"
    assert lost["gpus"][0]["metrics"]["temperature_c"] is not None
    assert back["gpus"][1]["metrics"]["temperature_c"] is not None


def test_a_gpu_whose_call_hangs_is_marked_while_the_others_go_on(
    stream: Callable[..., Stream], scenario: Scenario
) -> None:
    healthy = "[box]\ngpus = 3\nmodel = h100\n"
    scenario.write(healthy)
    running = stream(**scenario.environment)
    running.until(lambda frame: states(frame) == ["ok"] * 3)
    scenario.write(healthy + "[gpu 1]\nhang.nvmlDeviceGetTemperatureV = 600s\n")
    hung = running.until(lambda frame: states(frame) == ["ok", "hung", "ok"])
    later = running.until(lambda frame: frame["sequence"] >= hung["sequence"] + 5)

    assert hung["gpus"][1]["missing"]["temperature_c"] == "hung"
    assert later["gpus"][0]["read_s"] > hung["gpus"][0]["read_s"]
    assert later["gpus"][1]["read_s"] == hung["gpus"][1]["read_s"]


def test_gpus_that_hang_for_a_snapshot_do_not_keep_it(run: Run, scenario: Scenario) -> None:
    scenario.write("[box]\ngpus = 2\nmodel = h100\n[gpu 1]\nhang.nvmlDeviceGetTemperatureV = 600s\n")
    frame = snapshot(run, scenario)

    assert states(frame) == ["ok", "hung"]


def test_one_instance_that_changes_is_followed(stream: Callable[..., Stream], scenario: Scenario) -> None:
    def instances(frame: dict[str, Any]) -> list[str]:
        return [instance["profile"] for instance in frame["gpus"][0]["instances"]]

    split = "[box]\ngpus = 1\nmodel = h100\n[gpu 0]\nmig = 1\nmig.instances = {}\n"
    scenario.write(split.format("3g.40gb@4, 1g.10gb@0"))
    running = stream(**scenario.environment)
    first = running.until(lambda frame: bool(instances(frame)))
    scenario.write("[box]\ngpus = 1\nmodel = h100\n")
    running.until(lambda frame: frame["gpus"][0]["metrics"]["mig_mode"] is False)
    scenario.write(split.format("2g.20gb, 2g.20gb"))
    then = running.until(lambda frame: bool(instances(frame)))

    assert sorted(instances(first)) == ["1g.10gb", "3g.40gb"]
    assert sorted(instances(then)) == ["2g.20gb", "2g.20gb"]


def test_an_instance_has_its_own_memory_and_activity(run: Run, scenario: Scenario, children: list[int]) -> None:
    scenario.write(
        "[box]\ngpus = 1\nmodel = h100\n[gpu 0]\nmig = 1\nmig.instances = 3g.40gb@4, 1g.10gb@0\n"
        f"[process]\npid = {children[0]}\nmigdev = 0\nmem = 5GiB\nsm = 60\n"
    )
    frame = snapshot(run, scenario)
    instances = {instance["id"]: instance for instance in frame["gpus"][0]["instances"]}
    (use,) = frame["processes"][0]["gpus"]
    others = [instance for key, instance in instances.items() if key != use["gpu_instance"]]

    assert instances[use["gpu_instance"]]["metrics"]["memory_used_bytes"] >= 5 * 1024**3
    assert instances[use["gpu_instance"]]["metrics"]["sm_active_percent"] is not None
    assert all(instance["metrics"]["memory_used_bytes"] < 1024**3 for instance in others)


@pytest.mark.parametrize(("code", "said"), [(9, "not loaded"), (18, "Reboot"), (999, "NVML error 999")])
def test_a_driver_that_does_not_start_ends_with_advice(run: Run, scenario: Scenario, code: int, said: str) -> None:
    scenario.write(f"[box]\ngpus = 1\ninit_error = {code}\n")
    done = run("snapshot", **scenario.environment)

    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_driver_without_gpus_is_a_snapshot_without_gpus(run: Run, scenario: Scenario) -> None:
    scenario.write("[box]\ngpus = 0\n")

    assert snapshot(run, scenario)["gpus"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("snapshot", "--wait", "0"), 0, "the driver lists no GPU"),
        (("pick",), 1, "0 of 1 GPUs found: the driver lists no GPU"),
        (("free",), 1, "no GPU is free: the driver lists no GPU"),
        (("watch", "--for", "0.2s", "--interval", "0.1"), 3, "the driver lists no GPU"),
        (("mig", "status"), 0, "the driver lists no GPU"),
        (("doctor",), 2, "the driver sees no GPU"),
    ],
)
def test_a_driver_without_gpus_is_told_by_every_command(
    run: Run, scenario: Scenario, arguments: tuple[str, ...], status: int, said: str
) -> None:
    scenario.write("[box]\ngpus = 0\n")
    done = run(*arguments, **scenario.environment)

    assert said in done.stdout + done.stderr
    assert done.returncode == status


def test_a_watch_of_a_second_does_not_call_a_machine_healthy(run: Run, scenario: Scenario) -> None:
    scenario.write("[box]\ngpus = 1\nmodel = h100\n")
    watch = ("watch", "--for", "1s", "--interval", "0.5")
    text, data = run(*watch, **scenario.environment), run(*watch, "--json", **scenario.environment)

    assert (text.returncode, data.returncode) == (3, 3)
    assert re.search(r"not judged yet: \d+s is too short, gputop needs [12]m\d\d", text.stderr)
    assert json.loads(data.stdout)["status"] == 3
    assert json.loads(data.stdout)["judged_in_s"] > 0


HUNG = "[box]\ngpus = 3\nmodel = h100\n[gpu 1]\nhang.nvmlDeviceGetHandleByIndex_v2 = 3600s\n"


def test_a_gpu_that_hangs_at_the_start_does_not_hide_the_others(
    run: Run, scenario: Scenario, children: list[int]
) -> None:
    scenario.write(f"{HUNG}[process]\npid = {children[0]}\ngpu = 2\nmem = 1GiB\n")
    found = snapshot(run, scenario)

    assert states(found) == ["ok", "hung", "ok"]
    assert [process["pid"] for process in found["processes"]] == [children[0]]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("pick", "--format", "index"), 0, "GPU 1 was not considered: the driver does not answer"),
        (("free",), 0, "2 of 3 GPUs free: 0 2 · 1 unknown"),
        (("pick", "-n", "3"), 1, "GPU 1: the driver does not answer"),
        (("signal", "SIGKILL", "--pid", "1", "--dry-run"), 3, "1: unknown whether it runs on the selected GPUs"),
    ],
)
def test_a_gpu_that_hangs_at_the_start_is_not_passed_over_in_silence(
    run: Run, scenario: Scenario, arguments: tuple[str, ...], status: int, said: str
) -> None:
    scenario.write(HUNG)
    done = run(*arguments, **scenario.environment)

    assert said in done.stdout + done.stderr
    assert done.returncode == status


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("free",), "the driver has not responded"),
        (("pick",), "the driver has not responded"),
        (("signal", "SIGKILL", "--pid", "1", "--dry-run"), "1: unknown whether it runs on the selected GPUs"),
        (("renice", "5", "--user", "root", "--dry-run"), "the driver does not answer"),
    ],
)
def test_a_driver_that_hangs_at_the_start_is_unknown_and_not_a_machine_without_gpus(
    run: Run, scenario: Scenario, arguments: tuple[str, ...], said: str
) -> None:
    scenario.write("[box]\ngpus = 2\nhang.nvmlDeviceGetCount = 3600s\n")
    done = run(*arguments, **scenario.environment)

    assert said in done.stdout + done.stderr
    assert done.returncode == 3


@pytest.fixture
def blocking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the pid of a real process that blocks the readers of its memory."""
    with blocking_or_skip(tmp_path_factory.mktemp("hung")) as pid:
        yield pid


def test_a_process_that_blocks_its_readers_does_not_hide_the_others_or_hang_a_command(
    run: Run, scenario: Scenario, children: list[int], blocking: int
) -> None:
    sections = (f"[process]\npid = {pid}\ngpu = 0\nmem = 1GiB\n" for pid in (blocking, children[0]))
    scenario.write("[box]\ngpus = 1\nmodel = h100\n" + "".join(sections))
    found = snapshot(run, scenario)
    done = [
        run("signal", "SIGTERM", "--dry-run", *chosen, **scenario.environment)
        for chosen in (("--pid", str(blocking)), ("--pid", str(children[0])), ("--where", "not sleep"))
    ]

    rows = {process["pid"]: process for process in found["processes"]}
    assert rows[blocking]["missing"]["command"] == "blocked"
    assert rows[children[0]]["command"] == "sleep 600"
    assert any(str(blocking) in problem for problem in found["problems"])
    assert [one.returncode for one in done] == [0, 0, 3]
    assert run("inspect", str(blocking), "--wait", "0", **scenario.environment).returncode == 0


def test_the_last_of_64_gpus_are_read_chosen_and_picked(run: Run, scenario: Scenario) -> None:
    scenario.write("[box]\ngpus = 64\nmodel = h100\n[gpu 0-59]\nmem.used = 70GiB\n")
    picked = run("pick", "-n", "4", "--format", "index", **scenario.environment)

    assert [gpu["index"] for gpu in snapshot(run, scenario, "-i", "60-63")["gpus"]] == [60, 61, 62, 63]
    assert sorted(picked.stdout.strip().split(",")) == ["60", "61", "62", "63"]


@pytest.mark.parametrize("code", [1, 2, 3, 4, 6, 10, 13, 17, 25, 27, 999])
def test_when_every_call_fails_there_is_still_a_frame_with_reasons(run: Run, scenario: Scenario, code: int) -> None:
    scenario.write(f"[box]\ngpus = 1\nmodel = h100\n[gpu *]\nfail.nvmlDeviceGet* = {code}\nfail.nvmlGpm* = {code}\n")
    frame = snapshot(run, scenario)

    for gpu in frame["gpus"]:
        assert all(value is None for value in gpu["metrics"].values())


def test_names_from_the_driver_cannot_steer_the_terminal(run: Run, scenario: Scenario) -> None:
    scenario.write("[box]\ngpus = 1\nmodel = h100\n[gpu 0]\nname = H100 \x1b]0;owned\x07\n")
    done = run("snapshot", "--wait", "0", **scenario.environment)

    assert "\x1b" not in done.stdout
    assert "H100" in done.stdout
