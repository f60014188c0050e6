"""The table of actions names controllers and methods that exist."""

from inspect import signature
from typing import Any, cast

from app_driver import FakeLink
from textual import actions

from gputop.core.protocol.command import ReadNow
from gputop.core.protocol.player import Player
from gputop.ui.app import GputopApp
from gputop.ui.input.actions import Place
from gputop.ui.input.replay_actions import EVERY
from gputop.ui.options import ViewOptions


def test_every_action_names_a_controller_and_a_method_that_takes_its_arguments() -> None:
    app = GputopApp(FakeLink(), ViewOptions(player=cast("Any", FakeLink())))

    for action in (one for one in EVERY if one.place in {Place.MAIN, Place.REPLAY}):
        controller, name, arguments = actions.parse(action.run.format(key="1"))
        owner = Player if controller == "player" else getattr(app.main.controllers, controller) if controller else app
        method = getattr(owner, name if controller else f"action_{name}")
        signature(method).bind(*([owner] if owner is Player else []), *arguments)


def test_an_action_of_no_controller_is_left_to_textual() -> None:
    link = FakeLink()
    app = GputopApp(link, ViewOptions())

    assert not app.main.controllers.run("quit")
    assert not app.main.controllers.run("player.play")
    assert app.main.controllers.run("view.read_now")
    assert link.sent == [ReadNow()]
