"""Plans by example: what the field's tools get wrong, and requests as people write them."""

import pytest
from mig_boards import A30, A100, H100, ask, board, instance

from gputop.core.mig.explain import NoPlan, addable, answer, answer_layout, blocked, fragments
from gputop.core.mig.model import (
    Geometry,
    MigGpu,
    PlacedCompute,
    PlacedInstance,
    Profile,
    Target,
    TargetCompute,
    User,
    compute_starts,
)
from gputop.core.mig.placement import layouts
from gputop.core.mig.request import RequestError, Wish, read_request
from gputop.core.mig.steps import Plan, StepKind
from gputop.core.model.metric import Missing

EMPTY = board(H100)
MIXED = board(
    H100,
    instance(H100, "1g.10gb", 0),
    instance(H100, "1g.10gb", 1, users=1),
    instance(H100, "1g.10gb", 2),
    instance(H100, "1g.10gb", 4),
)


def no_plan(gpu: MigGpu, text: str) -> NoPlan:
    found = answer(gpu, read_request(text, gpu))
    assert isinstance(found, NoPlan)
    return found


def planned(gpu: MigGpu, text: str, *, is_forced: bool = False) -> Plan:
    found = answer(gpu, read_request(text, gpu), is_forced=is_forced)
    assert isinstance(found, Plan)
    return found


@pytest.mark.parametrize(
    ("text", "created"),
    [
        ("3g,2g,1g,1g", "2g.20gb@0 1g.10gb@2 1g.10gb@3 3g.40gb@4"),
        ("3g.40gb,4g.40gb", "4g.40gb@0 3g.40gb@4"),
        ("4g,2g,1g", "4g.40gb@0 2g.20gb@4 1g.10gb@6"),
        ("3x2g,1g", "2g.20gb@0 2g.20gb@2 2g.20gb@4 1g.10gb@6"),
        ("all=1g.20gb", "1g.20gb@0 1g.20gb@2 1g.20gb@4 1g.20gb@6"),
        ("1g+me", "1g.10gb+me@6"),
    ],
)
def test_what_first_fit_gets_wrong_is_placed_so_that_it_fits(text: str, created: str) -> None:
    assert ask(EMPTY, text) == ([], [], created.split())


def test_all_of_a_small_profile_is_as_many_as_there_may_be() -> None:
    assert len(planned(EMPTY, "all=1g").created) == 7
    assert [target.start for target in planned(board(A30), "all=1g").created] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("3g,all=1g", "1g.10gb@0 1g.10gb@1 1g.10gb@2 1g.10gb@3 3g.40gb@4"),
        ("all=2g,1g", "1g.10gb@1 2g.20gb@2 2g.20gb@4"),
        ("+all=2g", "1g.10gb@0 1g.10gb@1 2g.20gb@2 1g.10gb@4 1g.10gb@5"),  # 8 compute slices would be one too many
    ],
)
def test_the_rest_is_filled_with_as_many_as_fit_beside_what_is_in_use(text: str, after: str) -> None:
    assert [target.text for target in planned(MIXED, text).after] == after.split()


@pytest.mark.parametrize(
    ("text", "kept", "gone", "created"),
    [
        ("3g,4x1g", "1g.10gb@0 1g.10gb@1 1g.10gb@2", "1g.10gb@4", "1g.10gb@3 3g.40gb@4"),
        ("+1x2g.20gb", "1g.10gb@0 1g.10gb@1 1g.10gb@4", "1g.10gb@2", "2g.20gb@2 1g.10gb@5"),
        ("-1g.10gb", "1g.10gb@0 1g.10gb@1 1g.10gb@2", "1g.10gb@4", ""),
        ("2x1g.10gb", "1g.10gb@0 1g.10gb@1", "1g.10gb@2 1g.10gb@4", ""),
        ("on", "1g.10gb@0 1g.10gb@1 1g.10gb@2 1g.10gb@4", "", ""),
    ],
)
def test_the_smallest_change_is_planned_beside_what_is_in_use(text: str, kept: str, gone: str, created: str) -> None:
    assert ask(MIXED, text) == (kept.split(), gone.split(), created.split())


def test_what_is_in_use_and_in_the_way_is_named_with_what_would_be_possible() -> None:
    found = no_plan(MIXED, "4g,1g")

    assert found.reason == "blocked by instances in use: 1g.10gb@1 (1010 ann)"
    assert [one.text for one in found.in_the_way] == ["1g.10gb@1"]
    assert found.nearest[0] == "3g.40gb,1g.10gb"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2x3g,1g", "the instances need 9 memory slots, the GPU has 8"),
        ("4g,4g", "a GPU can have at most 1 x 4g.40gb"),
        ("1g+me,1g+me", "a GPU can have at most 1 x 1g.10gb+me"),
        ("3g.40gb@4,1g.10gb@4", "3g.40gb@4, 1g.10gb@4 overlap"),
        ("8x1g", "a GPU can have at most 7 x 1g.10gb"),
    ],
)
def test_what_no_gpu_of_this_kind_can_have_is_said_so(text: str, reason: str) -> None:
    assert no_plan(EMPTY, text).reason == reason


def test_the_most_of_a_profile_counts_those_that_stay() -> None:
    gpu = board(H100, instance(H100, "1g.10gb+me", 0))

    assert no_plan(gpu, "+1x1g.10gb+me").reason == "a GPU can have at most 1 x 1g.10gb+me"
    assert addable(gpu)["1g.10gb+me"] == 0


def test_all_media_engines_leave_none_for_others() -> None:
    def one(name: str) -> Profile:
        return Profile(id=len(name), name=name, slices=1, size=1, starts=(0, 1, 2, 3), most=4)

    whole = Profile(id=0, name="4g.96gb", slices=4, size=4, starts=(0,), most=1)
    gpu = board(Geometry((whole, one("1g.24gb"), one("1g.24gb+me.all"), one("1g.24gb-me"))))

    assert "uses all media engines" in no_plan(gpu, "1g.24gb+me.all,1g.24gb").reason
    assert len(planned(gpu, "1g.24gb+me.all,3x1g.24gb-me").created) == 4


def test_force_plans_as_if_nothing_were_in_use() -> None:
    assert [target.text for target in planned(MIXED, "4g,1g", is_forced=True).destroyed] == [
        "1g.10gb@0", "1g.10gb@1", "1g.10gb@2",
    ]  # fmt: skip


def test_compute_instances_of_one_kind_share_gpu_instances() -> None:
    (target,) = planned(EMPTY, "1c.3g.40gb,2c.3g.40gb").created

    assert [(compute.start, compute.slices) for compute in target.computes] == [(0, 2), (2, 1)]
    assert len(planned(EMPTY, "4x1c.2g.20gb").created) == 2


def test_compute_instances_change_inside_an_instance_that_stays() -> None:
    gpu = board(H100, instance(H100, "3g.40gb", 4, computes=(3,)))
    found = planned(gpu, "3g.40gb/1c+1c")

    assert [target.text for target in found.kept] == ["3g.40gb@4"]
    assert [step.kind for step in found.steps] == [
        StepKind.DESTROY_COMPUTE, StepKind.CREATE_COMPUTE, StepKind.CREATE_COMPUTE,
    ]  # fmt: skip


def test_a_compute_instance_in_use_keeps_its_place() -> None:
    gpu = board(H100, instance(H100, "4g.40gb", 0, users=1, computes=(1, 1, 1, 1)))
    found = planned(gpu, "4g.40gb/2c+1c+1c")

    assert {(compute.start, compute.slices) for compute in found.after[0].computes} == {(0, 1), (1, 1), (2, 2)}
    assert no_plan(gpu, "4g.40gb").reason.startswith("blocked by instances in use")


def test_an_instance_without_a_compute_instance_gets_one_and_stays() -> None:
    gpu = board(H100, instance(H100, "2g.20gb", 0, computes=()))
    found = planned(gpu, "2g.20gb")

    assert [step.text for step in found.steps] == ["create compute instance 2c@0 in 2g.20gb@0"]


def test_a_whole_gpu_in_mig_mode_comes_from_none() -> None:
    found = planned(board(H100, is_on=False, is_on_next=False), "7g")

    assert [step.text for step in found.steps] == [
        "enable MIG mode", "create 7g.80gb@0", "create compute instance 7c@0 in 7g.80gb@0",
    ]  # fmt: skip


def test_the_mode_is_turned_off_after_the_instances_are_gone() -> None:
    found = planned(board(H100, instance(H100, "1g.10gb", 0)), "off")

    assert [step.kind.value for step in found.steps] == ["destroy_compute", "destroy_instance", "disable"]


def test_the_mode_waits_for_the_processes() -> None:
    gpu = board(H100, is_on=False, is_on_next=False, users=(User(pid=7, user="bob", command="blender"),))

    found = no_plan(gpu, "7g")

    assert "7 bob" in found.reason
    assert [user.command for user in found.users] == ["blender"]


def test_a_pending_mode_is_not_planned_over() -> None:
    assert "reset" in no_plan(board(A100, is_on=False, is_on_next=True), "7g").reason


def test_a_pending_mode_is_taken_back_by_asking_for_what_is() -> None:
    turned_on = board(A100, is_on=False, is_on_next=True)
    turned_off = board(A100, instance(A100, "1g.5gb", 0, users=1), is_on=True, is_on_next=False)

    assert [step.kind for step in planned(turned_on, "off").steps] == [StepKind.DISABLE]
    assert [step.kind for step in planned(turned_off, "on").steps] == [StepKind.ENABLE]
    assert "turns off only after a reset" in no_plan(turned_off, "off").reason


def test_what_blocks_a_profile_is_told_for_each_place() -> None:
    places = [(each.start, [one.start for one in each.by]) for each in blocked(MIXED) if each.profile == "2g.20gb"]

    assert places == [(0, [0, 1]), (2, [2]), (4, [4])]


def test_fragmentation_is_told_with_what_would_have_to_move() -> None:
    fragment = next(each for each in fragments(MIXED) if each.profile == "2g.20gb")

    assert (fragment.now, fragment.then, fragment.moves) == (0, 1, ("1g.10gb@2",))
    assert fragments(EMPTY) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3g.41gb", "did you mean 3g.40gb?"),
        ("3g.20gb", "did you mean 3g.40gb?"),
        ("1g.5gb", "did you mean 1g.10gb? It has"),
        ("5g", "this GPU has no profile '5g'. It has"),
        ("", "invalid request"),
        ("3g,,1g", "nothing between commas"),
        ("+1g,2g", "has a sign"),
        ("3g.40gb@2", "can only start at memory slot 0, 4"),
        ("2g/3c", "compute instances of 1, 2"),
        ("2g/2c+1c", "has 2 compute slices"),
        ("-7g", "no 7g.80gb left"),
        ("0x1g", "from 1 to 64"),
        ("999x1g", "from 1 to 64"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=said.replace("?", r"\?").replace("+", r"\+")):
        read_request(text, MIXED)


@pytest.mark.parametrize(
    ("text", "profile"),
    [("1g>=10gb", "1g.10gb"), ("1g>=11", "1g.20gb"), ("2g>=20gb", "2g.20gb"), ("3x1g>=11gb", "1g.20gb")],
)
def test_slices_and_memory_name_a_profile_whatever_its_driver_calls_it(text: str, profile: str) -> None:
    wanted = read_request(text, EMPTY).items
    assert wanted is not None
    assert {item.profile for item in wanted} == {profile}


def test_a_profile_that_no_driver_has_with_so_much_memory_is_refused() -> None:
    with pytest.raises(RequestError, match=r"no profile '1g>=30gb'\. It has"):
        read_request("1g>=30gb", EMPTY)


def test_a_layout_is_restored_although_another_driver_named_its_profiles() -> None:
    saved = (
        Target(0, 2, "2g.24gb", (TargetCompute(0, 2),)), Target(2, 1, "1g.12gb", (TargetCompute(0, 1),)),
        Target(4, 4, "3g.47gb", (TargetCompute(0, 3),)),
    )  # fmt: skip
    found = answer_layout(EMPTY, saved, is_on=True)

    assert isinstance(found, Plan)
    assert [target.text for target in found.after] == ["2g.20gb@0", "1g.10gb@2", "3g.40gb@4"]


def test_a_layout_of_another_board_is_not_guessed() -> None:
    found = answer_layout(EMPTY, (Target(1, 2, "2g.24gb"),), is_on=True)

    assert isinstance(found, NoPlan)
    assert "does not offer 2g.24gb@1" in found.reason


def test_requests_are_read_whatever_their_case_and_blanks() -> None:
    assert read_request(" 3G.40GB , 2X1g.10gb ", EMPTY) == read_request("3g.40gb,2x1g.10gb", EMPTY)
    assert read_request("2*1g", EMPTY) == read_request("1g,1g", EMPTY)
    assert read_request("3c.3g.40gb", EMPTY) == read_request("3g.40gb", EMPTY)
    assert read_request("off", EMPTY) == Wish((), is_on=False)


def test_a_gpu_whose_instances_may_not_be_read_has_no_plan_but_a_reason() -> None:
    gpu = board(H100, PlacedInstance(id=1, profile="3g.40gb"), missing={"instances": Missing.FORBIDDEN})

    assert "no permission" in no_plan(gpu, "7g").reason


def test_the_layouts_of_a_board_are_as_many_as_counted_by_hand() -> None:
    plain = Geometry(tuple(profile for profile in H100.profiles if not profile.attribute))

    assert len(layouts(plain)) == 78


def test_compute_instances_begin_where_the_drivers_align_them() -> None:
    assert compute_starts(1, 3) == (0, 1, 2)
    assert compute_starts(2, 7) == (0, 2, 4)
    assert compute_starts(3, 7) == (0, 4)
    assert compute_starts(7, 7) == (0,)


def test_users_of_an_instance_are_told_once() -> None:
    user = User(pid=5)
    held = PlacedInstance(
        id=1, profile="1g.10gb", computes=(PlacedCompute(id=0, slices=1, users=(user,)),), users=(user,)
    )

    assert held.everyone == (user,)
