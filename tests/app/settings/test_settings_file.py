"""The configuration file: reading and saving."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from other_users import directory_of_other, link_of_other, needs_root

from gputop.app.settings import settings_file
from gputop.app.settings.toml_edit import edited
from gputop.app.settings.toml_file import loads
from gputop.core.settings.settings import Settings
from gputop.core.settings.toml import commented
from gputop.machine.files.places import config_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gputop" / "config.toml"


def written(file: Path, text: str) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize(
    ("variables", "path"),
    [
        ({"XDG_CONFIG_HOME": "{place}/etc", "HOME": "{place}"}, "{place}/etc/gputop/config.toml"),
        ({"XDG_CONFIG_HOME": "", "HOME": "{place}"}, "{place}/.config/gputop/config.toml"),
        ({"XDG_CONFIG_HOME": "not/absolute", "HOME": "{place}"}, "{place}/.config/gputop/config.toml"),
    ],
)
def test_the_file_is_where_xdg_says(tmp_path: Path, variables: dict[str, str], path: str) -> None:
    filled = {name: value.format(place=tmp_path) for name, value in variables.items()}

    assert config_file(filled) == path.format(place=tmp_path)


@pytest.mark.parametrize("content", [b'theme = "dark\n', b"theme", b"\xff", b"a = 1\na = 2\n", b"[[keys]]\n"])
def test_a_file_that_is_no_settings_is_a_problem_and_the_usual_holds(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    settings, problems = settings_file.load(str(file))

    assert (settings, len(problems)) == (Settings(), 1)


def test_a_syntax_error_says_its_line(file: Path) -> None:
    _, problems = settings_file.load(written(file, 'sort = "sm"\ntheme = "dark\n'))

    assert [str(problem).startswith("line 2: this is not TOML: ") for problem in problems] == [True]


def test_a_threshold_of_all_detectors_that_does_not_exist_is_named_with_the_nearest(file: Path) -> None:
    _, problems = settings_file.load(written(file, "[detectors]\ncooldwn_s = 900\nhold_s = -1\n"))

    assert [(one.path, one.suggestion) for one in problems] == [
        ("detectors.cooldwn_s", "cooldown_s"),
        ("detectors.hold_s", None),
    ]


def test_a_change_makes_the_file_where_there_is_none(file: Path) -> None:
    assert settings_file.save({"sort": "sm", "keys.quit": ("Q", "f10")}, str(file)) is None

    assert settings_file.load(str(file)) == (Settings(sort="sm", keys={"quit": ("Q", "f10")}), ())


def test_a_change_leaves_every_other_line_alone(file: Path) -> None:
    before = (
        '# mine\ntheme = "dark"   # at night\ncolumns = [\n  "gpu",  # first\n  "pid",\n]\n\n'
        '# how I type\n[keys]\nquit = ["q"]  # Q\n\n[other]\ntheme = 5\n'
    )
    written(file, before)
    settings_file.save({"theme": "light", "columns": ("pid",), "keys.quit": ("Q",), "sort": "sm"}, str(file))

    assert file.read_text() == (
        '# mine\ntheme = "light"   # at night\ncolumns = ["pid"]\nsort = "sm"\n\n'
        '# how I type\n[keys]\nquit = ["Q"]  # Q\n\n[other]\ntheme = 5\n'
    )


def test_a_change_stands_below_its_explanation(file: Path) -> None:
    written(file, commented())
    settings_file.save({"sort": "sm", "keys.quit": ("Q",)}, str(file))
    lines = file.read_text().splitlines()

    assert lines[lines.index('#sort = "gpu"') + 1] == 'sort = "sm"'
    assert lines[lines.index('#quit = ["q", "f10"]') + 1] == 'quit = ["Q"]'


def test_none_takes_a_key_out(file: Path) -> None:
    written(file, 'theme = "dark"\nsort = "sm"\n')
    settings_file.save({"theme": None, "columns": None}, str(file))

    assert file.read_text() == 'sort = "sm"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('keys = {quit = ["q"]}\n', 'keys = {quit = ["Q"]}\n'),
        ('keys.quit = ["q"] # Q\n', 'keys.quit = ["Q"] # Q\n'),
        ('[keys]\nhelp = "?"\n\n# yours\n[other]\n', '[keys]\nhelp = "?"\nquit = ["Q"]\n\n# yours\n[other]\n'),
        ("#[keys]\n", '#[keys]\n\n[keys]\nquit = ["Q"]\n'),
    ],
)
def test_a_table_is_changed_in_the_form_that_it_has(file: Path, before: str, after: str) -> None:
    assert settings_file.save({"keys.quit": ("Q",)}, written(file, before)) is None

    assert file.read_text() == after


def test_a_file_with_a_value_in_place_of_a_table_is_left_alone(file: Path) -> None:
    said = settings_file.save({"keys.quit": ("Q",)}, written(file, "keys = 1\n"))

    assert said is not None
    assert said.endswith("was not changed: keys is not a table")
    assert file.read_text() == "keys = 1\n"


def test_a_file_with_a_mistake_is_left_alone(file: Path) -> None:
    said = settings_file.save({"sort": "sm"}, written(file, 'theme = "dark\n'))

    assert said is not None
    assert "Fix it first: line 1" in said
    assert file.read_text() == 'theme = "dark\n'


def test_mode_and_link_are_kept_and_nothing_is_left_beside(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text('theme = "dark"\n')
    target.chmod(0o640)
    file.parent.mkdir()
    file.symlink_to(target)
    settings_file.save({"theme": "light"}, str(file))

    assert file.is_symlink()
    assert target.read_text() == 'theme = "light"\n'
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dotfiles.toml", "gputop"]


@needs_root
@pytest.mark.parametrize("is_folder", [False, True])
def test_settings_that_root_saves_go_through_the_link_of_another_user(tmp_path: Path, is_folder: bool) -> None:  # noqa: FBT001
    """F12 with a kept HOME put a key above the first table of a daemon's file."""
    daemon = tmp_path / "etc" / "config.toml"
    daemon.parent.mkdir()
    daemon.write_text("[daemon]\nport = 1\n")
    home = directory_of_other(tmp_path / "home")
    if is_folder:
        link_of_other(home / "gputop", daemon.parent)
    else:
        link_of_other(directory_of_other(home / "gputop") / "config.toml", daemon)

    assert settings_file.save({"sort": "cpu"}, str(home / "gputop" / "config.toml")) is not None
    assert daemon.read_text() == "[daemon]\nport = 1\n"
    assert sorted(path.name for path in daemon.parent.iterdir()) == ["config.toml"]


texts = st.text(max_size=6)
names = st.sampled_from(["theme", "sort", "columns", "keys.quit", "keys.help", 'keys.a "b"'.replace('"', "")])
values = st.booleans() | texts | st.integers(-9, 9).map(float) | st.lists(texts, max_size=2).map(tuple) | st.none()


@given(st.lists(st.dictionaries(names, values, max_size=3), max_size=4))
def test_changes_one_after_the_other_say_what_was_changed(steps: list[dict[str, bool | float | str | None]]) -> None:
    text, held = commented(), dict[str, object]()
    for changes in steps:
        text = edited(text, changes)
        held |= changes

    said = loads(text)
    flat = {key: value for key, value in said.items() if key != "keys"}
    keys = said["keys"]
    assert isinstance(keys, dict)
    flat |= {f"keys.{key}": value for key, value in keys.items()}
    wanted = {key: list(value) if isinstance(value, tuple) else value for key, value in held.items()}
    assert flat == {key: value for key, value in wanted.items() if value is not None}


def test_a_file_that_may_not_be_read_shuts_the_door(tmp_path: Path) -> None:
    held = settings_file.settled({"XDG_CONFIG_HOME": str(tmp_path)}, said=settings_file.written(str(tmp_path)))

    assert held.settings.read_only
    assert held.problems[0] == f"{tmp_path}: cannot be read: Is a directory"


def test_a_line_separator_in_a_value_does_not_move_the_lines_below_it() -> None:
    text = edited("", {"theme": "a\u2028b\x85c\x7f"})

    assert loads(edited(text, {"sort": "sm", "theme": "dark"})) == {"sort": "sm", "theme": "dark"}
