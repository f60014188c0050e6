"""Boxes are made by another program: it is told what to make, and what to run there."""

from pathlib import Path

from boxes import Plan, measure

RUN = """import json, os, sys
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    json.dump({"box": os.environ.get("BOX"), "given": sys.argv[1:-2]}, file)
"""
MAKE = '#!/bin/sh\nexport BOX="$1 $2 $3"\nshift 3\nexec "$@"\n'


def a_run(folder: Path, text: str = RUN) -> str:
    path = folder / "run.py"
    path.write_text(text)
    return str(path)


def test_the_program_runs_inside_the_box_that_was_asked_for(tmp_path: Path) -> None:
    box = tmp_path / "box"
    box.write_text(MAKE)
    box.chmod(0o755)

    values = measure(str(box), Plan(16, 2000, "realistic"), ["--parts", "keys"], a_run(tmp_path))

    assert values == {"box": "16 2000 realistic", "given": ["--label", "16 x 2,000, slow driver", "--parts", "keys"]}


def test_without_a_plan_the_box_is_the_one_that_there_is(tmp_path: Path) -> None:
    assert measure("", None, ["--rounds", "1"], a_run(tmp_path)) == {"box": None, "given": ["--rounds", "1"]}


def test_a_measurement_that_fails_has_no_values(tmp_path: Path) -> None:
    assert measure("", None, [], a_run(tmp_path, "raise SystemExit(3)")) is None
