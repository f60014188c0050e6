"""Whether the installed torch fits the driver."""

from gputop.core.doctor.each import NO_DRIVER, unread
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Verdicts, fail, info, nothing, ok, unknown, warn


def torch(facts: Facts) -> Verdicts:
    """Judge whether the installed torch fits the driver."""
    if facts.torches is None:
        return unread(facts, "installed packages")
    if not facts.torches:
        return nothing("no torch is installed where gputop looks")
    newest = _pair(facts.driver.cuda_version)
    if newest is None:
        return unknown(f"torch is there, but {NO_DRIVER}")
    found = []
    for one in facts.torches:
        built = _pair(one.cuda)
        place = (f"torch {one.version} in {one.path}", f"the driver supports CUDA {facts.driver.cuda_version}")
        if built is None:
            found.append(info("a torch without CUDA is installed: it uses no GPU", evidence=place[:1]))
        elif built[0] > newest[0]:
            found.append(
                fail(
                    f"torch was built for CUDA {one.cuda}, and the driver is too old for it",
                    evidence=place,
                    fix=("Update the driver, or install the torch that fits it:", _wheel(newest)),
                )
            )
        elif built > newest:
            found.append(
                warn(
                    f"torch was built for CUDA {one.cuda}, newer than the driver's",
                    evidence=(*place, "one major version: most works, what is compiled while it runs may not"),
                    fix=(
                        "If something fails with cudaErrorUnsupportedPtxVersion: update the driver, or",
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
