"""Page of one job of a fleet: its ranks on all hosts, and what is unlike the others."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.message import Message

from gputop.core.fleet.groups import JOB, Group, grouped
from gputop.core.fleet.model import Fleet
from gputop.ui.render.line import Line
from gputop.ui.screens.fleet.job_lines import job_lines
from gputop.ui.screens.fleet.subjects import DetailsWanted, SubjectChosen, group_subject, instances_of
from gputop.ui.screens.pages.page import Page


class JobHostsWanted(Message):
    """The user wants the hosts of a job."""

    def __init__(self, job: Group) -> None:
        super().__init__()
        self.job = job


class JobPage(Page):
    """Shows the ranks of a job, and follows it. A job that ended stays as it was last."""

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "history": "open_history", "accept": "open_hosts"}

    def __init__(self, job: Group, fleet: Fleet) -> None:
        super().__init__()
        self._job = job
        self._fleet = fleet
        self._has_ended = False

    def on_mount(self) -> None:
        """Ask for all values of its GPUs."""
        super().on_mount()
        self.post_message(DetailsWanted(instances_of(self._job, self._fleet)))

    def on_unmount(self) -> None:
        """Ask for them no more."""
        self.app.post_message(DetailsWanted())

    def show(self, fleet: Fleet) -> None:
        """Draw newer values, and ask for all those of GPUs that the job holds now."""
        found = next((job for job in grouped(fleet.hosts, JOB) if job.name == self._job.name), None)
        self._has_ended = found is None
        before = instances_of(self._job, self._fleet)
        self._job, self._fleet = found or self._job, fleet
        after = instances_of(self._job, fleet)
        if after and after != before:
            self.post_message(DetailsWanted(after))
        self.redraw()

    def open_hosts(self) -> None:
        """Show the hosts of the job in place of this page."""
        self.app.post_message(JobHostsWanted(self._job))
        self.dismiss()

    def open_history(self) -> None:
        """Show the history of the job."""
        self.post_message(SubjectChosen(group_subject(self._job, JOB, self._fleet)))

    def title_line(self) -> str:
        """Return the name of the job."""
        return f"Job {self._job.name}{' · it holds no GPU any more' if self._has_ended else ''}"

    def keys_line(self) -> str:
        """Return the keys."""
        name = self.name_of
        return f"{super().keys_line()} · {name('accept')} its hosts · {name('history')} history"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return its lines."""
        return job_lines(self._job, width)
