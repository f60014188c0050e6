"""What each key of the programs that presets follow does here: every key of their documentation, none left out.

nvitop 1.7, nvtop 3.3 and htop 3.5; vim has no such program for GPUs, so its table has the keys of its normal mode that
move, search or delete. `ELSEWHERE` lists each key that deliberately does something else, with the reason.
"""

from collections.abc import Iterator

from app_driver import staged, text_on
from examples import frame, process

from gputop.core.protocol.command import SendSignal
from gputop.core.settings.settings import KEYMAPS, Settings
from gputop.ui.input.actions import CHORD
from gputop.ui.input.keymap import key_of, keymap
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.screen import MainScreen

MOVES = {
    "up": "up", "down": "down", "left": "left", "right": "right", "alt+k": "up", "alt+j": "down", "alt+h": "left",
    "alt+l": "right", "home": "home", "end": "end", "pgup": "page-up", "pgdn": "page-down",
}  # fmt: skip
HTOP = {
    **MOVES, "F1": "help", "h": "help", "?": "help", "F2": "setup", "S": "setup", "C": "setup", "F3": "search",
    "/": "search", "shift+f3": "search-before", "F4": "filter", "\\": "filter", "F5": "tree", "t": "tree",
    "F6": "sort-menu", "<": "sort-menu", ">": "sort-menu", ".": "sort-menu", ",": "sort-menu", "F7": "nice-down",
    "]": "nice-down", "F8": "nice-up", "[": "nice-up", "F9": "signal", "k": "signal", "F10": "quit", "q": "quit",
    "space": "tag", "c": "tag-job", "U": "untag", "u": "user", "Z": "pause", "e": "environment", "l": "open-files",
    "w": "command-line", "a": "affinity", "i": "io-class", "N": "sort-pid", "P": "sort-cpu", "M": "sort-memory",
    "T": "sort-time", "I": "invert", "tab": "view-next", "ctrl+a": "line-start", "ctrl+e": "line-end",
    "^": "line-start", "$": "line-end", **{str(digit): "type-pid" for digit in range(10)},
}  # fmt: skip
NVITOP = {
    **MOVES, "q": "quit", "Q": "quit", "h": "help", "?": "help", "a": "density-auto", "f": "density-full",
    "c": "density-compact", "r": "read-now", "R": "read-now", "ctrl+r": "read-now", "F5": "read-now", "[": "page-up",
    "alt+K": "page-up", "]": "page-down", "alt+J": "page-down", "ctrl+a": "line-start", "^": "line-start",
    "ctrl+e": "line-end", "$": "line-end", "tab": "down", "shift+tab": "up", "space": "tag", "esc": "back",
    "T": "terminate-one", "K": "kill-one", "k": "kill-one", "I": "interrupt-one", "e": "environment", "t": "tree",
    "enter": "process", ",": "sort-before", "<": "sort-before", ".": "sort-next", ">": "sort-next", "/": "invert",
    "o": "sort-chord",
}  # fmt: skip
NVTOP = {
    "h": "left", "j": "down", "k": "up", "l": "right", "up": "up", "down": "down", "left": "left", "right": "right",
    "F2": "setup", "F5": "redraw", "ctrl+l": "redraw", "F6": "sort-menu", "+": "ascending", "-": "descending",
    "F9": "signal", "F10": "quit", "q": "quit", "F12": "save",
}  # fmt: skip
VIM = {
    **MOVES, "h": "left", "j": "down", "k": "up", "l": "right", "g g": "home", "G": "end", "ctrl+f": "page-down",
    "ctrl+b": "page-up", "ctrl+d": "page-down", "ctrl+u": "page-up", "/": "search", "n": "search-next",
    "N": "search-before", "d d": "signal", ":": "palette", "F9": "signal", "K": "kill", "^": "line-start",
    "$": "line-end", "esc": "back",
}  # fmt: skip
GPUTOP = {
    **MOVES, **{key: HTOP[key] for key in HTOP if key not in {",", ".", "i", "w"} and not key.isdigit()},
    ",": "sort-before", ".": "sort-next", "w": "why", "i": "detail", "ctrl+c": "quit", "esc": "back", ":": "palette",
    "ctrl+p": "palette",
    "ctrl+l": "redraw", "ctrl+r": "read-now", "F12": "save", "n": "search-next", "f": "filter", "G": "sort-gpu-memory",
    "%": "percent", "o": "sort-chord", "H": "mine", "O": "containers", "r": "renice", "K": "kill", "enter": "process",
    "x": "devices", "v": "view-next", "V": "view-before", "shift+tab": "view-before", "g": "density",
    **{str(digit): "focus-gpu" for digit in range(10)},
}  # fmt: skip
TABLES = {"gputop": GPUTOP, "htop": HTOP, "nvitop": NVITOP, "nvtop": NVTOP, "vim": VIM}
ELSEWHERE = {
    ("htop", "F"): ("", "follow: the cursor always follows; the key says so"),
    ("htop", "s"): ("", "strace: gputop traces nothing; the key names strace"),
    ("htop", "b"): ("history", "backtrace: gputop shows no stacks"),
    ("htop", "x"): ("devices", "file locks: GPU device files are what matters here"),
    ("htop", "+"): ("slower", "expands in the tree, as in htop; else it changes the interval"),
    ("htop", "-"): ("faster", "collapses in the tree, as in htop; else it changes the interval"),
    ("nvitop", "ctrl+c"): ("quit", "SIGINT: Ctrl-C never sends a signal"),
    ("nvtop", "esc"): ("back", "quit: Esc never quits"),
    ("gputop", "d"): ("io-class", "i is the GPU in detail"),
    ("gputop", "s"): ("", "trace: not offered"),
    ("gputop", "b"): ("history", "stack: not offered"),
    ("gputop", "D"): ("", "diagnose one process: findings are on its page"),
    ("gputop", "A"): ("view-users", "alerts: the page of findings has the key F"),
    ("gputop", "F"): ("findings", "follow: the cursor always follows"),
    ("gputop", "R"): ("", "reset of peaks: gputop keeps none"),
    ("gputop", "p"): ("mig", "program path toggle: w shows the command line"),
    ("gputop", "a"): ("affinity", "as in htop"),
}  # fmt: skip
SIGNAL_DIALOG = {  # of nvitop's message box; its digits are numbers of signals here, and Space never confirms
    "t": "pick('SIGTERM')", "T": "pick('SIGTERM')", "k": "pick('SIGKILL')", "K": "pick('SIGKILL')",
    "i": "pick('SIGINT')", "I": "pick('SIGINT')", "c": "close", "C": "close", "n": "close", "N": "close",
    "esc": "close", "q": "close", "Q": "close", "enter": "choose", "left": "move(-1)", "right": "move(1)",
    "tab": "move(1)", "shift+tab": "move(-1)", ",": "move(-1)", ".": "move(1)", "<": "move(-1)", ">": "move(1)",
}  # fmt: skip
FEW = frame(1, (process(1), process(2), process(3)))


def expected() -> Iterator[tuple[str, str, str]]:
    for name, table in TABLES.items():
        yield from ((name, key, action) for key, action in table.items())
    yield from ((name, key, action) for (name, key), (action, _) in ELSEWHERE.items())


def action_of(name: str, key: str) -> str:
    held = [action for action in keymap(name).actions if action.place.value == "main"]
    return next((action.id for action in held if key_of(key) in action.keys), "")


def test_there_is_a_table_for_every_preset() -> None:
    assert TABLES.keys() == set(KEYMAPS)


def test_every_key_does_what_a_person_with_these_habits_expects() -> None:
    wrong = [(name, key, action_of(name, key), action) for name, key, action in expected()]

    assert [row for row in wrong if row[2] != row[3]] == []


def test_the_letters_of_nvitops_message_box_choose_the_signal() -> None:
    taken = keymap("nvitop").taken(SignalScreen.TAKES)

    assert {key: taken.get(key_of(key)) for key in SIGNAL_DIALOG} == SIGNAL_DIALOG


def test_the_letters_of_nvitops_sort_chords_are_all_there() -> None:
    assert sorted(CHORD) == sorted("nupgsbcmt")


def test_no_key_is_the_beginning_of_two_keys_and_an_action_itself() -> None:
    for name in KEYMAPS:
        runs = keymap(name).runs()
        begins = {key.split()[0] for key in runs if " " in key}

        assert not begins & runs.keys()


async def test_t_of_nvitop_sends_sigterm_to_one_process_alone() -> None:
    async with staged(FEW, settings=Settings(keymap="nvitop")) as stage:
        await stage.press("down", "T", "enter")
        (change,) = stage.changes

        assert isinstance(change, SendSignal)
        assert (change.signal, [one.pid for one in change.targets]) == ("SIGTERM", [1])


async def test_dd_of_vim_opens_the_signal_dialog_and_d_alone_opens_nothing() -> None:
    async with staged(FEW, settings=Settings(keymap="vim")) as stage:
        await stage.press("j", "d")
        begun, top = stage.footer, stage.app.screen
        await stage.press("d")

        assert "d…" in begun
        assert isinstance(top, MainScreen)
        assert isinstance(stage.app.screen, SignalScreen)
        assert "d…" not in stage.footer


async def test_digits_of_htop_go_to_the_pid() -> None:
    many = frame(1, tuple(process(pid) for pid in (4, 17, 171)))
    async with staged(many, settings=Settings(keymap="htop")) as stage:
        await stage.press("1", "7", "1")
        row = stage.app.main.processes.selected

        assert row is not None
        assert row.process.pid == 171


async def test_a_key_without_a_meaning_says_so_once_and_names_set_up() -> None:
    async with staged(FEW) as stage:
        await stage.press("j", "j", "s", "enter", "j")

        assert stage.messages == [
            "j does nothing here; F2 offers nvtop and vim keys",
            "s: gputop does not trace system calls; in a shell: strace -p PID",
        ]


async def test_a_page_says_that_a_key_has_no_meaning() -> None:
    async with staged(FEW) as stage:
        await stage.press("f1", "J")

        assert stage.messages == ["J does nothing here; F2 changes keys"]
        assert "Help" in text_on(stage.app.screen)
