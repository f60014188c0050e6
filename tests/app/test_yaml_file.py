"""YAML of strangers: refused before it takes time or memory."""

import pytest

from gputop.app.yaml_file import YamlError, load


def test_a_file_with_aliases_is_read() -> None:
    assert load(b"a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}") == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}


def test_aliases_that_multiply_are_refused_before_the_values_are_made() -> None:
    names = ", ".join(f"n{number}: 1" for number in range(3_000))
    specs = "\n".join("  - {devices: all, mig-enabled: true, mig-devices: *d}" for _ in range(800))

    with pytest.raises(YamlError, match=r"more than 50,000 values"):
        load(f"d: &d {{{names}}}\nmig-configs:\n a:\n{specs}".encode())


def test_merged_tables_that_double_with_each_line_are_refused() -> None:
    lines = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 40))]

    with pytest.raises(YamlError, match="values"):
        load("\n".join(lines).encode())


def test_a_value_that_contains_itself_is_refused() -> None:
    with pytest.raises(YamlError, match="values"):
        load(b"&a [*a]")


@pytest.mark.parametrize(
    "text",
    ["a: 2001-99-99", "!!int ''", "!!float ''", "!!bool x", "!!timestamp x", "a: " + "9" * 5000, "!!int '-'",
     "{a: 1}: 2", "[" * 5000, "a: *b", "\x00", "!!python/object/apply:os.system [id]"],
)  # fmt: skip
def test_a_value_that_the_parser_cannot_make_is_an_error_and_no_traceback(text: str) -> None:
    with pytest.raises(YamlError):
        load(text.encode())
