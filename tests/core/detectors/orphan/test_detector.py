"""Memory that is held without a right: by the gone, by zombies, by strays, by nobody; and what only looks like it."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from examples import GIB, NOW, frame, gpu, process
from judging import judge_of, watch
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED, MIG_MODE
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, SlurmStep
from gputop.core.model.sample import Frame, Gpu, GpuProcess, GpuState, HostProcess, Presence

PARENT = process(900, command="/usr/bin/python /usr/bin/torchrun --nproc-per-node=8 train.py", gpus=())
SHELL = process(901, command="bash run.sh", gpus=())


def of(*processes: HostProcess, relatives: tuple[HostProcess, ...] = (), **values: Any) -> Frame:
    """Return a box with one GPU, of whose memory the processes explain all."""
    held = sum(use.memory_bytes or 0 for one in processes for use in one.gpus)
    base = frame((gpu(0, {MEMORY_USED: held} | values.pop("values", {})),), processes, relatives=relatives, **values)
    return replace(base, host=replace(base.host, is_initial_pid_namespace=True))


def gone(pid: int = 4711, presence: Presence = Presence.GONE) -> HostProcess:
    return HostProcess(pid=pid, presence=presence, gpus=process(pid).gpus)


def idle(pid: int = 4711, sm: float | None = 0.0, **fields: Any) -> HostProcess:
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=10 * GIB, sm_percent=sm)
    return process(pid, **{"gpus": (use,)} | fields)


def shown(made_at: Callable[[int], Frame], seconds: Iterable[int]) -> list[tuple[str, Stage]]:
    return [(found.code, found.stage) for found in last(made_at, seconds)]


def last(made_at: Callable[[int], Frame], seconds: Iterable[int]) -> tuple[Finding, ...]:
    return watch(judge_of("orphan"), seconds, made_at)[-1]


def test_a_box_that_is_well_says_nothing() -> None:
    assert not any(watch(judge_of("orphan"), range(900), lambda _: of(process(), relatives=(PARENT,))))


# --- gone ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("presence", [Presence.GONE, Presence.REUSED])
@pytest.mark.parametrize(
    ("length", "stage"), [(45, None), (46, Stage.OBSERVATION), (61, Stage.SUSPECT), (301, Stage.ALARM)]
)
def test_a_process_that_is_gone_and_still_listed(length: int, stage: Stage | None, presence: Presence) -> None:
    found = shown(lambda _: of(gone(presence=presence)), range(length))

    assert found == ([("orphan.gone", stage)] if stage else [])


def test_a_process_that_cannot_be_seen_from_here_is_nothing() -> None:
    assert shown(lambda _: of(gone(presence=Presence.HIDDEN)), range(400)) == []


def test_its_words_say_what_it_was_how_much_it_holds_and_who_its_children_were() -> None:
    worker = process(77, parent_pid=4711, gpus=())

    def made_at(second: int) -> Frame:
        return of(process(), relatives=(worker,)) if second < 20 else of(gone())

    (found,) = last(made_at, range(70))

    assert found.summary == (
        "10.0GiB held by an exited process for 49s (python train.py --seed 4711); its child processes: 77"
    )
    assert "kill -9 77" in found.remedy
    assert found.since_s == NOW + 20


def test_a_pid_that_flickers_is_nothing() -> None:
    assert shown(lambda second: of(gone() if second % 10 < 5 else process()), range(300)) == []


def test_the_next_owner_of_the_pid_has_nothing_to_do_with_it() -> None:
    def made_at(second: int) -> Frame:
        return of(gone()) if second < 8 else of(process(4711, start_ticks=999_999, parent_pid=1))

    assert shown(made_at, range(300)) == []


# --- zombies ---------------------------------------------------------------------------------------------------------
def zombie(**fields: Any) -> HostProcess:
    return process(4711, **{"state": "Z", "command": "[python]", "threads": 1, "parent_pid": 900} | fields)


def test_a_zombie_whose_children_live_names_them() -> None:
    heirs = (process(77, parent_pid=4711, gpus=()), process(78, parent_pid=4711, gpus=(), state="Z"))
    (found,) = last(lambda _: of(zombie(), relatives=heirs), range(70))

    assert (found.code, found.stage) == ("orphan.zombie", Stage.SUSPECT)
    assert "because its child process 77 still uses the memory" in found.summary
    assert "kill -9 77." in found.remedy


def test_a_zombie_whose_threads_live_says_so() -> None:
    (found,) = last(lambda _: of(zombie(threads=4)), range(70))

    assert "3 of its threads still run" in found.summary


def test_a_zombie_with_nobody_left_points_to_its_parent() -> None:
    (found,) = last(lambda _: of(zombie(), relatives=(PARENT,)), range(400))

    assert found.stage is Stage.ALARM
    assert "kill 900" in found.remedy


@pytest.mark.parametrize(
    ("parent", "advice"),
    [
        (process(1, command="/sbin/init", user="root", gpus=()), "Do not end init"),
        (process(900, user="bob", gpus=()), "Ask bob, who owns the parent 900, to end it"),
        (process(900, user=None, gpus=()), "Ask the owner, who owns the parent 900, to end it"),
        (process(900, inner_pid=1, gpus=()), "Restart its container with --init"),
    ],
)
def test_to_end_init_or_the_parent_of_another_user_is_never_the_remedy(parent: HostProcess, advice: str) -> None:
    (found,) = last(lambda _: of(zombie(parent_pid=parent.pid), relatives=(parent,)), range(70))

    assert advice in found.remedy
    assert "kill" not in found.remedy


def test_the_first_process_of_the_own_container_is_not_ended_for_a_zombie() -> None:
    def made_at(_: int) -> Frame:
        base = of(zombie(parent_pid=1))
        return replace(base, host=replace(base.host, is_initial_pid_namespace=False))

    (found,) = last(made_at, range(70))

    assert "Restart its container with --init" in found.remedy
    assert "kill" not in found.remedy


def test_a_parent_that_is_not_visible_is_looked_at_before_it_is_ended() -> None:
    (found,) = last(lambda _: of(zombie()), range(70))

    assert "ps -fp 900" in found.remedy
    assert "kill" not in found.remedy


def test_children_of_another_user_are_not_killed_for_the_memory_of_a_zombie() -> None:
    children = (process(77, parent_pid=4711, gpus=()), process(78, parent_pid=4711, user="bob", gpus=()))
    (found,) = last(lambda _: of(zombie(), relatives=children), range(70))

    assert "kill -9 77, ask bob about 78." in found.remedy


# --- parents ---------------------------------------------------------------------------------------------------------
def parted(
    parent: HostProcess = SHELL, at: int = 100, sm: float | None = 80.0, **fields: Any
) -> Callable[[int], Frame]:
    """Return a process whose parent dies at a second."""

    def made_at(second: int) -> Frame:
        before = second < at
        child = idle(sm=sm, parent_pid=parent.pid if before else 1, **fields)
        return of(child, relatives=(parent,) if before else ())

    return made_at


def test_a_process_whose_parent_died_is_worth_a_line_and_no_more() -> None:
    (found,) = last(parted(), range(200))

    assert (found.code, found.stage) == ("orphan.parent", Stage.OBSERVATION)
    assert "orphaned for 1m39, 10.0GiB held: its parent bash run.sh (901) exited" in found.summary


def test_if_it_is_idle_as_well_it_is_a_suspect() -> None:
    assert shown(parted(sm=0.0), range(720)) == [("orphan.parent", Stage.SUSPECT)]


def test_an_idle_orphan_is_one_finding_and_not_an_idle_holder_too() -> None:
    made_at = parted(sm=0.0, cpu_percent=1.0)
    found = watch(judge_of("orphan", "activity", "idle"), range(720), made_at)
    without = watch(judge_of("activity", "idle"), range(720), made_at)

    assert [one.code for one in found[-1]] == ["orphan.parent"]
    assert "; idle for at least 1" in found[-1][0].summary
    assert [one.code for one in without[-1]] == ["idle.holder"]


def test_an_idle_holder_whose_parent_dies_is_told_as_an_orphan_from_then_on() -> None:
    found = watch(judge_of("orphan", "activity", "idle"), range(840), parted(sm=0.0, at=700, cpu_percent=1.0))

    assert [one.code for one in found[690]] == ["idle.holder"]
    assert [one.code for one in found[-1]] == ["orphan.parent"]


def test_if_its_launcher_died_it_is_a_suspect() -> None:
    assert shown(parted(PARENT), range(200)) == [("orphan.parent", Stage.SUSPECT)]


def test_a_fork_whose_main_process_was_killed_may_be_meant() -> None:
    main = process(901, command=idle().command, gpus=())

    assert shown(parted(main), range(200)) == [("orphan.parent", Stage.SUSPECT)]


@pytest.mark.parametrize(
    ("parent", "command", "owner"),
    [
        ("./answer --daemon", "./answer --daemon --port 9000", Owner()),
        (
            "docker run -d --gpus all train",
            "python train.py",
            Owner(container=Container(runtime="docker", id="e" * 64)),
        ),
    ],
)
def test_a_parent_that_exits_by_design_makes_no_orphan(parent: str, command: str, owner: Owner) -> None:
    first = process(902, command=parent, gpus=())

    assert not shown(parted(first, command=command, owner=owner, sm=40.0), range(500))


def test_ranks_that_need_a_minute_to_exit_are_orphans() -> None:
    assert not any(watch(judge_of("orphan"), range(185), parted(PARENT)))


def test_a_launcher_that_was_never_on_a_gpu_is_missed_also_behind_a_wrapper() -> None:
    def made_at(second: int) -> Frame:
        wrapper = process(902, command="bash wrapper.sh", parent_pid=900 if second < 100 else 1, gpus=())
        parents = (wrapper, PARENT) if second < 100 else (wrapper,)
        return of(idle(sm=80.0, parent_pid=902), relatives=parents)

    assert shown(made_at, range(200)) == [("orphan.parent", Stage.SUSPECT)]


def test_who_logs_out_and_leaves_a_job_under_nohup_means_it() -> None:
    assert shown(parted(process(901, command="-bash", gpus=())), range(400)) == []


def test_all_that_a_launcher_left_behind_is_one_finding() -> None:
    def made_at(second: int) -> Frame:
        parent = 900 if second < 100 else 1
        ranks = tuple(idle(pid, sm=0.0, parent_pid=parent) for pid in (11, 12, 13))
        return of(*ranks, relatives=(PARENT,) if second < 100 else ())

    (found,) = last(made_at, range(720))

    assert found.summary.startswith("3 processes orphaned for ")
    assert "their parent /usr/bin/python /usr/bin/torchrun" in found.summary
    assert found.remedy.endswith("--pid 11 --pid 12 --pid 13")


def test_an_orphan_that_ends_is_forgotten() -> None:
    def made_at(second: int) -> Frame:
        return parted(PARENT)(second) if second < 160 else of()

    assert shown(made_at, range(260)) == []


def test_where_nobody_knows_whether_it_works_it_does_not_count_as_idle() -> None:
    assert shown(parted(sm=None), range(900)) == [("orphan.parent", Stage.OBSERVATION)]


@pytest.mark.parametrize(
    "owner", [Owner(unit="train.service"), Owner(session="tmux", unit="session-4.scope"), Owner(session="screen")]
)
def test_services_and_what_runs_below_tmux_are_in_order(owner: Owner) -> None:
    assert shown(parted(sm=0.0, owner=owner), range(900)) == []


def test_who_becomes_a_service_by_itself_loses_its_parent_at_once_and_is_in_order() -> None:
    assert shown(parted(at=5), range(900)) == []


def test_whose_parent_was_the_first_process_from_the_beginning_is_in_order() -> None:
    assert shown(lambda _: of(idle(parent_pid=1)), range(900)) == []


def test_a_desktop_is_no_orphan() -> None:
    use = (GpuProcess(gpu="GPU-00000000", gpu_index=0, type="G", memory_bytes=GIB, sm_percent=0.0),)

    assert shown(lambda s: of(process(5, gpus=use, parent_pid=901 if s < 100 else 1)), range(900)) == []


def test_a_step_of_slurm_that_is_over_and_idle_is_an_alarm() -> None:
    owner = Owner(slurm=SlurmStep(job="4711", step="0"), trusted=("slurm",))

    def made_at(sm: float) -> Callable[[int], Frame]:
        return lambda second: of(idle(sm=sm, owner=owner, parent_pid=48102 if second < 100 else 1))

    assert shown(made_at(80.0), range(200)) == [("orphan.parent", Stage.SUSPECT)]
    (found,) = last(made_at(0.0), range(720))
    assert found.stage is Stage.ALARM
    assert "Slurm step 4711.0 seems to have ended" in found.summary


def test_a_step_of_slurm_that_a_process_only_claims_is_said_to_have_ended() -> None:
    owner = Owner(slurm=SlurmStep(job="4711", step="0"))
    (found,) = last(lambda s: of(idle(sm=0.0, owner=owner, parent_pid=48102 if s < 100 else 1)), range(720))

    assert found.stage is Stage.SUSPECT
    assert "4711" not in found.summary


def test_minutes_that_nobody_watched_are_no_idle_time() -> None:
    assert shown(parted(sm=0.0), [*range(160), *range(5000, 5100)]) == [("orphan.parent", Stage.OBSERVATION)]


def test_a_pid_that_is_used_again_with_another_parent_did_not_lose_one() -> None:
    def made_at(second: int) -> Frame:
        return of(process(4711, start_ticks=1 if second < 100 else 2, parent_pid=900 if second < 100 else 1))

    assert shown(made_at, range(300)) == []


# --- memory without an owner -----------------------------------------------------------------------------------------
def with_used(used_gib: float, *processes: HostProcess, **fields: Any) -> Frame:
    return of(*processes, values={MEMORY_USED: int(used_gib * GIB)}, **fields)


def test_memory_of_nobody_is_a_suspect_after_a_minute_and_then_an_alarm() -> None:
    assert shown(lambda _: with_used(3.0), range(60)) == []
    assert shown(lambda _: with_used(3.0), range(75)) == [("memory.unexplained", Stage.SUSPECT)]
    assert shown(lambda _: with_used(3.0), range(400)) == [("memory.unexplained", Stage.ALARM)]


def test_what_stays_when_a_process_leaves_is_a_suspect_with_its_amount() -> None:
    two = (process(1), process(2))

    def made_at(second: int) -> Frame:
        return with_used(20.2, *two) if second < 300 else with_used(20.2, two[0])

    (found,) = last(made_at, range(400))

    assert (found.code, found.stage) == ("memory.unexplained", Stage.SUSPECT)
    assert found.summary.startswith("10.0GiB not owned by any process")
    assert ", since a process exited: " in found.summary


def test_a_gap_that_is_usual_here_is_learned() -> None:
    def made_at(second: int) -> Frame:
        return with_used(10.1 + min(second / 1000, 0.9), process(1))

    assert shown(made_at, range(1500)) == []


def test_a_gap_while_everybody_lives_may_be_managed_memory_and_is_no_more_than_a_line() -> None:
    (found,) = last(lambda second: with_used(10.1 if second < 100 else 30.0, process(1)), range(400))

    assert found.stage is Stage.OBSERVATION
    assert "Managed" in found.remedy


def test_many_contexts_take_memory_that_is_not_counted_as_theirs() -> None:
    crowd = tuple(process(pid) for pid in range(1, 41))

    assert shown(lambda _: with_used(400 + 40 * 0.1, *crowd), range(400)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda one: replace(one, host=replace(one.host, is_initial_pid_namespace=False)),
        lambda one: replace(one, host=replace(one.host, is_initial_pid_namespace=None)),
        lambda one: replace(one, gpus=(changed(one.gpus[0], missing={"processes": Missing.FORBIDDEN}),)),
        lambda one: replace(one, gpus=(changed(one.gpus[0], missing={"other_processes": Missing.FAULT}),)),
        lambda one: replace(one, gpus=(changed(one.gpus[0], name="NVIDIA GH200 480GB"),)),
        lambda one: replace(one, gpus=(changed(one.gpus[0], metrics=one.gpus[0].metrics | {MIG_MODE.key: True}),)),
        lambda one: replace(one, gpus=(changed(one.gpus[0], state=GpuState.HUNG),)),
    ],
)
def test_where_it_cannot_be_known_nothing_is_said(change: Callable[[Frame], Frame]) -> None:
    assert shown(lambda _: change(with_used(30.0)), range(400)) == []


@pytest.mark.parametrize("odd", [{"memory_bytes": None}, {"type": "M"}])
def test_one_process_whose_memory_is_not_known_leaves_the_gpu_unjudged(odd: dict[str, Any]) -> None:
    given: dict[str, Any] = {"gpu": "GPU-00000000", "gpu_index": 0, "type": "C", "memory_bytes": GIB} | odd

    assert shown(lambda _: with_used(30.0, process(1, gpus=(GpuProcess(**given),))), range(400)) == []


def test_a_gpu_that_is_lost_and_back_learns_anew() -> None:
    def made_at(second: int) -> Frame:
        base = with_used(10.2, process(1))
        if 100 <= second < 130:
            return replace(base, gpus=(changed(base.gpus[0], state=GpuState.LOST, metrics={}),), processes=())
        return base

    assert shown(made_at, range(400)) == []


def test_a_process_that_takes_its_time_to_go_is_nothing() -> None:
    def made_at(second: int) -> Frame:
        return with_used(10.0, process(1)) if second < 100 else with_used(max(0.0, 10.0 - (second - 100) / 2))

    assert not any(watch(judge_of("orphan"), range(260), made_at))


def changed(one: Gpu, **fields: Any) -> Gpu:
    return replace(one, **fields)


# --- work of no process ----------------------------------------------------------------------------------------------
def test_a_gpu_that_is_busy_without_a_process_is_worth_no_line() -> None:
    busy = of(values={GPU_UTILIZATION: 100})

    assert not any(watch(judge_of("orphan"), range(180), lambda _: busy))
    assert shown(lambda _: busy, range(200)) == [("busy.unowned", Stage.OBSERVATION)]


def test_work_of_other_containers_is_work_of_no_process() -> None:
    box = of(values={GPU_UTILIZATION: 100})
    inside = replace(box, host=replace(box.host, is_initial_pid_namespace=False))

    assert shown(lambda _: inside, range(400)) == []


def test_short_processes_that_are_listed_now_and_then_are_no_process() -> None:
    busy, listed = of(values={GPU_UTILIZATION: 100}), of(process(), values={GPU_UTILIZATION: 100})

    assert not any(watch(judge_of("orphan"), range(600), lambda second: busy if second % 60 else listed))
