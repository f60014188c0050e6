"""A driver that answers from a dictionary, for tests of the readers."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

Answer = Any  # a value, an NVMLError, or a function of the call's arguments


class NVMLError(Exception):
    """The error that pynvml raises."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class FakeFunctions:
    """Functions of pynvml's names. What is not in ``answers`` is not supported; ``calls`` counts by name."""

    NVMLError = NVMLError

    def __init__(self, **answers: Answer) -> None:
        self.answers: dict[str, Answer] = {
            "nvmlInit": None,
            "nvmlSystemGetDriverVersion": "570.124.06",
            "nvmlSystemGetNVMLVersion": "12.570.124.06",
            "nvmlSystemGetCudaDriverVersion_v2": 12080,
            "nvmlDeviceGetCount": 1,
            "nvmlDeviceGetHandleByIndex": lambda index: f"handle-{index}",
            "nvmlDeviceGetHandleByUUID": lambda uuid: uuid.replace("GPU", "handle"),
            "nvmlDeviceGetUUID": lambda handle: handle.replace("handle", "GPU"),
            "nvmlDeviceGetName": "NVIDIA H100",
            "nvmlDeviceGetPciInfo": lambda handle: SimpleNamespace(busId=f"00000000:0{handle[-1]}:00.0"),
            "nvmlDeviceGetComputeRunningProcesses": [],
            "nvmlDeviceGetGraphicsRunningProcesses": [],
            "nvmlDeviceGetMPSComputeRunningProcesses": [],
            "nvmlDeviceGetProcessUtilization": [],
        } | answers
        self.calls: dict[str, int] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def function(*args: Any) -> Any:
            self.calls[name] = self.calls.get(name, 0) + 1
            answer = self.answers.get(name, NVMLError(3))
            if callable(answer):
                answer = answer(*args)
            if isinstance(answer, NVMLError):
                raise answer
            return answer

        return function


def fields(**by_id: Any) -> Callable[..., list[tuple[int, float, int]]]:
    """Answer nvmlDeviceGetFieldValues: ``f185=(value, µs)``; an id that is not named is not supported."""

    def answer(_: Any, ids: tuple[tuple[int, int], ...]) -> list[tuple[int, float, int]]:
        return [(0, *by_id[f"f{field}"]) if f"f{field}" in by_id else (3, 0, 0) for field, _ in ids]

    return answer
