"""Actions that open a page: a process, a GPU, MIG, help."""

from gputop.core.model.finding import Finding
from gputop.core.model.sample import Gpu, HostProcess
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.selection import pointed_at


class PageActions:
    """Opens pages about the selected process or GPU."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host

    def help(self) -> None:
        """Open the help page."""
        from gputop.ui.screens.pages.help import HelpScreen

        self._host.push(HelpScreen(actions=self._host.keys.actions))

    def messages(self) -> None:
        """Open the page of past messages."""
        from gputop.ui.screens.pages.messages import MessagesScreen

        self._host.push(MessagesScreen(self._host.messages))

    def gpu(self) -> None:
        """Open the page of the GPU in focus, of the selected process, or of the first."""
        from gputop.ui.screens.pages.gpu import GpuScreen

        gpu = self._selected_gpu()
        if gpu is None:
            self._notify_no_gpu()
        else:
            self._host.push(GpuScreen(gpu, self._host.view))

    def history(self, index: int | None = None) -> None:
        """Open the history of a GPU: of this one, or of the one that `gpu` would show."""
        from gputop.ui.screens.pages.history import HistoryScreen
        from gputop.ui.screens.pages.history_lines import Topic

        gpu = self._selected_gpu() if index is None else self._gpu(index)
        if gpu is None:
            self._notify_no_gpu()
        else:
            store, topic = self._host.store, Topic(gpus=(gpu.uuid,))
            self._host.push(HistoryScreen(topic, store.view, store.watchlist, clock=store.clock))

    def history_of(self, process: HostProcess) -> None:
        """Open the history of a process."""
        from gputop.ui.screens.pages.history import HistoryScreen
        from gputop.ui.screens.pages.history_lines import Topic

        store, topic = self._host.store, Topic(process=process.id)
        screen = HistoryScreen(topic, store.view, store.watchlist, clock=store.clock, name=process.command)
        self._host.push(screen)

    def mig(self, index: int | None = None) -> None:
        """Open the MIG page of a GPU: of this one, or of the one that `gpu` would show."""
        from gputop.ui.screens.mig.page import MigScreen

        host = self._host
        gpu = self._selected_gpu() if index is None else self._gpu(index)
        if gpu is None:
            self._notify_no_gpu()
        else:
            host.push(MigScreen(gpu.uuid, host.view, host.send, clock=host.store.clock, options=host.options))

    def process(self, part: str = "") -> None:
        """Open the page of the selected process, at a part of it; fold a group; without a selection show the GPU."""
        line, host = self._host.processes.selected_line, self._host
        if line is not None and line.is_group and not part:
            host.processes.fold(is_open=not line.is_open)
            return
        process = pointed_at(line, host.view.frame) if line is not None and host.view.frame is not None else None
        if process is not None:
            self.process_of(process, part)
        elif part:
            host.notify("Select a process first, with the arrow keys.", timeout=2)
        else:
            self.gpu()

    def process_of(self, process: HostProcess, part: str = "") -> None:
        """Open the page of a process, at a part of it."""
        from gputop.ui.screens.pages.process import ProcessScreen

        host = self._host
        host.push(ProcessScreen(process, host.view, host.send, part=part, clock=host.store.clock))

    def why(self) -> None:
        """Ask where the job of the selected process hangs, or the process itself."""
        line, host = self._host.processes.selected_line, self._host
        process = pointed_at(line, host.view.frame) if line is not None and host.view.frame is not None else None
        if process is None:
            host.notify("Select a process first, with the arrow keys.", timeout=2)
        else:
            self.why_of(process)

    def why_of(self, about: HostProcess | Finding) -> None:
        """Ask where a process, its job, or the processes of a finding hang."""
        from gputop.core.insight.members import of_finding, of_process
        from gputop.ui.screens.pages.why import WhyScreen

        host, frame = self._host, self._host.view.frame
        if frame is None:
            return
        asked = of_finding(frame, about) if isinstance(about, Finding) else of_process(frame, about)
        if asked.members:
            host.push(WhyScreen(asked, host.send, clock=host.store.clock))
        else:
            host.notify(f"{asked.label}: no running process of this host to ask about", severity="warning", timeout=3)

    def _selected_gpu(self) -> Gpu | None:
        """Return the GPU in focus, or the one of the selected process, or the first."""
        row, view = self._host.processes.selected, self._host.view
        wanted = view.focus if view.focus is not None or row is None else row.use.gpu_index
        gpus = [gpu for gpu in view.gpus if wanted in {None, gpu.index}] or list(view.gpus)
        return gpus[0] if gpus else None

    def _gpu(self, index: int) -> Gpu | None:
        return next((each for each in self._host.view.gpus if each.index == index), None)

    def _notify_no_gpu(self) -> None:
        self._host.notify("there is no GPU to show", timeout=2)
