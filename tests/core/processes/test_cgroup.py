"""Whose a process is by its cgroup: the forms that Docker, Podman, Kubernetes, Slurm, LXC and systemd write."""

from typing import Any

import pytest

from gputop.core.processes.cgroup import Cgroup, parse_cgroup

ID = "a" * 64
POD = "2c4b2241-5c01-11e9-8e4e-42010a800002"
LOW = POD.replace("-", "_")
HOME = "/user.slice/user-1000.slice/user@1000.service"
NESTED = "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort"

VECTORS: list[tuple[str, str, dict[str, Any]]] = [
    (f"0::/system.slice/docker-{ID}.scope", "docker", {"id": ID}),
    (f"12:pids:/docker/{ID}", "docker", {"id": ID}),
    (f"5:devices:/{ID}", "docker", {"id": ID}),
    (f"0::{HOME}/user.slice/docker-{ID}.scope", "docker", {"id": ID}),
    (f"0::{HOME}/user.slice/libpod-{ID}.scope/container", "podman", {"id": ID}),
    (f"0::/machine.slice/libpod-{ID}.scope", "podman", {"id": ID}),
    (f"0::/machine.slice/libpod-conmon-{ID}.scope", "scope", {"unit": f"libpod-conmon-{ID}.scope", "id": None}),
    (
        f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{LOW}.slice/cri-containerd-{ID}.scope",
        "k8s", {"pod": POD, "runtime": "cri-containerd", "id": ID},
    ),
    (
        f"0::/kubepods.slice/kubepods-pod{LOW}.slice/crio-{ID}.scope/container",
        "k8s", {"pod": POD, "runtime": "crio", "id": ID},
    ),
    (
        f"0::/system.slice/containerd.service/kubepods-burstable-pod{LOW}.slice:cri-containerd:{ID}",
        "k8s", {"pod": POD, "runtime": "cri-containerd", "id": ID},
    ),
    (
        f"0::{NESTED}-pod{LOW}.slice/cri-containerd-{ID}.scope",
        "k8s", {"pod": POD, "runtime": "cri-containerd", "id": ID},
    ),
    (f"11:memory:/kubepods/besteffort/pod{POD}/{ID}", "k8s", {"pod": POD, "id": ID}),
    (f"11:memory:/kubepods/pod{POD}/{ID}", "k8s", {"pod": POD, "id": ID}),
    ("0::/system.slice/slurmstepd.scope/job_1392969/step_0/user/task_0", "slurm", {"job": "1392969", "step": "0"}),
    ("0::/system.slice/node7_slurmstepd.scope/job_42/step_batch/user/task_special", "slurm",
     {"job": "42", "step": "batch"}),
    ("0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0/user/task_0", "slurm",
     {"sluid": "s5K1KKYAYG5D00", "job": None, "step": "0"}),
    ("10:devices:/slurm/uid_2101171/job_280678/step_interactive/task_0", "slurm",
     {"uid": 2101171, "job": "280678", "step": "interactive"}),
    ("10:devices:/slurm_n01/uid_1000/job_9/step_extern/task_0", "slurm", {"uid": 1000, "job": "9", "step": "extern"}),
    ("0::/lxc.payload.demo/system.slice/ssh.service", "lxc", {"name": "demo"}),
    ("4:memory:/lxc/101/ns/init.scope", "lxc", {"name": "101"}),
    ("0::/user.slice/user-1000.slice/session-3.scope", "user", {"uid": 1000, "login": "3"}),
    (f"0::{HOME}/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1234.scope", "user",
     {"uid": 1000, "unit": "vte-spawn-1234.scope"}),
    (f"0::{HOME}/tmux-spawn-aa.scope", "user", {"uid": 1000, "unit": "tmux-spawn-aa.scope"}),
    ("0::/system.slice/jupyter-user1-singleuser.service", "jupyter", {"name": "user1"}),
    ("0::/system.slice/ollama.service", "service", {"unit": "ollama.service"}),
    ("0::/", "none", {}),
    ("0::/init.scope", "scope", {"unit": "init.scope"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "fields"), VECTORS, ids=[f"{n} {row[1]}" for n, row in enumerate(VECTORS, 1)])
def test_a_line_of_the_kernel_is_understood(line: str, kind: str, fields: dict[str, Any]) -> None:
    found = parse_cgroup(line + "\n")

    assert found.kind == kind
    assert {name: getattr(found, name) for name in fields} == fields


def test_in_a_hybrid_file_the_path_may_stand_in_the_v1_lines_alone() -> None:
    text = f"13:rdma:/\n5:devices:/docker/{ID}\n4:memory:/docker/{ID}\n1:name=systemd:/\n0::/\n"

    assert parse_cgroup(text).id == ID


def test_v2_and_systemd_go_before_longer_paths_of_other_hierarchies() -> None:
    text = (
        "4:memory:/user.slice/user-1.slice/session-9.scope\n1:name=systemd:/user.slice/user-2.slice/session-8.scope\n"
    )

    assert parse_cgroup(text).login == "8"


def test_of_a_container_in_a_slurm_step_both_are_told() -> None:
    found = parse_cgroup(f"0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/docker-{ID}.scope\n")

    assert (found.kind, found.job, found.id, found.runtime) == ("slurm", "7", ID, "docker")


@pytest.mark.parametrize("text", ["0::/../..\n", "0::/..\n"])
def test_outside_our_cgroup_namespace_there_is_a_container_without_an_id(text: str) -> None:
    assert parse_cgroup(text) == Cgroup(kind="hidden", runtime="container")


def test_outside_our_cgroup_namespace_a_login_is_still_a_login() -> None:
    assert parse_cgroup("0::/../../user.slice/user-1000.slice/session-3.scope\n").kind == "user"
    assert parse_cgroup("0::/../system.slice/ollama.service\n").unit == "ollama.service"


def test_a_static_pod_has_a_uid_without_dashes() -> None:
    assert parse_cgroup(f"9:pids:/kubepods/burstable/pod{'b' * 32}/{ID}").pod == "b" * 32


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "no colons", "0:", "0::", "0::relative", ":::", "\ufffd\ufffd::/\ufffd\n", "\0",
        f"0::/kubepods/pod{POD}", f"0::/kubepods/pod{POD[:-1]}x/{ID}", "0::/system.slice",
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_no_owner(text: str) -> None:
    assert parse_cgroup(text).kind == "none"


@pytest.mark.parametrize("digits", ["a" * 63, "A" * 64, "g" * 64, "a" * 12])
def test_a_container_id_has_64_or_32_lower_case_hexadecimal_digits(digits: str) -> None:
    assert parse_cgroup(f"5:devices:/docker/{digits}").id is None


def test_a_login_with_a_hostile_name_raises_nothing() -> None:
    assert parse_cgroup("0::/user.slice/user-١.slice/session-3.scope").kind == "scope"
    assert parse_cgroup("0::/user.slice/user-.slice/session-.scope").kind == "scope"
