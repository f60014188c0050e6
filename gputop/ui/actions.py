"""THE KEYS, a row each: bindings, footer, palette and help page all follow from this table."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from textual.binding import Binding


class Action(Struct, frozen=True, kw_only=True):
    """What a key does. ``run``: Textual's action of app or screen; ``{key}`` in it stands for the key that was pressed.

    ``footer``: a short label, where the footer shows it. ``in_palette``: whether it can be run by name.
    ``changes_machine``: whether it is refused where gputop is read-only.
    """

    id: str
    keys: tuple[str, ...]
    run: str
    label: str
    help: str
    group: str
    footer: str = ""
    in_palette: bool = True
    changes_machine: bool = False


GENERAL, FIND, VIEW, SORT, MOVE = "General", "Find", "What is shown", "Sort", "Move"
ACT: Final = "Act on processes"
READ_ONLY: Final = "read-only: gputop was started with --read-only"

ACTIONS: Final = (
    Action(
        id="quit", keys=("q", "f10", "ctrl+c"), run="quit", label="Quit", group=GENERAL, footer="Quit",
        help="Leave at once. Ctrl-C never signals a process.",
    ),
    Action(
        id="help", keys=("f1", "h", "question_mark"), run="help", label="Help", group=GENERAL, footer="Help",
        help="This page.",
    ),
    Action(
        id="setup", keys=("f2", "S", "C"), run="screen.setup", label="Set-up", group=GENERAL, footer="Setup",
        help="Columns and their order, sort, theme, panels, keys; kept in the configuration.",
    ),
    Action(
        id="sort-chord", keys=("o",), run="screen.sort_chord", label="Sort by…", group=SORT,
        help="Then a letter: n GPU, p PID, u user, g GPU memory, s SM, b memory bandwidth, c CPU, m host memory, "
        "t time. A capital turns the order round.", in_palette=False,
    ),
    Action(
        id="search", keys=("f3", "slash"), run="screen.search", label="Search", group=FIND, footer="Search",
        help="Go to the next process with this text in command, user or pid. F3 again: to the next.",
    ),
    Action(
        id="search-next", keys=("n",), run="screen.search_next(1)", label="Next match", group=FIND,
        help="Of the last search.",
    ),
    Action(
        id="search-before", keys=("alt+n", "shift+f3", "f15"), run="screen.search_next(-1)", label="Match before",
        group=FIND, help="Of the last search.",
    ),
    Action(
        id="filter", keys=("f4", "backslash", "f"), run="screen.filter", label="Filter", group=FIND, footer="Filter",
        help="Show only what matches, as one types: user:ann gpu_mem>10GiB sm<5 cmd~vllm not type:G.",
    ),
    Action(
        id="user", keys=("u",), run="screen.user", label="One user", group=FIND, help="Choose whose processes.",
    ),
    Action(
        id="mine", keys=("H",), run="screen.mine", label="Only mine", group=FIND, help="Only your processes, or all.",
    ),
    Action(
        id="tree", keys=("f5", "t"), run="screen.tree", label="Tree", group=VIEW, footer="Tree",
        help="Processes below those that started them, or as a list. + and - unfold and fold.",
    ),
    Action(
        id="signal", keys=("f9", "k"), run="screen.signal", label="Send a signal…", group=ACT, footer="Signal",
        help="Choose from all signals, and see who gets it: the tagged ones, or the one under the cursor.",
        changes_machine=True,
    ),
    Action(
        id="view-next", keys=("v",), run="screen.view(1)", label="Next view", group=VIEW, footer="View",
        help="Processes, tree, by job, by user, by container, by GPU: groups have sums.",
    ),
    Action(
        id="view-before", keys=("V",), run="screen.view(-1)", label="View before", group=VIEW,
        help="The same, backwards.",
    ),
    Action(
        id="sort-menu", keys=("f6", "greater_than_sign", "less_than_sign"), run="screen.sort_menu",
        label="Sort menu", group=SORT, footer="Sort", help="Choose the column.",
    ),
    Action(
        id="kill", keys=("K",), run="screen.signal(1)", label="SIGKILL…", group=ACT,
        help="Asks first; only y sends it.", changes_machine=True,
    ),
    Action(
        id="tag", keys=("space",), run="screen.tag", label="Tag", group=ACT, footer="Tag",
        help="Tag a process for what follows, and go on to the next.",
    ),
    Action(
        id="tag-job", keys=("c",), run="screen.tag_job", label="Tag the job", group=ACT,
        help="The launcher and all its workers; without a job, all that it started.",
    ),
    Action(
        id="untag", keys=("U",), run="screen.untag", label="Untag all", group=ACT, help="So does Esc.",
    ),
    Action(
        id="nice-down", keys=("f7", "right_square_bracket"), run="screen.nice(-1)", label="Raise the priority",
        group=ACT, help="Nice value -1; needs root.", footer="Nice-", changes_machine=True,
    ),
    Action(
        id="nice-up", keys=("f8", "left_square_bracket"), run="screen.nice(1)", label="Lower the priority",
        group=ACT, help="Nice value +1.", footer="Nice+", changes_machine=True,
    ),
    Action(
        id="renice", keys=("r",), run="screen.renice", label="Nice value…", group=ACT,
        help="Asks for the value.", changes_machine=True,
    ),
    Action(
        id="io-class", keys=("d",), run="screen.io_class", label="I/O class…", group=ACT,
        help="How the kernel serves disks to a process (htop has i).", changes_machine=True,
    ),
    Action(
        id="affinity", keys=("a",), run="screen.affinity", label="CPU affinity…", group=ACT,
        help="On which CPUs a process may run.", changes_machine=True,
    ),
    Action(
        id="process", keys=("enter",), run="process", label="Process in detail", group=VIEW,
        help="All of the selected process, with plots since gputop saw it. None selected: the GPU.",
    ),
    Action(
        id="environment", keys=("e",), run="process('environment')", label="Environment", group=VIEW,
        help="Of the process; secrets are masked until asked for.",
    ),
    Action(
        id="open-files", keys=("l",), run="process('files')", label="Open files", group=VIEW, help="Of the process.",
    ),
    Action(
        id="devices", keys=("x",), run="process('devices')", label="GPU device files", group=VIEW,
        help="Which the process holds open.",
    ),
    Action(
        id="command-line", keys=("w",), run="process('command')", label="Command line", group=VIEW,
        help="Of the process, in full.",
    ),
    Action(
        id="detail", keys=("i",), run="detail", label="GPU in detail", group=VIEW, footer="Detail",
        help="Every metric of the GPU that is looked at, with the reason where there is no value.",
    ),
    Action(
        id="density", keys=("g",), run="density", label="GPU panel size", group=VIEW, footer="Size",
        help="GPUs as they fit, in one line each, or as cards with plots.",
    ),
    Action(
        id="pause", keys=("Z",), run="pause", label="Pause", group=VIEW, footer="Pause",
        help="Hold the picture; readings go on.",
    ),
    Action(
        id="palette", keys=("colon", "ctrl+p"), run="command_palette", label="Palette", group=GENERAL,
        footer="Palette", help="Find what can be done by its name.", in_palette=False,
    ),
    Action(
        id="slower", keys=("plus",), run="interval(1)", label="Longer interval", group=GENERAL,
        help="Read less often: 0.25 to 10 s. In tree and groups + and - unfold and fold.", footer="Slower",
    ),
    Action(
        id="faster", keys=("minus",), run="interval(-1)", label="Shorter interval", group=GENERAL,
        help="Read more often.", footer="Faster",
    ),
    Action(
        id="meters", keys=("m",), run="screen.meters", label="Host panel", group=VIEW, footer="Host",
        help="Show or hide the machine around the GPUs.",
    ),
    Action(
        id="invert", keys=("I",), run="screen.invert", label="Invert the order", group=SORT, footer="Invert",
        help="Sort the other way round. So does a click on the title.",
    ),
    Action(
        id="focus-gpu", keys=tuple("0123456789"), run="focus_gpu({key})", label="Only this GPU", group=VIEW,
        help="Look at one GPU and its processes; the same key again, or Esc, shows all.", in_palette=False,
    ),
    Action(
        id="back", keys=("escape",), run="step_back", label="Back", group=GENERAL,
        help="One step back: chord, cursor, search, filter, GPU. Never quits.", in_palette=False,
    ),
    Action(
        id="suspend", keys=("ctrl+z",), run="suspend_process", label="To the background", group=GENERAL,
        help="As any program; the shell's fg brings it back.", in_palette=False,
    ),
    Action(
        id="redraw", keys=("ctrl+l",), run="redraw", label="Redraw", group=GENERAL,
        help="Paint the whole screen again.",
    ),
    Action(
        id="read-now", keys=("ctrl+r",), run="read_now", label="Read now", group=GENERAL,
        help="Take a sample at once.",
    ),
    Action(
        id="theme", keys=("ctrl+t",), run="next_theme", label="Next theme", group=GENERAL,
        help="Dark, light, high contrast, monochrome, 16 colours.",
    ),
    Action(
        id="sort-cpu", keys=("P",), run="screen.sort('cpu')", label="Sort by CPU", group=SORT, help="By CPU time.",
    ),
    Action(
        id="sort-memory", keys=("M",), run="screen.sort('memory')", label="Sort by host memory", group=SORT,
        help="By host memory.",
    ),
    Action(
        id="sort-pid", keys=("N",), run="screen.sort('pid')", label="Sort by PID", group=SORT,
        help="By process number.",
    ),
    Action(
        id="sort-time", keys=("T",), run="screen.sort('time')", label="Sort by time", group=SORT, help="By run time.",
    ),
    Action(
        id="sort-gpu-memory", keys=("G",), run="screen.sort('gpu_memory')", label="Sort by GPU memory", group=SORT,
        help="By GPU memory.",
    ),
    Action(
        id="sort-before", keys=("comma",), run="screen.sort_beside(-1)",
        label="Sort by the column before", group=SORT, help="Sort by the column to the left.",
    ),
    Action(
        id="sort-next", keys=("full_stop",), run="screen.sort_beside(1)",
        label="Sort by the next column", group=SORT, help="Sort by the column to the right.",
    ),
    Action(
        id="up", keys=("up", "alt+k"), run="screen.move(-1)", label="Up", group=MOVE, help="Previous process.",
        in_palette=False,
    ),
    Action(
        id="down", keys=("down", "alt+j"), run="screen.move(1)", label="Down", group=MOVE, help="Next process.",
        in_palette=False,
    ),
    Action(
        id="page-up", keys=("pageup",), run="screen.move_page(-1)", label="Page up", group=MOVE, help="A page up.",
        in_palette=False,
    ),
    Action(
        id="page-down", keys=("pagedown",), run="screen.move_page(1)",
        label="Page down", group=MOVE, help="A page down.",
        in_palette=False,
    ),
    Action(
        id="home", keys=("home",), run="screen.move_to_end(0)", label="First", group=MOVE, help="First process.",
        in_palette=False,
    ),
    Action(
        id="end", keys=("end",), run="screen.move_to_end(1)", label="Last", group=MOVE, help="Last process.",
        in_palette=False,
    ),
    Action(
        id="left", keys=("left", "alt+h"), run="screen.scroll_command(-8)", label="Left", group=MOVE,
        help="Scroll the command lines.", in_palette=False,
    ),
    Action(
        id="right", keys=("right", "alt+l"), run="screen.scroll_command(8)", label="Right", group=MOVE,
        help="Scroll the command lines.", in_palette=False,
    ),
    Action(
        id="line-start", keys=("ctrl+a", "circumflex_accent"), run="screen.scroll_command(-9999)", label="Line start",
        group=MOVE, help="Begin of the command lines.", in_palette=False,
    ),
    Action(
        id="line-end", keys=("ctrl+e", "dollar_sign"), run="screen.scroll_command(9999)", label="Line end", group=MOVE,
        help="End of the longest command line.", in_palette=False,
    ),
)  # fmt: skip
CHORD: Final = {
    "n": "gpu", "p": "pid", "u": "user", "g": "gpu_memory", "s": "sm", "b": "memory_utilization", "c": "cpu",
    "m": "memory", "t": "time",
}  # fmt: skip
_NAMES: Final = {
    "question_mark": "?", "plus": "+", "minus": "-", "colon": ":", "comma": ",", "full_stop": ".",
    "less_than_sign": "<", "greater_than_sign": ">", "circumflex_accent": "^", "dollar_sign": "$", "escape": "Esc",
    "enter": "Enter", "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "PgUp", "pagedown": "PgDn",
    "home": "Home", "end": "End", "space": "Space", "left_square_bracket": "[",
    "right_square_bracket": "]", "slash": "/", "backslash": "\\",
}  # fmt: skip


def bindings(actions: Iterable[Action] = ACTIONS) -> list[Binding]:
    """Return a binding for each key. Ctrl-C comes before everything else: it always quits."""
    return [
        Binding(
            key, action.run.format(key=key), action.label, id=f"{action.id}.{key}", show=False, priority=key == "ctrl+c"
        )
        for action in actions
        for key in action.keys
    ]


def key_name(key: str) -> str:
    """Return a key as it is printed on a keyboard."""
    if key.startswith("ctrl+"):
        return "Ctrl-" + key[5:].upper()
    if key.startswith("shift+"):
        return "Shift-" + key_name(key[6:])
    if key.startswith("alt+"):
        return "Alt-" + key[4:]
    return _NAMES.get(key) or (key.upper() if len(key) > 1 else key)


def keys_text(action: Action) -> str:
    """Return all keys of an action."""
    if action.id == "focus-gpu":
        return "0-9" if action.keys == tuple("0123456789") else " ".join(map(key_name, action.keys))
    return " ".join(key_name(key) for key in action.keys)
