"""Rows of a plugin that flood, lie and send escape sequences: they cost only themselves."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from examples import frame, process
from msgspec import Struct
from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Kind
from gputop.core.detection.judge import Judge
from gputop.core.model.finding import Stage, Subject
from gputop.core.model.metric import Metric, NvmlCall, Unit
from gputop.core.plugins.api import API_VERSION, Plugin, guarded
from gputop.core.processes.column import Column, Row
from gputop.core.processes.columns import rows

EVIL = "x\x1b]0;owned\x07\n\u202e"


def column(text: Any, sort: Any = lambda _: None, *, is_text: bool = False) -> Column:
    made = Column(
        key="evil", title=EVIL + "t" * 999, width=9, rank=1, text=text, sort=sort, help="evil", is_text=is_text
    )
    return guarded(Plugin(name="evil", api=API_VERSION, columns=(made,))).columns[0]


def row() -> Row:
    return next(iter(rows(frame(1, (process(1, 0),)))))


def test_the_title_and_text_of_a_column_cannot_steer_the_terminal_and_are_short() -> None:
    one = column(lambda _: EVIL + "y" * 10_000_000)

    assert one.title.isprintable()
    assert one.text(row()).isprintable()
    assert len(one.title) <= 40
    assert len(one.text(row())) <= 200


@pytest.mark.parametrize("value", ["text", [1], object(), b"x", {}])
def test_a_column_that_answers_what_cannot_be_sorted_has_no_value(value: object) -> None:
    assert column(lambda _: "a", lambda _: value).sort(row()) is None
    assert column(lambda _: "a", lambda _: 5).sort(row()) == 5
    assert column(lambda _: "a", lambda _: 5, is_text=True).sort(row()) is None


@pytest.mark.parametrize("answer", [float("inf"), float("nan"), 2**70, object(), {}, [1], b"x", "text"])
def test_a_metric_that_lies_has_no_value(answer: object) -> None:
    metric: Metric[Any] = Metric(
        key="evil", label="Evil", unit=Unit.COUNT, origins=(NvmlCall("nvmlDeviceGetNumFans", to=lambda _: answer),)
    )
    origin = guarded(Plugin(name="evil", api=API_VERSION, metrics=(metric,))).metrics[0].origins[0]
    assert isinstance(origin, NvmlCall)

    with pytest.raises(ValueError):  # noqa: PT011 - what the reader makes a fault of
        origin.to(1)


def test_the_text_of_a_metric_cannot_steer_the_terminal() -> None:
    metric: Metric[Any] = Metric(
        key="evil", label="Evil", unit=Unit.NONE, origins=(NvmlCall("nvmlDeviceGetName", to=lambda _: (EVIL,) * 9999),)
    )
    origin = guarded(Plugin(name="evil", api=API_VERSION, metrics=(metric,))).metrics[0].origins[0]
    assert isinstance(origin, NvmlCall)

    assert len(origin.to(1)) <= 100
    assert all(text.isprintable() for text in origin.to(1))


class Endless(Struct):
    """Claims without an end."""

    wrong: bool = False

    def detect(self, _: object) -> Iterator[Any]:
        for number in count():
            subject = Subject(label=f"{EVIL}{number}")
            claim = Claim(code="evil.host", stage=Stage.ALARM, subject=subject, summary=EVIL, remedy=EVIL)
            yield replace(claim, confidence="high") if self.wrong else claim


def judged(detector: Endless) -> Judge:
    kind = Kind(name="evil", question="Is it?", codes={"evil.host": "It is."}, dials=())
    plugin = guarded(Plugin(name="evil", api=API_VERSION, detectors=((kind, lambda _: detector),)))
    return Judge({"evil": plugin.detectors[0][1]({})})


def test_a_detector_whose_claims_never_end_does_not_stop_the_frames() -> None:
    findings = judged(Endless()).judge(frame(1), ())

    assert len(findings) == 1000
    assert all((each.summary + each.remedy + each.subject.label).isprintable() for each in findings)


def test_a_detector_whose_claims_are_of_other_types_is_switched_off() -> None:
    (finding,) = judged(Endless(wrong=True)).judge(frame(1), ())

    assert finding.code == "gputop.detector"
