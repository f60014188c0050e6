"""The picture of how cost grows has all that was measured, and what would be linear, on axes that compare."""

import re
from typing import Any
from xml.etree import ElementTree as ET

from growth_plot import picture


def curve(what: str, unit: str, *points: tuple[float, float]) -> dict[str, Any]:
    return {
        "what": what,
        "unit": unit,
        "points": [{"at": f"{amount:g}", "amount": amount, "cost": cost} for amount, cost in points],
    }


def dots(svg: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_what_is_linear_rises_at_45_degrees() -> None:
    (left, bottom), (right, top) = dots(picture([curve("processes", "ms", (100, 2.0), (400, 8.0))]))

    assert right - left == bottom - top > 0


def test_curves_of_one_unit_share_a_scale_and_others_do_not() -> None:
    svg = picture([curve("a", "%", (1, 3.0)), curve("b", "%", (1, 3.0), (10, 9.0)), curve("c", "ms", (1, 3.0))])
    (_, first), (_, second), _, (_, third) = dots(svg)

    assert first == second < third


def test_what_cost_nothing_that_could_be_measured_is_left_out() -> None:
    svg = picture([curve("GPUs", "%", (1, 0.0), (4, 2.0)), curve("processes", "%", (1, 0.0))])

    assert len(dots(svg)) == 1


def test_names_cannot_break_the_picture() -> None:
    ET.fromstring(picture([curve("a < b & c", "%", (1, 3.0))]))  # noqa: S314 - made here
