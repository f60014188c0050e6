"""Samples: which fields are readings."""

from gputop.core.model.sample import PROCESS_READINGS, USE_READINGS, GpuProcess, HostProcess


def test_every_optional_number_of_a_process_on_a_gpu_is_a_reading() -> None:
    others = {"gpu", "gpu_index", "type", "gpu_instance", "compute_instance", "missing"}

    assert set(USE_READINGS) == set(GpuProcess.__struct_fields__) - others


def test_every_optional_value_of_a_process_is_a_reading() -> None:
    others = {"pid", "start_ticks", "inner_pid", "presence", "command", "owner", "progress", "missing", "gpus"}

    assert set(PROCESS_READINGS) == set(HostProcess.__struct_fields__) - others
