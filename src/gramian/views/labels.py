"""How components are called, and things counted, wherever a person reads of them."""


def component_name(index: int) -> str:
    """Name of the component at a position counted from zero.

    Examples
    --------
    >>> component_name(0)
    'PC1'
    """
    return f"PC{index + 1}"


def component_label(index: int, share: float) -> str:
    """Name of a component with the share of the variance it holds, as an axis carries it.

    Examples
    --------
    >>> component_label(1, 0.1921)
    'PC2 (19.2%)'
    """
    return f"{component_name(index)} ({share:.1%})"


def shortened(name: str, most: int) -> str:
    """Return a name of at most so many letters, cut in the middle: names often differ only at their ends.

    Examples
    --------
    >>> shortened("temperature of sensor 1", 13), shortened("short", 13)
    ('temper…nsor 1', 'short')
    """
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
