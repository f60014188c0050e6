"""The catalogue of metrics holds together."""

from collections import Counter
from typing import Any, Final

import pytest

from gputop.core.model.catalogue import CATALOGUE, CLOCKS_EVENT_REASONS, EVENT_REASONS
from gputop.core.model.metric import ONCE, FieldRate, Gpm, Metric, Missing, Unit

ENDS: Final = {
    Unit.PERCENT: "_percent",
    Unit.FAN: "_percent",
    Unit.BYTES: "_bytes",
    Unit.BYTES_PER_S: "_bytes_per_s",
    Unit.CELSIUS: "_c",
    Unit.WATTS: "_w",
    Unit.JOULES: "_j",
    Unit.HERTZ: "_hz",
    Unit.SECONDS: "_s",
}
every_metric = pytest.mark.parametrize("metric", CATALOGUE, ids=[metric.key for metric in CATALOGUE])


def test_keys_and_labels_are_unique() -> None:
    assert [key for key, count in Counter(metric.key for metric in CATALOGUE).items() if count > 1] == []
    assert [label for label, count in Counter(metric.label for metric in CATALOGUE).items() if count > 1] == []
    assert len({metric.key for metric in CATALOGUE}) == len(CATALOGUE) > 50


@every_metric
def test_the_key_carries_the_unit(metric: Metric[Any]) -> None:
    if metric.unit in ENDS:
        assert metric.key.endswith(ENDS[metric.unit])
    else:
        assert not metric.key.endswith(tuple(ENDS.values()))


@every_metric
def test_a_metric_is_explained(metric: Metric[Any]) -> None:
    assert metric.help.endswith(".")
    assert metric.label == metric.label.strip() != ""


@every_metric
def test_a_metric_can_be_read(metric: Metric[Any]) -> None:
    assert metric.origins
    assert 0 <= metric.every_s <= ONCE


@every_metric
def test_a_rate_has_the_unit_of_a_rate_and_a_share_that_of_a_share(metric: Metric[Any]) -> None:
    for origin in metric.origins:
        if isinstance(origin, FieldRate):
            assert metric.unit is Unit.BYTES_PER_S
        if isinstance(origin, Gpm):
            assert metric.unit in (Unit.PERCENT, Unit.BYTES_PER_S)


def test_reasons_are_named_by_bit_and_an_unknown_bit_is_not_lost() -> None:
    to = EVENT_REASONS.origins[0].to  # type: ignore[union-attr] # the first one is a driver call

    assert to(0) == ()
    assert to(0x4 | 0x40) == ("power cap", "hardware thermal")
    assert to(1 << 40 | 0x1) == ("idle", "0x10000000000")
    assert [to(bit) for bit in CLOCKS_EVENT_REASONS] == [(name,) for name in CLOCKS_EVENT_REASONS.values()]


@pytest.mark.parametrize(
    ("unit", "good", "bad"),
    [
        (Unit.PERCENT, (0, 100, 55.5), (-1, 101, 37100)),
        (Unit.FAN, (0, 120), (-1, 500)),
        (Unit.CELSIUS, (-10, 0, 110), (-300, 65535)),
        (Unit.WATTS, (0, 1200.5), (-1, 4294967)),
        (Unit.BYTES, (0, 2**40), (-1, 2**64 - 1)),
        (Unit.COUNT, (0, 2**40), (-1, 2**64 - 1)),
        (Unit.NONE, ("text", -5, 2**70, ("a",)), ()),
    ],
)
def test_impossible_values_are_told_from_possible_ones(unit: Unit, good: tuple[Any, ...], bad: tuple[Any, ...]) -> None:
    assert [value for value in good if not unit.allows(value)] == []
    assert [value for value in bad if unit.allows(value)] == []


@pytest.mark.parametrize("reason", Missing)
def test_each_reason_can_be_said_to_a_person(reason: Missing) -> None:
    assert reason.text
