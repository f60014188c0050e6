"""MIG in lines: what people and scripts are shown."""

from mig_boards import A100, H100, board, instance

from gputop.core.mig.explain import NoPlan, answer
from gputop.core.mig.model import MigGpu, PlacedInstance, User
from gputop.core.mig.planner import plan
from gputop.core.mig.request import read_request
from gputop.core.mig.steps import Plan
from gputop.core.mig.text import bar, no_plan_lines, plan_lines, smi_lines, status_lines, target_text, use_lines
from gputop.core.model.metric import Missing

GPU = board(
    H100,
    instance(H100, "1g.10gb", 1, users=1),
    instance(H100, "1g.10gb", 2),
    instance(H100, "3g.40gb", 4, computes=()),
    needs_reset=False,
    keeps_mode=False,
)


def made(gpu: MigGpu, text: str) -> Plan:
    found = plan(gpu, read_request(text, gpu))
    assert found is not None
    return found


def test_the_bar_is_as_wide_as_the_slots() -> None:
    assert bar(GPU, 8) == "[0       |1g.10gb●|1g.10gb |3       |3g.40gb                            ]"
    assert len(bar(board(H100), 8)) == len(bar(GPU, 8))


def test_the_status_says_what_is_what_fits_and_what_is_fragmented() -> None:
    text = "\n".join(status_lines(GPU))

    assert text.startswith("GPU 0 a board: MIG on\n")
    assert "● 1010 (ann) python" in text
    assert "no compute instance: no program can use it yet" in text
    assert "free slots: 0, 3; room for: 2 x 1g.10gb, 1 x 1g.10gb+me" in text
    assert "no room for 2g.20gb: at slot 2 it overlaps 1g.10gb@2" in text
    assert "no room for 4g.40gb: at slot 0 it overlaps 1g.10gb@1●, 1g.10gb@2" in text
    assert "fragmented: 1 x 2g.20gb instead of 0 would fit after moving 1g.10gb@2" in text


def test_a_free_slot_that_no_instance_can_begin_at_says_so() -> None:
    full = board(H100, *(instance(H100, "1g.10gb", slot) for slot in range(7)))
    said = "no instance can begin at slot 7: only a larger one that begins before it can use it"

    assert f"  {said}" in list(status_lines(full))
    assert said not in "\n".join(status_lines(GPU))


def test_a_driver_that_counts_otherwise_is_quoted() -> None:
    gpu = board(H100, instance(H100, "4g.40gb", 0), remaining={"3g.40gb": 0, "1g.10gb": 2})

    assert "  the driver reports room for: 2 x 1g.10gb" in list(status_lines(gpu))


def test_without_rights_the_status_says_what_it_does_not_know() -> None:
    gpu = board(H100, PlacedInstance(id=1, profile="3g.40gb"), missing={"instances": Missing.FORBIDDEN})
    lines = list(status_lines(gpu))

    assert lines[1].startswith("  3g.40gb (GPU instance 1")
    assert lines[-1].startswith("  cannot say what fits: cannot read its instances: no permission")


def test_a_plan_shows_what_stays_goes_and_comes() -> None:
    lines = list(plan_lines(GPU, made(GPU, "3g.40gb,2g.20gb,1g.10gb")))

    assert lines == [
        "GPU 0: keep 2, destroy 1, create 1",
        "  now:  1g.10gb@1 1g.10gb@2 3g.40gb@4",
        "  then: 1g.10gb@1 2g.20gb@2 3g.40gb@4",
        "  = stays   1g.10gb@1 (1010 (ann) python)",
        "  = stays   3g.40gb@4",
        "  - destroy compute instance 1c@0 in 1g.10gb@2",
        "  - destroy 1g.10gb@2",
        "  + create 2g.20gb@2",
        "  + create compute instance 2c@0 in 2g.20gb@2",
        "  + create compute instance 3c@0 in 3g.40gb@4",
        "  ! instances are lost at a reboot or a reset: see gputop mig service",
    ]


def test_a_plan_without_steps_says_that_it_is_so_already() -> None:
    gpu = board(H100, instance(H100, "7g.80gb", 0))

    assert list(plan_lines(gpu, made(gpu, "7g"))) == ["GPU 0: nothing to do, already in this layout: 7g.80gb@0"]


def test_a_change_of_the_mode_says_what_it_takes_by_generation() -> None:
    ampere = board(A100, is_on=False, is_on_next=False, needs_reset=True, keeps_mode=True)
    hopper = board(H100, is_on=False, is_on_next=False, needs_reset=False, keeps_mode=False, is_persistent=False)
    old, new = ("\n".join(plan_lines(gpu, made(gpu, "on"))) for gpu in (ampere, hopper))

    assert "sudo nvidia-smi -i 0 --gpu-reset" in old
    assert "reset" not in new
    assert "mode and instances are lost at a reboot" in new
    assert "persistence mode is off" in new


def test_why_not_names_the_processes_what_ends_them_and_what_would_do() -> None:
    busy = board(H100, instance(H100, "1g.10gb", 1, users=1))
    found = answer(busy, read_request("7g", busy))
    assert isinstance(found, NoPlan)
    lines = list(no_plan_lines(found))

    assert lines[0] == "GPU 0: not possible: blocked by instances in use: 1g.10gb@1 (1010 ann)"
    assert lines[1] == "  ● 1010 (ann) python   (on 1g.10gb@1)"
    assert lines[2].startswith("  possible now: ")


def test_the_commands_of_nvidia_smi_are_scoped() -> None:
    lines = list(smi_lines(3, made(GPU, "1g.10gb,2g.20gb").steps))

    assert all(" -i 3" in line for line in lines)
    assert lines[:2] == ["nvidia-smi mig -i 3 -gi 129 -ci 0 -dci", "nvidia-smi mig -i 3 -gi 129 -dgi"]
    assert "nvidia-smi mig -i 3 -cgi 2g.20gb:2" in lines
    assert list(smi_lines(0, made(board(H100), "off").steps)) == ["nvidia-smi -i 0 -mig 0"]


def test_the_lines_that_users_need_next_can_be_copied() -> None:
    gpu = board(H100, instance(H100, "1g.10gb+me", 0), instance(H100, "2g.20gb", 2, computes=(1, 1)))
    lines = list(use_lines(gpu))

    assert "CUDA_VISIBLE_DEVICES=MIG-1g.10gb+me-0-0" in lines
    assert "docker run --rm --gpus '\"device=MIG-2g.20gb-2-1\"' IMAGE" in lines
    assert "nvidia.com/mig-1g.10gb.me: 1" in lines


def test_a_layout_is_a_request_again() -> None:
    assert target_text(made(board(H100), "3g.40gb/1c+2c,2x1g.10gb").after, board(H100)) == "3g.40gb/2c+1c,2x1g.10gb"


def test_processes_that_are_on_no_instance_are_shown() -> None:
    gpu = board(H100, is_on=False, users=(User(pid=7, user="bob", command="blender", how="kill it"),))

    assert "    ● 7 (bob) blender   to end it: kill it" in list(status_lines(gpu))
