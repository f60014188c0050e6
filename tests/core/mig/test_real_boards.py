"""Requests and restored layouts on each board whose MIG profiles are known from a real driver."""

from collections import Counter

import pytest
from mig_boards import B200, B200_LATER, BOARDS, GB200, GB200_EARLY, PRO_6000, board

from gputop.core.mig.explain import NoPlan, answer, answer_layout
from gputop.core.mig.model import Geometry, layout, short_name
from gputop.core.mig.placement import layouts
from gputop.core.mig.planner import plan
from gputop.core.mig.request import RequestError, Wish, read_request, whole
from gputop.core.mig.steps import Plan

NAMES_OF_EIGHT = {  # of 1g, 2g, 3g, 4g, 7g
    "A100": "1g.5gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb",
    "H100": "1g.10gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
    "H100 NVL": "1g.12gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb",
    "H200": "1g.18gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb",
    "GH200": "1g.18gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb",
    "B200": "1g.23gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb",
    "B200 with a later driver": "1g.23gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb",
    "GB200": "1g.23gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb",
    "GB200 with an early driver": "1g.24gb 2g.47gb 3g.95gb 4g.95gb 7g.189gb",
}


def _created(geometry: Geometry, request: str) -> list[str]:
    found = answer(board(geometry), read_request(request, board(geometry)))
    assert isinstance(found, Plan), found
    return [target.text for target in found.created]


@pytest.mark.parametrize("name", NAMES_OF_EIGHT)
def test_a_request_by_slices_misses_the_profile_of_a_board_with_eight_slots(name: str) -> None:
    geometry = BOARDS[name]
    one, two, three, four, seven = NAMES_OF_EIGHT[name].split()

    assert _created(geometry, "3g,4g") == [f"{four}@0", f"{three}@4"]
    assert _created(geometry, "4g,2g,1g") == [f"{four}@0", f"{two}@4", f"{one}@6"]
    assert _created(geometry, "all=1g") == [f"{one}@{start}" for start in range(7)]
    assert _created(geometry, "3g,all=1g") == [*(f"{one}@{start}" for start in range(4)), f"{three}@4"]
    assert _created(geometry, "7g") == [f"{seven}@0"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A30", ["2g.12gb@0", "1g.6gb@2", "1g.6gb@3"]),
        ("RTX PRO 6000", ["2g.48gb@0", "1g.24gb@6", "1g.24gb@9"]),
    ],
)
def test_a_request_by_slices_misses_the_places_of_a_board_with_four_slices(name: str, expected: list[str]) -> None:
    assert _created(BOARDS[name], "2g,2x1g") == expected


def test_the_graphics_and_media_profiles_of_a_workstation_board_are_mixed_up() -> None:
    assert _created(PRO_6000, "1g+me.all,3x1g-me") == [
        "1g.24gb+me.all@0", "1g.24gb-me@3", "1g.24gb-me@6", "1g.24gb-me@9",
    ]  # fmt: skip
    assert _created(PRO_6000, "2x2g+gfx") == ["2g.48gb+gfx@0", "2g.48gb+gfx@6"]


@pytest.mark.parametrize(
    ("name", "request_text", "expected"),
    [
        ("B200", "1g>=23gb", "1g.23gb"),
        ("B200 with a later driver", "1g>=23gb", "1g.45gb"),  # the same name, for 20.5 GiB
        ("GB200", "1g>=21gb", "1g.23gb"),
        ("GB200 with an early driver", "1g>=21gb", "1g.24gb"),
        ("GB200 with an early driver", "1g>=23gb", "1g.47gb"),  # the name says 24, the driver 21.5
        ("H100", "1g>=12gb", "1g.20gb"),
        ("H100 NVL", "1g>=11gb", "1g.12gb"),
        ("A30", "1g>=6gb", "1g.6gb"),
        ("RTX PRO 6000", "2g>=40gb", "2g.48gb"),
    ],
)
def test_a_name_decides_where_the_memory_was_requested(name: str, request_text: str, expected: str) -> None:
    wanted = read_request(request_text, board(BOARDS[name])).items

    assert wanted is not None
    assert [item.profile for item in wanted] == [expected]


@pytest.mark.parametrize("name", BOARDS)
def test_a_layout_that_fits_has_no_plan(name: str) -> None:
    geometry = BOARDS[name]
    for profiles in layouts(geometry):
        found = plan(board(geometry), Wish(tuple(whole(profile) for profile in profiles)))

        assert found is not None
        assert Counter(target.profile for target in found.after) == Counter(profile.name for profile in profiles)


@pytest.mark.parametrize(
    ("before", "now"),
    [(GB200_EARLY, GB200), (GB200, GB200_EARLY), (B200, B200_LATER)],
    ids=["later driver", "earlier driver", "same names"],
)
def test_a_layout_is_not_restored_after_a_driver_renamed_its_profiles(before: Geometry, now: Geometry) -> None:
    for profiles in layouts(before):
        saved = plan(board(before), Wish(tuple(whole(profile) for profile in profiles)))
        assert saved is not None
        found = answer_layout(board(now), saved.after, is_on=True)

        assert isinstance(found, Plan), found
        assert [(target.start, target.size, short_name(target.profile), target.computes) for target in found.after] == [
            (target.start, target.size, short_name(target.profile), target.computes) for target in saved.after
        ]
        assert {target.profile for target in found.after} <= {profile.name for profile in now.profiles}


def test_a_layout_of_eight_slots_is_restored_on_four_slices() -> None:
    saved = plan(board(GB200), read_request("3g,2g", board(GB200)))
    assert saved is not None

    assert isinstance(answer_layout(board(PRO_6000), saved.after, is_on=True), NoPlan)
    assert layout(board(PRO_6000).instances) == ()


@pytest.mark.parametrize(
    ("name", "request_text", "guess"),
    [
        ("GB200", "1g.24gb", "1g.23gb"),
        ("GB200 with an early driver", "3g.93gb", "3g.95gb"),
        ("H100", "1g.5gb", "1g.10gb"),
    ],
)
def test_the_name_of_another_driver_is_refused_without_this_drivers_name(
    name: str, request_text: str, guess: str
) -> None:
    with pytest.raises(RequestError, match=f"did you mean {guess}"):
        read_request(request_text, board(BOARDS[name]))
