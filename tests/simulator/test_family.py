"""Owners and relatives on the simulated boxes, read by the real code."""

from collections import Counter

import pytest
from simulated import Time, box

from gputop.core.model.sample import HostProcess, JobKind, Sample
from gputop.core.processes.jobs import JobFinder
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource
from gputop.simulator import BOXES


def sample(name: str) -> Sample:
    made = box(name, Time())
    source = MachineSource(
        Driver(made.driver),
        HostReader(made.proc, made.host),
        ProcessReader(made.proc, made.users.get),
        limits=Limits(patience_s=30.0),
        watches_events=False,
    )
    source.open()
    return source.read()


def by_pid(processes: tuple[HostProcess, ...]) -> dict[int, HostProcess]:
    return {process.pid: process for process in processes}


def test_the_launcher_and_the_data_loaders_of_the_training_are_its_relatives() -> None:
    held = sample("training")

    assert Counter(p.owner.framework for p in held.relatives) == {"data loader": 32, "torchrun launcher": 1}
    assert {p.owner.slurm.text for p in held.relatives if p.owner.slurm} == {"84213.0"}


def test_the_owners_of_the_training_box_are_told_as_far_as_they_may_be_seen() -> None:
    processes = by_pid(sample("training").processes)
    rank, kernel, evaluation, embeddings = (processes[pid].owner for pid in (48_279, 31_877, 57_903, 22_418))

    assert (rank.framework, rank.environment, rank.missing) == ("torchrun rank 3/8", "llm", {})
    assert (kernel.framework, kernel.unit) == ("Jupyter kernel", "jupyter-bob-singleuser.service")
    assert kernel.missing
    assert evaluation.container
    assert evaluation.container.runtime == "docker"
    assert embeddings.pod
    assert (embeddings.container and embeddings.container.runtime, embeddings.framework) == ("containerd", "TEI")


@pytest.mark.parametrize("name", BOXES)
def test_no_process_is_its_own_relative_and_none_is_listed_twice(name: str) -> None:
    held = sample(name)
    pids = [process.pid for process in (*held.processes, *held.relatives)]

    assert len(pids) == len(set(pids))


def test_the_desktop_is_no_relative_of_its_programs() -> None:
    assert {process.command.split()[0] for process in sample("workstation").relatives} <= {"/usr/lib/firefox/firefox"}


def test_the_training_is_one_job_of_slurm_led_by_torchrun_and_the_notebook_is_none() -> None:
    held = sample("training")
    (job,) = JobFinder().find(held.processes, held.relatives)
    members = {one.pid for one in job.members}

    assert (job.kind, job.label, job.launcher and job.launcher.pid) == (JobKind.SLURM, "84213.0", 48_211)
    assert members == {48_211, *range(48_276, 48_284), *range(48_640, 48_672)}


def test_the_clients_of_mps_are_a_job_that_nobody_leads_and_pods_of_one_process_are_none() -> None:
    held = sample("mig")
    (job,) = JobFinder().find(held.processes, held.relatives)

    assert (job.label, job.launcher, [one.pid for one in job.members]) == ("5521.0", None, [18_020, 18_233, 18_234])


@pytest.mark.parametrize("name", ["h200", "workstation"])
def test_where_everybody_works_alone_there_are_no_jobs(name: str) -> None:
    held = sample(name)

    assert JobFinder().find(held.processes, held.relatives) == ()
