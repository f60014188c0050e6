"""The front door, run as a user runs it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys

import jsonschema
import pytest

PATIENCE_S = 60  # only ever waited for when a test fails
BOXES = ("training", "h200", "mig", "workstation", "trouble", "dying")


def gputop(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True,
        check=False,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=PATIENCE_S,
    )


def test_the_table_ignores_the_columns_and_the_order_that_the_user_wants() -> None:
    done = gputop("snapshot", "--demo", "trouble", "--wait", "0", "--sort", "gpu-mem", "--columns", "PID,job,GPU-MEM")
    lines = [line.split() for line in done.stdout.splitlines()]
    first, second = lines[lines.index(["PID", "JOB", "GPU-MEM"]) + 1 :][:2]

    assert first == ["52377", "–", "75.6GiB"]
    assert second == ["61322", "90121.0", "60.0GiB"]


@pytest.mark.parametrize("box", BOXES)
def test_a_snapshot_is_what_the_schema_promises(box: str) -> None:
    schema = json.loads(gputop("schema").stdout)
    done = gputop("snapshot", "--demo", box, "--json", "--wait", "0.2")

    jsonschema.validate(json.loads(done.stdout), schema)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_value_is_null_with_a_reason_beside_it() -> None:
    gpu = json.loads(gputop("snapshot", "--demo", "--json", "--wait", "0").stdout)["gpus"][0]

    assert gpu["metrics"]["fan_percent"] is None
    assert gpu["missing"]["fan_percent"] == "unsupported"
    assert {key for key, value in gpu["metrics"].items() if value is None} == set(gpu["missing"])


def test_rates_are_there_after_two_readings_and_not_yet_after_one() -> None:
    once = json.loads(gputop("snapshot", "--demo", "--json", "--wait", "0").stdout)
    twice = json.loads(gputop("snapshot", "--demo", "--json", "--wait", "0.2").stdout)

    assert once["gpus"][0]["missing"]["pcie_tx_bytes_per_s"] == "not_yet"
    assert once["processes"][0]["missing"]["cpu_percent"] == "not_yet"
    assert twice["gpus"][0]["metrics"]["pcie_tx_bytes_per_s"] > 0
    assert max(process["cpu_percent"] for process in twice["processes"]) > 0


def test_a_snapshot_without_a_format_is_a_table_and_says_that_it_is_simulated() -> None:
    done = gputop("snapshot", "--demo", "--wait", "0")

    assert done.stdout.startswith("SIMULATED: training")
    assert "NVIDIA H100 80GB HBM3" in done.stdout
    assert "train.py" in done.stdout


def test_csv_has_a_row_per_gpu_with_the_keys_of_the_json() -> None:
    text = gputop("snapshot", "--demo", "--format", "csv", "--wait", "0").stdout
    rows = list(csv.DictReader(io.StringIO(text)))

    assert [row["index"] for row in rows] == [str(n) for n in range(8)]
    assert float(rows[0]["power_average_w"]) > 0
    assert rows[0]["fan_percent"] == ""


def test_a_stream_is_a_frame_a_line() -> None:
    lines = gputop("stream", "--demo", "--count", "3", "--interval", "0.1").stdout.splitlines()

    assert [json.loads(line)["sequence"] for line in lines] == [1, 2, 3]


def test_a_closed_pipe_ends_a_stream_quietly() -> None:
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # off where tests run behind
    start = f"{listen}; import sys; sys.argv[1:] = ['stream', '--demo', '--interval', '0.1']"
    command = [sys.executable, "-c", f"{start}; from gputop.__main__ import main; main()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()

        assert child.stderr.read() == b""
        assert child.wait(PATIENCE_S) == 0


def test_ctrl_c_ends_a_stream_without_a_traceback() -> None:
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # off where tests run behind
    start = f"{listen}; import sys; sys.argv[1:] = ['stream', '--demo', '--interval', '0.1']"
    command = [sys.executable, "-c", f"{start}; from gputop.__main__ import main; main()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=PATIENCE_S)

        assert errors == b""
        assert child.returncode == 130


def test_a_sampler_obeys_commands_and_ends_with_its_pipe() -> None:
    command = [sys.executable, "-m", "gputop", "stream", "--demo", "--control", "--interval", "3600"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        first = json.loads(child.stdout.readline())
        child.stdin.write(b'{"command":"read_now"}\n{"command":"set_interval","interval_s":0.5}\n')
        child.stdin.flush()
        while (frame := json.loads(child.stdout.readline()))["interval_s"] != 0.5:
            assert frame["interval_s"] == 3600
        child.stdin.close()

        assert first["sequence"] == 1
        assert child.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("place", ["before", "after"])
def test_options_may_stand_before_or_after_the_command(place: str) -> None:
    options = ("--demo", "h200", "--gpu", "0")
    command = ("snapshot", "--json", "--wait", "0")
    done = gputop(*options, *command) if place == "before" else gputop(*command, *options)

    assert json.loads(done.stdout)["driver"]["simulated"] == "h200"


def test_gpus_and_users_are_selected_in_lists() -> None:
    done = gputop("snapshot", "--demo", "--json", "--wait", "0", "-i", "2,3", "-i", "6", "--user", "bob,ann")
    frame = json.loads(done.stdout)

    assert [gpu["index"] for gpu in frame["gpus"]] == [2, 3, 6]
    assert {process["user"] for process in frame["processes"]} <= {"ann", "bob"}


def test_graphics_processes_are_left_out_on_request() -> None:
    done = gputop("snapshot", "--demo", "workstation", "--json", "--wait", "0", "--only-compute")
    types = {use["type"] for process in json.loads(done.stdout)["processes"] for use in process["gpus"]}

    assert types == {"C", "C+G"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["snapshot", "--demo", "-i", "9"], "no such GPU: 9. Available: 0, 1, 2, 3, 4, 5, 6, 7"),
        (["snapshot", "--demo", "-i", "GPU-nonsense"], "no such GPU: GPU-nonsense"),
        (["snapshot", "--demo", "-i", ","], "empty name"),
        (["snapshot", "--demo", "-i", "6-8"], "no such GPU: 8. Available: 0, 1, 2, 3, 4, 5, 6, 7"),
        (["snapshot", "--demo", "-i", "3-1"], "'3-1' is not a range such as 0-3"),
        (["snapshot", "--demo", "-i", "0-99999"], "'0-99999' is not a range such as 0-3"),
        (["stream", "--demo", "--interval", "0"], "'0' is not a number of seconds"),
        (["stream", "--demo", "--interval", "nan"], "'nan' is not a number of seconds"),
        (["stream", "--demo", "--interval", "-1"], "'-1' is not a number of seconds"),
        (["stream", "--demo", "--count", "0"], "'0' is not a whole number"),
        (["snapshot", "--demo", "nonsense"], "no simulated box 'nonsense'"),
        (["snapshot", "--demo", "--columns", "PID,WHAT"], "'WHAT' is not a column. Columns: GPU, PID, USER"),
        (["snapshot", "--demo", "--json", "--sort", "RSS"], "--sort and --columns apply only to the table"),
        (["snapshot", "--format", "xml"], "unknown value 'xml'. Available: table, json, csv, csv-processes"),
        (["snapshto"], "unknown value 'snapshto'. Did you mean snapshot? See: gputop --help"),
        (
            ["snapshot", "--jsn"],
            "unknown option --jsn. Did you mean --json? See: gputop snapshot --help",
        ),
        (["snapshot", "now"], "unexpected argument 'now'. See: gputop snapshot --help"),
        (["--nonsense"], "unknown option --nonsense"),
    ],
)
def test_bad_input_is_one_line_that_says_what_is_wrong_and_status_2(arguments: list[str], said: str) -> None:
    done = gputop(*arguments)

    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


def test_without_a_driver_it_says_what_to_do_and_ends_with_status_3(tmp_path: object) -> None:
    broken = f"{tmp_path}/libnvidia-ml.so.1"
    with open(broken, "wb") as file:
        file.write(b"not a library")
    done = gputop("snapshot", LD_LIBRARY_PATH=str(tmp_path))

    if done.returncode == 0:
        pytest.skip("a driver is installed where the loader always finds it")
    assert done.returncode == 3
    assert "libnvidia-ml.so.1 was not found" in done.stderr
    assert "gputop --demo" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_terminal_gputop_prints_a_snapshot() -> None:
    done = gputop("--demo", "h200")

    assert done.returncode == 0
    assert "NVIDIA H200" in done.stdout


def test_help_names_the_commands() -> None:
    done = gputop("--help")

    assert done.returncode == 0
    for word in ("snapshot", "stream", "schema", "--demo", "example"):
        assert word in done.stdout


def test_a_limit_of_open_files_gives_no_traceback() -> None:
    code = (
        "import resource; from gputop.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); main(['snapshot', '--demo'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=PATIENCE_S)

    assert done.returncode == 1
    assert done.stderr == "gputop: cannot open a file: your limit of open files is reached. Raise it with ulimit -n\n"


def test_a_limit_of_memory_gives_a_traceback() -> None:
    code = (
        "from gputop.cli import main as cli\ndef full(*_): raise MemoryError\n"
        "cli.plug_in = full; cli.main(['snapshot', '--demo'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=PATIENCE_S)

    assert done.returncode == 1
    assert done.stderr == "gputop: out of memory. Raise your limit with ulimit -v, or end other programs\n"


def test_a_limit_of_threads_gives_no_traceback() -> None:
    code = "import threading; threading.stack_size(1 << 46); from gputop.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor", "--demo"],
        capture_output=True, check=False, text=True, timeout=PATIENCE_S,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.startswith("gputop: cannot start a thread: your limit of processes or memory is reached.")
    assert "Traceback" not in done.stderr
