"""The actions of a recording that plays, and the keys in use: its keys win over those of the main screen."""

from collections.abc import Iterable
from functools import partial
from typing import Final

from msgspec.structs import replace

from gputop.core.settings.settings import Settings
from gputop.ui.input.actions import ACTIONS, Action, Place
from gputop.ui.input.keymap import Keymap, keymap
from gputop.ui.options import ViewOptions

REPLAY: Final = "While a recording plays"
_ONLY_LIVE: Final = frozenset({"pause", "record", "notify", "read-now", "faster", "slower"})  # a recording has its own
_ONLY_REMOTE: Final = frozenset({"log-in"})
_ONLY_SEVERAL: Final = frozenset({"host-next", "host-before"})

_Row = partial(Action, group=REPLAY, place=Place.REPLAY)

REPLAY_ACTIONS: Final = (
    _Row(
        id="replay-play", keys=("space", "Z"), run="player.play", label="Play / pause", footer="Play",
        help="At the end, start again.",
    ),
    _Row(
        id="replay-step-back", keys=("left_square_bracket",), run="player.step(-1)", label="Previous frame",
        help="Go back one frame and pause.",
    ),
    _Row(
        id="replay-step", keys=("right_square_bracket",), run="player.step(1)", label="Next frame", footer="Step",
        help="Go forward one frame and pause.",
    ),
    _Row(
        id="replay-back", keys=("less_than_sign", "shift+left"), run="player.move(-10)", label="Back 10 s",
        help="Go back 10 s, or at least one frame.",
    ),
    _Row(
        id="replay-forward", keys=("greater_than_sign", "shift+right"), run="player.move(10)", label="Forward 10 s",
        footer="10s", help="Go forward 10 s, or at least one frame.",
    ),
    _Row(
        id="replay-back-minute", keys=("left_parenthesis", "ctrl+left"), run="player.move(-60)",
        label="Back 1 minute", help="Go back one minute, or at least one frame.",
    ),
    _Row(
        id="replay-forward-minute", keys=("right_parenthesis", "ctrl+right"), run="player.move(60)",
        label="Forward 1 minute", footer="1min", help="Go forward one minute, or at least one frame.",
    ),
    _Row(
        id="replay-first", keys=("ctrl+home",), run="replay.go_to_end(0)", label="To the start",
        help="Go to the start of the recording.",
    ),
    _Row(id="replay-last", keys=("ctrl+end",), run="replay.go_to_end(1)", label="To the end",
    help="Go to the end of the recording."),
    _Row(
        id="replay-go", keys=("g",), run="replay.choose_place", label="Go to…", footer="Go to",
        help="Enter a time: 12:30, 1:02:03, 50%, +30s, -5m, or @14:05 for a time of day.",
    ),
    _Row(
        id="replay-find", keys=("exclamation_mark",), run="player.find", label="Next finding", footer="Finding",
        help="Go to the next frame with a new finding.",
    ),
    _Row(
        id="replay-slower", keys=("minus",), run="replay.change_speed(-1)", label="Slower", footer="Slower",
        help="Play slower, down to 0.25x. In a tree or in groups - collapses.",
    ),
    _Row(
        id="replay-faster", keys=("plus",), run="replay.change_speed(1)", label="Faster", footer="Faster",
        help="Play faster, up to 32x, then as fast as the file can be read. In a tree or in groups + expands.",
    ),
    _Row(id="replay-loop", keys=("L",), run="player.loop", label="Loop", help="Start again at the end, or stop there."),
)  # fmt: skip
EVERY: Final = (*ACTIONS, *REPLAY_ACTIONS)


def active_keys(settings: Settings, options: ViewOptions) -> Keymap:
    """Return the keys in use, on this machine, on another one or on a recording, and why some are off."""
    keys = keymap(settings.keymap, settings.keys, EVERY)
    absent = frozenset() if options.remote else _ONLY_REMOTE
    absent |= _ONLY_SEVERAL if options.go_to_host is None else frozenset()
    here = [_judged(each, options) for each in keys.actions if each.id not in absent]
    is_replay = options.player is not None
    actions = _in_replay(here) if is_replay else (each for each in here if each.place is not Place.REPLAY)
    return replace(keys, actions=tuple(actions))


def _judged(action: Action, options: ViewOptions) -> Action:
    why = options.refusal if action.changes_machine else ""
    return replace(action, off=why or options.lacks.get(action.sends, ""))


def _in_replay(actions: Iterable[Action]) -> list[Action]:
    """Return the actions of the recording first, and the others without the keys that those take."""
    actions = tuple(actions)
    playing = [replace(each, place=Place.MAIN) for each in actions if each.place is Place.REPLAY]
    taken = {key for each in playing for key in each.keys}
    others = [each for each in actions if each.place is not Place.REPLAY and each.id not in _ONLY_LIVE]
    return [*playing, *(_without(each, taken) if each.place is Place.MAIN else each for each in others)]


def _without(action: Action, taken: set[str]) -> Action:
    return replace(action, keys=tuple(key for key in action.keys if key not in taken))
