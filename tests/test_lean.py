"""What a headless command may load: a script that asks for a snapshot pays for nothing that it does not use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from real_terminal import terminal

HEAVY = {
    "asyncio", "concurrent.futures", "dataclasses", "inspect", "logging", "psutil", "rich", "shutil", "subprocess",
    "tempfile", "textual", "typing_extensions",
}  # fmt: skip
if sys.version_info < (3, 11):
    HEAVY -= {"inspect", "typing_extensions"}  # msgspec needs typing_extensions there, to know `Required`
SCRIPT = """
import json, os, sys
os._exit = lambda status: (print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr), sys.exit(status))
from gputop.__main__ import main
sys.argv = ["gputop", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize(
    "command",
    [
        ["snapshot", "--demo", "--json", "--wait", "0"],
        ["snapshot", "--demo", "--wait", "0"],
        ["snapshot", "--demo", "--format", "csv", "--wait", "0"],
        ["snapshot", "--demo", "--json", "--wait", "0", "--where", "user:ann sm<5"],
        ["stream", "--demo", "--count", "1"],
        ["inspect", "1", "--demo"],
        ["record", "/dev/null", "--force", "--demo", "--interval", "0.1", "--for", "0.1s"],
        ["signal", "SIGTERM", "--demo", "--user", "bob", "--dry-run"],
        ["doctor", "--demo", "training"],
        ["pick", "--demo", "--interval", "0.1", "--max-util", "100"],
        ["free", "--demo", "mig", "--interval", "0.1"],
        ["wait", "finding", "--demo", "trouble"],
        ["mig", "status", "--demo"],
        ["mig", "apply", "3g.20gb,2g.10gb,1g.5gb", "-i", "0", "--yes", "--demo"],
        ["--version"],
    ],
)
def test_a_headless_command_loads_nothing_heavy(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *command], capture_output=True, check=False)
    status, modules = json.loads(done.stderr.splitlines()[-1])

    assert status == 0
    assert HEAVY.isdisjoint(modules), sorted(HEAVY.intersection(modules))
    late = (
        "gputop.machine.insight",
        "gputop.report.prometheus",
        "gputop.core.usage",
        "gputop.app.exporting",
        "gputop.wire.ssh",
    )
    assert not [name for name in modules if name.startswith(late)]


def test_the_start_of_each_command_loads_threads_and_signals() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, "snapshot", "--help"], capture_output=True, check=False)

    assert {"signal", "threading"}.isdisjoint(json.loads(done.stderr.splitlines()[-1])[1])


def test_details_of_the_host_are_in_json_where_they_are_requested() -> None:
    command = [sys.executable, "-m", "gputop", "snapshot", "--demo", "--json", "--wait", "0"]
    plain, detailed = (
        json.loads(subprocess.run([*command, *more], capture_output=True, check=True).stdout)["host"]["details"]
        for more in ((), ("--host-details",))
    )

    assert plain is None
    assert detailed["network_received_bytes_per_s"] > 0


def test_nvidia_ml_py_is_loaded_without_what_it_does_not_need() -> None:
    script = "import sys; from gputop.lazy_imports import lean; lean('pynvml'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)

    assert "pynvml" in done.stdout.split()
    assert "ctypes.util" not in done.stdout.split()


def test_no_stand_in_stays_behind_an_import() -> None:
    script = """
import sys
from gputop.lazy_imports import lean
lean("argparse"), lean("msgspec"), lean("pynvml"), lean("textual.app")
import ctypes.util, gettext, argparse, msgspec, pynvml, typing_extensions
import platformdirs, rich.table, textual.app, textual.design, textual.types, textual.widgets
assert ctypes.util.find_library("c") == pynvml.find_library("c")
gettext.gettext, gettext.ngettext = str.upper, lambda one, many, count: (one, many)[count != 1].upper()
assert (argparse._("usage"), argparse.ngettext("item", "items", 2)) == ("USAGE", "ITEMS")
assert msgspec.inspect.type_info(int) == msgspec.inspect.IntType()
assert msgspec.json.schema(int) == {"type": "integer"}
assert textual.app.user_downloads_path() == platformdirs.user_downloads_path()
colours = textual.design.ColorSystem("#112233")
assert isinstance(textual.design.show_design(colours, colours), rich.table.Table)
assert textual.types.NoSelection is type(textual.widgets.Select.NULL)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_screen_does_not_load_the_driver() -> None:
    script = "import sys; import gputop.ui.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)

    assert "textual" in done.stdout.split()
    assert not [name for name in done.stdout.split() if name == "pynvml" or name.startswith("gputop.machine")]


def test_the_screen_loads_no_library_before_it_needs_it(tmp_path: Path) -> None:
    log = tmp_path / "imports"
    command = 'exec "$0" -X importtime -m gputop --demo 2> "$1"'
    with terminal("/bin/sh", "-c", command, sys.executable, str(log)) as shown:
        shown.until("COMMAND", "Quit")
        shown.press("q")
        assert shown.end() == 0
    loaded = {line.rpartition("|")[2].strip() for line in log.read_text().splitlines()}

    assert "textual.command" in loaded
    assert loaded.isdisjoint(
        {
            "gputop.app.remote.screen",
            "gputop.wire.ssh.client",
            "gputop.wire.listener",
            "gputop.wire.tape.writer",
            "json",
            "platformdirs",
            "psutil",
            "rich.table",
            "textual.widgets._select",
        }
    )
