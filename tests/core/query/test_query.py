"""The filter language."""

import pytest
from examples import GIB, NOW, frame, process
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.model.metric import Missing, Unit
from gputop.core.model.owner import Owner, SlurmStep
from gputop.core.model.quantity import quantity
from gputop.core.model.sample import GpuProcess, HostProcess
from gputop.core.processes.column import Row
from gputop.core.processes.columns import COLUMNS
from gputop.core.query.condition import ABSENT, And, Glob, Node, Not, Or, Term, Word
from gputop.core.query.process_vocabulary import COLUMN_BY_WORD
from gputop.core.query.query import Query, QueryError, kept, parse, pointed
from gputop.core.query.regex import Pattern

some_text = st.text(max_size=8) | st.text(alphabet="ab \"'\\*-,()|", max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
TEXTS = [column.key for column in COLUMNS if column.is_text]
NUMBERS = [column.key for column in COLUMNS if not column.is_text]


def glob(pieces: list[str]) -> Glob:
    return Glob(tuple(pieces))


def values(inner: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(inner | st.just(ABSENT), min_size=1, max_size=3).map(tuple)


exact = st.sampled_from(["=", "!="])
terms = st.one_of(
    st.builds(
        Term, st.sampled_from(TEXTS), st.just(":"), values(st.lists(some_text, min_size=1, max_size=3).map(glob))
    ),
    st.builds(Term, st.sampled_from(TEXTS), exact, values(some_text)),
    st.builds(Term, st.sampled_from(NUMBERS), exact | st.just(":"), values(numbers)),
    st.builds(Term, st.sampled_from(NUMBERS), st.sampled_from(["<", "<=", ">", ">="]), st.tuples(numbers)),
    st.builds(
        Term,
        st.sampled_from(TEXTS),
        st.just("~"),
        st.tuples(st.sampled_from(["a b", 'x"', r"\\\w+", "(a|b)", "'"]).map(Pattern)),
    ),
)
nodes: st.SearchStrategy[Node] = st.recursive(
    st.one_of(terms, st.builds(Word, some_text)),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)
scraps = st.lists(
    st.sampled_from(
        [
            "user",
            "sm",
            ":",
            "<",
            "~",
            "!=",
            "(",
            ")",
            '"',
            "'",
            "and",
            "or",
            "not",
            "!",
            "&",
            "|",
            ",",
            "-",
            "5",
            " ",
            "*",
            "\\",
        ]
    )
    | st.text(max_size=3)
).map("".join)


def row(**fields: object) -> Row:
    use = {name: fields.pop(name) for name in ("type", "sm_percent", "gpu_index", "gpu_instance") if name in fields}
    held = process(fields.pop("pid", 4711), **fields)  # type: ignore[arg-type] # a pid is a number
    usual: dict[str, object] = {
        "gpu": "GPU-0",
        "gpu_index": 0,
        "type": "C",
        "memory_bytes": 10 * GIB,
        "sm_percent": 80.0,
    }
    return Row(held, GpuProcess(**usual | use), NOW)  # type: ignore[arg-type] # fields by name


def keeps(text: str, held: Row) -> bool:
    query = parse(text)
    assert isinstance(query, Query), query
    return query.keeps(held)


def error(text: str) -> QueryError:
    found = parse(text)
    assert isinstance(found, QueryError)
    return found


@given(nodes)
def test_a_printed_query_is_read_as_the_same_query(node: Node) -> None:
    query = Query(node)

    assert parse(str(query)) == query


@given(scraps | st.text())
def test_any_text_is_a_query_or_an_error_that_points_into_it(text: str) -> None:
    found = parse(text)
    if isinstance(found, Query):
        assert found.keeps(row()) in {True, False}
        assert parse(str(found)) == found
    else:
        assert 0 <= found.position <= len(text)
        assert found.message


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "user:ann", "USER:ANN", "user:bob,ann", "user: bob, ann", "user:a*", "user:*n*", 'user:"ann"',
        "user=ann",
        "user!=bob", "user~^AN", "pid:4711", "pid:1,4711", "pid~^47", "47", "train", "TRAIN.py", "ann",
        '"train.py --seed"',
        "--seed", "cmd:*train*", "cmd~train|eval", "cmd~(train|eval)", "(cmd~(x|train) sm>5)", r"cmd~train\.py",
        "command~seed",
        "gpu_mem>=10GiB", "gpu_mem>9.9G", "gpu_mem:10240MiB", "gpu_memory>10GB", "gmem>1 or sm>1", "gpu_mem<1T",
        "sm:80", "sm=80%",
        "sm%>79.5", "sm > 79", "thread>90", "mem>2G", "rss>2G", "nice>-1", "nice<=0", "threads:8", "time>59m",
        "time<1h1m", "time=1h",
        "time>0.5h", "time<=3600", "gpu:0", "type:c", "not type:G", "!type:G", "! (type:G | user:bob)",
        "user:bob or sm>5",
        "user:bob || sm>5", "user:ann and sm>5", "user:ann & sm>5", "user:ann AND NOT sm<5",
        "user:bob sm<5 or pid:4711",
        "not not user:ann", "not user:bob,cid", "state:-,s", "user!=-", "S:s",
    ],
)  # fmt: skip
def test_it_keeps_what_is_asked_for(text: str) -> None:
    held = row(command="/usr/bin/gmem or python train.py --seed 4711")  # any text may be in a command line

    assert keeps(text, held) or text.startswith("gmem")


@pytest.mark.parametrize(
    "text",
    [
        "user:bob", "user:an", "user=ANN", "user!=ann", "user:*b", "user:n*n", 'user:"a*"', "pid:471", "712",
        "nonsense",
        "sm<80", "sm>80", "gpu_mem>10GiB", "gpu:1", "time>1h", "type:G", "not type:C", "user:-", "user:ann sm<5",
        "not (user:ann or sm<5)", "cmd~^train", "user:bob sm>5 or pid:1", "user:bob (sm>5 or pid:4711)",
    ],
)  # fmt: skip
def test_it_drops_what_is_not_asked_for(text: str) -> None:
    assert not keeps(text, row())


@pytest.mark.parametrize(
    "text", ["sm<5", "sm>=0", "not sm<5", "sm!=5", "sm~.", "not (sm<5 user:ann)", "user:bob or sm<5"]
)
def test_an_absent_value_is_neither_true_nor_false(text: str) -> None:
    assert not keeps(text, row(sm_percent=None))


@pytest.mark.parametrize("text", ["sm:-", "sm:5,-", "user:ann or sm<5", "not (sm<5 user:bob)", "not sm!=-"])
def test_what_does_not_depend_on_the_absent_value_is_known(text: str) -> None:
    assert keeps(text, row(sm_percent=None))


@pytest.mark.parametrize("text", ["not train", "command!=*train*", "not command:*train*", "command:*python*", "serve"])
def test_a_command_line_that_could_not_be_read_is_not_taken_for_another_one(text: str) -> None:
    assert not keeps(text, row(command="[python]", missing={"command": Missing.BLOCKED}))


@pytest.mark.parametrize("text", ["command:-", "user:ann", "ann", "python", "4711"])
def test_a_blocked_process_is_found_by_what_is_known_of_it(text: str) -> None:
    assert keeps(text, row(command="[python]", missing={"command": Missing.BLOCKED}))


def test_a_process_of_which_nothing_is_known_can_be_asked_for_everything() -> None:
    bare = Row(HostProcess(pid=1), GpuProcess(gpu="GPU-0", gpu_index=0, type="C"), NOW)

    for column in COLUMNS:
        sign = ":" if column.is_text else ">"
        assert keeps(f"{column.key}{sign}1.0", bare) in {True, False}
        assert keeps(f"{column.key}:-", bare) in {True, False}
        assert keeps(f"{column.key}~x", bare) is False


def test_a_gpu_is_meant_with_its_instances_and_one_instance_by_its_text() -> None:
    held = row(gpu_index=1, gpu_instance=7)

    assert keeps("gpu:1", held)
    assert keeps("gpu~^1:7$", held)
    assert not keeps("gpu:0", held)


@pytest.mark.parametrize(
    ("text", "position", "said"),
    [
        ("usr:ann", 0, "Did you mean user?"),
        ("user:ann gpumem>5", 9, "Did you mean gpu_mem?"),
        ("gpu_mem>10", 8, "'10' has no unit: write 10GiB or 10MiB"),
        ("sm<five", 3, "'five' is not a percentage"),
        ("sm<5GiB", 3, "not a percentage"),
        ("gpu_mem>5m3", 8, "not a size"),
        ("time>5x", 5, "not a time"),
        ("pid:abc", 4, "not a number"),
        ("pid:1e999", 4, "not a number"),
        ("sm<-", 3, "not a percentage"),
        ("user<5", 4, "user is text"),
        ("user:", 5, "a value is missing"),
        ("user:ann,", 9, "a value is missing"),
        ("cmd~", 4, "a pattern is missing"),
        ("cmd~a(b", 5, "unclosed ("),
        ('cmd~"a(b"', 6, "unclosed ("),
        ("cmd~*", 4, "nothing to repeat"),
        ("(sm<5", 0, "unclosed ("),
        ("sm<5)", 4, "unmatched )"),
        ("()", 1, "a condition is missing"),
        ("sm<5 and", 8, "a condition is missing at the end"),
        ("or sm<5", 0, "a condition is missing before or"),
        ("sm<5 or or sm<6", 8, "a condition is missing before or"),
        ("not", 3, "a condition is missing at the end"),
        ("<5", 0, "a condition is missing before <"),
        ('cmd:"abc', 4, "unclosed quotation mark"),
        ("(" * 100, 40, "the filter is nested too deeply"),
        ("!" * 100, 40, "the filter is nested too deeply"),
        ("a" * 2001, 2000, "longer than"),
    ],
)
def test_an_error_points_at_its_place(text: str, position: int, said: str) -> None:
    found = error(text)

    assert (found.position, said in str(found)) == (position, True), found


def test_the_caret_stands_below_the_place_whatever_is_before_it() -> None:
    text = 'cmd:"\x1b日本" usr:ann'

    assert pointed(text, error(text)) == 'cmd:"␛日本" usr:ann\n' + " " * 12 + "^"


def test_a_job_is_found_by_its_number_its_step_and_its_label() -> None:
    held = row(owner=Owner(slurm=SlurmStep(job="4711", step="0")), pid=1)

    assert keeps("job:4711", held)
    assert keeps("job:4711.0", held)
    assert keeps("job~^4711", held)
    assert not keeps("job:471", held)


def test_what_is_known_not_to_be_is_not_what_is_asked_for_and_what_is_unknown_may_be() -> None:
    outside, unseen = row(owner=Owner()), row(owner=Owner(missing={"container": Missing.FORBIDDEN}))

    assert [keeps("not container:web", held) for held in (outside, unseen)] == [True, False]
    assert [keeps("container!=web", held) for held in (outside, unseen)] == [True, False]
    assert [keeps("container:-", held) for held in (outside, unseen)] == [True, True]
    assert [keeps("container~.", held) for held in (outside, unseen)] == [False, False]


def test_a_frame_keeps_the_uses_that_match_and_their_processes() -> None:
    held = frame(2, (process(1, 0, 1), process(2, 1, user="bob"), process(3, 0)))
    query = parse("gpu:1")
    assert isinstance(query, Query)

    assert [(p.pid, [use.gpu_index for use in p.gpus]) for p in kept(held, query).processes] == [(1, [1]), (2, [1])]


def test_each_word_names_one_column() -> None:
    names = [column.key for column in COLUMNS] + [word for column in COLUMNS for word in column.words]

    assert len(names) == len(set(names))
    assert {"gpu_mem", "mbw", "enc", "dec", "thread", "mem", "cmd"} <= COLUMN_BY_WORD.keys()


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.5K", Unit.BYTES, 1536), ("1kib", Unit.BYTES, 1024), ("1KB", Unit.BYTES, 1000),
        ("2TiB", Unit.BYTES, 2 * 1024**4),
        ("3d", Unit.SECONDS, 259_200), ("1h30m", Unit.SECONDS, 5400), ("-5", Unit.NONE, -5), ("1e3", Unit.NONE, 1000),
        ("1h30", Unit.SECONDS, None), ("5%", Unit.BYTES, None), ("", Unit.NONE, None), ("٥", Unit.NONE, None),
    ],
)  # fmt: skip
def test_numbers_are_read_in_base_units(text: str, unit: Unit, value: float | None) -> None:
    assert quantity(text, unit) == value


@pytest.mark.parametrize(
    "text", ["x" * 100_000 + " = (", "user:ann " * 10_000 + "usr:bob", "(" * 100_000, "cmd:'" + "y" * 100_000]
)
def test_the_mistake_of_a_long_filter_prints_all_of_it(text: str) -> None:
    shown = pointed(text, error(text))

    assert 0 < len(shown) < 1000
