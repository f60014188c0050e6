"""The configuration file."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_control
from gputop.app.backend.operations.read_only import ReadOnlyControl
from gputop.app.monitoring.screen import ScreenRequest, overridden, sampler_arguments
from gputop.app.settings import settings_file
from gputop.app.settings.toml_file import loads
from gputop.cli.args.options import add_common
from gputop.cli.args.requests import request_of
from gputop.cli.commands import screen
from gputop.core.settings.settings import SETTINGS, Settings
from gputop.core.settings.toml import commented

PATIENCE_S = 60  # only ever waited for when a test fails


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gputop" / "config.toml"


def gputop(*arguments: str, home: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S,
        env=os.environ | {"XDG_CONFIG_HOME": str(home)} | variables,
    )  # fmt: skip


def written(file: Path, text: str) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return str(file)


def test_the_file_that_explains_is_written_once_and_changes_nothing(tmp_path: Path, file: Path) -> None:
    first, again = gputop("config", "init", home=tmp_path), gputop("config", "init", home=tmp_path)
    check = gputop("config", "check", home=tmp_path)

    assert (first.returncode, first.stdout) == (0, f"wrote {file}\n")
    assert (again.returncode, "exists and was not changed" in again.stderr) == (2, True)
    assert file.read_text() == commented()
    assert settings_file.load(str(file)) == (Settings(), ())
    assert (check.returncode, check.stderr) == (0, "")


def test_check_names_every_mistake_with_its_line_and_the_nearest_word(tmp_path: Path, file: Path) -> None:
    written(file, '# mine\nthem = "dark"\nsort = "memry"\n\n[keys]\nqit = "q"\n')
    done = gputop("config", "check", home=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"{file}: line 2: them: unknown setting. Did you mean theme?",
        f"{file}: line 3: sort: 'memry' is not a column. Did you mean memory?",
        f"{file}: line 6: keys.qit: unknown action. Did you mean quit?",
    ]


def test_show_prints_what_holds_as_a_file_the_environment_over_the_file(tmp_path: Path, file: Path) -> None:
    written(file, 'theme = "light"\ninterval_s = 2\n[keys]\nquit = ["Q"]\n')
    done = gputop("config", "show", home=tmp_path, GPUTOP_THEME="dark", GPUTOP_DENSITY="huge")

    held = loads(done.stdout)
    assert (held["theme"], held["interval_s"], held["keys"]) == ("dark", 2, {"quit": ["Q"]})
    assert held.keys() == {setting.key for setting in SETTINGS} | {"keys"}
    assert "GPUTOP_DENSITY: 'huge' is not one of" in done.stderr


def test_show_prints_the_thresholds_of_detectors_that_are_settled(tmp_path: Path, file: Path) -> None:
    written(file, "[detectors.leak]\nenabled = false\nobserved_s = 900\n")
    done = gputop("config", "show", home=tmp_path)

    assert loads(done.stdout)["detectors"] == {"leak": {"enabled": False, "observed_s": 900}}


def test_what_holds_for_all_detectors_is_set_above_the_tables_of_single_ones(tmp_path: Path, file: Path) -> None:
    written(file, "[detectors]\ncooldown_s = 900\n[detectors.leak]\nobserved_s = 900\n")
    done = gputop("config", "show", home=tmp_path)

    assert loads(done.stdout)["detectors"] == {"cooldown_s": 900, "leak": {"observed_s": 900}}


def test_a_headless_command_goes_on_with_a_file_that_cannot_be_understood(tmp_path: Path, file: Path) -> None:
    written(file, "no settings at all")
    done = gputop("snapshot", "--demo", "h200", "--wait", "0", home=tmp_path)

    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "this is not TOML" in done.stderr


def test_a_file_that_is_a_directory_is_a_problem_and_not_absent(tmp_path: Path, file: Path) -> None:
    file.mkdir(parents=True)
    done = gputop("config", "check", home=tmp_path)

    assert (done.returncode, done.stderr) == (2, f"{file}: cannot be read: Is a directory\n")


def test_without_a_word_what_to_do_config_says_so(tmp_path: Path) -> None:
    assert gputop("config", home=tmp_path).returncode == 2
    assert "path" in gputop("config", "--help", home=tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Settings(theme="light", interval_s=5.0, read_only=True)),
        (["--theme", "dark", "--interval", "0.5"], Settings(theme="dark", interval_s=0.5, read_only=True)),
        (
            ["--ascii", "--density", "compact"],
            Settings(theme="light", interval_s=5.0, read_only=True, ascii=True, density="compact"),
        ),
    ],
)
def test_the_command_line_wins_over_what_is_settled(arguments: list[str], expected: Settings) -> None:
    parser = argparse.ArgumentParser()
    screen.add(parser)
    add_common(parser, is_inner=False)
    settled = Settings(theme="light", interval_s=5.0, read_only=True)

    assert overridden(settled, request_of(parser.parse_args(arguments), ScreenRequest)) == expected


def test_the_sampler_is_told_what_is_settled_and_asked_for() -> None:
    parser = argparse.ArgumentParser()
    screen.add(parser)
    add_common(parser, is_inner=False)
    options = parser.parse_args(["-i", "0", "-i", "2", "--where", "user:ann sm<5", "--demo", "mig"])
    request = request_of(options, ScreenRequest)

    assert sampler_arguments(request.backend, Settings(interval_s=5.0, read_only=True)) == [
        "--gpu", "0,2", "--demo", "mig", "--where", 'user:"ann" and sm<5.0', "--read-only", "--interval", "5.0",
    ]  # fmt: skip


# --- read-only ---------------------------------------------------------------------------------------------------
def opened_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> tuple[object, list[str]]:
    """Return the control under these variables and the file in ``tmp_path``, and what is told when it is opened."""
    for name, value in ({"XDG_CONFIG_HOME": str(tmp_path)} | variables).items():
        monkeypatch.setenv(name, value)
    told: list[str] = []
    return open_control(BackendRequest(), frozenset(), notify=told.append), told


@pytest.mark.parametrize(("text", "variables"), [("read_only = true\n", {}), ("", {"GPUTOP_READ_ONLY": "1"})])
def test_what_is_settled_to_be_read_only_shuts_the_door_without_a_screen_too(
    file: Path, tmp_path: Path, text: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(file, text)
    control, told = opened_control(tmp_path, monkeypatch, **variables)

    assert isinstance(control, ReadOnlyControl)
    assert control.detail == "read_only is set in the configuration file or a variable"
    assert told == []


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ('read_only = true\ntheme = "dark\n', {}),
        ("no settings at all", {}),
        ('read_only = "yes"\n', {}),
        ("readonly = true\n", {}),
        ('[keys]\nquit = "Q"\nread_only = true\n', {}),
        ("", {"GPUTOP_READ_ONLY": "maybe"}),
        ("read_only = false\n", {"GPUTOP_READ_ONLY": "maybe"}),
    ],
)
def test_where_read_only_may_have_been_meant_the_door_is_shut_and_it_is_said_why(
    file: Path, tmp_path: Path, text: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(file, text)
    control, told = opened_control(tmp_path, monkeypatch, **variables)

    assert isinstance(control, ReadOnlyControl)
    assert control.detail == "gputop cannot read its read_only setting"
    assert (len(told), told[-1]) == (2, "gputop changes nothing until you fix that: it may have meant read_only")


@pytest.mark.parametrize(
    ("text", "variables", "problems"),
    [
        ("", {}, 0),
        ("read_only = false\n", {}, 0),
        ('them = "dark"\nsort = 5\n', {"GPUTOP_DENSITY": "huge"}, 3),
        ("no settings at all", {"GPUTOP_READ_ONLY": "0"}, 1),
    ],
)
def test_other_mistakes_are_told_and_shut_nothing(
    tmp_path: Path, text: str, variables: dict[str, str], problems: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "gputop/config.toml", text)
    control, told = opened_control(tmp_path, monkeypatch, **variables)

    assert not isinstance(control, ReadOnlyControl)
    assert len(told) == problems


def test_a_signal_from_the_command_line_heeds_a_file_that_is_no_toml(tmp_path: Path, file: Path) -> None:
    written(file, 'read_only = true\ntheme = "dark\n')
    done = gputop("signal", "SIGKILL", "--user", "bob", "--yes", "--demo", home=tmp_path)

    assert done.returncode == 4
    assert done.stderr.startswith(f"gputop: {file}: line 2: this is not TOML: ")
    assert "refused: gputop cannot read its read_only setting" in done.stdout


def test_the_sampler_of_the_screen_heeds_it_as_well(tmp_path: Path, file: Path) -> None:
    written(file, "no settings at all")
    held = settings_file.settled({"XDG_CONFIG_HOME": str(tmp_path)}).settings

    assert "--read-only" in sampler_arguments(BackendRequest(), held)


@pytest.mark.parametrize("command", [("snapshot", "--wait", "0"), ("stream", "--count", "1")])
def test_a_mistake_is_told_in_one_line_by_what_goes_on_all_the_same(
    command: tuple[str, ...], tmp_path: Path, file: Path
) -> None:
    name = written(file, "intervall = 2\n[detectors.leak]\nx = 1\n")
    done = gputop(*command, "--demo", "h200", home=tmp_path)

    told = f"{name}: line 1: intervall: unknown setting. Did you mean interval_s?"
    assert done.returncode == 0
    assert done.stderr == f"gputop: {told} (and 1 more: gputop config show)\n"


def test_the_sampler_leaves_telling_mistakes_to_the_screen(tmp_path: Path, file: Path) -> None:
    written(file, "intervall = 2\n")
    done = gputop("stream", "--control", "--count", "1", "--demo", "h200", home=tmp_path)

    assert done.stderr == ""
