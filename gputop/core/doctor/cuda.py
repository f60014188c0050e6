"""Check of the installed torch against the driver."""

from gputop.core.doctor.each import NO_DRIVER, unread
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Verdicts, fail, info, nothing, ok, unknown, warn


def torch(facts: Facts) -> Verdicts:
    """Judge whether the installed torch fits the driver."""
    if facts.torches is None:
        return unread(facts, "installed packages")
    if not facts.torches:
        return nothing("gputop found no installed torch")
    newest = _pair(facts.driver.cuda_version)
    if newest is None:
        return unknown(f"torch is installed, but {NO_DRIVER}")
    found = []
    for one in facts.torches:
        built = _pair(one.cuda)
        place = (f"torch {one.version} in {one.path}", f"the driver supports CUDA {facts.driver.cuda_version}")
        if built is None:
            found.append(info("an installed torch has no CUDA support, so it uses no GPU", evidence=place[:1]))
        elif built[0] > newest[0]:
            found.append(
                fail(
                    f"the driver is too old for the installed torch, which was built for CUDA {one.cuda}",
                    evidence=place,
                    fix=("Update the driver, or install a torch that fits it:", _wheel(newest)),
                )
            )
        elif built > newest:
            found.append(
                warn(
                    f"torch was built for CUDA {one.cuda}, newer than the driver's",
                    evidence=(*place, "same major version: most programs work, but code compiled at run time may fail"),
                    fix=(
                        "If a program fails with cudaErrorUnsupportedPtxVersion: update the driver, or",
                        _wheel(newest),
                    ),
                )
            )
    return found or ok(f"every torch fits CUDA {facts.driver.cuda_version}")


def _pair(version: str | None) -> tuple[int, int] | None:
    try:
        major, minor = (version or "").split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return None


def _wheel(newest: tuple[int, int]) -> str:
    return f"$ pip install torch --index-url https://download.pytorch.org/whl/cu{newest[0]}{newest[1]}"
