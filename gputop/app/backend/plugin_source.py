"""Backend of a plugin's source: --source NAME[:ARGUMENT]."""

import os
from collections.abc import Callable
from typing import Final

from gputop.app.backend.backend import Backend, BackendRequest
from gputop.app.errors import NO_DRIVER, BadRequestError, UseCaseError
from gputop.core.plugins.named_source import NamedSource
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt
from gputop.machine.plugins.failures import Failures
from gputop.machine.plugins.sanitize import ForeignSource, SourceError, opened

TABLE: Final = "sources"


class PluginBackend(Backend):
    """Samples of a plugin in place of those of this host. ``source``: NAME[:ARGUMENT]."""

    def __init__(self, request: BackendRequest, source: str) -> None:
        self._request = request
        self._name, _, self._argument = source.partition(":")

    def source(self, *, is_once: bool) -> ForeignSource:
        """Return the source, which has been read once. With ``is_once`` a failure now is an error."""
        name, failures = self._name, Failures(os.environ)
        row = _named(name)
        try:
            source = self._opened(row, lambda reason: failures.failed(TABLE, name, reason))
        except ValueError as error:
            raise BadRequestError(str(error)) from None
        except SourceError as error:
            failures.failed(TABLE, name, str(error))
            raise UseCaseError(NO_DRIVER, f"{error}. To list the plugins: gputop plugins") from None
        if not source.problem:
            failures.worked(TABLE, name)
        elif is_once:
            raise UseCaseError(NO_DRIVER, f"cannot read the source {name}: {source.problem}")
        return source

    def _opened(self, row: NamedSource, notify: Callable[[str], None]) -> ForeignSource:
        request = self._request
        source = ForeignSource(
            row, opened(row, self._argument), selection=request.selection, notify=notify, reveal=request.reveal
        )
        source.interval_s = request.every_s
        source.open()
        return source


def _named(name: str) -> NamedSource:
    """Return the row of this name."""
    from gputop.core.plugins.tables import SOURCES

    for row in SOURCES:
        if row.key == name:
            return row
    known = [row.key for row in SOURCES]
    near = nearest(name, known)
    there = f"Available: {', '.join(known)}" if known else "No plugin has a source: gputop plugins"
    raise BadRequestError(f"no such source: {excerpt(name)}.{f' Did you mean {near}?' if near else ''} {there}")
