"""What documents and the help tell people to type is what the parser takes, and where they point to is there."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from documented import DOCUMENTS, HELPS, ROOT, anchors, calls, commands, examples, settings

from gputop.app.settings.settings_file import load
from gputop.cli.main import whole
from gputop.simulator import BOXES
from gputop.ui.input.replay_actions import EVERY

PLACES = re.compile(r"\]\(([^)#:]*)#([^)]+)\)")


def is_a_name(call: Sequence[str]) -> bool:
    """Say whether a call only names a command: whoever speaks of `gputop record` need not say of which file."""
    return " ".join(("gputop", *call)) in HELPS


def refused(call: Sequence[str]) -> bool:
    """Say whether the parser refuses a call; it has said why then."""
    try:
        whole().parse_args(["4711" if word == "PID" else word for word in call])
    except SystemExit:
        return True
    return False


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_command_that_a_document_shows_is_taken(document: Path) -> None:
    shown = list(calls(document.read_text()))

    assert [call for call in shown if not is_a_name(call) and refused(call)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_heading_that_a_document_points_to_is_there(document: Path) -> None:
    places = PLACES.findall(document.read_text())
    found = {path: anchors((document.parent / path if path else document).read_text()) for path, _ in places}

    assert [(path, anchor) for path, anchor in places if anchor not in found[path]] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_configuration_that_a_document_shows_is_right(document: Path, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(settings(document.read_text()))
    _, problems = load(str(file), {action.id: action.place for action in EVERY})

    assert list(map(str, problems)) == []


def test_a_promise_about_security_does_not_name_a_test_that_is_gone() -> None:
    page = ROOT / "docs" / "security.md"
    rows = re.findall(r"^\| \*\*.*$", page.read_text(), re.MULTILINE)
    named = {test: re.findall(r"\]\(([^)]+\.py)\)", row) for row in rows for test in re.findall(r"`(test_\w+)`", row)}
    gone = [
        test
        for test, files in named.items()
        if not any(f"def {test}(" in (page.parent / file).read_text() for file in files)
    ]

    assert len(rows) > 10
    assert all("](../tests/" in row for row in rows)
    assert gone == []


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached, left = set[Path](), [ROOT / "README.md"]
    while left:
        document = left.pop()
        reached.add(document)
        links = re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", document.read_text())
        left += {(document.parent / link).resolve() for link in links} - reached - set(left)

    assert sorted(set((ROOT / "docs").glob("*.md")) - reached) == []


def test_every_picture_is_drawn_by_the_script_and_shown_in_a_document() -> None:
    there = {path.name for path in (ROOT / "screenshots").glob("*.svg")}
    drawn = re.findall(r'Picture\("([\w-]+)"', (ROOT / "screenshots" / "draw.py").read_text())
    text = "".join(document.read_text() for document in DOCUMENTS)

    assert there == {f"{name}.svg" for name in drawn}
    assert sorted(name for name in there if f"screenshots/{name})" not in text) == []


def test_commands_are_found_in_documents_as_people_write_them() -> None:
    block = "$ X=1 bin/gputop -i 0 | jq '\n  .a'   # gputop no\nssh box gputop stream\n"
    text = f"Say `gputop mig plan REQUEST [-i GPU]`.\n```\n{block}```\n"

    assert list(calls(text)) == [["-i", "0"], ["stream"], ["mig", "plan", "REQUEST", "-i", "GPU"]]


@pytest.mark.parametrize("command", HELPS)
def test_the_examples_in_a_help_are_taken(command: str) -> None:
    shown = list(calls(examples(HELPS[command])))

    assert shown != []
    assert [call for call in shown if refused(call)] == []


@pytest.mark.parametrize("command", HELPS)
def test_a_help_explains_every_option_and_is_not_wider_than_a_terminal(command: str) -> None:
    parser = next(found for found in commands(whole()) if found.prog == command)
    text = HELPS[command].partition("\nexample")[0]

    told = [action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)]

    assert [action.dest for action in told if not action.help] == []
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("parser", commands(whole()), ids=lambda parser: parser.prog)
def test_what_can_be_json_takes_the_short_option(parser: argparse.ArgumentParser) -> None:
    formats = [action for action in parser._actions if action.dest == "format" and "json" in (action.choices or ())]

    assert not formats or "--json" in parser.format_help()


def test_the_help_names_every_simulated_box() -> None:
    assert [box for box in BOXES if f" {box}" not in HELPS["gputop"]] == []
