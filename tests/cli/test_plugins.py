"""Plugins, as a user installs them: the template of the docs, and broken ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from installed import install

DOCS = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()


def block(language: str) -> str:
    """Return the code of the template."""
    found = re.search(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)
    assert found
    return found[1]


def gputop(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    own = {
        "PYTHONPATH": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state"),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True,
        check=False,
        env=os.environ | own | environment,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
    )


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    install(tmp_path, "hello", block("python"))
    return tmp_path


def snapshot(folder: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    done = gputop(folder, "snapshot", "--json", "--wait", "0", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_entry_point_of_the_template_is_that_of_its_module() -> None:
    assert 'hello = "gputop_hello:PLUGIN"' in block("toml")
    assert '[project.entry-points."gputop.plugins"]' in block("toml")


def test_the_template_is_listed_with_what_it_adds(hello: Path) -> None:
    done = gputop(hello, "plugins")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"hello  gputop_hello 0.1  {hello}",
        "  metrics: fans",
        "  columns: project",
        "  detectors: crowd",
        "  checks: site.driver",
        "  panels: users",
        "  sources: box",
    ]


def test_a_metric_is_read_and_is_in_the_schema(hello: Path) -> None:
    frame = snapshot(hello, "--demo", "workstation")
    schema = json.loads(gputop(hello, "schema").stdout)

    assert [gpu["metrics"]["fans"] for gpu in frame["gpus"]] == [2, 2]
    assert schema["$defs"]["Metrics"]["properties"]["fans"]["title"] == "Fans"
    jsonschema.validate(frame, schema)


def test_a_detector_finds(hello: Path) -> None:
    findings = snapshot(hello, "--demo", "workstation")["findings"]

    assert "crowd.gpu" in {one["code"] for one in findings}


def test_its_threshold_is_a_setting(hello: Path) -> None:
    (hello / "config" / "gputop").mkdir(parents=True)
    (hello / "config" / "gputop" / "config.toml").write_text("[detectors.crowd]\nmost_processes = 500\n")
    checked = gputop(hello, "config", "check")
    findings = snapshot(hello, "--demo", "workstation")["findings"]

    assert (checked.returncode, checked.stderr) == (0, "")
    assert "crowd.gpu" not in {one["code"] for one in findings}


def test_a_column_is_shown_and_is_a_word_of_the_filter(tmp_path: Path) -> None:
    code = block("python").replace('partition("/projects/")[2].partition("/")[0]', 'partition("train")[1]')
    install(tmp_path, "hello", code)
    table = gputop(tmp_path, "snapshot", "--demo", "training", "--wait", "0", "--where", "project:train").stdout
    header = next(line for line in table.splitlines() if "PROJECT" in line)

    assert header.split()[-2:] == ["PROJECT", "COMMAND"]
    assert re.search(r" train +.*python", table)
    assert gputop(tmp_path, "snapshot", "--demo", "--wait", "0", "--where", "projct:x").returncode == 2


@pytest.mark.parametrize(("box", "severity"), [("training", "ok"), ("workstation", "warn")])
def test_a_check_is_a_line_of_the_doctor(hello: Path, box: str, severity: str) -> None:
    found = json.loads(gputop(hello, "doctor", "--json", "--demo", box).stdout)

    assert {one["code"]: one["severity"] for one in found["checks"]}["site.driver"] == severity


def test_a_source_is_read_as_the_machine_is_and_named(hello: Path) -> None:
    held = gputop(hello, "snapshot", "--json", "--wait", "0", "--demo", "workstation")
    (hello / "box.json").write_text(held.stdout)
    source = f"box:{hello / 'box.json'}"
    frame = snapshot(hello, "--source", source, "-i", "1")
    table = gputop(hello, "snapshot", "--source", source, "--wait", "0")

    assert [gpu["index"] for gpu in frame["gpus"]] == [1]
    assert frame["processes"]
    assert all(1 in {use["gpu_index"] for use in process["gpus"]} for process in frame["processes"])
    assert frame["gpus"][0]["metrics"] == json.loads(held.stdout)["gpus"][1]["metrics"]
    assert frame["driver"]["source"] == "box"
    assert "FROM box, a plugin's source" in table.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["snapshot", "--source", "box"], 2, "name a file. Its argument: a file with snapshots"),
        (["snapshot", "--source", "bix:x"], 2, "no such source: bix. Did you mean box?"),
        (["snapshot", "--source", "box:/nothing"], 3, "cannot read the source box: FileNotFoundError"),
        (["--source", "box:x", "doctor"], 2, "gputop doctor has no --source"),
        (["snapshot", "--source", "box:x", "--demo"], 2, "--demo and --source cannot be combined"),
    ],
)
def test_a_source_that_cannot_be_had_is_told_in_words(
    hello: Path, arguments: list[str], status: int, told: str
) -> None:
    done = gputop(hello, *arguments)

    assert done.returncode == status
    assert told in done.stderr


def test_nothing_of_a_source_can_be_signalled(hello: Path) -> None:
    (hello / "box.json").write_text(gputop(hello, "snapshot", "--json", "--wait", "0", "--demo", "training").stdout)
    done = gputop(hello, "signal", "SIGTERM", "--user", "bob", "--yes", "--source", f"box:{hello / 'box.json'}")

    assert done.returncode == 4
    assert "gputop cannot change that host from here" in done.stdout + done.stderr


def test_a_source_that_failed_is_told_by_plugins_until_it_works(hello: Path) -> None:
    gputop(hello, "snapshot", "--source", "box:/nothing")
    failed = gputop(hello, "plugins")
    as_json = json.loads(gputop(hello, "plugins", "--json").stdout)
    (hello / "box.json").write_text(gputop(hello, "snapshot", "--json", "--wait", "0", "--demo").stdout)
    snapshot(hello, "--source", f"box:{hello / 'box.json'}")
    well = gputop(hello, "plugins")

    assert failed.returncode == 1
    assert re.search(r"shut off  sources: box at .*: FileNotFoundError", failed.stdout)
    assert "FileNotFoundError" in as_json["shut_off"]["box"]
    assert (well.returncode, "shut off" in well.stdout) == (0, False)


BROKEN = {
    "import nothing_of_this_name": "ModuleNotFoundError: No module named 'nothing_of_this_name'",
    "PLUGIN = 1 / 0": "ZeroDivisionError: division by zero (",
    "raise SystemExit(3)": "SystemExit: 3",
    "def x(:": "SyntaxError",
    "PLUGIN = {}": "it is a dict, not a Plugin",
    "X = 1": "has no attribute 'PLUGIN'",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=99)": "version 99 of the plugin API",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='', api=1)": "it has no name",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, metrics=('power',))": "'power' is not a Metric",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, metrics=5)": "5 is not a Metric",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, detectors=(Kind,))": "is not a pair of a Kind",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, metrics=("
    "Metric(key='a', label='A', unit=Unit.NONE, origins=()),))": "a needs origins",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, probes=(1,))": "1 is not a Probe",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, probes=("
    "Probe(key='a', help='', folder='', worker='w', tests=()),))": "a needs tests",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, panels=('p',))": "'p' is not a Panel",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, panels=("
    "Panel(key='p', title='', help='', lines=3),))": "panels: p needs a function lines",
    "from gputop.plugin import *\nPLUGIN = Plugin(name='x', api=1, sources=("
    "NamedSource(key='s', help='', open=None),))": "sources: s needs a function open",
    "from gputop.plugin import *\nimport gputop.core.model.catalogue\nPLUGIN = Plugin(name='x', api=1, metrics=("
    "Metric(key='a', label='A', unit=Unit.NONE, origins=(Field(1),)),))": "the table of metrics is already in use",
}


@pytest.mark.parametrize(("code", "reason"), BROKEN.items(), ids=lambda text: text[-30:])
def test_a_broken_plugin_is_rejected_with_its_reason_and_breaks_nothing(tmp_path: Path, code: str, reason: str) -> None:
    install(tmp_path, "bad", code)
    listed = gputop(tmp_path, "plugins")
    frame = gputop(tmp_path, "snapshot", "--demo", "--json", "--wait", "0")

    assert listed.returncode == 1
    assert f"  rejected: {reason}" in listed.stdout or (reason in listed.stdout and "  rejected: " in listed.stdout)
    assert (frame.returncode, frame.stderr) == (0, "")
    assert json.loads(frame.stdout)["gpus"]


def test_the_doctor_tells_of_a_plugin_that_was_rejected(hello: Path) -> None:
    install(hello, "bad", "PLUGIN = 1 / 0")
    found = json.loads(gputop(hello, "doctor", "--json", "--demo", "training").stdout)["checks"]

    assert {one["code"]: one["severity"] for one in found}["gputop.plugins"] == "warn"


def test_a_broken_plugin_does_not_take_a_good_one_with_it(hello: Path) -> None:
    install(hello, "bad", "PLUGIN = 1 / 0")

    assert "  metrics: fans" in gputop(hello, "plugins").stdout


FAILING = """
from gputop.plugin import *

def fails(*_):
    raise RuntimeError("no")

PLUGIN = Plugin(
    name="failing", api=API_VERSION,
    metrics=(Metric(key="bad", label="Bad", unit=Unit.COUNT, origins=(NvmlCall("nvmlDeviceGetIndex", to=fails),)),),
    columns=(Column(key="bad", title="BAD", width=4, rank=1, text=fails, sort=fails, help="Bad.", is_text=True),),
    detectors=((Kind(name="bad", question="?", codes={}, is_instant=True), fails),),
    checks=(Check(code="bad", question="?", meaning="", fix="", judge=fails),),
)
"""


def test_functions_that_fail_give_absent_values_and_the_rest_goes_on(tmp_path: Path) -> None:
    install(tmp_path, "failing", FAILING)
    frame = snapshot(tmp_path, "--demo", "workstation")
    table = gputop(tmp_path, "snapshot", "--demo", "workstation", "--wait", "0")
    checks = json.loads(gputop(tmp_path, "doctor", "--json", "--demo", "training").stdout)["checks"]

    assert frame["gpus"][0]["metrics"]["bad"] is None
    assert frame["gpus"][0]["missing"]["bad"] == "fault"
    assert any(one["code"] == "gputop.detector" and "bad" in one["summary"] for one in frame["findings"])
    assert table.returncode == 0
    assert "BAD" in table.stdout
    assert {one["code"]: one["severity"] for one in checks}["bad"] == "unknown"


def test_a_row_whose_key_is_taken_is_left_out_and_said(tmp_path: Path) -> None:
    install(
        tmp_path, "taken",
        "from gputop.plugin import *\nPLUGIN = Plugin(name='taken', api=1, metrics=("
        "Metric(key='power_average_w', label='Mine', unit=Unit.WATTS, origins=(Field(1),)),))",
    )  # fmt: skip
    done = gputop(tmp_path, "plugins")

    assert done.returncode == 1
    assert "left out  metrics: power_average_w of taken: this key is in use" in done.stdout
    assert snapshot(tmp_path, "--demo", "training")["gpus"][0]["metrics"]["power_average_w"] > 1


def test_what_a_plugin_prints_while_it_is_loaded_is_in_nobodys_json(tmp_path: Path) -> None:
    install(tmp_path, "loud", "print('hello')\n" + block("python"))
    done = gputop(tmp_path, "snapshot", "--demo", "--json", "--wait", "0")

    assert json.loads(done.stdout)["gpus"]
    assert done.stderr == "hello\n"


def test_plugins_can_be_switched_off(hello: Path) -> None:
    frame = snapshot(hello, "--demo", "workstation", GPUTOP_NO_PLUGINS="1")

    assert "fans" not in frame["gpus"][0]["metrics"]


def test_a_package_that_is_on_the_path_twice_is_loaded_once(hello: Path) -> None:
    done = gputop(hello, "plugins", "--json", PYTHONPATH=f"{hello}:{hello}")

    assert [json.loads(line)["entry"]["name"] for line in done.stdout.splitlines()] == ["hello"]


def test_without_plugins_it_says_so(tmp_path: Path) -> None:
    done = gputop(tmp_path, "plugins")

    assert done.returncode == 0
    assert done.stdout.startswith("no plugins")


def test_the_template_passes_the_type_checker(hello: Path) -> None:
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(hello), "gputop_hello.py"],
        capture_output=True,
        check=False,
        cwd=hello,
        env=os.environ | {"MYPYPATH": str(Path(__file__).parents[2])},
        text=True,
    )

    assert done.stdout == ""


def test_a_column_that_hangs_stops_the_table_or_is_not_named(hello: Path) -> None:
    module = hello / "gputop_hello.py"
    module.write_text(
        f"import time\n{module.read_text()}".replace(
            "    return row.process", "    time.sleep(600)\n    return row.process"
        )
    )
    done = gputop(hello, "snapshot", "--demo", "training", "--wait", "0")
    filtered = gputop(hello, "snapshot", "--demo", "training", "--wait", "0", "--json", "--where", "project:x")
    listed = gputop(hello, "plugins")

    off = "plugin hello, column project: it did not return within 2s, and is off"
    assert done.stdout.splitlines()[-1] == off
    assert off in json.loads(filtered.stdout)["problems"]
    assert "shut off  columns: project at" in listed.stdout
