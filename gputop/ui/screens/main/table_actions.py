"""Actions on the process table that take more than one call of it: order, grouping, users."""

from msgspec.structs import replace

from gputop.ui.input.actions import CHORD
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.rows import Grouping


class TableActions:
    """Changes order and grouping of the process table. ``is_chord``: the next key is the letter of a column."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._processes = host.processes
        self.is_chord = False

    # --- order -----------------------------------------------------------------------------------------------------
    def invert(self) -> None:
        """Reverse the order."""
        self._processes.sort_by(self._processes.sort_key)

    def order(self, is_reversed: int) -> None:
        """Sort upwards or downwards by the present column."""
        self._processes.sort_by(self._processes.sort_key, is_reversed=bool(is_reversed))

    def sort_menu(self) -> None:
        """Choose the column to sort by."""
        from gputop.ui.screens.dialogs.menu import MenuScreen
        from gputop.ui.screens.dialogs.menu_choices import column_choices

        choices = column_choices(self._processes.shown_columns)
        menu = MenuScreen("Sort by", choices, self._processes.sort_key)
        self._host.push(menu, self._sort_by_chosen)

    def start_chord(self) -> None:
        """Wait for the letter of a column, and show the letters."""
        self.is_chord = True
        self._host.footer.show(is_chord=True)

    def end_chord(self, letter: str) -> None:
        """Sort as nvitop does: a small letter in the column's own direction, a capital the other way round."""
        self.is_chord = False
        self._host.footer.show()
        if letter.lower() not in CHORD:
            return
        self._processes.sort_key = ""
        self._processes.sort_by(CHORD[letter.lower()])
        if letter.isupper():
            self._processes.sort_by(CHORD[letter.lower()])

    # --- grouping and users ----------------------------------------------------------------------------------------
    def toggle_view(self, name: str) -> None:
        """Show a tree or groups, or a list again."""
        wanted = Grouping(name)
        self._processes.group(Grouping.PROCESSES if self._processes.grouping is wanted else wanted)

    def group(self, step: int) -> None:
        """Take the next or previous grouping."""
        groupings = list(Grouping)
        self._processes.group(groupings[(groupings.index(self._processes.grouping) + step) % len(groupings)])

    def choose_user(self) -> None:
        """Choose the user whose processes are shown."""
        from gputop.ui.screens.dialogs.menu import MenuScreen
        from gputop.ui.screens.dialogs.menu_choices import EVERYBODY, user_choices

        user = self._processes.row_filter.user
        choices = user_choices(self._processes.all_rows)
        shown = EVERYBODY if user is None else user
        menu = MenuScreen("Show processes of", choices, shown)
        self._host.push(menu, self._show_chosen_user)

    def mine(self) -> None:
        """Show only the user's own processes, or all."""
        own_user = self._host.options.own_user
        if own_user is None:
            self._host.notify("cannot determine the current user: $USER is not set", timeout=4)
        else:
            self._show_user(None if self._processes.row_filter.user == own_user else own_user)

    def _sort_by_chosen(self, key: str | None) -> None:
        if key is not None and key != self._processes.sort_key:
            self._processes.sort_by(key)

    def _show_chosen_user(self, user: str | None) -> None:
        from gputop.ui.screens.dialogs.menu_choices import EVERYBODY

        if user is not None:
            self._show_user(None if user == EVERYBODY else user)

    def _show_user(self, user: str | None) -> None:
        self._processes.narrow(replace(self._processes.row_filter, user=user))
