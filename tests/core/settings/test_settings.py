"""What is settled in the file and in the environment."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.settings.settings import SETTINGS, Problem, Setting, Settings, Value, from_environment, parse
from gputop.core.settings.toml import commented, lines_of

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from([setting.key for setting in SETTINGS] + ["keys", "them", ""]) | st.text(max_size=5)


def only(problems: tuple[Problem, ...]) -> Problem:
    assert len(problems) == 1, problems
    return problems[0]


def test_nothing_settled_is_the_usual() -> None:
    assert parse({}) == (Settings(), ())


def test_what_is_settled_holds() -> None:
    values = {
        "theme": "light", "density": "compact", "ascii": True, "interval_s": 2, "columns": ["pid", "command"],
        "sort": "sm", "sort_reversed": True, "show_host": False, "keymap": "vim", "read_only": True,
        "expected_gpus": 8,
        "keys": {"quit": "Q", "help": ["f1", "f1", "h"], "pause": []},
    }  # fmt: skip
    settings, problems = parse(values, actions=("quit", "help", "pause"))

    assert problems == ()
    assert settings == Settings(
        theme="light", density="compact", ascii=True, interval_s=2.0, columns=("pid", "command"), sort="sm",
        sort_reversed=True, show_host=False, keymap="vim", read_only=True, expected_gpus=8,
        keys={"quit": ("Q",), "help": ("f1", "h"), "pause": ()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "path", "said", "suggestion"),
    [
        ({"them": "dark"}, "them", "unknown setting", "theme"),
        ({"Theme": "dark"}, "Theme", "unknown setting", "theme"),
        ({"theme": "drak"}, "theme", "'drak' is not one of", "dark"),
        ({"theme": 5}, "theme", "5 is not one of", None),
        ({"ascii": "yes"}, "ascii", "neither true nor false", None),
        ({"interval_s": 0}, "interval_s", "0 is not a number of seconds", None),
        ({"interval_s": True}, "interval_s", "True is not a number", None),
        ({"interval_s": math.nan}, "interval_s", "nan is not a number", None),
        ({"columns": ["pid", "gpu_mem"]}, "columns", "'gpu_mem' is not a column", "gpu_memory"),
        ({"columns": "pid"}, "columns", "must be a list", None),
        ({"columns": ["pid", "+job"]}, "columns", "mixes columns with changes", None),
        ({"columns": ["+gpu_mem"]}, "columns", "'gpu_mem' is not a column", "gpu_memory"),
        ({"sort": "memry"}, "sort", "is not a column", "memory"),
        ({"keymap": "emacs"}, "keymap", "not one of gputop", None),
        ({"keys": ["q"]}, "keys", "must be a table", None),
        ({"keys": {"qit": "q"}}, "keys.qit", "unknown action", "quit"),
        ({"keys": {"quit": 5}}, "keys.quit", "a key or a list of keys", None),
        ({"keys": {"quit": [""]}}, "keys.quit", "a key or a list of keys", None),
        ({"keys": {"quit": "q", "help": ["h", "q"]}}, "keys.help", "q is already a key of quit", None),
        ({"keys": {"theme": "dark"}}, "keys.theme", "is a setting", None),
    ],
)
def test_what_cannot_be_used_is_named_and_the_usual_holds(
    values: dict[str, object], path: str, said: str, suggestion: str | None
) -> None:
    settings, problems = parse(values, actions=("quit", "help"))
    problem = only(problems)

    assert (problem.path, said in problem.message, problem.suggestion) == (path, True, suggestion), problem
    assert settings == Settings(keys={"quit": ("q",)} if path == "keys.help" else {})


def test_one_bad_value_does_not_spoil_the_others() -> None:
    settings, problems = parse({"theme": "drak", "sort": "sm"})

    assert (settings, len(problems)) == (Settings(sort="sm"), 1)


@given(st.dictionaries(names, anything, max_size=5))
def test_whatever_a_file_says_the_settings_that_come_of_it_are_such(values: dict[str, object]) -> None:
    settings, _ = parse(values, actions=("quit",))

    assert parse({setting.key: getattr(settings, setting.key) for setting in SETTINGS}, base=settings) == (settings, ())


def test_the_environment_wins_over_what_was_settled_before() -> None:
    variables = {
        "GPUTOP_THEME": "light", "GPUTOP_INTERVAL": "0.5", "GPUTOP_DENSITY": "compact", "GPUTOP_READ_ONLY": "0",
        "PATH": "/bin",
    }  # fmt: skip
    base = Settings(theme="dark", read_only=True, sort="sm")

    assert from_environment(variables, base) == (
        Settings(theme="light", interval_s=0.5, density="compact", read_only=False, sort="sm"),
        (),
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [("GPUTOP_THEME", "drak"), ("GPUTOP_INTERVAL", "fast"), ("GPUTOP_INTERVAL", "nan"), ("GPUTOP_READ_ONLY", "maybe")],
)
def test_a_bad_variable_is_named(variable: str, value: str) -> None:
    settings, problems = from_environment({variable: value})

    assert settings == Settings()
    assert only(problems).path == variable


def test_a_problem_says_where_and_what_was_meant() -> None:
    text = 'sort = "sm"\n\ntheme = "drak"\n[keys]\n"qit" = "q"\n'
    _, problems = parse({"theme": "drak", "keys": {"qit": "q"}}, lines=lines_of(text), actions=("quit",))

    assert list(map(str, problems)) == [
        (
            "line 3: theme: 'drak' is not one of auto, dark, light, high-contrast, monochrome, 16-colour. "
            "Did you mean dark?"
        ),
        "line 5: keys.qit: unknown action. Did you mean quit?",
    ]


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.key for setting in SETTINGS])
def test_the_default_of_a_setting_is_a_value_of_it_and_is_in_the_file_that_explains(setting: Setting) -> None:
    default: Value = setting.default

    assert setting.read(default) == default
    assert f"#{setting.key} = " in commented()


def test_actions_of_two_places_may_share_a_key_and_those_of_one_may_not() -> None:
    places = {"tree": "main", "pause": "main", "scope-tree": "dialog"}
    shared = parse({"keys": {"tree": "x", "scope-tree": "x"}}, actions=places)
    taken = parse({"keys": {"tree": "x", "pause": "x"}}, actions=places)

    assert shared[1] == ()
    assert [problem.message for problem in taken[1]] == ["x is already a key of tree"]
