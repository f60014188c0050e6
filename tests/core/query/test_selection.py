"""Which GPUs and processes are shown."""

import pytest
from examples import frame, gpu, process

from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo, GpuProcess, Presence
from gputop.core.query.query import Query, kept, parse
from gputop.core.query.selection import Selection, why_no_processes

UUID = "GPU-4fa2b3c1-0000-1111-2222-333344445555"


@pytest.mark.parametrize("wish", ["3", UUID, "GPU-4fa2", "gpu-4FA2", "00000000:1B:00.0", "0000:1b:00.0", "1b:00.0"])
def test_a_gpu_is_named_by_index_uuid_or_bus_id(wish: str) -> None:
    assert Selection(gpus=(wish,)).wants_gpu(3, UUID, "00000000:1B:00.0")


@pytest.mark.parametrize("wish", ["30", "GPU-5fa2", "G", "GPU", "1:1b:00.0", "0000:1c:00.0", "", "-3"])
def test_another_name_is_another_gpu(wish: str) -> None:
    assert not Selection(gpus=(wish,)).wants_gpu(3, UUID, "00000000:1B:00.0")


def test_no_wish_means_all() -> None:
    assert Selection().wants_gpu(3, UUID, "")


def test_wishes_that_name_nothing_are_told() -> None:
    assert Selection(gpus=("0", "7", "GPU-nonsense")).unknown([gpu(0), gpu(1)]) == ("7", "GPU-nonsense")


def test_processes_of_others_and_graphics_are_left_out() -> None:
    graphics = GpuProcess(gpu="GPU-0", gpu_index=0, type="G")
    shown = (process(1), process(2, user="bob"), process(3, gpus=(graphics,)))

    assert [p.pid for p in Selection(users=("ann",)).processes(shown)] == [1, 3]
    assert [p.pid for p in Selection(only_compute=True).processes(shown)] == [1, 2]


def test_no_processes_on_a_driver_that_hangs_are_not_shown_as_known_to_be_none() -> None:
    silent = frame(gpus=(), processes=(), driver=DriverInfo(missing={"version": Missing.HUNG}))

    assert why_no_processes(silent) == f"no processes to show; {Missing.HUNG.text}"


def test_processes_of_unknown_users_are_left_out_without_a_word() -> None:
    late = process(5, user="1001", missing={"user": Missing.NOT_YET})
    shown = [process(1), *(process(pid, user=None, presence=Presence.HIDDEN) for pid in (3, 4)), late]
    mine = Selection(users=("ann",))

    assert [p.pid for p in mine.processes(shown)] == [1]
    assert mine.undecided(shown) == ("cannot tell whether 3 processes match --user: unknown values of PIDs 3, 4, 5",)
    assert mine.undecided(shown[:1]) == Selection().undecided(shown) == ()


def test_a_process_that_exited_is_not_one_that_may_match() -> None:
    gone = [process(2, user=None, presence=presence) for presence in (Presence.GONE, Presence.REUSED)]

    assert Selection(users=("ann",)).undecided(gone) == ()


@pytest.mark.parametrize("text", ["user:ann", "not user:ann", "cmd~train", "cpu>5", "train"])
def test_a_filter_leaves_out_processes_that_it_cannot_judge_without_a_word(text: str) -> None:
    query = parse(text)
    assert isinstance(query, Query)
    hidden = process(3, user=None, presence=Presence.HIDDEN, command="", cpu_percent=None)
    shown = kept(frame(1, (process(1), process(2, user="bob"), hidden)), query)

    assert 3 not in [p.pid for p in shown.processes]
    assert shown.left_out == ("cannot tell whether 1 process matches --where: unknown values of PID 3",)


def test_a_filter_that_finds_its_absent_value_is_not_in_doubt() -> None:
    query = parse("user:-")
    assert isinstance(query, Query)
    shown = kept(frame(1, (process(1), process(3, user=None, presence=Presence.HIDDEN))), query)

    assert [p.pid for p in shown.processes] == [3]
    assert shown.left_out == ()
