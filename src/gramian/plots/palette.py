"""Colors and marks that stay apart for every kind of color vision, on white and on black.

The hues are those of Okabe and Ito (2008, "Color Universal Design"), less black, which is the ink, and less
yellow, which vanishes on white. Groups also differ in shape, so a map can be read without any color.
"""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
KEPT = COLORS[0]
MUTED = "#8C939C"
RUNNING = COLORS[1]
RISING = "#5E4FA2"
FALLING = "#9C7A3C"
"""Color of a negative weight. No group has it or ``RISING``, so that a bar is not taken for a group of rows."""


def color_of(position: int) -> str:
    """Color of the group at a position; they repeat after six, with another mark.

    Examples
    --------
    >>> color_of(0) == color_of(6)
    True
    """
    return COLORS[position % len(COLORS)]


def marker_of(position: int) -> str:
    """Mark of the group at a position; seven of them, so that pairs with a color repeat only after 42.

    Examples
    --------
    >>> marker_of(0) == marker_of(6)
    False
    """
    return MARKERS[position % len(MARKERS)]
