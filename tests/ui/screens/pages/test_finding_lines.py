"""A finding in full: advice under the verdict, evidence as a table that does not repeat the summary."""

from typing import Any

from app_driver import text_of
from examples import NOW

from gputop.core.model.finding import Evidence, Finding, Stage, Subject
from gputop.ui.panels.findings import split_verdict
from gputop.ui.screens.pages.finding_lines import details


def finding(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "code": "stuck.kernel",
        "stage": Stage.ALARM,
        "subject": Subject(label="4711 on GPU 0 python train.py"),
        "summary": "hung for 6m20: draws 179 W",
        "remedy": "See where it waits. To end it: gputop signal SIGTERM --pid 4711",
        "since_s": NOW,
        "stage_since_s": NOW,
    }
    return Finding(**given | fields)


def lines(one: Finding, key: str = "") -> list[str]:
    return [line.rstrip() for line in text_of(details(one, 76, key=key)).splitlines()]


def test_advice_comes_directly_under_the_verdict_and_before_the_evidence() -> None:
    shown = lines(finding(evidence=(Evidence("worked_s", 60.0, "worked for 1m00"),)))

    assert shown[1] == "hung for 6m20: draws 179 W"
    assert shown[2].startswith("to do      See where it waits.")
    assert shown.index("evidence   worked for 1m00") > 2


def test_numbers_with_a_normal_value_are_a_table() -> None:
    power = Evidence("power_w", 179.0, "draws 179 W", 587.0)
    lanes = Evidence("pcie_width", 8, "width: 8 of 16 lanes", 16)
    shown = lines(finding(evidence=(power, lanes)))

    assert [line.split() for line in shown[3:6]] == [
        ["now", "normally"], ["power", "179W", "587W"], ["PCIe", "width", "8", "16"],
    ]  # fmt: skip


def test_labels_longer_than_the_margin_keep_the_columns_of_the_table_apart() -> None:
    errors = Evidence("nvlink_errors_per_minute", 12.0, "12 NVLink errors per minute", 0)
    head, row = lines(finding(evidence=(errors,)))[3:5]

    assert row.split() == ["NVLink", "errors", "per", "minute", "12", "0"]
    assert row.index("12") == head.index("now")


def test_evidence_repeats_neither_the_summary_nor_a_threshold() -> None:
    held = Evidence("waiting_s", 380.0, "waits for 6m20"), Evidence("alarm_after_s", 300.0, "alarm after 5m00")

    assert not any("waits for" in line or "alarm after" in line for line in lines(finding(evidence=held)))


def test_where_a_key_ends_the_process_no_command_is_offered() -> None:
    assert "To end it: press F9" in lines(finding(), key="F9")[2]
    assert "gputop signal SIGTERM --pid 4711" in " ".join(lines(finding()))


def test_the_verdict_ends_at_the_first_mark() -> None:
    assert split_verdict("leak, GPU full in about 57 min: +910MiB")[0] == "leak, GPU full in about 57 min"
    assert split_verdict("stalled for 10m10 (high)")[0] == "stalled for 10m10"
    assert split_verdict("GPU hot") == ("GPU hot", "")
