"""The series of users, jobs, processes and findings."""

import re
from typing import Any

from examples import NOW, frame, gpu, process
from expositions import Read, read

from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.owner import Owner, SlurmStep
from gputop.core.model.sample import Frame
from gputop.core.usage.ledger import Ledger
from gputop.core.usage.past import Past, past_of
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group
from gputop.report.prometheus.table import SERIES, of_frame

SLURM = Owner(slurm=SlurmStep(job="84213", step="0"), trusted=("slurm",))
SHAPE = Shape(groups=(Group.GPUTOP, Group.PROCESSES))


def shown(of: Frame, past: Past | None = None) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {}
    for sample in read(of_frame(of, SHAPE, past or past_of(of))):
        found.setdefault(sample.name, []).append(sample)
    return found


def finding(**subject: Any) -> Finding:
    return Finding(
        code="hang.collective", stage=Stage.ALARM, subject=Subject(label="x", **subject), summary="", since_s=NOW,
        stage_since_s=NOW,
    )  # fmt: skip


def test_a_job_has_its_memory_on_each_gpu_so_that_it_can_be_joined_with_the_series_of_the_gpu() -> None:
    found = shown(frame(2, processes=(process(5, 0, 1, owner=SLURM),)))["gputop_job_gpu_memory_used_bytes"]

    assert [(s.labels["gpu"], s.labels["job_kind"], s.labels["job_id"], s.labels["user"]) for s in found] == [
        ("0", "slurm", "84213", "ann"),
        ("1", "slurm", "84213", "ann"),
    ]


def test_a_single_sample_has_no_totals() -> None:
    found = shown(frame(1, processes=(process(5, owner=SLURM),)))

    assert "gputop_user_processes" in found
    assert not [name for name in found if name.startswith(("gputop_user", "gputop_job")) and name.endswith("_total")]


def test_findings_name_their_gpu_user_and_job_and_equal_ones_are_counted() -> None:
    first, second = process(5, owner=SLURM), process(6, owner=SLURM)
    findings = (finding(process=first.id), finding(process=second.id), finding(gpu="GPU-00000001"))
    found = shown(frame(2, processes=(first, second), findings=findings))["gputop_finding"]

    assert [(s.labels, s.value) for s in found] == [
        (
            {"code": "hang.collective", "stage": "alarm", "job_kind": "slurm", "job_id": "84213", "user": "ann"},
            2,
        ),
        ({"code": "hang.collective", "stage": "alarm", "gpu": "1", "uuid": "GPU-00000001"}, 1),
    ]


def test_processes_have_series_on_request_only() -> None:
    many = tuple(process(pid) for pid in range(5, 105))
    past = Past(Ledger(processes=10))
    past.take(frame(1, processes=many), 0)

    assert len(shown(frame(1, processes=many), past)["gputop_process_gpu_memory_used_bytes"]) == 10
    assert "gputop_process_gpu_memory_used_bytes" not in shown(frame(1, processes=many))


def test_no_word_of_a_command_line_is_a_label() -> None:
    said = process(5, 0, 1, command="python --token=hunter2 train.py")
    past = Past(Ledger(processes=10))
    of = frame(2, processes=(said,), findings=(finding(process=said.id),))
    past.take(of, 0)
    text = of_frame(of, SHAPE, past)

    assert 'pid="5"' in text
    assert "hunter2" not in text
    assert "train.py" not in text


def test_hostile_users_and_pods_cannot_break_the_format() -> None:
    evil = process(5, user='eve"} 1\nup{a="')
    found = shown(frame(1, processes=(evil,)))

    assert found["gputop_user_processes"][0].labels == {"user": 'eve"} 1␊up{a="'}


def test_names_types_and_labels_follow_the_rules_of_prometheus() -> None:
    assert len({row.name for row in SERIES}) == len(SERIES)
    for row in SERIES:
        if row.name.startswith("gputop_"):
            assert re.fullmatch("[a-z][a-z0-9_]*", row.name)
            assert row.name.endswith("_total") == (row.type == "counter")
            assert not {"instance", "job", "le", "quantile"} & set(row.labels)
            assert row.help.endswith("."), row.name


def test_samples_have_only_the_labels_of_their_row() -> None:
    said = process(5, 0, 1, owner=SLURM)
    past = Past(Ledger(processes=10))
    of = frame((gpu(0), gpu(1)), processes=(said,), findings=(finding(process=said.id),))
    past.take(of, 0)
    rows = {row.name: set(row.labels) for row in SERIES}

    for name, samples in shown(of, past).items():
        assert all(sample.labels.keys() <= rows[name] for sample in samples), name
