"""Page Why, with a sampler whose answers the test gives."""

from app_driver import Stage, staged, text_on
from examples import NOW, frame, process
from msgspec.structs import replace

from gputop.core.insight.collectives import CollectiveGroup, Collectives, RankCount
from gputop.core.insight.explanation import Explanation, SourceReport, SourceState
from gputop.core.insight.stacks import StackFrame, StackGroup, Stacks
from gputop.core.model.finding import Finding, Subject
from gputop.core.model.finding import Stage as Weight
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Frame, Job, JobKind
from gputop.core.protocol.command import Explain
from gputop.core.settings.settings import Settings
from gputop.ui.screens.pages.findings import FindingsScreen
from gputop.ui.screens.pages.why import WhyScreen

VERDICT = "rank 2 never entered all-reduce 1,204: it is in fetch at train.py:88; the other 3 ranks wait for it."
RANKS = tuple(process(100 + rank, rank, owner=Owner(rank=rank, world_size=4)) for rank in range(4))
JOB = Job(key="torch:x", kind=JobKind.TORCH, label="x", members=tuple(one.id for one in RANKS))
FETCH = tuple(StackFrame(f"fetch{n}", "train.py", 88 + n) for n in range(9))
STACKS = Stacks(
    groups=(
        StackGroup(
            pids=(102,), frames=tuple(StackFrame(f"fetch{n}", "train.py", 88 + n) for n in range(9)), is_odd=True
        ),
        StackGroup(pids=(100, 101, 103), frames=(StackFrame("all_reduce", "distributed.py", 12),)),
    )
)
COUNTS = Collectives(
    groups=(
        CollectiveGroup(
            name="communicator 0x1f",
            size=4,
            ranks=tuple(RankCount(rank=n, entered=1203 if n == 2 else 1204, completed=1203) for n in range(4)),
            behind=(2,),
            is_moving=False,
        ),
    )
)


def box(**fields: object) -> Frame:
    return frame(4, RANKS, jobs=(JOB,), **fields)


def asked(stage: Stage) -> list[Explain]:
    return [one for one in stage.link.sent if isinstance(one, Explain)]


def source(name: str, state: SourceState = SourceState.ANSWERED, **fields: object) -> SourceReport:
    return SourceReport(name=name, title=name.title(), state=state, **fields)  # type: ignore[arg-type]


def answer(question: Explain, *sources: SourceReport, **fields: object) -> Explanation:
    return Explanation(id=question.id, time_s=NOW, members=question.members, sources=sources, **fields)  # type: ignore[arg-type]


async def test_w_asks_about_all_ranks_of_the_job() -> None:
    async with staged(box(), size=(120, 40)) as stage:
        await stage.press("down", "w")

        (question,) = asked(stage)
        assert [(one.pid, one.rank) for one in question.members] == [(100, 0), (101, 1), (102, 2), (103, 3)]
        assert all(one.start_ticks == one.pid * 10 for one in question.members)
        assert "Asking" in text_on(stage.app.screen)


async def test_the_verdict_comes_first_and_the_odd_rank_before_the_others() -> None:
    async with staged(box(), size=(120, 40)) as stage:
        await stage.press("down", "w")
        question = asked(stage)[-1]
        found = (source("stacks", details=STACKS), source("nccl", details=COUNTS))
        await stage.deliver(answer(question, *found, verdict=VERDICT, is_complete=True))

        text = text_on(stage.app.screen)
        places = [text.index(part) for part in (VERDICT, "rank 2 (differs from the others)", "ranks 0-1 and 3")]
        assert places == sorted(places)
        assert "rank 2: entered 1,203, completed 1,203 (behind)" in text
        assert "ranks 0-1 and 3: entered 1,204" in text
        assert "its counts do not grow" in text


async def test_each_source_says_whether_it_has_answered_and_what_would_help() -> None:
    async with staged(box(), size=(120, 40)) as stage:
        await stage.press("down", "w")
        absent = source("stacks", SourceState.UNAVAILABLE, note="py-spy is not installed", remedy="pip install py-spy")
        await stage.deliver(answer(asked(stage)[-1], absent, source("nccl", SourceState.ASKED)))

        text = text_on(stage.app.screen)
        assert "not available: py-spy is not installed. To make it available: pip install py-spy" in text
        assert "1 of 2 sources have not answered yet" in text


async def test_on_a_narrow_screen_the_rest_of_a_frame_is_less_indented_than_the_frame() -> None:
    frame_ = StackFrame("_MultiProcessingDataLoaderIter._try_get_data", "/site-packages/torch/utils/data/loader.py", 7)
    stacks = Stacks(groups=(StackGroup(pids=(100, 101, 102, 103), frames=(frame_,)),))
    async with staged(box(), size=(80, 24)) as stage:
        await stage.press("down", "w")
        await stage.deliver(answer(asked(stage)[-1], source("stacks", details=stacks), is_complete=True))
        lines = text_on(stage.app.screen).splitlines()

    at = next(number for number, line in enumerate(lines) if frame_.function in line)
    path = "torch/utils/data/loader.py:7"
    assert lines[at + 1].index(path) > lines[at].index(frame_.function)


async def test_processes_that_have_all_ended_have_an_empty_list_of_sources() -> None:
    async with staged(box(), size=(80, 24)) as stage:
        await stage.press("down", "w")
        await stage.deliver(answer(asked(stage)[-1], verdict="pid 100 has ended.", is_complete=True))

        assert "pid 100 has ended." in text_on(stage.app.screen)
        assert "Sources" not in text_on(stage.app.screen)


async def test_a_long_stack_is_shown_in_full_on_a_key() -> None:
    async with staged(box(), size=(120, 60)) as stage:
        await stage.press("down", "w")
        await stage.deliver(answer(asked(stage)[-1], source("stacks", details=STACKS), is_complete=True))
        assert "and 3 more frames" in text_on(stage.app.screen)

        await stage.press("t")

        assert "fetch8  train.py:96" in text_on(stage.app.screen)


async def test_an_answer_to_an_earlier_question_is_not_shown() -> None:
    async with staged(box(), size=(120, 40)) as stage:
        await stage.press("down", "w")
        first = asked(stage)[-1]
        await stage.deliver(answer(first, verdict="old", is_complete=True))
        await stage.press("ctrl+r")
        assert asked(stage)[-1].id != first.id

        await stage.deliver(replace(answer(first, verdict="older", is_complete=True)))

        assert "older" not in text_on(stage.app.screen)


async def test_native_frames_are_asked_only_on_a_key() -> None:
    async with staged(box(), size=(120, 40)) as stage:
        await stage.press("down", "w")
        assert not asked(stage)[-1].native
        await stage.deliver(answer(asked(stage)[-1], is_complete=True))

        await stage.press("t")
        assert not asked(stage)[-1].native
        await stage.press("t")

        assert asked(stage)[-1].native


async def test_w_on_a_finding_asks_about_its_job_since_it_began() -> None:
    hung = Finding(
        code="stuck.job", stage=Weight.ALARM, subject=Subject(label="x", job=JOB.key), summary="job x is hung",
        since_s=NOW - 360, stage_since_s=NOW - 60,
    )  # fmt: skip
    async with staged(box(findings=(hung,)), size=(120, 40)) as stage:
        await stage.press("F")
        assert isinstance(stage.app.screen, FindingsScreen)
        await stage.press("w")

        assert isinstance(stage.app.screen, WhyScreen)
        question = asked(stage)[-1]
        assert len(question.members) == 4
        assert question.since_s == NOW - 360


async def test_without_a_process_the_key_says_what_to_do() -> None:
    async with staged(frame(1, ()), size=(80, 24)) as stage:
        await stage.press("w")

        assert not asked(stage)
        assert "Select a process first" in stage.messages[-1]


async def test_an_alarm_of_a_hang_is_explained_once_and_only_if_the_user_wants_it() -> None:
    hung = Finding(
        code="stuck.job", stage=Weight.ALARM, subject=Subject(label="x", job=JOB.key), summary="job x is hung",
        since_s=NOW - 360, stage_since_s=NOW,
    )  # fmt: skip
    leak = replace(hung, code="leak.process")
    async with staged(box(), box(findings=(hung,))) as stage:
        assert not asked(stage)

    async with staged(box(), settings=Settings(insight_on_alarm=True)) as stage:
        await stage.deliver(box(findings=(leak,)))
        assert not asked(stage)
        await stage.deliver(box(findings=(leak, hung)), box(findings=(leak, hung)))

        (question,) = asked(stage)
        assert len(question.members) == 4


async def test_a_question_that_a_dead_sampler_never_answered_does_not_block_the_next_one() -> None:
    async with staged(box(), size=(120, 40)) as stage:
        await stage.press("down", "w", "ctrl+r")
        assert len(asked(stage)) == 1

        stage.clock.now += 61.0
        await stage.press("ctrl+r")

        assert len(asked(stage)) == 2
