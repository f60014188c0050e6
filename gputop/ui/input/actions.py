"""The table of actions and their keys: key dispatch, footer, palette, help page and README follow from it."""

from enum import Enum
from functools import partial
from typing import Final

from msgspec import Struct


class Place(str, Enum):
    """The place where a key is pressed. Two actions of one place share no key."""

    MAIN = "main"
    DIALOG = "dialog"
    PAGE = "page"
    REPLAY = "replay"


class Action(Struct, frozen=True, kw_only=True):
    """An action and its keys. ``run``: controller and method, as ``signal.choose``, or an action of the app: ``quit``.

    ``{key}`` in ``run`` is the key that was pressed, without Ctrl or Alt. A key such as ``d d`` is two keys,
    one after the other. Some presets alone have keys for some actions.

    Dialogs and pages list the actions that they take, also those of the main screen that move and close.
    ``place``: where the key is pressed. ``footer``: a short label for the footer. ``in_palette``: whether the command
    palette offers it. ``changes_machine``: whether a read-only gputop refuses it. ``sends``: tag of the command
    without which it is of no use. ``off``: why it does nothing now; empty if it works.
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
    sends: str = ""
    off: str = ""
    place: Place = Place.MAIN


GENERAL, FIND, VIEW, SORT, MOVE = "General", "Find", "View", "Sort", "Move"
ACT: Final = "Act on processes"
DIALOGS, PAGES = "In dialogs", "On detail pages"

_Move = partial(Action, group=MOVE, in_palette=False)
_InDialog = partial(Action, group=DIALOGS, place=Place.DIALOG, in_palette=False)
_OnPage = partial(Action, group=PAGES, place=Place.PAGE, in_palette=False)

ACTIONS: Final = (
    Action(
        id="quit", keys=("q", "f10", "ctrl+c"), run="quit", label="Quit", group=GENERAL, footer="Quit",
        help="Quit at once. Ctrl-C never sends a signal to a process.",
    ),
    Action(
        id="help", keys=("f1", "h", "question_mark"), run="page.help", label="Help", group=GENERAL, footer="Help",
        help="Show this page.",
    ),
    Action(
        id="setup", keys=("f2", "S", "C"), run="settings.setup", label="Settings", group=GENERAL, footer="Settings",
        help="Choose columns, order, theme, panels and keys. Enter saves the changes, Esc undoes them.",
    ),
    Action(
        id="sort-chord", keys=("o",), run="table.start_chord", label="Sort by letter…", group=SORT,
        help="Then press a letter: n GPU, p PID, u user, g GPU memory, s SM, b memory bandwidth, c CPU, m host memory, "
        "t time. A capital letter reverses the order.", in_palette=False,
    ),
    Action(
        id="search", keys=("f3", "slash"), run="search.search", label="Search", group=FIND, footer="Search",
        help="Go to the next process with this text in its command, user or pid. F3 goes on to the next one.",
    ),
    Action(
        id="search-next", keys=("n",), run="search.next(1)", label="Next match", group=FIND,
        help="Go to the next match of the last search.",
    ),
    Action(
        id="search-before", keys=("alt+n", "shift+f3", "f15"), run="search.next(-1)", label="Previous match",
        group=FIND, help="Go to the previous match of the last search.",
    ),
    Action(
        id="filter", keys=("f4", "backslash", "f"), run="search.filter", label="Filter", group=FIND, footer="Filter",
        help="Show only matching processes while you type: user:ann gpu_mem>10GiB sm<5 cmd~vllm not type:G.",
    ),
    Action(
        id="user", keys=("u",), run="table.choose_user", label="Filter by user", group=FIND,
        help="Choose the user whose processes are shown.",
    ),
    Action(
        id="mine", keys=("H",), run="table.mine", label="Only mine", group=FIND,
        help="Show only your own processes, or all.",
    ),
    Action(
        id="tree", keys=("f5", "t"), run="table.toggle_view('tree')", label="Tree", group=VIEW, footer="Tree",
        help="Show processes below their parents, or as a list. + expands a process, - collapses it.",
    ),
    Action(
        id="signal", keys=("f9", "k"), run="signal.choose", label="Send a signal…", group=ACT, footer="Signal",
        help="Choose a signal and see its targets: the tagged processes, or the process, job or group under the "
        "cursor.",
        changes_machine=True, sends="send_signal",
    ),
    Action(
        id="process", keys=("enter",), run="page.process", label="Process in detail", group=VIEW, footer="Details",
        help="Show everything about the selected process, with plots. On a group, collapse it. Without a selection, "
        "show the GPU.",
    ),
    Action(
        id="detail", keys=("i",), run="page.gpu", label="GPU in detail", group=VIEW, footer="GPU",
        help="Show findings, plots, processes and all metrics of the selected GPU. A missing metric has its reason.",
    ),
    Action(
        id="findings", keys=("F",), run="finding.open", label="Findings", group=VIEW, footer="Findings",
        help="Show current and past findings, with evidence and advice.",
    ),
    Action(
        id="view-next", keys=("v", "tab"), run="table.group(1)", label="Next view", group=VIEW, footer="View",
        help="Show a list, a tree, or groups by job, user, container or GPU. Groups show sums.",
    ),
    Action(
        id="view-before", keys=("V", "shift+tab"), run="table.group(-1)", label="Previous view", group=VIEW,
        help="Go through the views backwards.",
    ),
    Action(
        id="view-users", keys=("A",), run="table.toggle_view('by user')", label="By user", group=VIEW,
        help="Show the processes by user with sums, or as a list again.",
    ),
    Action(
        id="view-jobs", keys=("J",), run="table.toggle_view('by job')", label="By job", group=VIEW,
        help="Show the processes by job with sums, or as a list again.",
    ),
    Action(
        id="sort-menu", keys=("f6", "greater_than_sign", "less_than_sign"), run="table.sort_menu",
        label="Choose the sort column", group=SORT, footer="Sort", help="A list of all columns.",
    ),
    Action(
        id="percent", keys=("percent_sign",), run="processes.toggle_percent", label="Percent or bytes", group=VIEW,
        help="Show the GPU memory of processes in percent of the GPU, or in bytes.",
    ),
    Action(
        id="containers", keys=("O",), run="settings.toggle_column('container')", label="Container column", group=VIEW,
        help="Show or hide the column with the container of each process.",
    ),
    Action(
        id="save", keys=("f12", "W"), run="settings.save", label="Save the settings", group=GENERAL,
        help="Save the columns, order, sizes, interval and theme that other keys changed.",
    ),
    Action(
        id="kill", keys=("K",), run="signal.choose('SIGKILL')", label="SIGKILL…", group=ACT,
        help="Send SIGKILL, after you confirm it with y.", changes_machine=True, sends="send_signal",
    ),
    Action(
        id="terminate-one", keys=(), run="signal.choose_one('SIGTERM')", label="SIGTERM to one process…", group=ACT,
        help="Open the signal dialog for the process under the cursor, not for its job.", changes_machine=True,
        sends="send_signal",
    ),
    Action(
        id="interrupt-one", keys=(), run="signal.choose_one('SIGINT')", label="SIGINT to one process…", group=ACT,
        help="Open the signal dialog for the process under the cursor, not for its job.", changes_machine=True,
        sends="send_signal",
    ),
    Action(
        id="kill-one", keys=(), run="signal.choose_one('SIGKILL')", label="SIGKILL to one process…", group=ACT,
        help="Ask for SIGKILL for the process under the cursor, not for its job.", changes_machine=True,
        sends="send_signal",
    ),
    Action(
        id="tag", keys=("space",), run="target.tag", label="Tag", group=ACT, footer="Tag",
        help="Tag the process for the next change, and move to the next one.",
    ),
    Action(
        id="tag-job", keys=("c",), run="target.tag_job", label="Tag the job", group=ACT,
        help="Tag the launcher and all its workers. Without a job, tag the process and its descendants.",
    ),
    Action(
        id="untag", keys=("U",), run="target.untag", label="Untag all", group=ACT,
        help="Remove all tags. Esc does that too.",
    ),
    Action(
        id="nice-down", keys=("f7", "right_square_bracket"), run="scheduling.add_nice(-1)", label="Raise the priority",
        group=ACT, footer="Nice-", changes_machine=True,
        help="Lower the nice value of one process, or of the tagged ones, by 1. This needs root.", sends="renice",
    ),
    Action(
        id="nice-up", keys=("f8", "left_square_bracket"), run="scheduling.add_nice(1)", label="Lower the priority",
        group=ACT, footer="Nice+", changes_machine=True,
        help="Raise the nice value of one process, or of the tagged ones, by 1.", sends="renice",
    ),
    Action(
        id="renice", keys=("r",), run="scheduling.open('nice')", label="Nice value…", group=ACT,
        help="Enter a nice value.", changes_machine=True, sends="renice",
    ),
    Action(
        id="io-class", keys=("d",), run="scheduling.open('io-class')", label="I/O class…", group=ACT,
        help="Choose the priority of a process for disk access. In htop, the key is i.", changes_machine=True,
        sends="set_io_class",
    ),
    Action(
        id="affinity", keys=("a",), run="scheduling.open('cpus')", label="CPU affinity…", group=ACT,
        help="Choose the CPUs that a process may run on.", changes_machine=True, sends="set_affinity",
    ),
    Action(
        id="undo", keys=("ctrl+u",), run="changes.undo", label="Undo the last change", group=ACT,
        help="Restore the nice value, I/O class or CPUs before the last change, as far as your rights allow. Signals "
        "cannot be undone.",
        changes_machine=True,
    ),
    Action(
        id="environment", keys=("e",), run="page.process('environment')", label="Environment", group=VIEW,
        help="Show the environment of the process. Secrets are masked until you show them.", sends="inspect",
    ),
    Action(
        id="open-files", keys=("l",), run="page.process('files')", label="Open files", group=VIEW,
        help="Show the open files of the process.", sends="inspect",
    ),
    Action(
        id="devices", keys=("x",), run="page.process('devices')", label="GPU device files", group=VIEW,
        help="Show the GPU device files that the process has open.", sends="inspect",
    ),
    Action(
        id="why", keys=("w",), run="page.why", label="Why it hangs", group=VIEW,
        help="Ask where a job or process hangs: the stacks of all ranks, the kernel, NCCL, PyTorch. It takes seconds.",
        sends="explain",
    ),
    Action(
        id="command-line", keys=(), run="page.process('command')", label="Command line", group=VIEW,
        help="Show the full command line of the process.", sends="inspect",
    ),
    Action(
        id="history", keys=("b",), run="page.history", label="History", group=VIEW,
        help="Show plots of a GPU or process over minutes and hours: zoom, go back in time, read values at a cursor, "
        "compare GPUs.",
    ),
    Action(
        id="mig", keys=("p",), run="page.mig", label="MIG: partition the GPU", group=VIEW,
        help="Show how the GPU is split, who uses each part and what else fits. Plan and apply another layout.",
        sends="read_mig",
    ),
    Action(
        id="probe", keys=("X",), run="probe.open", label="Probe: test GPUs…", group=ACT,
        help="Test arithmetic, memory, speed and sustained load. A GPU in use needs your confirmation. You can stop "
        "the test.",
        changes_machine=True,
    ),
    Action(
        id="density", keys=("g",), run="view.next_density", label="GPU panel size", group=VIEW, footer="Size",
        help="Show GPUs as lines, as cards with plots, or as cards if they fit.",
    ),
    Action(
        id="density-auto", keys=(), run="view.show_density('auto')", label="GPU panel: as fits", group=VIEW,
        help="Show GPUs as cards if they fit, else as lines.",
    ),
    Action(
        id="density-full", keys=(), run="view.show_density('detailed')", label="GPU panel: cards", group=VIEW,
        help="Show GPUs as cards with plots.",
    ),
    Action(
        id="density-compact", keys=(), run="view.show_density('compact')", label="GPU panel: lines", group=VIEW,
        help="Show each GPU as one line.",
    ),
    Action(
        id="messages", keys=("alt+m",), run="page.messages", label="Past messages", group=VIEW,
        help="Show the messages since the start, the last one first.",
    ),
    Action(
        id="copy", keys=("y",), run="copy.choose", label="Copy…", group=VIEW,
        help="Copy the PID, the command line, a finding, the table as CSV or the screen as text: to the clipboard, or "
        "to a file. On a page, copy its text.",
    ),
    Action(
        id="copy-pid", keys=(), run="copy.copy('pid')", label="Copy: PID", group=VIEW,
        help="Copy the pid of the selected process, or of the tagged ones.",
    ),
    Action(
        id="copy-command", keys=(), run="copy.copy('command')", label="Copy: command line", group=VIEW,
        help="Copy the command line of the selected process, with its secrets masked.",
    ),
    Action(
        id="copy-finding", keys=(), run="copy.copy('finding')", label="Copy: finding", group=VIEW,
        help="Copy the most serious finding about the selected process, or of all findings, with evidence and advice.",
    ),
    Action(
        id="copy-processes", keys=(), run="copy.copy('processes')", label="Copy: processes as CSV", group=VIEW,
        help="Copy the rows of the process table, as gputop snapshot writes them.",
    ),
    Action(
        id="copy-gpus", keys=(), run="copy.copy('gpus')", label="Copy: GPUs as CSV", group=VIEW,
        help="Copy all metrics of the GPUs, as gputop snapshot writes them.",
    ),
    Action(
        id="copy-screen", keys=(), run="copy.copy('screen')", label="Copy: screen as text", group=VIEW,
        help="Copy the main screen as text.",
    ),
    Action(
        id="notify", keys=("B",), run="notification.choose", label="Notify me when…", group=VIEW,
        help="Notify when a GPU is free, a process or job has ended, or a finding comes: once, by the channels of the "
        "settings. The menu also lists what you wait for, and removes it.",
    ),
    Action(
        id="panels", keys=("E",), run="plugin.open", label="Plugin panels", group=VIEW,
        help="Show all that plugins report. The main screen shows the first lines, unless the settings hide them.",
    ),
    Action(
        id="pause", keys=("Z",), run="view.pause", label="Pause", group=VIEW, footer="Pause",
        help="Freeze the screen. gputop keeps reading.",
    ),
    Action(
        id="record", keys=("ctrl+o",), run="recording.toggle", label="Record…", group=GENERAL,
        help="Write all samples to a file for gputop replay. Press it again to stop.",
    ),
    Action(
        id="palette", keys=("colon", "ctrl+p"), run="command_palette", label="Command palette", group=GENERAL,
        footer="Palette", help="Find an action by its name.", in_palette=False,
    ),
    Action(
        id="slower", keys=("plus",), run="settings.step_interval(1)", label="Longer interval", group=GENERAL,
        help="Read less often. The longest interval is 10 s. In a tree or in groups, + expands and - collapses.",
        footer="Slower", sends="set_interval",
    ),
    Action(
        id="faster", keys=("minus",), run="settings.step_interval(-1)", label="Shorter interval", group=GENERAL,
        help="Read more often. The shortest interval is 0.25 s.", footer="Faster", sends="set_interval",
    ),
    Action(
        id="meters", keys=("m",), run="settings.toggle_host", label="Host panel", group=VIEW, footer="Host",
        help="Show or hide the panel about the host.",
    ),
    Action(
        id="invert", keys=("I",), run="table.invert", label="Reverse the order", group=SORT, footer="Invert",
        help="Reverse the sort order. A click on the column title does that too.",
    ),
    Action(
        id="ascending", keys=(), run="table.order(0)", label="Smallest first", group=SORT,
        help="Sort the current column upwards.",
    ),
    Action(
        id="descending", keys=(), run="table.order(1)", label="Largest first", group=SORT,
        help="Sort the current column downwards.",
    ),
    Action(
        id="type-pid", keys=(), run="search.type_pid({key})", label="Find a PID", group=FIND, in_palette=False,
        help="Go to the process whose PID begins with the typed digits.",
    ),
    Action(
        id="focus-gpu", keys=tuple("0123456789"), run="view.type_gpu({key})", label="Only this GPU", group=VIEW,
        help="Enlarge one GPU, with its findings and processes. For GPU 10, press 1 then 0. Press the number again, or "
        "Esc, to show all.",
        in_palette=False,
    ),
    Action(
        id="back", keys=("escape",), run="view.back", label="Back", group=GENERAL,
        help="Clear the tags, the cursor, the search, the filter or the selected GPU, or show the list: one per press. "
        "It never quits.",
        in_palette=False,
    ),
    Action(
        id="suspend", keys=("ctrl+z",), run="suspend_process", label="Suspend", group=GENERAL,
        help="Suspend gputop. To resume it, type fg in the shell.", in_palette=False,
    ),
    Action(
        id="log-in", keys=("ctrl+g",), run="link.log_in", label="Connect again", group=GENERAL,
        help="With --host: leave the screen for a moment, so that ssh can ask for a password, and come back.",
    ),
    Action(
        id="host-next", keys=("right_curly_bracket",), run="go_to_host(1)", label="Next host", group=GENERAL,
        footer="Next host", help="With several hosts: show the next one that answers.",
    ),
    Action(
        id="host-before", keys=("left_curly_bracket",), run="go_to_host(-1)", label="Previous host", group=GENERAL,
        help="With several hosts: show the previous one that answers.",
    ),
    Action(
        id="redraw", keys=("ctrl+l",), run="redraw", label="Redraw", group=GENERAL,
        help="Paint the whole screen again.",
    ),
    Action(
        id="read-now", keys=("ctrl+r",), run="view.read_now", label="Refresh now", group=GENERAL,
        help="Take a sample at once.", sends="read_now",
    ),
    Action(
        id="theme", keys=("ctrl+t",), run="next_theme", label="Next theme", group=GENERAL,
        help="Switch between dark, light, high contrast, monochrome and 16 colours.",
    ),
    Action(
        id="sort-cpu", keys=("P",), run="processes.sort_by('cpu')", label="Sort by CPU", group=SORT,
        help="The busiest process comes first.",
    ),
    Action(
        id="sort-memory", keys=("M",), run="processes.sort_by('memory')", label="Sort by host memory", group=SORT,
        help="The largest process on the host comes first.",
    ),
    Action(
        id="sort-pid", keys=("N",), run="processes.sort_by('pid')", label="Sort by PID", group=SORT,
        help="The lowest number comes first.",
    ),
    Action(
        id="sort-time", keys=("T",), run="processes.sort_by('time')", label="Sort by time", group=SORT,
        help="The longest-running process comes first.",
    ),
    Action(
        id="sort-gpu-memory", keys=("G",), run="processes.sort_by('gpu_memory')", label="Sort by GPU memory",
        group=SORT, help="The largest user of GPU memory comes first.",
    ),
    Action(
        id="sort-before", keys=("comma",), run="processes.sort_beside(-1)",
        label="Sort by previous column", group=SORT, help="Sort by the column to the left.",
    ),
    Action(
        id="sort-next", keys=("full_stop",), run="processes.sort_beside(1)",
        label="Sort by next column", group=SORT, help="Sort by the column to the right.",
    ),
    _Move(id="up", keys=("up", "alt+k"), run="processes.move(-1)", label="Up", help="Go to the previous process."),
    _Move(id="down", keys=("down", "alt+j"), run="processes.move(1)", label="Down", help="Go to the next process."),
    _Move(id="page-up", keys=("pageup",), run="processes.move_page(-1)", label="Page up", help="Go up a page."),
    _Move(id="page-down", keys=("pagedown",), run="processes.move_page(1)", label="Page down", help="Go down a page."),
    _Move(id="home", keys=("home",), run="processes.move_to_end(0)", label="First", help="Go to the first process."),
    _Move(id="end", keys=("end",), run="processes.move_to_end(1)", label="Last", help="Go to the last process."),
    _Move(
        id="left", keys=("left", "alt+h"), run="processes.scroll_command(-8)", label="Left",
        help="Scroll the command lines to the left.",
    ),
    _Move(
        id="right", keys=("right", "alt+l"), run="processes.scroll_command(8)", label="Right",
        help="Scroll the command lines to the right.",
    ),
    _Move(
        id="line-start", keys=("ctrl+a", "circumflex_accent"), run="processes.scroll_command(-9999)",
        label="Scroll to row start", help="Scroll to the start of the command lines.",
    ),
    _Move(
        id="line-end", keys=("ctrl+e", "dollar_sign"), run="processes.scroll_command(9999)", label="Scroll to row end",
        help="Scroll to the end of the longest command line.",
    ),
    _InDialog(
        id="accept", keys=("enter",), label="Accept",
        help="Confirm the choice. Enter never sends SIGKILL: only y does.",
    ),
    _InDialog(id="refuse", keys=("n",), label="Cancel", help="Cancel, as Esc and q do."),
    _InDialog(
        id="yes", keys=("y",), label="Confirm a risky change",
        help="Confirm SIGKILL, a MIG change, or the test of a GPU in use.", changes_machine=True,
    ),
    _InDialog(
        id="scope-process", keys=("p",), label="Only the process",
        help="Target only the process under the cursor, or the tagged ones.",
    ),
    _InDialog(
        id="scope-job", keys=("j",), label="The whole job",
        help="Target the launcher and all its workers. Before p or j, Enter sends nothing to a job.",
    ),
    _InDialog(id="scope-tree", keys=("t",), label="The tree", help="Target the process and all its descendants."),
    _InDialog(id="pick-term", keys=(), label="SIGTERM", help="Highlight SIGTERM."),
    _InDialog(id="pick-kill", keys=(), label="SIGKILL", help="Highlight SIGKILL, which Enter does not send."),
    _InDialog(id="pick-int", keys=(), label="SIGINT", help="Highlight SIGINT."),
    _InDialog(
        id="offer-kill", keys=("e",), label="Offer SIGKILL after 5 s",
        help="If processes still run 5 s after the signal, ask whether to send them SIGKILL.",
    ),
    _OnPage(id="mute", keys=("m",), label="Mute", help="Hide a finding for an hour, or show it again."),
    _OnPage(
        id="past-findings", keys=("tab", "p"), label="Past findings",
        help="Switch between past and current findings.",
    ),
    _OnPage(
        id="mig-plan", keys=("e",), label="Plan another MIG layout",
        help="Plan another layout, and show its steps. Nothing changes until you confirm with y.",
    ),
    _OnPage(
        id="mig-copy", keys=("c",), label="Copy a MIG setting",
        help="Copy the setting that selects a MIG instance: CUDA_VISIBLE_DEVICES, docker or Kubernetes.",
    ),
    _OnPage(
        id="probe-stop", keys=("a",), label="Stop the probe",
        help="Stop its processes within seconds, and show the results so far.",
    ),
    _OnPage(id="zoom-in", keys=("plus", "equals_sign"), label="Zoom in", help="Show a shorter time of the history."),
    _OnPage(
        id="zoom-out", keys=("minus",), label="Zoom out",
        help="Show a longer time of the history: 1, 5 or 15 minutes, an hour, all.",
    ),
    _OnPage(
        id="earlier", keys=("left_parenthesis", "less_than_sign", "shift+left"), label="Earlier",
        help="Move the history back by half of what it shows.",
    ),
    _OnPage(
        id="later", keys=("right_parenthesis", "greater_than_sign", "shift+right"), label="Later",
        help="Move the history forward by half of what it shows.",
    ),
    _OnPage(
        id="all-gpus", keys=("A",), label="All GPUs",
        help="Show the curves of all GPUs in a history that compares GPUs, or only the first.",
    ),
    _OnPage(id="page-on", keys=("space",), label="Next page", help="Go down a page, as PgDn does."),
    _OnPage(
        id="all-threads", keys=("t",), label="All threads, frames",
        help="Show all threads of a process, or all frames of a stack and then those of C and C++, or only the first.",
    ),
    _OnPage(
        id="secrets", keys=("s",), label="Show secrets",
        help="Show the masked values in the environment and the command line of a process, or mask them again.",
    ),
)  # fmt: skip
CHORD: Final = {
    "n": "gpu", "p": "pid", "u": "user", "g": "gpu_memory", "s": "sm", "b": "memory_utilization", "c": "cpu",
    "m": "memory", "t": "time",
}  # fmt: skip
