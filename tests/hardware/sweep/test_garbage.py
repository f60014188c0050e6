"""Values that cannot be true, one to a GPU: absent, a fault, and nothing else is touched."""

from typing import Any

import pytest
from driver_faults import compared

ALL = str(2**64 - 1)
COMMANDS = (["snapshot"], ["snapshot", "--format", "csv"], ["doctor"], ["mig", "status"])
GARBAGE = {  # by what to put into a scenario, which keeps some of it within bounds: what is then absent
    "util = 255": (),
    "util = 4294967295": (),
    "memutil = 255": (),
    "enc = 37100": (),
    "dec = 255": (),
    "jpg = 101": (),
    "ofa = 101": (),
    "temp = -200": ("temperature_c",),
    "temp = 2147483647": ("temperature_c",),
    "temp.slowdown = 4294967295": ("temperature_slowdown_c",),
    "field.82 = 4294967295": ("memory_temperature_c",),
    "field.185 = 4294967295": ("power_average_w",),
    "field.186 = 4294967295": ("power_instant_w",),
    "power.limit = 4294967": ("power_limit_w",),
    f"field.83 = {ALL}": (),
    f"field.74 = {ALL}": (),
    "clock.sm = 4294967295": ("clock_sm_hz",),
    "clock.max.mem = 4294967295": ("clock_memory_max_hz",),
    f"field.94 = {ALL}": (),
    f"field.3 = {ALL}": (),
    f"field.4 = {ALL}": (),
    f"field.138 = {ALL}": (),
    f"field.197 = {ALL}": (),
    f"mem.total = {ALL}": (),
    f"mem.used = {ALL}": (),
    "mem.total = 0": (),
    "bar1.used = -1": (),
    "gpm.sm = 255": ("sm_active_percent",),
    "gpm.tensor = -5": ("tensor_active_percent",),
    "gpm.dram = 1e300": ("dram_active_percent",),
    "pcie.width = -1": (),
    "fan = 255": (),
    "nvlink.count = 200": (),
    "recovery_action = 99": (),
    "compute_mode = 77": (),
    "throttle = 4294967295": (),
    "persistence = 5": (),
    "minor = -1": (),
    "cores = -1": (),
    "cc = 99.9": (),
    "arch = 250": (),
}
TOUCHED = {  # what a line may change as well: it is derived from the same answer
    "util", "mem", "field", "nvlink", "throttle", "temp", "power", "pcie", "clock",
}  # fmt: skip


def test_garbage_is_absent_and_never_shown(box: Any) -> None:
    box.fail([[line] for line in GARBAGE])
    frame = box.snapshot()
    _, *gpus = sorted(frame["gpus"], key=lambda gpu: gpu["index"])
    shown = {
        line: {key: gpu["metrics"][key] for key in keys if gpu["metrics"][key] is not None}
        for (line, keys), gpu in zip(GARBAGE.items(), gpus, strict=True)
    }

    assert {line: held for line, held in shown.items() if held} == {}
    for keys, gpu in zip(GARBAGE.values(), gpus, strict=True):
        assert gpu["state"] == "ok"
        assert {gpu["missing"][key] for key in keys} <= {"fault"}


def test_garbage_of_one_value_leaves_the_others_right(box: Any) -> None:
    lines = [line for line in GARBAGE if line.split(".")[0].split(" ")[0] not in TOUCHED]
    box.fail([[line] for line in lines])
    healthy, *gpus = sorted(box.snapshot()["gpus"], key=lambda gpu: gpu["index"])
    wrong = {line: compared(gpu, healthy, {}) for line, gpu in zip(lines, gpus, strict=True)}

    assert {line: said for line, said in wrong.items() if len(said) > 2} == {}


def test_every_command_lives_with_garbage(box: Any) -> None:
    box.fail([[line] for line in GARBAGE])
    for arguments in (*COMMANDS, ["stream", "--count", "3"]):
        done = box.command(*arguments)

        assert "Traceback" not in done.stdout + done.stderr, arguments


@pytest.mark.parametrize("memory", ["0", "18446744073709551615", "18446744073709551614", "9223372036854775808"])
@pytest.mark.parametrize("share", ["255", "-1", "37100", "4294967295"])
def test_a_process_with_garbage(box: Any, memory: str, share: str) -> None:
    pid = box.pids[0]
    box.write(
        "[box]\ngpus = 2\nmodel = h100\n"
        f"[process]\npid = {pid}\ngpu = 0\nmem = {memory}\nsm = {share}\nmemutil = {share}\n"
        f"[process]\npid = {pid}\ngpu = 1\nmem = 1GiB\nsm = 30\n"
        "[process]\npid = 4194399\ngpu = 0\nmem = 1GiB\n[process]\npid = 4000000\ngpu = 0-1\nmem = 1GiB\n"
    )
    frame = box.snapshot()
    uses = {(process["pid"], use["gpu_index"]): use for process in frame["processes"] for use in process["gpus"]}

    assert uses[pid, 1]["memory_bytes"] == 2**30
    for use in uses.values():
        assert use["memory_bytes"] is None or use["memory_bytes"] <= 80 * 2**30
        assert use["sm_percent"] is None or 0 <= use["sm_percent"] <= 100
    assert {process["presence"] for process in frame["processes"] if process["pid"] == 4000000} <= {"gone", "hidden"}


@pytest.mark.parametrize("key", ["name", "serial", "vbios", "uuid"])
def test_texts_of_garbage_cannot_steer_the_terminal(box: Any, key: str) -> None:
    box.fail([[f"{key} = H\x1b]0;owned\x07\x9b31m\u202e\udcff".encode("utf-8", "surrogateescape").decode("latin-1")]])
    for arguments in (*COMMANDS, ["snapshot", "--json"]):
        done = box.command(*arguments)

        assert "Traceback" not in done.stderr
        assert "\x1b]" not in done.stdout + done.stderr
