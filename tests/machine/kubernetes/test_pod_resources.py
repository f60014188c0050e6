"""The kubelet's list, from a real gRPC server; and everything that is not one."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubelet import field, kubelet, pod, varint

from gputop.core.usage.holders import Container, containers_by_device
from gputop.machine.kubernetes.pod_resources import UnreadError, allocated
from gputop.machine.kubernetes.protobuf import MalformedError, fields

PATIENCE_S = 30.0


def why(path: Path | str, patience_s: float = PATIENCE_S) -> str:
    pytest.importorskip("grpc", reason="grpcio is not installed")
    with pytest.raises(UnreadError) as raised:
        allocated(str(path), patience_s)
    return raised.value.word


def test_each_device_of_nvidia_has_its_container(tmp_path: Path) -> None:
    with kubelet(tmp_path) as server:
        server.response = pod(
            "train-0", "ml", {"pytorch": {"nvidia.com/gpu": ["GPU-1", "GPU-2"], "cpu.com/x": ["7"]}, "side": {}}
        ) + pod("serve", "web", {"triton": {"nvidia.com/mig-1g.10gb": ["MIG-9"]}})
        found = allocated(server.socket)

    assert found == [
        (Container("train-0", "ml", "pytorch"), "GPU-1"), (Container("train-0", "ml", "pytorch"), "GPU-2"),
        (Container("serve", "web", "triton"), "MIG-9"),
    ]  # fmt: skip


def test_replicas_of_both_device_plugins_belong_to_their_device() -> None:
    a, b = Container("a", "ml", "c"), Container("b", "ml", "c")
    ids = [(a, "GPU-1::0"), (b, "GPU-1::1"), (a, "nvidia0/vgpu3"), (b, "nvidia0/gi7/vgpu0"), (a, "MIG-2::7")]

    shared = containers_by_device(ids, is_sharing=True)
    alone = containers_by_device(ids, is_sharing=False)

    assert {device: [(one.pod, one.replica) for one in all_] for device, all_ in shared.items()} == {
        "GPU-1": [("a", "0"), ("b", "1")], "nvidia0": [("a", "3")], "nvidia0/gi7": [("b", "0")], "MIG-2": [("a", "7")],
    }  # fmt: skip
    assert alone["GPU-1"] == (b,)  # as dcgm-exporter without --kubernetes-virtual-gpus


def test_an_absent_socket_and_a_file_in_its_place_are_named(tmp_path: Path) -> None:
    file = tmp_path / "kubelet.sock"

    assert why(file) == "absent"
    file.touch()
    assert why(file) == "malformed"


def test_a_kubelet_that_ended_or_never_answers_is_named(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        assert why(path) == "unavailable"  # nothing listens
        silent.listen()
        assert why(path, 0.5) in {"deadline_exceeded", "unavailable"}


def test_a_kubelet_without_the_list_is_named(tmp_path: Path) -> None:
    with kubelet(tmp_path) as server:
        server.method = "/v2.Other/List"

        assert why(server.socket) == "unimplemented"


def test_no_answer_of_the_kubelet_takes_more_than_its_share_of_memory(tmp_path: Path) -> None:
    with kubelet(tmp_path) as server:
        server.response = field(1, bytes(5 << 20))
        assert why(server.socket) == "resource_exhausted"
        server.response = pod("p", "n", {"c": {"nvidia.com/gpu": [f"GPU-{at}" for at in range(4097)]}})
        assert why(server.socket) == "too_large"
        server.response = b"\x0a\xff\xff\xff\xff\x0f"
        assert why(server.socket) == "malformed"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may connect to every socket")
def test_a_socket_of_another_user_is_forbidden(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        path.chmod(0)

        assert why(path) == "forbidden"


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(message: bytes) -> None:
    try:
        found = list(fields(message))
    except MalformedError:
        return

    assert sum(len(content) for _, content in found) <= len(message)


@given(st.lists(st.tuples(st.integers(1, 1 << 20), st.binary(max_size=300))), st.integers(0, (1 << 64) - 1))
def test_fields_return_as_they_were_written(written: list[tuple[int, bytes]], number: int) -> None:
    message = b"".join(varint(3 << 3) + varint(number) + field(key, content) for key, content in written)

    assert list(fields(message)) == written
