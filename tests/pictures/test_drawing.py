import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from gramian.pictures import COLORS, MARKERS, blank_axes, plot_gamma, plot_loadings, plot_scores, plot_scree, to_svg
from gramian.pictures.drawing import FALLING, KEPT, MUTED, RISING, color_of, marker_of
from gramian.pictures.gamma import GammaCurve
from gramian.pictures.loadings import ColumnWeight
from gramian.pictures.scores import ScoreGroup, ScoresMap
from gramian.pictures.scree import Scree

AWKWARD = ["a<b&c", "price in $ and $", "_hidden", "#000000", '"quoted" id="x"', ""]


def scree(k=5, chosen=2):
    """A spectrum that falls by halves."""
    shares = 0.5 ** np.arange(1, k + 1)
    return Scree(shares, shares, shares.cumsum(), chosen, 1 / max(k, 1))


def scores(names, n=6, n_rows=None):
    """A map with n rows a group."""
    rng = np.random.default_rng(0)
    groups = tuple(ScoreGroup(name, rng.standard_normal(n), rng.standard_normal(n), np.arange(n)) for name in names)
    shown = n * len(groups)
    return ScoresMap(groups, "PC1 (60.0%)", "PC2 (20.0%)", n_rows or shown, shown)


def gammas(chosen=2, *, found=True, median=0.5):
    """Two lines that part in the middle."""
    lost, chance = np.array([0.0, 0.1, 0.3, 0.9, 1.0]), np.array([0.0, 0.2, 0.7, 0.95, 1.0])
    return GammaCurve(10.0 ** np.arange(-2, 3), lost, chance, 0.01 + 0 * lost, chosen, found, median, 10)


DRAWN = {
    "scree": lambda ax: plot_scree(scree(), ax=ax),
    "scores": lambda ax: plot_scores(scores(["a", "b"]), ax=ax),
    "loadings": lambda ax: plot_loadings([ColumnWeight("a", 0.8, 0.64)], ax=ax),
    "gamma": lambda ax: plot_gamma(gammas(), ax=ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_plot_returns_the_axes_it_was_given(name):
    """A plot draws on the caller's axes, touches no other, and returns them."""
    left, right = Figure().subplots(1, 2)
    assert DRAWN[name](left) is left
    assert left.has_data()
    assert not right.has_data()


@pytest.mark.parametrize("name", DRAWN)
def test_plot_makes_its_own_figure_when_none_is_given(name):
    """Without axes a new figure is made, which a notebook then shows."""
    from matplotlib import pyplot as plt

    before = set(plt.get_fignums())
    ax = DRAWN[name](None)
    assert len(set(plt.get_fignums()) - before) == 1
    plt.close(ax.figure)


def test_bars_before_the_cut_are_colored_and_those_behind_it_are_not():
    """Colors of the bars change exactly at the cut."""
    ax = plot_scree(scree(k=5, chosen=2), ax=blank_axes())
    colors = [to_hex(bar.get_facecolor()).upper() for bar in ax.patches[:5]]
    assert colors == [KEPT.upper()] * 2 + [MUTED.upper()] * 3
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches[:5]], scree().shares)


@pytest.mark.parametrize("k, chosen", [(0, 0), (1, 1), (3, 0), (3, 3), (200, 150)])
def test_scree_of_any_length_and_cut_can_be_drawn(k, chosen):
    """No component, one, none kept, all kept, and hundreds: each gives a picture."""
    assert "share of the variance" in to_svg(plot_scree(scree(k, chosen), ax=blank_axes()), description="scree")


def test_groups_differ_in_color_and_in_shape():
    """Two groups share neither color nor mark, so a map reads without color vision."""
    ax = plot_scores(scores(["a", "b", "c"]), ax=blank_axes())
    drawn = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    assert len({to_hex(artist.get_facecolor()[0]) for artist in drawn}) == 3
    assert len({artist.get_paths()[0].vertices.tobytes() for artist in drawn}) == 3


def test_color_and_mark_together_tell_forty_groups_apart():
    """Pairs of color and mark repeat only after the product of their numbers."""
    pairs = [(color_of(i), marker_of(i)) for i in range(len(COLORS) * len(MARKERS))]
    assert len(set(pairs)) == len(pairs)


def test_both_axes_of_a_map_have_one_scale():
    """A distance on the map is a distance between rows."""
    assert plot_scores(scores(["a"]), ax=blank_axes()).get_aspect() == 1.0


def test_sample_is_confessed_on_the_map():
    """A map that shows some of the rows says how many of how many."""
    ax = plot_scores(scores([""], n=6, n_rows=1_000_000), ax=blank_axes())
    assert ax.get_title(loc="left") == "6 of 1,000,000 rows, drawn at random"


def test_rows_without_groups_need_no_legend():
    """A single nameless group is drawn without a legend."""
    assert plot_scores(scores([""]), ax=blank_axes()).get_legend() is None


def test_many_points_become_an_image_inside_the_picture():
    """Ten thousand points do not make a picture of megabytes."""
    svg = to_svg(plot_scores(scores([""], n=10_000), ax=blank_axes()), description="many")
    assert "<image" in svg
    assert len(svg) < 400_000


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names_are_shown_as_they_are(name):
    """Names with markup, dollars or underscores appear unchanged in a legend and on an axis."""
    legend = to_svg(plot_scores(scores([name, "b"]), ax=blank_axes()), description="scores")
    ticks = to_svg(plot_loadings([ColumnWeight(name, 0.5, 0.25)], ax=blank_axes()), description="loadings")
    for svg in (legend, ticks):
        texts = ["".join(element.itertext()) for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]
        assert not name or name in texts


def test_svg_follows_the_page():
    """A picture has no size, no typeface and no ink of its own, and no rule that reaches beyond it."""
    svg = to_svg(plot_scree(scree(), ax=blank_axes()), description='say "x" & <y>')
    head = svg[: svg.index(">")]
    assert 'aria-label="say &quot;x&quot; &amp; &lt;y&gt;"' in svg
    assert " width=" not in head
    assert " height=" not in head
    assert not any(mark in svg for mark in ("<style", "font-family", "#000000", "<metadata"))
    assert "var(--mark-1, #0072B2)" in svg


def test_two_pictures_share_no_id():
    """Ids of two pictures on one page do not collide, and every reference finds its own."""
    pictures = [DRAWN[name](blank_axes()) for name in ("scree", "scores")]
    roots = [ET.fromstring(to_svg(ax, description="x")) for ax in pictures]
    ids = [{element.get("id") for element in root.iter() if element.get("id")} for root in roots]
    assert not ids[0] & ids[1]
    for root, own in zip(roots, ids, strict=True):
        links = [value for element in root.iter() for key, value in element.attrib.items() if key.endswith("href")]
        assert {link[1:] for link in links if link.startswith("#")} <= own


def test_same_picture_gives_the_same_bytes():
    """Drawing twice gives one text, so a page changes only when the numbers do."""
    first, second = (to_svg(plot_scree(scree(), ax=blank_axes()), description="x") for _ in range(2))
    assert first == second


@pytest.mark.parametrize("k", [1, 3, 13, 15])
def test_every_one_of_few_components_is_numbered(k):
    """Up to fifteen bars, each has its number under it."""
    ax = plot_scree(scree(k, 1), ax=blank_axes())
    assert ax.get_xticks().tolist() == list(range(1, k + 1))


def test_signs_have_colors_that_no_group_has():
    """Bars of loadings are in two colors, neither of them a group's, and both follow the page."""
    columns = [ColumnWeight("a", 0.8, 0.64), ColumnWeight("b", -0.6, 0.36)]
    ax = plot_loadings(columns, ax=blank_axes())
    colors = [to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
    assert colors == [RISING, FALLING]
    assert not {RISING, FALLING} & {*COLORS, MUTED}
    assert all(f"var({name}" in to_svg(ax, description="x") for name in ("--rising", "--falling"))


@pytest.mark.parametrize("chosen, found, median", [(0, True, None), (2, False, 0.5), (4, True, 1e9)])
def test_the_choice_of_gamma_says_its_number_and_its_gap(chosen, found, median):
    """At the edges and in the middle, with and without a median: the gamma is written, and a gap only where found."""
    ax = plot_gamma(gammas(chosen, found=found, median=median), ax=blank_axes())
    words = " ".join(text.get_text() for text in ax.texts)
    assert f"gamma = {10.0 ** (chosen - 2):.3g}" in words
    assert ("gap beyond chance" in words) == (not found)
    assert ("median" in words) == (median == 0.5)
