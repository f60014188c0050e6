"""The fleet on a screen."""

from gputop.app.errors import OK
from gputop.app.fleet.readers import FleetReader, reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.app.fleet.visit import visit, visit_simulated
from gputop.app.monitoring.screen import forget_orders_of_another_user, speaks_unicode, take_terminal
from gputop.app.settings.settings_file import settled, written
from gputop.app.terminal import warn
from gputop.core.fleet.model import FleetHost
from gputop.core.query.filter import Filter
from gputop.lazy_imports import collect_seldom, lean
from gputop.machine.files.places import config_file


def show_screen(request: FleetRequest, where: tuple[Filter[FleetHost], ...], sort: str, group_sort: str) -> int:
    """Show the fleet until the user quits; return the exit status."""
    show_reader(reader_of(request), request, where, (sort, group_sort))
    return OK


def show_reader(
    reader: FleetReader,
    request: FleetRequest,
    where: tuple[Filter[FleetHost], ...],
    sorts: tuple[str, str],
    *,
    opens_hosts: bool = False,
) -> str:
    """Show what a reader reads until the user quits; return the host that the user chose, or an empty text.

    ``sorts``: the columns that order hosts and groups. ``opens_hosts``: see `FleetOptions`.
    """
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
        sort=sorts[0],
        by=request.by,
        group_sort=sorts[1],
        labels=request.asked_labels,
        is_reversed=request.is_reversed,
        interval_s=request.interval_s,
        opens_hosts=opens_hosts,
    )
    take_terminal()
    collect_seldom()  # after the last import that stays loaded
    app = FleetApp(reader, options, visit_simulated if request.is_demo else visit)
    app.run(mouse=True)
    return app.chosen
