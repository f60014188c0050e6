"""A probe as text and as JUnit."""

import xml.etree.ElementTree as ET

from gputop.core.probing.result import DeviceResult, Figure, ProbeReport, TestFinding, TestResult, TestStatus
from gputop.core.probing.wording import figures_text
from gputop.report.grid import Style
from gputop.report.junit import junit
from gputop.report.probe import DeviceProgress, progress, report

POWER = TestFinding(code="soak.power", status=TestStatus.WARN, text="80%")
WRONG = TestFinding(
    code="memory.errors", status=TestStatus.FAIL, text="2 words are wrong \x1b[31m<&>",
    data={"bits": {"37": 2}, "flips": {"1": 2}, "words": 2},
)  # fmt: skip
TESTS = (
    TestResult(
        key="gemm.bf16", status=TestStatus.PASS,
        figures=(Figure(name="tflops", value=781.25, unit="TFLOP/s", ratio=0.995, sibling_ratio=1.0),),
    ),
    TestResult(key="gemm.fp8", status=TestStatus.SKIP, reason="this GPU does not have fp8"),
    TestResult(key="memory.random", status=TestStatus.FAIL, findings=(WRONG,)),
    TestResult(key="soak", status=TestStatus.WARN, findings=(POWER,)),
    TestResult(key="ops", status=TestStatus.ERROR, reason="out of memory"),
    TestResult(key="vote.fp32", status=TestStatus.INCONCLUSIVE, reason="two disagree"),
)  # fmt: skip
DEVICE = DeviceResult(
    label="GPU 0", uuid="GPU-1", name="NVIDIA H200", kind="cuda", status=TestStatus.FAIL, torch="2.13", tests=TESTS
)
REFUSED = DeviceResult(
    label="GPU 1", uuid="GPU-2", name="NVIDIA H200", kind="cuda", status=TestStatus.REFUSED, reason="in use\npid 7, ann"
)
FOUND = ProbeReport(
    started_s=0, duration_s=61, host="box", driver="570", probe="cuda", level="standard", status=TestStatus.FAIL,
    exit_status=2, devices=(DEVICE, REFUSED),
)  # fmt: skip


def test_figures_reasons_histograms_and_who_is_in_the_way_are_told() -> None:
    lines = report(FOUND, {"gemm.bf16": "?"}, None, Style.PLAIN).splitlines()

    assert lines[0] == "✗ FAIL     GPU 0  NVIDIA H200  GPU-1  torch 2.13"
    assert lines[1] == "✓ pass     gemm.bf16      tflops 781.2 TFLOP/s (100% of expected, 100% of siblings)"
    assert lines[2] == "– skipped  gemm.fp8       this GPU does not have fp8"
    assert "        wrong words by flipped bit:  37: 2" in lines
    assert "✗ ERROR    ops            out of memory" in lines
    assert "    pid 7, ann" in lines
    assert lines[-1] == "✗ FAIL  gputop probe, level standard, 1m01, exit status 2"


def test_text_from_outside_steers_no_terminal() -> None:
    assert "\x1b" not in report(FOUND, {}, None, Style.PLAIN)


def test_lines_are_no_wider_than_the_terminal() -> None:
    assert max(map(len, report(FOUND, {}, 60, Style.PLAIN).splitlines())) <= 60 + 11


def test_only_fail_and_error_are_failures_and_what_was_not_tested_is_skipped() -> None:
    suite, refused = ET.fromstring(junit(FOUND))  # noqa: S314 - our own

    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["6", "1", "1", "2"]
    assert [refused.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["1", "0", "0", "1"]
    assert "<&>" in (suite.findtext(".//failure") or "")


def test_a_warning_is_a_failure_of_a_strict_run() -> None:
    assert ET.fromstring(junit(FOUND, is_strict=True))[0].get("failures") == "2"  # noqa: S314 - our own


def test_many_pairs_are_told_as_a_range() -> None:
    pairs = tuple(Figure(name=f"peer.0-{n}", value=2.5e11 + n * 1e9, unit="B/s") for n in range(1, 8))
    few = (Figure(name="rank.0", value=1e9, unit="B/s"), Figure(name="rank.1", value=2e9, unit="B/s"))

    assert figures_text((*pairs, *few)) == "7 peer, 251 GB/s to 257 GB/s, rank.0 1 GB/s, rank.1 2 GB/s"


def test_progress_says_how_far_and_how_long() -> None:
    line = progress([DeviceProgress(label="GPU 0", test="soak", done=0.5, left_s=61, text="700 TFLOP/s")], 200)[0]

    assert line == "GPU 0  ██████████··········  50%  1m01 left  soak  700 TFLOP/s"


def test_on_a_narrow_terminal_how_fast_it_goes_is_still_there() -> None:
    device = DeviceProgress(
        label="GPU 0", test="memory.inversions", done=0.5, left_s=61, text="1.214 TB/s, inverted", heat="71°C 689W"
    )

    assert "memory.inversions  1.214 TB/s" in progress([device], 80)[0]
