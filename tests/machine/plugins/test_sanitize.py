"""Samples of a plugin's source: whatever it does, gputop goes on."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from examples import NOW, frame, gpu, process
from msgspec.structs import replace

from gputop.core.model.catalogue import POWER_AVERAGE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuInstance, Host, Sample
from gputop.core.plugins.named_source import NamedSource
from gputop.core.query.selection import Selection
from gputop.machine.plugins.sanitize import ForeignSource, SourceError, opened


class Playing:
    """Gives one thing after the other; an exception is raised."""

    interval_s = 1.0

    def __init__(self, *given: Any) -> None:
        self._given: Iterator[Any] = iter(given)

    def read(self) -> Sample:
        each = next(self._given)
        if isinstance(each, BaseException):
            raise each
        return each  # type: ignore[no-any-return]


def row(opener: Callable[[str], Any] = lambda _: Playing()) -> NamedSource:
    return NamedSource(key="net", help="an address", open=opener)


def foreign(*given: Any, **options: Any) -> ForeignSource:
    return ForeignSource(row(), Playing(*given), wall=lambda: NOW + 60, **options)


def test_a_sample_is_handed_on_and_says_where_it_is_from() -> None:
    sample = foreign(frame(2)).read()

    assert [one.uuid for one in sample.gpus] == ["GPU-00000000", "GPU-00000001"]
    assert sample.gpus[0][POWER_AVERAGE] == 500.0
    assert sample.driver.source == "net"


def test_a_source_that_hangs_stops_the_sampler() -> None:
    gate = threading.Event()

    class Hanging(Playing):
        def read(self) -> Sample:
            sample = super().read()
            if sample.time_s == NOW + 2:
                gate.wait(30.0)
            return sample

    given = [replace(frame(2), time_s=NOW + n) for n in (1, 2, 3)]
    source = ForeignSource(row(), Hanging(*given), wall=lambda: NOW + 60, patience_s=30.0)
    first = source.read()
    source._patience_s, source._interval_s = 0.1, 0.1
    late = source.read()
    gate.set()
    source._patience_s = 30.0
    back = source.read()

    assert not first.problems
    assert late.problems[0].startswith("source net: it has not returned from read() for ")
    assert [one.uuid for one in late.gpus] == [one.uuid for one in first.gpus]
    assert not back.problems


def test_the_last_values_of_a_source_that_hangs_or_fails_are_shown_as_if_they_were_new() -> None:
    gate = threading.Event()
    part = GpuInstance(id=1, profile="1g.10gb", metrics={POWER_AVERAGE.key: 100.0})
    held = frame((gpu(0, instances=(part,)),), host=Host(name="node7", cpu_percent=12.0), left_out=("some",))

    class Hanging(Playing):
        def read(self) -> Sample:
            sample = super().read()
            if sample.time_s > NOW:
                gate.wait(30.0)
            return sample

    source = ForeignSource(row(), Hanging(held, replace(held, time_s=NOW + 1)), wall=lambda: NOW, patience_s=30.0)
    first = source.read()
    source._patience_s, source._interval_s = 0.1, 0.1
    late = source.read()
    gate.set()

    assert first.processes
    assert first.gpus[0].instances[0][POWER_AVERAGE] == 100.0
    assert (late.processes, late.relatives, late.left_out) == ((), (), ())
    assert (late.host.name, late.host.cpu_percent) == ("node7", None)
    assert late.gpus[0].instances[0][POWER_AVERAGE] is None
    assert late.gpus[0].instances[0].why(POWER_AVERAGE) is Missing.FAULT


def test_text_from_a_source_is_cleaned_wherever_it_stands() -> None:
    evil = "x\x1b]0;owned\x07"
    held = frame((gpu(0, name=evil),), (process(1, 0, command=evil, user=evil),), problems=(evil,))
    sample = foreign(held).read()

    assert "\x1b" not in repr(sample).encode().decode("unicode_escape")
    assert sample.gpus[0].name == "x␛]0;owned␇"


@pytest.mark.parametrize(("reveal", "shown"), [(False, "••••••••"), (True, "hunter2")])
def test_a_secret_of_a_foreign_command_line_is_never_shown_unless_it_is_revealed(*, reveal: bool, shown: str) -> None:
    held = frame(1, (process(1, 0, command="serve --api-key hunter2"),))
    sample = foreign(held, reveal=reveal).read()

    assert [one.command for one in sample.processes] == [f"serve --api-key {shown}"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (ConnectionError("gone"), "ConnectionError: gone"),
        (SystemExit(3), "RuntimeError: SystemExit: 3"),
        ({"gpus": []}, "TypeError: it returned a dict, not a Sample"),
        (None, "TypeError: it returned a NoneType, not a Sample"),
        (replace(frame(1), gpus=5), "ValidationError"),
        (frame((replace(gpu(0), index="first"),), ()), "ValidationError"),
    ],
)
def test_a_source_that_fails_gives_absent_values_with_the_reason_and_is_asked_again(given: Any, why: str) -> None:
    told: list[str] = []
    source = foreign(frame(1), given, given, frame(1), notify=told.append)
    first, second, _, last = (source.read() for _ in range(4))

    assert first.problems == ()
    assert second.problems[0].startswith(f"source net: {why}")
    assert second.gpus[0][POWER_AVERAGE] is None
    assert second.gpus[0].why(POWER_AVERAGE) is Missing.FAULT
    assert second.processes == first.processes
    assert second.time_s == NOW + 60
    assert last.gpus[0][POWER_AVERAGE] == 500.0
    assert len(told) == 1


def test_a_source_that_never_answered_is_an_empty_sample_with_the_reason() -> None:
    sample = foreign(OSError(5, "Input/output error")).read()

    assert (sample.gpus, sample.processes) == ((), ())
    assert "Input/output error" in sample.problems[0]


def test_only_what_is_asked_for_is_shown() -> None:
    held = frame(3)
    sample = foreign(held, selection=Selection(gpus=("2",), users=("ann",))).read()

    assert [one.index for one in sample.gpus] == [2]
    assert [one.pid for one in sample.processes] == [4713]


def test_a_gpu_that_the_source_does_not_have_is_told_by_name() -> None:
    with pytest.raises(ValueError, match=r"no such GPU: 7\. Available: 0 \(GPU-00000000"):
        foreign(frame(1), selection=Selection(gpus=("7",))).open()


def test_a_source_with_a_rhythm_of_its_own_keeps_it() -> None:
    class Fixed(Playing):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "interval_s":
                raise AttributeError(name)
            super().__setattr__(name, value)

    source = ForeignSource(row(), Fixed(frame(1)))
    source.interval_s = 2.0

    assert source.read().interval_s == 2.0


def test_an_argument_that_cannot_be_used_is_told_with_what_it_takes() -> None:
    def refuse(_: str) -> Any:
        raise ValueError("no address")

    with pytest.raises(ValueError, match=r"--source net: no address\. Its argument: an address"):
        opened(row(refuse), "")


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3)])
def test_a_source_that_cannot_be_opened_does_not_end_gputop_by_itself(error: BaseException) -> None:
    def fail(_: str) -> Any:
        raise error

    with pytest.raises(SourceError, match="cannot open the source net"):
        opened(row(fail), "")


def test_what_cannot_be_read_is_no_source() -> None:
    with pytest.raises(SourceError, match=r"a str has no read\(\)"):
        opened(row(lambda _: "x"), "")


def test_a_source_that_has_nothing_new_says_for_how_long() -> None:
    seconds = iter((0.0, 2.0, 65.0, 66.0))
    given = (frame(1), frame(1), frame(1), frame(1, time_s=NOW + 1))
    source = ForeignSource(row(), Playing(*given), wall=lambda: NOW + next(seconds))

    assert [source.read().problems for _ in given] == [(), (), ("source net: no new sample for 1m05",), ()]


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({"time_s": 1e15}, "an impossible time"),
        ({"interval_s": -1.0}, "an impossible time"),
        ({"processes": (process(1, 0),) * 100_001}, "more than 100,000 rows"),
        ({"gpus": (gpu(0),) * 1025}, "more than 1024 GPUs"),
        ({"processes": (process(1, 0, memory_bytes=2**70),)}, "an impossible number"),
        ({"processes": (process(1, 0, cpu_percent=float("inf")),)}, "an impossible number"),
    ],
)
def test_a_source_that_floods_or_lies_gives_absent_values_with_the_reason(lie: dict[str, Any], why: str) -> None:
    sample = foreign(replace(frame(1), **lie)).read()

    assert why in sample.problems[0]
