"""From cgroup, environment and command line to an owner."""

from typing import Any

import pytest

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.processes.attribution import Evidence, attribute, framework, terminal_name
from gputop.core.processes.cgroup import Cgroup, parse_cgroup

ID = "a" * 64


def owner(cgroup: str = "0::/", variables: dict[str, str] | Missing | None = None, **fields: Any) -> Owner:
    return attribute(Evidence(cgroup=parse_cgroup(cgroup), variables=variables or {}, **fields))


def kind(command: str, variables: dict[str, str] | None = None, name: str = "") -> str | None:
    return framework(command.split(), variables or {}, name)


# --- containers, pods, jobs --------------------------------------------------------------------------------------
def test_a_container_is_known_by_its_runtime_whatever_the_pod_calls_it() -> None:
    uid = "2c4b2241_5c01_11e9_8e4e_42010a800002"
    path = f"0::/kubepods.slice/kubepods-pod{uid}.slice/cri-containerd-{ID}.scope"
    found = owner(path, {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "bert-0"})

    assert found.container == Container(runtime="containerd", id=ID)
    assert found.pod == Pod(uid=uid.replace("_", "-"), name="bert-0")


def test_apptainer_has_no_cgroup_and_is_known_by_its_image() -> None:
    found = owner("0::/user.slice/user-1.slice/session-2.scope", {"APPTAINER_CONTAINER": "/images/torch.sif"})

    assert found.container == Container(runtime="apptainer", name="torch.sif")


def test_the_job_of_the_cgroup_goes_before_what_the_process_says_itself() -> None:
    found = owner("0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0", {"SLURM_JOB_ID": "666"})

    assert found.slurm == SlurmStep(job="7", step="0")


def test_where_the_cgroup_tells_a_sluid_the_environment_tells_the_number() -> None:
    line = "0::/system.slice/slurmstepd.scope/s5K1KKYAYG5D00/step_0/user/task_0"
    known, unknown = owner(line, {"SLURM_JOB_ID": "7"}), owner(line)

    assert known.slurm == SlurmStep(job="7", step="0", sluid="s5K1KKYAYG5D00")
    assert unknown.slurm
    assert (unknown.slurm.job, unknown.slurm.text) == (None, "s5K1KKYAYG5D00.0")


def test_all_runs_that_were_given_no_id_do_not_share_one() -> None:
    assert owner(variables={"TORCHELASTIC_RUN_ID": "none"}).run_id is None
    assert owner(variables={"TORCHELASTIC_RUN_ID": "f00d"}).run_id == "f00d"


def test_the_same_local_master_in_two_containers_is_not_one_master() -> None:
    variables = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
    first, second = (owner(f"0::/docker/{digit * 64}", variables).master for digit in "ab")

    assert first != second
    assert owner(variables=variables).master == "127.0.0.1:29500"


# --- what cannot be read -----------------------------------------------------------------------------------------
def test_without_the_environment_its_values_are_missing_with_the_reason_and_the_rest_is_there() -> None:
    found = attribute(
        Evidence(
            cgroup=parse_cgroup("0::/system.slice/ollama.service"), variables=Missing.FORBIDDEN,
            arguments=("/opt/llm/bin/python", "train.py"),
        )
    )  # fmt: skip

    assert (found.unit, found.environment) == ("ollama.service", "llm")
    assert found.missing == dict.fromkeys(("session", "rank", "world_size", "run_id", "master"), Missing.FORBIDDEN)


def test_an_unreadable_cgroup_is_not_taken_for_no_container() -> None:
    found = attribute(Evidence(cgroup=Missing.FORBIDDEN, variables={}))

    assert found.missing == dict.fromkeys(("container", "pod", "slurm", "unit"), Missing.FORBIDDEN)


def test_of_a_plain_process_nothing_is_missing() -> None:
    assert attribute(Evidence(cgroup=Cgroup(), variables={})) == Owner()


# --- session and environment -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("number", "name"), [(0, None), (0x8800, "pts/0"), (34_817, "pts/1"), (0x8900, "pts/256"), (1026, "tty2"),
                         (0x440, "ttyS0"), (0x108800, "pts/256"), (5, None)],
)  # fmt: skip
def test_a_terminal_has_the_name_that_ps_gives_it(number: int, name: str | None) -> None:
    assert terminal_name(number) == name


def test_a_job_of_slurm_does_not_inherit_the_tmux_that_it_was_submitted_from() -> None:
    variables = {"TMUX": "/run/tmux-1/default", "SSH_CONNECTION": "1 2 3 4"}

    assert owner(variables=variables).session == "tmux"
    assert owner("0::/system.slice/slurmstepd.scope/job_7/step_0", variables).session is None


def test_a_session_is_told_by_the_cgroup_where_the_environment_cannot_be_read() -> None:
    tmux = "0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-aa.scope"

    assert owner(tmux, Missing.FORBIDDEN).session == "tmux"
    assert owner("0::/user.slice/user-1000.slice/session-3.scope", Missing.FORBIDDEN).session == "login 3"


@pytest.mark.parametrize(
    ("variables", "program", "name"),
    [
        ({"VIRTUAL_ENV": "/home/bob/venv", "CONDA_DEFAULT_ENV": "base"}, "python", "bob/venv"),
        ({"VIRTUAL_ENV": "/opt/llm/"}, "python", "llm"),
        ({"CONDA_DEFAULT_ENV": "/scratch/envs/jax"}, "python", "jax"),
        ({}, "/opt/conda/envs/jax/bin/python3.11", "jax"),
        ({}, "/usr/bin/python3", None),
        ({}, "/bin/python3", None),
        ({}, "/opt/blender/bin/blender", None),
        ({}, "python", None),
    ],
)
def test_an_environment_goes_by_the_name_that_people_gave_it(
    variables: dict[str, str], program: str, name: str | None
) -> None:
    assert owner(variables=variables, arguments=(program, "x.py")).environment == name


# --- frameworks --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("/usr/bin/python3 /usr/local/bin/vllm serve meta-llama/Llama", "vLLM"),
        ("python -m vllm.entrypoints.openai.api_server --port 8000", "vLLM"),
        ("VLLM::EngineCore", "vLLM"),
        ("python3 -m sglang.launch_server --model x", "SGLang"),
        ("sglang::scheduler_TP0", "SGLang"),
        ("ray::train_loop()", "Ray worker"),
        ("/opt/ray/core/src/ray/raylet/raylet --x", "Ray launcher"),
        ("python -m ipykernel_launcher -f kernel.json", "Jupyter kernel"),
        ("/venv/bin/python -m jupyterhub.singleuser --port=1", "Jupyter server"),
        ("/venv/bin/python /venv/bin/jupyter-lab", "Jupyter server"),
        ("/opt/llm/bin/python /opt/llm/bin/torchrun --standalone train.py", "torchrun launcher"),
        ("python -u -m torch.distributed.run train.py", "torchrun launcher"),
        ("python -u -m deepspeed.launcher.launch --x train.py", "DeepSpeed launcher"),
        ("/usr/bin/mpirun -np 8 ./a.out", "MPI launcher"),
        ("tritonserver --model-repository=/models", "Triton"),
        ("/usr/bin/ollama runner --model x", "Ollama"),
        ("/home/d/ComfyUI/.venv/bin/python main.py --listen", "ComfyUI"),
        ("python -m lm_eval --model vllm", "lm-eval"),
        ("/usr/lib/xorg/Xorg vt2", "desktop"),
        ("python train.py --data vllm --launcher torchrun", None),
        ("python vllm.py", None),
        ("sharpen --fast", None),
        ("bash -c vllm", None),
        ("", None),
    ],
)
def test_a_program_is_known_by_itself_and_never_by_its_arguments(command: str, label: str | None) -> None:
    assert kind(command) == label


@pytest.mark.parametrize(
    ("variables", "label"),
    [
        ({"RANK": "3", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "none", "SLURM_PROCID": "0"}, "torchrun rank 3/8"),
        ({"RANK": "3", "WORLD_SIZE": "8"}, "rank 3/8"),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}, "MPI rank 1/4"),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "16"}, "Slurm rank 5/16"),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, None),
        ({"RANK": "3"}, None),
    ],
)
def test_a_rank_is_told_with_the_size_of_its_world(variables: dict[str, str], label: str | None) -> None:
    assert kind("python train.py", variables) == label


def test_a_data_loader_is_none_of_the_ranks_whose_environment_it_inherits() -> None:
    assert kind("python train.py", {"RANK": "3", "WORLD_SIZE": "8"}, "pt_data_worker") == "data loader"
