"""Memory health: ECC, row remaps, retired pages."""

from collections.abc import Sequence
from typing import Any, Final

from gputop.core.doctor.each import about, detail, judged, missing, numbers, of, only, plural, reset, said
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Severity, Verdict, Verdicts, fail, warn
from gputop.core.model.catalogue import (
    ECC_ENABLED,
    ECC_VOLATILE_UNCORRECTED,
    REMAPPED_ROWS_FAILED,
    REMAPPED_ROWS_PENDING,
    REMAPPED_ROWS_UNCORRECTABLE,
    RETIRED_PAGES_DOUBLE,
    RETIRED_PAGES_PENDING,
    RETIRED_PAGES_SINGLE,
)
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu

MOST_REMAPS: Final = 512  # DCGM_LIMIT_MAX_ROW_REMAP_UNCORRECTABLE
MANY_PAGES: Final = 15
MOST_PAGES: Final = 63  # of DCGM's diagnostics
_CONSUMER: Final = ("GeForce", "RTX", "Quadro", "TITAN", "T1000", "T600")


def is_data_centre(gpu: Gpu) -> bool:
    """Say whether a board is one of those that are built for servers, by its name."""
    return bool(gpu.name) and not any(word in gpu.name for word in _CONSUMER)


def ecc_pending(facts: Facts) -> Verdicts:
    """Judge whether ECC is to change at the next reset."""
    answer = detail(facts, lambda held: held.ecc_pending)

    def changed(gpu: Gpu) -> Any:  # noqa: ANN401
        now, then = of(ECC_ENABLED)(gpu), answer(gpu)
        return missing(now, then) or now is not then

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        word = "off" if said(gpus[0], ECC_ENABLED) else "on"
        return warn(
            f"{about(gpus)}: ECC will be {word} after the next reset, and is not yet",
            evidence=(f"current {'on' if said(gpus[0], ECC_ENABLED) else 'off'}, pending {word}",),
            fix=(*reset(gpus), "Or reboot."),
        )

    return judged(facts, changed, bool, verdict, "ECC is as it will be after a reset")


def ecc_off(facts: Facts) -> Verdicts:
    """Judge whether a server board runs without ECC."""

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        told = of(ECC_ENABLED)(gpu)
        return told if is_data_centre(gpu) or isinstance(told, Missing) else Missing.UNSUPPORTED

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: ECC is off, so memory errors go unnoticed",
            evidence=(f"{gpus[0].name}: ECC mode disabled",),
            fix=(f"$ sudo nvidia-smi -i {numbers(gpus)} -e 1", "Then reset the GPU or reboot."),
        )

    return judged(facts, answer, lambda enabled: not enabled, verdict, "ECC is on")


def ecc_errors(facts: Facts) -> Verdicts:
    """Judge whether errors were seen that ECC could not correct."""
    sram = detail(facts, lambda held: held.sram_exceeded)

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: memory errors that ECC could not correct since the driver was loaded",
            evidence=[f"GPU {gpu.index}: {said(gpu, ECC_VOLATILE_UNCORRECTED)} uncorrected (volatile)" for gpu in gpus],
            fix=("Do not trust what ran there.", *reset(gpus), "If it comes again, have the board replaced."),
        )

    def worn(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: errors of the on-chip memory are above the board's limit",
            evidence=("NVML: SRAM error threshold exceeded",),
            fix=(f"Have the {plural(gpus, 'board', 'boards')} replaced.",),
        )

    found = judged(facts, of(ECC_VOLATILE_UNCORRECTED), lambda count: count > 0, verdict, "no uncorrected errors")
    exceeded = judged(facts, sram, bool, worn, "")
    return (*found, *only(exceeded, Severity.FAIL))


def remap_pending(facts: Facts) -> Verdicts:
    """Judge whether a bad row waits to be replaced."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: a bad row of memory waits to be replaced by a spare one",
            evidence=("NVML: row remap pending",),
            fix=reset(gpus),
        )

    return judged(facts, of(REMAPPED_ROWS_PENDING), bool, verdict, "no row waits to be remapped")


def remap_failure(facts: Facts) -> Verdicts:
    """Judge whether a bad row could not be replaced, or very many were."""

    def failed(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: a bad row of memory could not be replaced: no spare one is left",
            evidence=("NVML: row remap failure",),
            fix=(f"Take {plural(gpus, 'it', 'them')} out of service and have the board replaced.",),
        )

    def many(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: very many rows of memory were replaced after errors that could not be corrected",
            evidence=[f"GPU {gpu.index}: {said(gpu, REMAPPED_ROWS_UNCORRECTABLE)} of {MOST_REMAPS}" for gpu in gpus],
            fix=("Have the board replaced.",),
        )

    found = judged(facts, of(REMAPPED_ROWS_FAILED), bool, failed, "no remap has failed")
    worn = judged(facts, of(REMAPPED_ROWS_UNCORRECTABLE), lambda count: count >= MOST_REMAPS, many, "")
    return (*found, *only(worn, Severity.FAIL))


def remap_histogram(facts: Facts) -> Verdicts:
    """Judge whether a bank of memory has no spare rows left."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: a bank of memory has no spare rows left",
            evidence=[
                f"GPU {gpu.index}: {facts.details[gpu.uuid].banks_without_spares} banks without spares" for gpu in gpus
            ],
            fix=("Nothing is broken yet. The next bad row there will be a failure: plan to replace the board.",),
        )

    answer = detail(facts, lambda held: held.banks_without_spares)
    return judged(facts, answer, lambda banks: banks > 0, verdict, "every bank has spare rows")


def retired(facts: Facts) -> Verdicts:
    """Judge retired pages of boards before Ampere."""

    def pages(gpu: Gpu) -> Any:  # noqa: ANN401
        single, double = of(RETIRED_PAGES_SINGLE)(gpu), of(RETIRED_PAGES_DOUBLE)(gpu)
        return missing(single, double) or single + double

    def pending(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: pages of memory wait to be retired",
            evidence=("NVML: page retirement pending",),
            fix=(*reset(gpus), "Or reboot."),
        )

    def many(gpus: Sequence[Gpu]) -> Verdict:
        worst = max(pages(gpu) for gpu in gpus)
        tell = fail if worst >= MOST_PAGES else warn
        return tell(
            f"{about(gpus)}: many pages of memory are retired",
            evidence=[f"GPU {gpu.index}: {pages(gpu)} of at most {MOST_PAGES}" for gpu in gpus],
            fix=("Have the board replaced." if worst >= MOST_PAGES else "Plan to replace the board.",),
        )

    found = judged(facts, of(RETIRED_PAGES_PENDING), bool, pending, "no page waits to be retired")
    worn = judged(facts, pages, lambda count: count >= MANY_PAGES, many, "")
    return (*found, *only(worn, Severity.FAIL, Severity.WARN))
