"""Runbooks: the page of the documents that explains a finding."""

from functools import cache
from typing import Final

from gputop.core.detectors.registry import detectors

FINDINGS: Final = "findings.md"


def runbook(folder: str, code: str) -> str:
    """Return the link to what explains a code; empty for a code of a plugin. ``folder``: of the documents, a URL."""
    section = _sections().get(code)
    return "" if section is None else f"{folder.rstrip('/') or 'docs'}/{FINDINGS}#{section}"


@cache
def _sections() -> dict[str, str]:
    """Return the heading of each code of gputop's own detectors."""
    own = (kind for kind, make in detectors() if make.__module__.startswith("gputop."))
    return {code: kind.name for kind in own for code in kind.codes}
