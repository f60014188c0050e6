"""Checks of GPU memory: ECC, row remaps, retired pages."""

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
_UNKNOWN_BRAND: Final = 0  # nvmlBrandType_t
_DATA_CENTRE_BRANDS: Final = frozenset({2, 9, 14})  # Tesla, vGPU for compute, NVIDIA


def is_data_centre(facts: Facts, gpu: Gpu) -> bool:
    """Say whether a GPU is a data-centre board: by its brand, or by its name if the driver reports no brand."""
    details = facts.details.get(gpu.uuid)
    if details and isinstance(details.brand, int) and details.brand != _UNKNOWN_BRAND:
        return details.brand in _DATA_CENTRE_BRANDS
    return bool(gpu.name) and not any(word in gpu.name for word in _CONSUMER)


def ecc_pending(facts: Facts) -> Verdicts:
    """Judge whether an ECC mode change waits for a reset."""
    answer = detail(facts, lambda details: details.ecc_pending)

    def changed(gpu: Gpu) -> Any:  # noqa: ANN401
        now, then = of(ECC_ENABLED)(gpu), answer(gpu)
        return missing(now, then) or now is not then

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        word = "off" if said(gpus[0], ECC_ENABLED) else "on"
        return warn(
            f"{about(gpus)}: ECC turns {word} only after the next reset",
            evidence=(f"current {'on' if said(gpus[0], ECC_ENABLED) else 'off'}, pending {word}",),
            fix=(*reset(gpus), "Or reboot."),
        )

    return judged(facts, changed, bool, verdict, "no ECC mode change is pending")


def ecc_off(facts: Facts) -> Verdicts:
    """Judge whether a data-centre board runs without ECC."""

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        enabled = of(ECC_ENABLED)(gpu)
        return enabled if is_data_centre(facts, gpu) or isinstance(enabled, Missing) else Missing.UNSUPPORTED

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: ECC is off, so memory errors go unnoticed",
            evidence=(f"{gpus[0].name}: ECC mode disabled",),
            fix=(f"$ sudo nvidia-smi -i {numbers(gpus)} -e 1", "Then reset the GPU or reboot."),
        )

    return judged(facts, answer, lambda enabled: not enabled, verdict, "ECC is on")


def ecc_errors(facts: Facts) -> Verdicts:
    """Judge whether uncorrectable memory errors occurred."""
    sram = detail(facts, lambda details: details.sram_exceeded)

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: uncorrectable memory (ECC) errors since the driver was loaded",
            evidence=[f"GPU {gpu.index}: {said(gpu, ECC_VOLATILE_UNCORRECTED)} uncorrected (volatile)" for gpu in gpus],
            fix=(
                f"Do not trust results computed on {about(gpus)}.",
                *reset(gpus),
                "If errors return, have the board replaced.",
            ),
        )

    def worn(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: on-chip memory errors exceed the board's limit",
            evidence=("NVML: SRAM error threshold exceeded",),
            fix=(f"Have the {plural(gpus, 'board', 'boards')} replaced.",),
        )

    found = judged(facts, of(ECC_VOLATILE_UNCORRECTED), lambda count: count > 0, verdict, "no uncorrected errors")
    exceeded = judged(facts, sram, bool, worn, "")
    return (*found, *only(exceeded, Severity.FAIL))


def remap_pending(facts: Facts) -> Verdicts:
    """Judge whether a memory row remap waits for a reset."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: memory row remap pending until the next reset",
            evidence=("NVML: row remap pending",),
            fix=reset(gpus),
        )

    return judged(facts, of(REMAPPED_ROWS_PENDING), bool, verdict, "no row remap is pending")


def repair_pending(facts: Facts) -> Verdicts:
    """Judge whether the repair of a memory channel or of a TPC waits for a reset."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: repair of faulty hardware pending until the next reset",
            evidence=("NVML: memory channel or TPC repair pending",),
            fix=reset(gpus),
        )

    answer = detail(facts, lambda details: details.repair_pending)
    return judged(facts, answer, bool, verdict, "no repair is pending")


def remap_failure(facts: Facts) -> Verdicts:
    """Judge whether a row remap failed, or very many rows are remapped."""

    def failed(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: memory row remap failed: no spare row is left",
            evidence=("NVML: row remap failure",),
            fix=(f"Take {about(gpus)} out of service and have the {plural(gpus, 'board', 'boards')} replaced.",),
        )

    def many(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: very many memory rows remapped after uncorrectable errors",
            evidence=[f"GPU {gpu.index}: {said(gpu, REMAPPED_ROWS_UNCORRECTABLE)} of {MOST_REMAPS}" for gpu in gpus],
            fix=("Have the board replaced.",),
        )

    found = judged(facts, of(REMAPPED_ROWS_FAILED), bool, failed, "no row remap has failed")
    worn = judged(facts, of(REMAPPED_ROWS_UNCORRECTABLE), lambda count: count >= MOST_REMAPS, many, "")
    return (*found, *only(worn, Severity.FAIL))


def remap_histogram(facts: Facts) -> Verdicts:
    """Judge whether a memory bank has no spare rows left."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: a memory bank has no spare rows left",
            evidence=[
                f"GPU {gpu.index}: {facts.details[gpu.uuid].banks_without_spares} banks without spares" for gpu in gpus
            ],
            fix=("Plan to replace the board: the next bad row in this bank cannot be remapped.",),
        )

    answer = detail(facts, lambda details: details.banks_without_spares)
    return judged(facts, answer, lambda banks: banks > 0, verdict, "every memory bank has spare rows")


def retired(facts: Facts) -> Verdicts:
    """Judge the retired pages of boards before Ampere."""

    def pages(gpu: Gpu) -> Any:  # noqa: ANN401
        single, double = of(RETIRED_PAGES_SINGLE)(gpu), of(RETIRED_PAGES_DOUBLE)(gpu)
        return missing(single, double) or single + double

    def pending(gpus: Sequence[Gpu]) -> Verdict:
        return fail(
            f"{about(gpus)}: memory page retirement pending until the next reset",
            evidence=("NVML: page retirement pending",),
            fix=(*reset(gpus), "Or reboot."),
        )

    def many(gpus: Sequence[Gpu]) -> Verdict:
        worst = max(pages(gpu) for gpu in gpus)
        build = fail if worst >= MOST_PAGES else warn
        return build(
            f"{about(gpus)}: many memory pages are retired",
            evidence=[f"GPU {gpu.index}: {pages(gpu)} of at most {MOST_PAGES}" for gpu in gpus],
            fix=("Have the board replaced." if worst >= MOST_PAGES else "Plan to replace the board.",),
        )

    found = judged(facts, of(RETIRED_PAGES_PENDING), bool, pending, "no page retirement is pending")
    worn = judged(facts, pages, lambda count: count >= MANY_PAGES, many, "")
    return (*found, *only(worn, Severity.FAIL, Severity.WARN))
