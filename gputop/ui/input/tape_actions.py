"""The keys of a tape deck, a row each. While a recording is played they come before those of the main screen."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from msgspec.structs import replace

from gputop.core.settings.settings import Settings
from gputop.ui.input.actions import ACTIONS, Action, Place
from gputop.ui.input.keymap import Keymap, keymap

TAPE: Final = "While a recording is played"
_MEANINGLESS: Final = frozenset({"pause", "record", "read-now", "faster", "slower"})  # there the tape has its own


_Row = partial(Action, group=TAPE, place=Place.TAPE)

TAPE_ACTIONS: Final = (
    _Row(
        id="tape-play", keys=("space", "Z"), run="player.play", label="Play or hold", footer="Play",
        help="At the end it begins again.",
    ),
    _Row(
        id="tape-step-back", keys=("left_square_bracket",), run="player.step(-1)", label="A frame back",
        help="And hold.",
    ),
    _Row(
        id="tape-step", keys=("right_square_bracket",), run="player.step(1)", label="A frame on", footer="Step",
        help="And hold.",
    ),
    _Row(
        id="tape-back", keys=("less_than_sign", "shift+left"), run="player.skip(-10)", label="10 s back",
        help="One frame at least.",
    ),
    _Row(
        id="tape-on", keys=("greater_than_sign", "shift+right"), run="player.skip(10)", label="10 s on",
        footer="10s", help="One frame at least.",
    ),
    _Row(
        id="tape-back-minute", keys=("left_parenthesis", "ctrl+left"), run="player.skip(-60)",
        label="A minute back", help="One frame at least.",
    ),
    _Row(
        id="tape-on-minute", keys=("right_parenthesis", "ctrl+right"), run="player.skip(60)",
        label="A minute on", footer="1min", help="One frame at least.",
    ),
    _Row(
        id="tape-first", keys=("ctrl+home",), run="player.go_to_end(0)", label="To the beginning",
        help="Of the recording.",
    ),
    _Row(id="tape-last", keys=("ctrl+end",), run="player.go_to_end(1)", label="To the end", help="Of the recording."),
    _Row(
        id="tape-go", keys=("g",), run="player.choose_place", label="Go to…", footer="Go to",
        help="12:30, 1:02:03, 50%, +30s, -5m, or @14:05 by the clock.",
    ),
    _Row(
        id="tape-find", keys=("exclamation_mark",), run="player.find", label="Next finding", footer="Finding",
        help="One that is not shown yet.",
    ),
    _Row(
        id="tape-slower", keys=("minus",), run="player.change_speed(-1)", label="Slower", footer="Slower",
        help="Down to 0.25x. In tree and groups - folds.",
    ),
    _Row(
        id="tape-faster", keys=("plus",), run="player.change_speed(1)", label="Faster", footer="Faster",
        help="Up to 32x, and then as fast as it can be read. In tree and groups + unfolds.",
    ),
    _Row(id="tape-loop", keys=("L",), run="player.loop", label="Loop", help="Begin again at the end."),
)  # fmt: skip
EVERY: Final = (*ACTIONS, *TAPE_ACTIONS)


def keys_that_hold(settings: Settings, *, is_replay: bool) -> Keymap:
    """Return the keys of a screen on this machine, or on a recording."""
    held = keymap(settings.keymap, settings.keys, EVERY)
    actions = _on_tape(held.actions) if is_replay else (each for each in held.actions if each.place is not Place.TAPE)
    return replace(held, actions=tuple(actions))


def _on_tape(actions: Iterable[Action]) -> list[Action]:
    """Return the deck's actions first, as those of the main screen, and the others without the keys that they lose."""
    actions = tuple(actions)
    deck = [replace(each, place=Place.MAIN) for each in actions if each.place is Place.TAPE]
    taken = {key for each in deck for key in each.keys}
    others = [each for each in actions if each.place is not Place.TAPE and each.id not in _MEANINGLESS]
    return [*deck, *(_without(each, taken) if each.place is Place.MAIN else each for each in others)]


def _without(action: Action, taken: set[str]) -> Action:
    return replace(action, keys=tuple(key for key in action.keys if key not in taken))
