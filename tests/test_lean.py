"""What a headless command may load: a script that asks for a snapshot pays for nothing that it does not use."""

import json
import subprocess
import sys

import pytest

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
lean("argparse"), lean("msgspec"), lean("pynvml")
import ctypes.util, gettext, argparse, msgspec, pynvml, typing_extensions
assert ctypes.util.find_library("c") == pynvml.find_library("c")
gettext.gettext, gettext.ngettext = str.upper, lambda one, many, count: (one, many)[count != 1].upper()
assert (argparse._("usage"), argparse.ngettext("item", "items", 2)) == ("USAGE", "ITEMS")
assert msgspec.inspect.type_info(int) == msgspec.inspect.IntType()
assert msgspec.json.schema(int) == {"type": "integer"}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_screen_does_not_load_the_driver() -> None:
    script = "import sys; import gputop.ui.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)

    assert "textual" in done.stdout.split()
    assert not [name for name in done.stdout.split() if name == "pynvml" or name.startswith("gputop.machine")]
