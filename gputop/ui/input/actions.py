"""THE KEYS, a row each: what they do, footer, palette and help page all follow from this table."""

from enum import Enum
from typing import Final

from msgspec import Struct


class Place(str, Enum):
    """Where a key is pressed. Two actions of one place have no key in common."""

    MAIN = "main"
    DIALOG = "dialog"
    PAGE = "page"
    TAPE = "tape"


class Action(Struct, frozen=True, kw_only=True):
    """An action and its keys. ``run``: controller and method, as ``signal.choose``, or an action of the app: ``quit``.

    ``{key}`` in ``run`` stands for the key that was pressed.

    Dialogs and pages name the actions that they take, some of the main screen's among them: those move and close
    everywhere. ``place``: where it is at home. ``footer``: a short label, where the footer shows it. ``in_palette``:
    whether it can be run by name. ``changes_machine``: whether it is refused where gputop is read-only.
    """

    id: str
    keys: tuple[str, ...]
    run: str = ""
    label: str
    help: str
    group: str
    footer: str = ""
    in_palette: bool = True
    changes_machine: bool = False
    place: Place = Place.MAIN


GENERAL, FIND, VIEW, SORT, MOVE = "General", "Find", "What is shown", "Sort", "Move"
ACT: Final = "Act on processes"
DIALOGS, PAGES = "In dialogs", "On pages"
READ_ONLY: Final = "read-only, by --read-only, GPUTOP_READ_ONLY or the configuration file"

ACTIONS: Final = (
    Action(
        id="quit", keys=("q", "f10", "ctrl+c"), run="quit", label="Quit", group=GENERAL, footer="Quit",
        help="Leave at once. Ctrl-C never signals a process.",
    ),
    Action(
        id="help", keys=("f1", "h", "question_mark"), run="page.help", label="Help", group=GENERAL, footer="Help",
        help="This page.",
    ),
    Action(
        id="setup", keys=("f2", "S", "C"), run="settings.setup", label="Set-up", group=GENERAL, footer="Setup",
        help="Columns and their order, sort, theme, panels, keys; kept in the configuration.",
    ),
    Action(
        id="sort-chord", keys=("o",), run="table.start_chord", label="Sort by…", group=SORT,
        help="Then a letter: n GPU, p PID, u user, g GPU memory, s SM, b memory bandwidth, c CPU, m host memory, "
        "t time. A capital turns the order round.", in_palette=False,
    ),
    Action(
        id="search", keys=("f3", "slash"), run="search.search", label="Search", group=FIND, footer="Search",
        help="Go to the next process with this text in command, user or pid. F3 again: to the next.",
    ),
    Action(
        id="search-next", keys=("n",), run="search.next(1)", label="Next match", group=FIND,
        help="Of the last search.",
    ),
    Action(
        id="search-before", keys=("alt+n", "shift+f3", "f15"), run="search.next(-1)", label="Match before",
        group=FIND, help="Of the last search.",
    ),
    Action(
        id="filter", keys=("f4", "backslash", "f"), run="search.filter", label="Filter", group=FIND, footer="Filter",
        help="Show only what matches, as one types: user:ann gpu_mem>10GiB sm<5 cmd~vllm not type:G.",
    ),
    Action(
        id="user", keys=("u",), run="table.choose_user", label="One user", group=FIND, help="Choose whose processes.",
    ),
    Action(
        id="mine", keys=("H",), run="table.mine", label="Only mine", group=FIND, help="Only your processes, or all.",
    ),
    Action(
        id="tree", keys=("f5", "t"), run="table.tree", label="Tree", group=VIEW, footer="Tree",
        help="Processes below those that started them, or as a list. + and - unfold and fold.",
    ),
    Action(
        id="signal", keys=("f9", "k"), run="signal.choose", label="Send a signal…", group=ACT, footer="Signal",
        help="Choose from all signals, and see who gets it: the tagged ones, or the job or group under the cursor.",
        changes_machine=True,
    ),
    Action(
        id="view-next", keys=("v", "tab"), run="table.group(1)", label="Next view", group=VIEW, footer="View",
        help="Processes, tree, by job, by user, by container, by GPU: groups have sums.",
    ),
    Action(
        id="view-before", keys=("V", "shift+tab"), run="table.group(-1)", label="View before", group=VIEW,
        help="The same, backwards.",
    ),
    Action(
        id="sort-menu", keys=("f6", "greater_than_sign", "less_than_sign"), run="table.sort_menu",
        label="Sort menu", group=SORT, footer="Sort", help="Choose the column.",
    ),
    Action(
        id="percent", keys=("percent_sign",), run="table.percent", label="Percent or bytes", group=VIEW,
        help="GPU memory of processes in percent of the GPU's, or in bytes again.",
    ),
    Action(
        id="containers", keys=("O",), run="settings.toggle_column('container')", label="Containers", group=VIEW,
        help="Show the column with the container of each process, or hide it.",
    ),
    Action(
        id="save", keys=("f12", "W"), run="settings.save", label="Save the set-up", group=GENERAL,
        help="Keep columns, sort, sizes and theme as they are now. Set-up saves by itself what is changed there.",
    ),
    Action(
        id="kill", keys=("K",), run="signal.choose(1)", label="SIGKILL…", group=ACT,
        help="Asks first; only y sends it.", changes_machine=True,
    ),
    Action(
        id="tag", keys=("space",), run="target.tag", label="Tag", group=ACT, footer="Tag",
        help="Tag a process for what follows, and go on to the next.",
    ),
    Action(
        id="tag-job", keys=("c",), run="target.tag_job", label="Tag the job", group=ACT,
        help="The launcher and all its workers; without a job, all that it started. A group: all of it.",
    ),
    Action(
        id="untag", keys=("U",), run="target.untag", label="Untag all", group=ACT, help="So does Esc.",
    ),
    Action(
        id="nice-down", keys=("f7", "right_square_bracket"), run="scheduling.add_nice(-1)", label="Raise the priority",
        group=ACT, help="Nice value -1; needs root.", footer="Nice-", changes_machine=True,
    ),
    Action(
        id="nice-up", keys=("f8", "left_square_bracket"), run="scheduling.add_nice(1)", label="Lower the priority",
        group=ACT, help="Nice value +1.", footer="Nice+", changes_machine=True,
    ),
    Action(
        id="renice", keys=("r",), run="scheduling.renice", label="Nice value…", group=ACT,
        help="Asks for the value.", changes_machine=True,
    ),
    Action(
        id="io-class", keys=("d",), run="scheduling.set_io_class", label="I/O class…", group=ACT,
        help="How the kernel serves disks to a process (htop has i).", changes_machine=True,
    ),
    Action(
        id="affinity", keys=("a",), run="scheduling.set_affinity", label="CPU affinity…", group=ACT,
        help="On which CPUs a process may run.", changes_machine=True,
    ),
    Action(
        id="process", keys=("enter",), run="page.process", label="Process in detail", group=VIEW,
        help="All of the selected process, with plots since gputop saw it. A group folds. None selected: the GPU.",
    ),
    Action(
        id="environment", keys=("e",), run="page.process('environment')", label="Environment", group=VIEW,
        help="Of the process; secrets are masked until asked for.",
    ),
    Action(
        id="open-files", keys=("l",), run="page.process('files')", label="Open files", group=VIEW,
        help="Of the process.",
    ),
    Action(
        id="devices", keys=("x",), run="page.process('devices')", label="GPU device files", group=VIEW,
        help="Which the process holds open.",
    ),
    Action(
        id="command-line", keys=("w",), run="page.process('command')", label="Command line", group=VIEW,
        help="Of the process, in full.",
    ),
    Action(
        id="detail", keys=("i",), run="page.gpu", label="GPU in detail", group=VIEW, footer="Detail",
        help="Every metric of the GPU that is looked at, with the reason where there is no value.",
    ),
    Action(
        id="mig", keys=("p",), run="page.mig", label="MIG: partition the GPU", group=VIEW,
        help="How the GPU is split, who uses what, what else would fit; plan another layout, and make it so.",
    ),
    Action(
        id="probe", keys=("X",), run="probe.open", label="Probe: test GPUs…", group=ACT,
        help="Exact results, memory, speed, steady load; a GPU in use only if you insist. It can be stopped.",
        changes_machine=True,
    ),
    Action(
        id="density", keys=("g",), run="view.next_density", label="GPU panel size", group=VIEW, footer="Size",
        help="GPUs as they fit, in one line each, or as cards with plots.",
    ),
    Action(
        id="findings", keys=("F",), run="finding.open", label="Findings", group=VIEW, footer="Findings",
        help="What is wrong, with the evidence and what to do; what was wrong before.",
    ),
    Action(
        id="panels", keys=("E",), run="plugin.open", label="Panels of plugins", group=VIEW,
        help="All that plugins have to say. Some lines of it stand on the main screen, unless set-up hides them.",
    ),
    Action(
        id="pause", keys=("Z",), run="view.pause", label="Pause", group=VIEW, footer="Pause",
        help="Hold the picture; readings go on.",
    ),
    Action(
        id="record", keys=("ctrl+o",), run="recording.toggle", label="Record…", group=GENERAL,
        help="Write what is read to a file, for gputop replay; again: end it.",
    ),
    Action(
        id="palette", keys=("colon", "ctrl+p"), run="command_palette", label="Palette", group=GENERAL,
        footer="Palette", help="Find what can be done by its name.", in_palette=False,
    ),
    Action(
        id="slower", keys=("plus",), run="view.step_interval(1)", label="Longer interval", group=GENERAL,
        help="Read less often: 0.25 to 10 s. In tree and groups + and - unfold and fold.", footer="Slower",
    ),
    Action(
        id="faster", keys=("minus",), run="view.step_interval(-1)", label="Shorter interval", group=GENERAL,
        help="Read more often.", footer="Faster",
    ),
    Action(
        id="meters", keys=("m",), run="settings.toggle_host", label="Host panel", group=VIEW, footer="Host",
        help="Show or hide the machine around the GPUs.",
    ),
    Action(
        id="invert", keys=("I",), run="table.invert", label="Invert the order", group=SORT, footer="Invert",
        help="Sort the other way round. So does a click on the title.",
    ),
    Action(
        id="focus-gpu", keys=tuple("0123456789"), run="view.type_gpu({key})", label="Only this GPU", group=VIEW,
        help="Look at one GPU and its processes; two digits in a row are one number. Again, or Esc: all.",
        in_palette=False,
    ),
    Action(
        id="back", keys=("escape",), run="view.back", label="Back", group=GENERAL,
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
        id="read-now", keys=("ctrl+r",), run="view.read_now", label="Read now", group=GENERAL,
        help="Take a sample at once.",
    ),
    Action(
        id="theme", keys=("ctrl+t",), run="next_theme", label="Next theme", group=GENERAL,
        help="Dark, light, high contrast, monochrome, 16 colours.",
    ),
    Action(
        id="sort-cpu", keys=("P",), run="table.sort('cpu')", label="Sort by CPU", group=SORT, help="By CPU time.",
    ),
    Action(
        id="sort-memory", keys=("M",), run="table.sort('memory')", label="Sort by host memory", group=SORT,
        help="By host memory.",
    ),
    Action(
        id="sort-pid", keys=("N",), run="table.sort('pid')", label="Sort by PID", group=SORT,
        help="By process number.",
    ),
    Action(
        id="sort-time", keys=("T",), run="table.sort('time')", label="Sort by time", group=SORT, help="By run time.",
    ),
    Action(
        id="sort-gpu-memory", keys=("G",), run="table.sort('gpu_memory')", label="Sort by GPU memory", group=SORT,
        help="By GPU memory.",
    ),
    Action(
        id="sort-before", keys=("comma",), run="table.sort_beside(-1)",
        label="Sort by the column before", group=SORT, help="Sort by the column to the left.",
    ),
    Action(
        id="sort-next", keys=("full_stop",), run="table.sort_beside(1)",
        label="Sort by the next column", group=SORT, help="Sort by the column to the right.",
    ),
    Action(
        id="up", keys=("up", "alt+k"), run="table.move(-1)", label="Up", group=MOVE, help="Previous process.",
        in_palette=False,
    ),
    Action(
        id="down", keys=("down", "alt+j"), run="table.move(1)", label="Down", group=MOVE, help="Next process.",
        in_palette=False,
    ),
    Action(
        id="page-up", keys=("pageup",), run="table.move_page(-1)", label="Page up", group=MOVE, help="A page up.",
        in_palette=False,
    ),
    Action(
        id="page-down", keys=("pagedown",), run="table.move_page(1)",
        label="Page down", group=MOVE, help="A page down.",
        in_palette=False,
    ),
    Action(
        id="home", keys=("home",), run="table.move_to_end(0)", label="First", group=MOVE, help="First process.",
        in_palette=False,
    ),
    Action(
        id="end", keys=("end",), run="table.move_to_end(1)", label="Last", group=MOVE, help="Last process.",
        in_palette=False,
    ),
    Action(
        id="left", keys=("left", "alt+h"), run="table.scroll_command(-8)", label="Left", group=MOVE,
        help="Scroll the command lines.", in_palette=False,
    ),
    Action(
        id="right", keys=("right", "alt+l"), run="table.scroll_command(8)", label="Right", group=MOVE,
        help="Scroll the command lines.", in_palette=False,
    ),
    Action(
        id="line-start", keys=("ctrl+a", "circumflex_accent"), run="table.scroll_command(-9999)", label="Line start",
        group=MOVE, help="Begin of the command lines.", in_palette=False,
    ),
    Action(
        id="line-end", keys=("ctrl+e", "dollar_sign"), run="table.scroll_command(9999)", label="Line end", group=MOVE,
        help="End of the longest command line.", in_palette=False,
    ),
    Action(
        id="accept", keys=("enter",), label="Accept", group=DIALOGS, place=Place.DIALOG, in_palette=False,
        help="Do what is chosen. It never sends SIGKILL: only y does.",
    ),
    Action(
        id="refuse", keys=("n",), label="Cancel", group=DIALOGS, place=Place.DIALOG, in_palette=False,
        help="As Esc and q do.",
    ),
    Action(
        id="yes", keys=("y",), label="Send SIGKILL, change MIG", group=DIALOGS, place=Place.DIALOG, in_palette=False,
        help="The answer to these questions alone, and to whether a GPU in use is to be tested.", changes_machine=True,
    ),
    Action(
        id="scope-process", keys=("p",), label="The process alone", group=DIALOGS, place=Place.DIALOG,
        in_palette=False, help="Means what is under the cursor or tagged, and nothing else.",
    ),
    Action(
        id="scope-job", keys=("j",), label="The whole job", group=DIALOGS, place=Place.DIALOG, in_palette=False,
        help="Means the launcher and all its workers; what a dialog begins with.",
    ),
    Action(
        id="scope-tree", keys=("t",), label="The tree", group=DIALOGS, place=Place.DIALOG, in_palette=False,
        help="Means the process and all that it started.",
    ),
    Action(
        id="offer-kill", keys=("e",), label="Then SIGKILL?", group=DIALOGS, place=Place.DIALOG, in_palette=False,
        help="Waits 5 s after the signal, and asks whether SIGKILL is to follow for what is left.",
    ),
    Action(
        id="mute", keys=("m",), label="Mute", group=PAGES, place=Place.PAGE, in_palette=False,
        help="Do not show a finding for an hour, or show it again.",
    ),
    Action(
        id="past-findings", keys=("tab", "p"), label="Past", group=PAGES, place=Place.PAGE, in_palette=False,
        help="What was wrong and is over, or what is wrong now.",
    ),
    Action(
        id="mig-plan", keys=("e",), label="Plan another MIG layout", group=PAGES, place=Place.PAGE, in_palette=False,
        help="Shows what would be done for it, and changes nothing before a question is answered with y.",
    ),
    Action(
        id="mig-copy", keys=("c",), label="Copy a line", group=PAGES, place=Place.PAGE, in_palette=False,
        help="That uses a MIG instance: CUDA_VISIBLE_DEVICES, docker, Kubernetes.",
    ),
    Action(
        id="probe-stop", keys=("a",), label="Stop the probe", group=PAGES, place=Place.PAGE, in_palette=False,
        help="Its processes end within seconds; what was found so far is shown.",
    ),
    Action(
        id="page-on", keys=("space",), label="A page on", group=PAGES, place=Place.PAGE, in_palette=False,
        help="As PgDn does.",
    ),
    Action(
        id="all-threads", keys=("t",), label="All threads", group=PAGES, place=Place.PAGE, in_palette=False,
        help="Of a process, or only the busiest.",
    ),
    Action(
        id="secrets", keys=("s",), label="Secrets", group=PAGES, place=Place.PAGE, in_palette=False,
        help="Show what is masked in the environment of a process, or mask it again.",
    ),
)  # fmt: skip
CHORD: Final = {
    "n": "gpu", "p": "pid", "u": "user", "g": "gpu_memory", "s": "sm", "b": "memory_utilization", "c": "cpu",
    "m": "memory", "t": "time",
}  # fmt: skip
