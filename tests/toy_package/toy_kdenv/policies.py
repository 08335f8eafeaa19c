"""Two policies: a class with a parameter, and a function of a view. Their names are those of their entry points."""

from kdenv.author import Policy, View, param


class Place(Policy):
    """The legal action at this place of the list."""

    place: int = param("counted from 0; the last action where the list is shorter", default=0, least=0)

    def act(self, view: View) -> int:
        legal = view.legal()
        return legal[min(self.place, len(legal) - 1)]


def last(view: View) -> int:
    """The last legal action."""
    return view.legal()[-1]
