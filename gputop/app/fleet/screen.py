"""The fleet on a screen."""

import sys

from gputop.app.errors import OK
from gputop.app.fleet.readers import reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.app.monitoring.screen import forget_orders_of_another_user, speaks_unicode
from gputop.app.settings.settings_file import settled, written
from gputop.app.terminal import warn
from gputop.core.fleet.model import FleetHost
from gputop.core.query.filter import Filter
from gputop.lazy_imports import lean
from gputop.machine.files.places import config_file


def show_screen(request: FleetRequest, where: tuple[Filter[FleetHost], ...], sort: str, group_sort: str) -> int:
    """Show the fleet until the user quits; return the exit status."""
    reader = reader_of(request)
    forget_orders_of_another_user()
    lean("textual.app")
    from gputop.ui.fleet_app import FleetApp
    from gputop.ui.input.keymap import keymap
    from gputop.ui.input.replay_actions import EVERY
    from gputop.ui.screens.fleet.options import FleetOptions

    found = settled(actions={action.id: action.place for action in EVERY}, said=written(config_file()))
    for problem in found.problems:
        warn(problem)
    settings = found.settings
    options = FleetOptions(
        keys=keymap(settings.keymap, settings.keys),
        theme=settings.theme,
        is_ascii=settings.ascii or not speaks_unicode(),
        where=where,
        sort=sort,
        by=request.by,
        group_sort=group_sort,
        labels=request.asked_labels,
        is_reversed=request.is_reversed,
        interval_s=request.interval_s,
    )
    if not sys.stderr.isatty():
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc] # Textual draws there
    FleetApp(reader, options).run(mouse=True)
    return OK
