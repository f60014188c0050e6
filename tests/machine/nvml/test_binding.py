"""The driver's structures as they are unpacked: of the sizes that nvidia-ml-py gives them."""

import ctypes
from struct import Struct

import pynvml
import pytest

from gputop.machine.nvml import binding


@pytest.mark.parametrize(
    ("layout", "structure"),
    [
        (binding._PROCESS, pynvml.c_nvmlProcessInfo_v2_t),
        (binding._UTILIZATION, pynvml.c_nvmlProcessUtilizationInfo_v1_t),
        (binding._FIRST_UTILIZATION, pynvml.c_nvmlProcessUtilizationSample_t),
        (binding._FIELD_VALUE, pynvml.c_nvmlFieldValue_t),
        (binding._FIELD_QUESTION, pynvml.c_nvmlFieldValue_t),
    ],
)
def test_a_layout_is_as_long_as_the_structure(layout: Struct, structure: type[ctypes.Structure]) -> None:
    assert layout.size == ctypes.sizeof(structure)


def test_a_utilization_request_is_as_long_as_the_structure() -> None:
    assert ctypes.sizeof(binding._UtilizationRequest) == ctypes.sizeof(pynvml.c_nvmlProcessesUtilizationInfo_v1_t)


@pytest.mark.parametrize(("kind", "member", "value"), [(0, "dVal", 2.5), (1, "uiVal", 7), (3, "ullVal", 2**40)])
def test_a_field_value_is_taken_from_where_its_type_puts_it(kind: int, member: str, value: float) -> None:
    entry = pynvml.c_nvmlFieldValue_t(timestamp=12, valueType=kind, nvmlReturn=0)
    setattr(entry.value, member, value)

    assert binding._field_value(*binding._FIELD_VALUE.unpack(bytes(entry))) == (0, value, 12)
