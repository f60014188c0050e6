"""Jobs of real users: what one of them writes into his environment or his cgroup hits nobody else."""

import os
import subprocess
from pathlib import Path

import pytest
from app_driver import staged, text_on
from children import control
from strangers import ALICE, BOB, cgroup, needs_root, pids_of_jobs, seen, stranger, strangers

from gputop.core.protocol.command import SendSignal
from gputop.core.protocol.outcome import Status
from gputop.ui.screens.dialogs.dialog import Dialog

_END_S = 30  # only ever waited for when a test fails
MOVE = 'mkdir -p "$1" && echo "$2" > "$1/cgroup.procs"'
STEP = {"SLURM_JOB_ID": "84213", "SLURM_STEP_ID": "0"}
RUN = {"TORCHELASTIC_RUN_ID": "456"}
MASTER = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}

pytestmark = needs_root


@pytest.mark.parametrize("claim", [STEP, RUN, MASTER, STEP | RUN | MASTER])
def test_the_environment_of_a_stranger_is_no_part_of_a_job(claim: dict[str, str]) -> None:
    with strangers((ALICE, claim), (ALICE, claim), (BOB, claim)) as (first, second, rogue):
        held = seen(first.pid, second.pid, rogue.pid)

        assert [one.user for one in held.processes] == ["alice", "alice", "bob"]
        assert pids_of_jobs(held) == [[first.pid, second.pid]]


async def test_the_end_of_a_rogue_does_not_end_the_job_that_it_claims(tmp_path: Path) -> None:
    with strangers((ALICE, STEP), (ALICE, STEP), (BOB, STEP)) as (first, second, rogue):
        async with staged(seen(first.pid, second.pid, rogue.pid)) as stage:
            await stage.press("end", "K")
            assert isinstance(stage.app.screen, Dialog)
            assert "scancel" not in text_on(stage.app.screen)
            await stage.press("y")
            (change,) = stage.changes
        assert isinstance(change, SendSignal)
        outcome = control(tmp_path).execute(change)

        assert [(one.pid, one.status) for one in outcome.results] == [(rogue.pid, Status.DONE)]
        assert rogue.wait(_END_S) == -9
        assert [one.poll() for one in (first, second)] == [None, None]


@pytest.mark.parametrize("name", ["slurmstepd.scope/job_84213/step_0", f"docker-{'a' * 64}.scope"])
def test_a_cgroup_that_a_user_made_is_no_proof(name: str) -> None:
    session = (f"gputop-test-{os.getpid()}.slice", "user@1002.service")
    with cgroup(*session, owner=BOB) as place, stranger(BOB) as rogue:
        (place / "init.scope").mkdir()
        os.chown(place / "init.scope", BOB, BOB)
        os.chown(place / "init.scope/cgroup.procs", BOB, BOB)
        (place / "init.scope/cgroup.procs").write_text(str(rogue.pid))
        made = str(place / name)
        subprocess.run(["/bin/sh", "-c", MOVE, "-", made, str(rogue.pid)], user=BOB, group=BOB, check=True)
        assert name in Path(f"/proc/{rogue.pid}/cgroup").read_text()
        (row,) = seen(rogue.pid).processes
        rogue.kill()
        rogue.wait(_END_S)

    field = "slurm" if row.owner.slurm else "container"
    assert (row.owner.named(field) or "").endswith("?")
    assert row.owner.trusted == ()


def test_the_same_cgroup_of_root_is_proof() -> None:
    session = (f"gputop-test-{os.getpid()}.slice", "slurmstepd.scope", "job_84213", "step_0")
    with cgroup(*session, owner=0) as place, strangers((ALICE, {}), (BOB, {})) as held:
        for one in held:
            (place / "cgroup.procs").write_text(str(one.pid))
        found = seen(*(one.pid for one in held))
        for one in held:
            one.kill()
            one.wait(_END_S)

    assert [job.key for job in found.jobs] == ["slurm:84213.0"]
