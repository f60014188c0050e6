"""Lines of strangers: frames, commands, recordings, filters, a plugin's answers. Read, or refused with a reason."""

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from examples import NOW, frame, process
from fuzz import FEW
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw, Struct
from msgspec.json import decode, encode
from msgspec.structs import replace
from recordings import packed, simulated

from gputop.core.model.plausible import fault_of
from gputop.core.model.sample import Frame
from gputop.core.plugins.named_source import NamedSource
from gputop.core.plugins.panel import Cell, written
from gputop.core.probing.events import read as event
from gputop.core.processes.columns import rows
from gputop.core.query.query import Query, parse, pointed
from gputop.core.text.text import clean, excerpt, is_clean
from gputop.core.text.tone import Tone
from gputop.machine.plugins.sanitize import ForeignSource
from gputop.report.csv import csv
from gputop.report.table import table
from gputop.wire import codec
from gputop.wire.limits import ExcessError, check_frame
from gputop.wire.tape.layout import Header
from gputop.wire.tape.reader import Tape, open_tape

EVIL = ("\x1b]0;x\x07", "\x9b2J", "\u202e", "\u200b", "\n", "\x00", "\ud800", "\ufeff", "é", "\u3000", "1" * 300, "")
NUMBERS = (0, -1, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e15, 1e300, -1e300, True)
FRAMES: list[Any] = [decode(encode(each)) for each in (*simulated(3, "trouble"), *simulated(1, "mig"), frame(2))]

texts = st.sampled_from(EVIL) | st.text(max_size=5)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.sampled_from(NUMBERS) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def changed(tree: Any, choices: list[int], value: Any) -> Any:
    """Return a tree with another value at a place, which the choices lead to."""
    if not choices or not isinstance(tree, (dict, list)) or not tree:
        return value
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = keys[choices[0] % len(keys)]
    made = dict(tree) if isinstance(tree, dict) else list(tree)
    made[key] = changed(tree[key], choices[1:], value)
    return made


def leaves(tree: Any) -> Iterator[list[int]]:
    """Yield the choices that lead to each value of a tree."""
    inner = list(tree.values()) if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    if not inner:
        yield []
    for number, each in enumerate(inner):
        yield from ([number, *rest] for rest in leaves(each))


LEAVES = [list(leaves(tree)) for tree in FRAMES]
places = st.lists(st.integers(0, 40), min_size=1, max_size=7)
lies = st.lists(st.tuples(places, values), min_size=1, max_size=3)


def lying(tree: Any, changes: list[tuple[list[int], Any]]) -> bytes:
    for choices, value in changes:
        tree = changed(tree, choices, value)
    return encode(_encodable(tree))


def _encodable(tree: Any) -> Any:
    """Return a tree without lone surrogates, which JSON cannot have; msgspec writes no numbers beyond 64 bits."""
    if isinstance(tree, int) and abs(tree) >= 2**63:
        return Raw(str(tree).encode())
    if isinstance(tree, str):
        return tree.encode("utf-8", "replace").decode()
    if isinstance(tree, dict):
        return {_encodable(key): _encodable(value) for key, value in tree.items()}
    return [_encodable(each) for each in tree] if isinstance(tree, list) else tree


def assert_harmless(value: Struct) -> None:
    raw = encode(value)
    assert is_clean(raw.decode())
    for escape in (rb"\u", rb"\n", rb"\r", rb"\t", rb"\b", rb"\f"):
        assert escape not in raw.replace(rb"\\", b"")


@FEW
@example(3, [([0], None), ([32], "\x1b]0;x\x07")])
@example(len(FRAMES) - 1, [([0], 0), ([5], 10**400)])
@given(st.integers(0, len(FRAMES) - 1), lies)
def test_a_sampler_that_lies_makes_no_report_fail(number: int, changes: list[tuple[list[int], Any]]) -> None:
    aimed = [(LEAVES[number][sum(choices) * 7 % len(LEAVES[number])], value) for choices, value in changes[1:]]
    read = codec.answer(lying(FRAMES[number], [*changes[:1], *aimed] if len(changes) > 2 else aimed))
    if isinstance(read, codec.Problem):
        assert is_clean(read.text)
        assert 0 < len(read.text) < 400
        return
    assert_harmless(read)
    with suppress(ExcessError):
        if isinstance(read, Frame):
            check_frame(read)
            assert all(is_clean(line) for line in table(read).split("\n"))
            csv(read, "gpus")
            csv(read, "processes")


@given(st.binary(max_size=200) | values.map(lambda value: encode(_encodable(value))))
def test_what_is_no_line_of_a_sampler_is_a_problem(raw: bytes) -> None:
    for read in (codec.answer(raw), codec.command(raw)):
        assert not isinstance(read, codec.Problem) or (is_clean(read.text) and len(read.text) < 400)


COMMANDS = [
    {"command": "send_signal", "id": "1", "signal": "SIGTERM", "targets": [[1, 2, "alive"]]},
    {"command": "inspect", "id": "1", "pid": 1},
    {"command": "set_interval", "interval_s": 1.0},
    {"command": "set_affinity", "id": "1", "cpus": [1], "targets": []},
]


@given(st.sampled_from(COMMANDS), lies)
def test_a_command_is_read_or_a_problem(tree: Any, changes: list[tuple[list[int], Any]]) -> None:
    read = codec.command(lying(tree, changes))

    assert not isinstance(read, codec.Problem) or (is_clean(read.text) and len(read.text) < 400)


NAMES = [
    "time_s",
    "sequence",
    "processes.memory_bytes",
    "processes.gpus.sm_percent",
    "gpus.metrics.power_average_w",
    "x",
]
columns = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NUMBERS) | st.lists(values, max_size=2)))
pieces = st.lists(st.lists(st.integers(-3, 9), max_size=3) | st.sampled_from([FRAMES[-1]["processes"][0], {}]) | values)
tape_lines = st.fixed_dictionaries(
    {"at_s": st.sampled_from([0.0, 1.0, 2.5, -1.0, 1e300])},
    optional={
        "moved": columns,
        "changed": st.dictionaries(st.sampled_from(["processes", "gpus", "host", "time_s", "y"]), pieces | values),
        "frame": st.sampled_from(FRAMES[-1:]) | values,
    },
)


@FEW
@given(st.lists(tape_lines, max_size=6), st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=3))
def test_a_recording_is_played_or_its_damage_is_named(lines: list[Any], flips: list[tuple[int, int]]) -> None:
    whole = {"at_s": 0.0, "frame": FRAMES[-1]}
    text = b"\n".join([encode(Header()), *(encode(_encodable(line)) for line in (whole, *lines)), b""])
    raw = bytearray(packed(text))
    for at, value in flips:
        raw[at % len(raw)] = value
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evil.tape"
        path.write_bytes(raw)
        tape = open_tape(str(path))
        if not isinstance(tape, Tape):
            assert is_clean(tape.text)
            return
        for moment in tape.play():
            assert_harmless(moment.frame)
            assert all(is_clean(line) for line in table(moment.frame).split("\n"))
        tape.number_at(1.0)
        assert all(is_clean(problem) and len(problem) < 500 for problem in tape.problems)


WORDS = ("user", "gpu_mem", ":", "=", "!=", "<", ">=", "~", "and", "or", "not", "(", ")", '"', "'", ",", "*", "-", "%",
         "5GiB", "1e999", "(?i:a", "[", "a{1000}", "\\", "cmd", "type", "progress", "9" * 400)  # fmt: skip


@FEW
@given(st.lists(st.sampled_from(WORDS) | texts, max_size=14), st.sampled_from([" ", ""]))
def test_a_filter_is_read_or_its_mistake_is_shown(words: list[str], between: str) -> None:
    text = between.join(words)
    found = parse(text)
    if isinstance(found, Query):
        assert all(found.keeps(row) in (True, False) for row in rows(frame(2)))
        assert parse(str(found)) == found
    else:
        assert all(is_clean(line) for line in pointed(text, found).split("\n"))
        assert len(pointed(text, found)) < 900
        assert is_clean(excerpt(str(found)))


@FEW
@given(st.sampled_from([frame(2), replace(frame(1), processes=(process(1),))]), lies)
def test_a_source_of_a_plugin_gives_a_plausible_sample(sample: Frame, changes: list[tuple[list[int], Any]]) -> None:
    class Source:
        interval_s = 1.0

        def read(self) -> Any:
            (choices, value), *_ = changes
            name = Frame.__struct_fields__[choices[0] % len(Frame.__struct_fields__)]
            return replace(sample, **{name: value})

    row = NamedSource(key="net", help="an address", open=lambda _: Source())
    read = ForeignSource(row, Source(), wall=lambda: NOW).read()

    assert fault_of(read) == ""
    assert_harmless(read)


cells = texts | st.builds(Cell, texts, st.sampled_from(Tone)) | values


@given(st.lists(cells | st.lists(cells, max_size=4).map(tuple), max_size=8))
def test_the_lines_of_a_panel_are_drawn_or_refused(lines: list[Any]) -> None:
    with suppress(TypeError):
        assert all(is_clean(text) for line in written(lines) for text, _ in line)


@given(st.binary(max_size=80) | st.dictionaries(st.sampled_from(["event", "test", "values", "news"]), values).map(
    lambda tree: encode(_encodable(tree))))  # fmt: skip
def test_a_line_of_a_probe_is_an_event_or_nothing(raw: bytes) -> None:
    with suppress(ValueError):
        event(raw)


@given(texts | st.text())
def test_clean_text_stays_as_it_is(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert is_clean(clean(text)) or any(not sign.isprintable() for sign in clean(text))
    assert not is_clean(text) or clean(text) == text
