"""The file of `dcgm-exporter -f`: it chooses series, their type and help, and labels."""

import pytest
from examples import frame, gpu
from expositions import read
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.model import catalogue as c
from gputop.core.model.sample import DriverInfo
from gputop.core.usage.past import past_of
from gputop.report.prometheus.collectors import CollectorsError, collectors_of
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group
from gputop.report.prometheus.table import of_frame

FILE = """\
# Format
# DCGM FIELD, Prometheus metric type, "help message

DCGM_FI_DEV_GPU_TEMP,    gauge, GPU temperature (in C).
DCGM_FI_DEV_DEC_UTIL ,     gauge, Decoder utilization (in %).
# DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_FB_TOTAL, gauge, "Frame buffer, all of it"
DCGM_FI_DEV_ECC_SBE_VOL_TOTAL, gauge, as a gauge
DCGM_FI_DEV_SERIAL, label, Device Serial Number
DCGM_FI_DRIVER_VERSION,        label, Driver Version
"""


def test_the_file_chooses_series_with_their_types_and_help_and_labels_in_their_order() -> None:
    chosen = collectors_of(FILE)
    board = gpu(0, {c.SERIAL: "1652", c.DECODER_UTILIZATION: 3, c.ECC_VOLATILE_CORRECTED: 5})
    shown = frame(gpus=(board,), driver=DriverInfo(version="580.1"))
    shape = Shape(groups=(Group.DCGM,), chosen=chosen.series, board_labels=chosen.labels)
    text = of_frame(shown, shape, past_of(shown))

    assert {sample.name: sample.value for sample in read(text)} == {
        "DCGM_FI_DEV_GPU_TEMP": 60, "DCGM_FI_DEV_DEC_UTIL": 3, "DCGM_FI_DEV_FB_TOTAL": 80 * 1024,
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": 5,
    }  # fmt: skip
    assert "# HELP DCGM_FI_DEV_FB_TOTAL Frame buffer, all of it\n" in text
    assert "# TYPE DCGM_FI_DEV_ECC_SBE_VOL_TOTAL gauge\n" in text
    assert text.count('DCGM_FI_DEV_SERIAL="1652",DCGM_FI_DRIVER_VERSION="580.1"} ') == 4
    assert not chosen.remarks


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0, counter, x", "the sum over all links"),
        ("DCGM_FI_DEV_GPU_TMP, gauge, x", "Did you mean DCGM_FI_DEV_GPU_TEMP?"),
        ("DCGM_FI_DEV_SERIAL, gauge, x", "as a label only"),
        ("DCGM_FI_DEV_GPU_TEMP, label, x", "as a series only"),
        ("DCGM_FI_DEV_BRAND, label, x", "does not read this text"),
        ("X\x1b[2J, gauge, x", "does not read this field"),
        ("DCGM_FI_DEV_FB_USED, gauge, x\nDCGM_FI_DEV_FB_USED, counter, y", "FB_USED is in the file twice"),
    ],
)  # fmt: skip
def test_a_line_that_chooses_nothing_is_named_and_the_others_count(line: str, said: str) -> None:
    chosen = collectors_of(f"{line}\nDCGM_FI_DEV_POWER_USAGE, gauge, Power\n")

    assert chosen.series[-1].name == "DCGM_FI_DEV_POWER_USAGE"
    assert len(chosen.remarks) == 1
    assert said in chosen.remarks[0]
    assert chosen.remarks[0].isprintable()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#\nDCGM_FI_DEV_GPU_TEMP, gauge", "line 2: expected FIELD, TYPE, HELP"),
        ("DCGM_FI_DEV_GPU_TEMP, gauge, a, b", "a comma in HELP needs quotes"),
        ("DCGM_FI_DEV_GPU_TEMP, histogram, a", "line 1: type 'histogram' is not gauge, counter or label"),
        (f"DCGM_FI_DEV_GPU_TEMP, gauge, {'x' * 200_000}", "line 1: field larger"),
    ],
)
def test_a_malformed_line_is_named(text: str, said: str) -> None:
    with pytest.raises(CollectorsError, match=said):
        collectors_of(text)


@given(
    st.lists(st.sampled_from(["DCGM_FI_DEV_FB_USED", "gauge", "label", ",", "\n", '"', "#", "\x00", "\r", "é"])).map(
        "".join
    )
)
def test_no_text_crashes_the_reader(text: str) -> None:
    try:
        chosen = collectors_of(text)
    except CollectorsError:
        return

    assert all(remark.isprintable() for remark in chosen.remarks)
