"""Functions of plugins that hang: they cost only their own row."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from examples import frame, gpu, process
from fake_proc import FakeProc, stat_line

from gputop.core.detection.detector import Claim, Context, Detector, Kind
from gputop.core.detection.judge import Judge
from gputop.core.doctor.diagnose import diagnose
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Check, Severity, ok, warn
from gputop.core.insight.explanation import ClaimKind, Explanation, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource
from gputop.core.model.finding import Stage, Subject
from gputop.core.model.metric import Metric, NvmlCall, Unit
from gputop.core.model.units import NOTHING
from gputop.core.monitor import Source
from gputop.core.plugins.api import API_VERSION, Plugin, guarded, wrong_with
from gputop.core.plugins.named_source import NamedSource
from gputop.core.processes.column import Column, Row
from gputop.core.processes.columns import rows
from gputop.core.protocol.command import Explain
from gputop.core.table_rows import _off, turned_off
from gputop.machine.insight.explainer import Explainer
from gputop.machine.plugins.bounds import bounded
from gputop.machine.plugins.sanitize import SourceError, opened

SHORT_S = 0.1
LONG_S = 30.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Let what waits for it go on after the test."""
    held = threading.Event()
    yield held
    held.set()


class Detects:
    """A detector that does this and claims something."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def detect(self, _: Context) -> Iterator[Claim]:
        self._act()
        yield Claim(code="x.y", stage=Stage.SUSPECT, subject=Subject(label="GPU 0"), summary="seen", remedy="none")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Forget after the test what was switched off, or the screens of other tests name it."""
    yield
    _off.clear()


class Heard:
    """What was reported of rows."""

    def __init__(self) -> None:
        self.off: list[tuple[str, str, str]] = []
        self.works: list[tuple[str, str]] = []

    def failed(self, table: str, key: str, reason: str) -> None:
        self.off.append((table, key, reason))

    def worked(self, table: str, key: str) -> None:
        self.works.append((table, key))


def kind() -> Kind:
    return Kind(name="x", question="?", codes={"x.y": "?"}, remedies={"x.y": "none"})


def judge_of(make: Callable[[Mapping[str, float]], Detector], patience_s: float, heard: Heard) -> Judge:
    plugin = Plugin(name="x", api=API_VERSION, detectors=((kind(), make),))
    ((_, made),) = bounded(guarded(plugin), heard, patience_s).detectors
    return Judge({"x": made({})})


def summaries(judge: Judge) -> list[str]:
    return [finding.summary for finding in judge.judge(frame((gpu(0),)), ())]


@pytest.mark.parametrize("where", ["made", "detects"])
def test_a_detector_of_a_plugin_that_hangs_stops_the_frames(where: str, gate: threading.Event) -> None:
    heard = Heard()

    def make(_: Mapping[str, float]) -> Detector:
        if where == "made":
            gate.wait(LONG_S)
        return Detects(lambda: gate.wait(LONG_S))

    judge = judge_of(make, SHORT_S, heard)
    found = [summaries(judge) for _ in range(2)]

    assert found[0] == found[1]
    assert "the detector x failed and is off" in found[0][0]
    assert "it did not return within" in found[0][0]
    assert [one[:2] for one in heard.off] == [("detectors", "x")]


def test_a_detector_of_a_plugin_that_returns_loses_its_claims_or_its_errors() -> None:
    def fail() -> None:
        raise KeyError("key")

    assert summaries(judge_of(lambda _: Detects(lambda: None), LONG_S, Heard())) == ["seen"]
    assert "KeyError: 'key'" in summaries(judge_of(lambda _: Detects(fail), LONG_S, Heard()))[0]


def test_a_conversion_of_a_plugin_that_hangs_makes_the_gpu_hang(gate: threading.Event) -> None:
    heard = Heard()
    hangs = NvmlCall("nvmlX", to=lambda _: gate.wait(LONG_S))
    metric: Metric[float] = Metric(key="m", label="M", unit=Unit.PERCENT, origins=(hangs,))
    plugin = Plugin(name="x", api=API_VERSION, metrics=(metric,))
    (origin,) = bounded(guarded(plugin), heard, SHORT_S).metrics[0].origins
    assert isinstance(origin, NvmlCall)
    for _ in range(3):
        with pytest.raises(ValueError, match="did not return"):
            origin.to(1)

    assert len(heard.off) == 1
    assert heard.off[0][2].startswith("it did not return within")
    assert any("plugin x, metric m: it did not return within" in line for line in turned_off())


def test_the_findings_of_a_detector_that_hangs_stay(gate: threading.Event) -> None:
    class Later:
        """A detector that finds something for long, and then hangs."""

        def __init__(self) -> None:
            self.calls = 0

        def detect(self, _: Context) -> Iterator[Claim]:
            self.calls += 1
            if self.calls > 1:
                gate.wait(LONG_S)
            who = Subject(label="GPU 0")
            yield Claim(code="x.y", stage=Stage.ALARM, subject=who, summary="seen", remedy="none", hold_s=900.0)

    judge = judge_of(lambda _: Later(), 1.0, Heard())

    assert summaries(judge) == ["seen"]
    assert [text.partition(":")[0] for text in summaries(judge)] == ["the detector x failed and is off"]


FUNCTIONS = ("text", "sort", "is_used", "value")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_column_that_hangs_holds_up_the_screen_again_and_again_or_keeps_its_values(
    name: str, gate: threading.Event
) -> None:
    heard, calls = Heard(), []

    def hangs(row: Row) -> str:
        calls.append(row)
        gate.wait(LONG_S)
        return "old"

    usual: dict[str, Any] = dict.fromkeys(FUNCTIONS, lambda _: "a")
    column = Column(key="site", title="SITE", width=9, rank=1, help="?", is_text=True, **usual | {name: hangs})
    held = bounded(guarded(Plugin(name="x", api=API_VERSION, columns=(column,))), heard, SHORT_S).columns[0]
    first, second = rows(frame(1, (process(1), process(2))))
    seen = [getattr(held, name)(each) for each in (first, second, first)]
    others = [getattr(held, other)(first) for other in FUNCTIONS if other != name]

    absent = NOTHING if name == "text" else None
    assert seen == [absent] * 3
    assert set(others) <= {None, NOTHING}
    assert len(calls) == 1
    assert [one[:2] for one in heard.off] == [("columns", "site")]
    assert any("plugin x, column site: it did not return within" in line for line in turned_off())


def drawn_until(cell: Callable[[], str], is_so: Callable[[str], bool]) -> str:
    """Draw a cell again and again until it is so, for 30 s at most; return it."""
    end_s = time.monotonic() + LONG_S
    while not is_so(drawn := cell()) and time.monotonic() < end_s:
        time.sleep(0.01)
    return drawn


def bounded_text(text: Callable[[Row], str], heard: Heard, patience_s: float) -> Callable[[Row], str]:
    column = Column(key="site", title="SITE", width=9, rank=1, help="?", text=text, sort=lambda _: 1)
    return bounded(guarded(Plugin(name="x", api=API_VERSION, columns=(column,))), heard, patience_s).columns[0].text


def test_the_screen_answers_no_key_until_the_time_limit_of_a_column_has_passed(gate: threading.Event) -> None:
    heard = Heard()
    text = bounded_text(lambda _: "a" if gate.wait(LONG_S) else "b", heard, LONG_S)
    row = rows(frame(1, (process(1),)))[0]

    async def draw() -> tuple[str, str]:
        first = text(row)
        gate.set()  # by the thread that would wait
        return first, drawn_until(lambda: text(row), lambda drawn: drawn == "a")

    assert asyncio.run(draw()) == (NOTHING, "a")
    assert heard.off == []


def test_a_column_that_hangs_on_the_screen_is_called_again_or_stays_on(gate: threading.Event) -> None:
    heard, calls = Heard(), []

    def hangs(row: Row) -> str:
        calls.append(row)
        return str(gate.wait(LONG_S))

    text = bounded_text(hangs, heard, SHORT_S)
    row = rows(frame(1, (process(1),)))[0]

    async def draw() -> str:
        return drawn_until(lambda: text(row), lambda _: bool(heard.off))

    assert asyncio.run(draw()) == NOTHING
    assert len(calls) == 1
    assert any("plugin x, column site: it did not return within" in line for line in turned_off())


def test_a_column_that_returns_has_its_values_and_no_longer_the_failure_of_an_earlier_run() -> None:
    heard = Heard()
    column = Column(
        key="site", title="SITE", width=9, rank=1, help="?", text=lambda row: str(row.process.pid), sort=lambda _: 1 / 0
    )
    held = bounded(guarded(Plugin(name="x", api=API_VERSION, columns=(column,))), heard, LONG_S).columns[0]
    shown = rows(frame(1, (process(1), process(2))))

    assert [(held.text(row), held.sort(row)) for row in shown] == [("1", None), ("2", None)]
    assert (heard.off, heard.works) == ([], [("columns", "site")])


def check(judge: Callable[[Facts], Any], heard: Heard, patience_s: float = SHORT_S) -> Check:
    row = Check(code="site.x", question="?", meaning="?", fix="?", judge=judge)
    return bounded(guarded(Plugin(name="x", api=API_VERSION, checks=(row,))), heard, patience_s).checks[0]


def verdict(held: Check) -> tuple[Severity, str]:
    (checked,) = diagnose(Facts(time_s=0.0), (held,)).checks
    return checked.severity, checked.verdicts[0].summary


@pytest.mark.parametrize("is_generator", [False, True])
def test_a_check_that_hangs_stops_the_doctor(gate: threading.Event, *, is_generator: bool) -> None:
    def judge(_: Facts) -> Any:
        gate.wait(LONG_S)
        return ok("well")

    def generate(_: Facts) -> Any:
        yield judge(_)

    heard = Heard()
    severity, summary = verdict(check(generate if is_generator else judge, heard))

    assert severity is Severity.UNKNOWN
    assert summary.startswith("plugin x: it did not return within")
    assert [one[:2] for one in heard.off] == [("checks", "site.x")]


@pytest.mark.parametrize("answer", [None, 5, ["text"], [Exception()]])
def test_the_answer_of_a_check_that_is_no_verdict_stops_the_doctor(answer: object) -> None:
    severity, summary = verdict(check(lambda _: answer, Heard(), LONG_S))

    assert severity is Severity.UNKNOWN
    assert "the check failed" in summary


def test_the_text_of_a_check_can_steer_the_terminal() -> None:
    _, summary = verdict(check(lambda _: warn("x\x1b]0;owned\x07"), Heard(), LONG_S))

    assert summary.isprintable()


def test_a_source_that_hangs_while_it_is_opened_stops_gputop(gate: threading.Event) -> None:
    def connect(_: str) -> Source:
        gate.wait(LONG_S)
        raise AssertionError

    heard = Heard()
    row = NamedSource(key="net", help="a host", open=connect)
    held = bounded(Plugin(name="x", api=API_VERSION, sources=(row,)), heard, SHORT_S).sources[0]

    with pytest.raises(SourceError, match=r"cannot open the source net: .*it did not return within"):
        opened(held, "host")
    assert [one[:2] for one in heard.off] == [("sources", "net")]


class MuteError(Exception):
    """An error whose text cannot be taken."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


ENDS = [SystemExit(0), KeyboardInterrupt(), asyncio.CancelledError(), MuteError()]


@pytest.mark.parametrize("error", ENDS, ids=repr)
def test_a_plugin_that_calls_exit_ends_gputop(error: BaseException) -> None:
    def leave(*_: object) -> Any:
        raise error

    column = Column(key="site", title="SITE", width=9, rank=1, help="?", text=leave, sort=leave)
    metric: Metric[Any] = Metric(
        key="x", label="X", unit=Unit.COUNT, origins=(NvmlCall("x", to=leave),), every_s=1.0, help="?"
    )
    plugin = bounded(guarded(Plugin(name="x", api=API_VERSION, columns=(column,), metrics=(metric,))), Heard(), LONG_S)
    (origin,), (cell,) = plugin.metrics[0].origins, plugin.columns
    shown = rows(frame(1, (process(1),)))
    findings = summaries(judge_of(leave, LONG_S, Heard()))

    assert isinstance(origin, NvmlCall)
    with pytest.raises(ValueError, match=r"Error|Exit|Interrupt"):
        origin.to(1)
    assert [(cell.text(row), cell.sort(row)) for row in shown] == [(NOTHING, None)]
    assert type(error).__name__ in verdict(check(leave, Heard(), LONG_S))[1]
    assert any(type(error).__name__ in line for line in findings)


# --- sources of insight ---------------------------------------------------------------------------------------------
def explained(ask: Callable[[Sequence[Member], bool], SourceReport]) -> tuple[SourceReport, Heard]:
    """Return what the explainer says of a plugin's source, and what was reported of its row."""
    heard, sent = Heard(), list[Explanation]()
    row = InsightSource(name="mpi", title="MPI", ask=ask)
    plugin = Plugin(name="test", api=API_VERSION, insight=(row,))
    assert wrong_with(plugin) == ""
    (bound,) = bounded(guarded(plugin), heard, SHORT_S).insight
    proc = FakeProc({"10/stat": stat_line(10, start=100)})
    members = (Member(pid=10, start_ticks=100, rank=5),)
    Explainer((bound,), proc).explain(Explain(id="q", members=members), sent.append)
    return sent[-1].sources[0], heard


def test_a_source_of_insight_that_hangs_keeps_its_explanation_open(gate: threading.Event) -> None:
    def hang(*_: object) -> SourceReport:
        gate.wait(LONG_S)
        raise AssertionError

    report, heard = explained(hang)

    assert report.state is SourceState.UNAVAILABLE
    assert "it did not return within" in report.note
    assert [(table, key) for table, key, _ in heard.off] == [("insight", "mpi")]
    assert "mpi" in turned_off()[0]


def test_a_source_of_insight_that_ends_gputop_or_answers_nonsense() -> None:
    report, _ = explained(lambda *_: sys.exit(3))
    other, _ = explained(lambda *_: "nonsense")  # type: ignore[arg-type] # what a plugin may do

    assert "SystemExit: 3" in report.note
    assert other.state is SourceState.UNAVAILABLE


def test_a_claim_of_a_plugin_does_not_reach_the_verdict() -> None:
    claim = InsightClaim(kind=ClaimKind.AT, pids=(10,), place="MPI_Barrier")
    answer = SourceReport(name="", title="", state=SourceState.ANSWERED, claims=(claim,))
    report, heard = explained(lambda *_: answer)

    assert (report.name, report.title, report.claims) == ("mpi", "MPI", (claim,))
    assert ("insight", "mpi") in heard.works
