"""Configurations of mig-parted: what it writes is read, what is written it could read."""

from collections import Counter

import pytest
import yaml
from mig_boards import A30, H100, board, instance

from gputop.core.mig.mig_parted import ConfigError, export_lines, read_config, requests
from gputop.core.mig.request import read_request

PARTED = """
version: v1
mig-configs:
  all-disabled:
    - devices: all
      mig-enabled: false
  all-enabled:
    - devices: all
      mig-enabled: true
      mig-devices: {}
  all-balanced:
    - device-filter: ["0x233010DE", "0x233110DE"]
      devices: all
      mig-enabled: true
      mig-devices:
        "1g.10gb": 2
        "2g.20gb": 1
        "3g.40gb": 1
    - device-filter: "0x20B710DE"
      devices: all
      mig-enabled: true
      mig-devices: {"1g.6gb": 2, "2g.12gb": 1}
  custom:
    - devices: [0]
      mig-enabled: false
    - devices: [1, 2]
      mig-enabled: true
      mig-devices: {"1c.3g.40gb": 2, "1g.10gb+me": 1, "7g.80gb": 0}
"""
H100_ID, A30_ID = "0x233010DE", "0x20B710DE"
GPUS = (
    board(H100, index=0, uuid="GPU-0", device=H100_ID, subsystem="0x16C110DE"),
    board(H100, index=1, uuid="GPU-1", device=H100_ID, subsystem="0x16C210DE"),
    board(A30, index=2, uuid="GPU-2", device=A30_ID),
)


def asked(name: str | None, text: str = PARTED) -> dict[int, str]:
    return requests(read_config(yaml.safe_load(text)), name, GPUS)


def test_a_configuration_speaks_of_gpus_by_device_and_index() -> None:
    assert asked("all-disabled") == {0: "off", 1: "off", 2: "off"}
    assert asked("all-enabled") == {0: "none", 1: "none", 2: "none"}
    assert asked("all-balanced") == {
        0: "2x1g.10gb,1x2g.20gb,1x3g.40gb",
        1: "2x1g.10gb,1x2g.20gb,1x3g.40gb",
        2: "2x1g.6gb,1x2g.12gb",
    }
    assert asked("custom") == {0: "off", 1: "2x1c.3g.40gb,1x1g.10gb+me", 2: "2x1c.3g.40gb,1x1g.10gb+me"}


def test_what_a_configuration_asks_for_is_understood() -> None:
    wish = read_request(asked("custom")[1], GPUS[1])

    assert Counter(item.profile for item in wish.items or ()) == {"3g.40gb": 1, "1g.10gb+me": 1}


def test_a_filter_may_name_the_subsystem_and_yaml_may_read_it_as_a_number() -> None:
    text = "version: v1\nmig-configs:\n  one:\n  - devices: all\n    mig-enabled: false\n    device-filter: {}\n"

    assert asked(None, text.format('"0x233010DE:0x16C210DE"')) == {1: "off"}
    assert asked(None, text.format("0x233010DE")) == {0: "off", 1: "off"}
    assert asked(None, text.format('""')) == {0: "off", 1: "off", 2: "off"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a mig-parted configuration"),
        ("[1, 2]", "not a mig-parted configuration"),
        ("version: v2\nmig-configs: {}", "not supported, only v1"),
        (
            "version: v1\nmig-configs: {a: [{devices: all, mig-enabled: true, mig-device: {}}]}",
            "unknown field `mig-device`",
        ),
        ("version: v1\nmig-configs: {a: [{devices: [GPU-1], mig-enabled: true}]}", "Expected `int`"),
        ("version: v1\nmig-configs: {a: [{devices: some, mig-enabled: true}]}", "devices"),
        ("version: v1\nmig-configs: {a: [{mig-enabled: true}]}", "missing required field `devices`"),
        ("version: v1\nmig-configs: {a: [{devices: [7], mig-enabled: false}]}", "no such GPU: 7"),
        ("version: v1\nmig-configs: {a: [{devices: all, mig-enabled: true}]}", "mig-devices is missing"),
        (
            'version: v1\nmig-configs: {a: [{devices: all, mig-enabled: false, mig-devices: {"1g.10gb": 1}}]}',
            "mig-enabled",
        ),
        (
            'version: v1\nmig-configs: {a: [{devices: all, mig-enabled: true, mig-devices: {"1g.10gb": -1}}]}',
            "the count",
        ),
        (
            'version: v1\nmig-configs: {a: [{devices: all, mig-enabled: true, mig-devices: {"all=1g": 1}}]}',
            "not a MIG device",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        asked(None, text)


def test_the_configuration_must_be_there_and_named() -> None:
    with pytest.raises(ConfigError, match="did you mean all-balanced"):
        asked("all-balancd")
    with pytest.raises(ConfigError, match="choose a configuration"):
        asked(None)


def test_what_is_exported_is_read_again() -> None:
    gpus = (
        board(H100, instance(H100, "3g.40gb", 4, computes=(1, 2)), instance(H100, "1g.10gb", 0), index=0),
        board(H100, instance(H100, "3g.40gb", 0, computes=(1, 2)), instance(H100, "1g.10gb", 4), index=1),
        board(H100, index=2, is_on=False),
        board(A30, instance(A30, "2g.12gb", 0, computes=()), index=3),
    )
    text = "\n".join(export_lines(gpus))
    read = requests(read_config(yaml.safe_load(text)), None, gpus)

    assert "devices: [0, 1]" in text
    assert "# GPU 3: 2g.12gb@0 has no compute instance" in text
    assert read == {
        0: "1x1c.3g.40gb,1x1g.10gb,1x2c.3g.40gb", 1: "1x1c.3g.40gb,1x1g.10gb,1x2c.3g.40gb", 2: "off", 3: "none",
    }  # fmt: skip


def test_no_gpu_with_mig_is_a_file_all_the_same() -> None:
    assert requests(read_config(yaml.safe_load("\n".join(export_lines([])))), None, ()) == {}
