"""The recipes with jq in documents and in the help work on what gputop prints."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from documented import DOCUMENTS, HELPS, examples, recipes

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60
SHORTER = {  # what makes an end of it, and something to see
    "stream": ["--demo", "dying", "--count", "1"],
    "snapshot": ["--demo"],
    "watch": ["--demo", "trouble", "--for", "1s"],
    "doctor": ["--demo"],
    "free": ["--demo", "mig"],
    "inspect": ["--demo"],
    "explain": ["--demo"],
}


def told() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for text in (*(path.read_text() for path in DOCUMENTS), *map(examples, HELPS.values())):
        yield from ((tuple(call), tuple(program)) for call, program in recipes(text) if call[0] != "probe")


@pytest.mark.parametrize(("call", "program"), dict.fromkeys(told()))
def test_a_recipe_works(call: tuple[str, ...], program: tuple[str, ...]) -> None:
    if not shutil.which("jq"):
        pytest.skip("there is no jq here")
    shown = ["48276" if word == "4711" else word for word in call]
    shown = [str(ROOT / "tests/tapes/training.tape") if word.endswith(".tape") else word for word in shown]
    printed = subprocess.run(
        [sys.executable, "-m", "gputop", *shown, *SHORTER.get(call[0], [])],
        capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=PATIENCE_S,
    )  # fmt: skip
    done = subprocess.run(["jq", *program], input=printed.stdout, capture_output=True, check=False, timeout=PATIENCE_S)

    assert printed.stdout != b""
    assert (done.returncode, done.stderr) == (0, b"")
