"""Names, numbers and plurals as a person says them."""

from collections.abc import Sequence

SHOWN = 6
"""Names that a sentence lists before it only counts them."""


def listed(names: Sequence[str]) -> str:
    """Return names as a person lists them, the first ones where there are many.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed([str(i) for i in range(9)])
    ('a', 'a, b and c', '0, 1, 2, 3, 4, 5 and 3 more')
    """
    if len(names) > SHOWN:
        return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN:,} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def for_many(why: str, count: int) -> str:
    """Return a reason as it is said of one column or of several."""
    return why if count == 1 else why.replace("it holds", "they hold").replace("it is", "they are")


def components(count: int) -> str:
    """Return a number of components with its noun."""
    return f"{count} component{'' if count == 1 else 's'}"


def times(ratio: float) -> str:
    """Return a ratio with as many digits as are worth reading."""
    if ratio >= 1e15:
        return f"{ratio:.0e}"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


def constant_note(names: Sequence[str]) -> list[str]:
    """Say which columns were left out because they do not vary; nothing where there is none."""
    if not names:
        return []
    tells = "it tells" if len(names) == 1 else "they tell"
    return [f"Left out {listed([repr(name) for name in names])}: constant, so {tells} nothing."]
