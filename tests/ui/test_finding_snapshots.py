"""What finding looks like: compared with SVGs that a person has looked at."""

from collections.abc import Callable, Sequence

import pytest
from app_driver import MIDDLE, SMALL, FakeLink
from examples import GIB, frame, process
from textual.pilot import Pilot

from gputop.core.model.owner import Owner, SlurmStep
from gputop.core.model.sample import Frame, HostProcess, Job, JobKind
from gputop.core.protocol.link import Down
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions

Compare = Callable[..., bool]


def training() -> Frame:
    slurm = Owner(slurm=SlurmStep(job="84213", step="0"), trusted=("slurm",))
    launcher = HostProcess(
        pid=1200, start_ticks=1, user="ann", command="torchrun --nproc-per-node 4 train.py", parent_pid=1,
        cpu_percent=2.0, memory_bytes=GIB, state="S", nice=0, threads=5, owner=slurm,
    )  # fmt: skip
    ranks = tuple(
        process(1300 + n, n, parent_pid=1200, owner=slurm, command=f"python -u train.py --rank {n}") for n in range(4)
    )
    others = (
        process(900, 4, user="bob", command="python -m ipykernel_launcher -f kernel-17.json", cpu_percent=0.0),
        process(950, 4, 5, user="eve", command="vllm serve 模型 --tensor-parallel-size 2"),
    )
    members = tuple(one.id for one in (launcher, *ranks))
    job = Job(key="slurm:84213.0", kind=JobKind.SLURM, label="84213.0", launcher=launcher.id, members=members)
    return frame(6, (*ranks, *others), relatives=(launcher,), jobs=(job,))


@pytest.fixture
def looks(snap_compare: Compare) -> Callable[..., bool]:
    """Show a frame, press keys, and compare."""

    def compare(keys: Sequence[str], size: tuple[int, int]) -> bool:
        link = FakeLink()
        app = GputopApp(link, ViewOptions(theme="dark", own_user="ann"), clock=lambda: 100.0)

        async def play(pilot: Pilot[Down]) -> None:
            await pilot.pause()
            assert link.receive is not None
            link.receive(training())
            await pilot.pause()
            await pilot.press(*keys)
            await pilot.pause()
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=play)

    return compare


FILTER = ("f", *"user", "colon", *"ann", "space", *"smm", "less_than_sign", "5")


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        (FILTER, SMALL),
        (("t", "down", "down"), MIDDLE),
        (("v", "v", "down", "down"), SMALL),
        (("v", "v", "down", "minus"), SMALL),
        (("slash", *"vllm"), SMALL),
        (("f", *"ann", "enter"), SMALL),
        (("f2", "down"), MIDDLE),
        (("f2", *["down"] * 12), SMALL),
        (("f6",), SMALL),
        (("u", "down"), SMALL),
    ],
    ids=[
        "filter-with-a-mistake", "tree", "by-job", "by-job-folded", "search", "filtered", "set-up", "set-up-small",
        "sort-menu", "user-menu",
    ],
)  # fmt: skip
def test_finding(looks: Callable[..., bool], keys: Sequence[str], size: tuple[int, int]) -> None:
    assert looks(keys, size)
