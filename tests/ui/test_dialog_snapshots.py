"""What the dialogs look like: compared with SVGs that a person has looked at."""

from collections.abc import Callable
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, FakeLink
from examples import GIB, frame, process
from msgspec.structs import replace
from textual.pilot import Pilot

from gputop.core.model.owner import Owner, SlurmStep
from gputop.core.model.sample import Frame, HostProcess, Job, JobKind, Presence
from gputop.core.protocol.link import Down, News
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.core.settings.settings import Settings
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions

Looks = Callable[..., bool]
OWNER = Owner(slurm=SlurmStep(job="84213", step="0"), trusted=("slurm",))


def worker(pid: int, index: int) -> HostProcess:
    command = f"/opt/llm/bin/python -u train.py --config configs/llama-70b.yaml --rank {index}"
    return process(pid, index, parent_pid=48_000, command=command, owner=OWNER, memory_bytes=30 * GIB)


def trained() -> Frame:
    """A job of four workers, and what others do beside it."""
    launcher = process(48_000, gpus=(), command="/opt/llm/bin/torchrun --nproc-per-node 4 train.py", owner=OWNER)
    others = (
        process(51_002, 1, user="bob", command="python -m vllm.entrypoints.openai.api_server", nice=5),
        process(51_377, 2, user="bob", state="D", command="python eval.py"),
        process(52_000, 3, user=None, presence=Presence.HIDDEN, command="", started_s=None, state=None, nice=None),
        process(53_111, 3, command="训练 --批量 16 模型"),
    )
    workers = tuple(worker(48_001 + n, n) for n in range(4))
    members = (launcher.id, *(one.id for one in workers))
    job = Job(key="slurm:84213.0", kind=JobKind.SLURM, label="84213.0", launcher=launcher.id, members=members)
    return frame(4, (*workers, *others), relatives=(launcher,), jobs=(job,))


def failed() -> Outcome:
    root, ask = "Start gputop as root.", "Run gputop with sudo, or ask bob."
    results = (
        Result(pid=48_001, status=Status.DONE),
        Result(
            pid=51_002, status=Status.NOT_PERMITTED, remedy=ask,
            detail="cannot signal a process of bob: permission denied",
        ),
        Result(pid=52_000, status=Status.REFUSED, detail=Presence.HIDDEN.text, remedy=root),
        Result(pid=52_001, status=Status.REFUSED, detail=Presence.HIDDEN.text, remedy=root),
        Result(pid=53_111, status=Status.GONE, detail="it has exited"),
    )  # fmt: skip
    return Outcome(id="1", what="SIGTERM", results=results, note="the audit log could not be written: disk full")


ALL = ("N", "home", "space", "space", "space", "space", "space", "space", "space", "space")
CASES: dict[str, tuple[tuple[str, ...], tuple[News, ...], dict[str, Any]]] = {
    "tags": (ALL, (), {}),
    "signal": (("down", "k"), (), {}),
    "job": (("down", "k", "j", "e"), (), {}),
    "several": ((*ALL, "k", "2"), (), {}),
    "kill": ((*ALL, "K"), (), {}),
    "countdown": ((*ALL, "k", "e", "enter"), (), {}),
    "outcome": ((), (failed(),), {}),
    "renice": (("down", "r", "minus", "5"), (), {}),
    "io-class": (("down", "d", "up"), (), {}),
    "affinity": (("down", "c", "a", "0", "minus", "9", "enter"), (), {}),
    "read-only": (("down", "f9"), (), {"settings": Settings(read_only=True)}),
}


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", CASES)
def test_dialogs(snap_compare: Looks, name: str, size: tuple[int, int]) -> None:
    keys, news, options = CASES[name]
    link = FakeLink()
    view = ViewOptions(**{"theme": "dark", "own_user": "ann", **options})
    app = GputopApp(link, view, clock=lambda: 100.0)

    async def play(pilot: Pilot[Down]) -> None:
        await pilot.pause()
        told: tuple[News, ...] = (replace(trained(), sequence=2), *news)
        for each in told:
            assert link.receive is not None
            link.receive(each)
            await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)
