from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from gramian import ICA, PCA, KernelPCA, choose_gamma, how_many, kmeans_cost, plot
from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.pictures import scree_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3)) @ RNG.standard_normal((3, 9)) * 2 + RNG.standard_normal((90, 9))
NAMES = [
    "alcohol",
    "malic acid",
    "ash",
    "alkalinity of ash",
    "magnesium",
    "total phenols",
    "flavonoids",
    "hue",
    "proline",
]
GROUPS = np.repeat(["first group", "second group", "third group"], 30)
PLANE = RNG.standard_normal((60, 2))
MIXED = RNG.laplace(size=(1500, 3)) @ RNG.standard_normal((3, 3))


@pytest.fixture(scope="module")
def models():
    """One fitted model of each kind."""
    return {
        "pca": PCA(scale=True).fit(X),
        "kernel": KernelPCA(6, kernel="rbf", gamma=0.5).fit(PLANE),
        "ica": ICA(runs=2, random_state=0).fit(MIXED),
        "choice": how_many(X, scale=True),
        "width": choose_gamma(X, n_components=3, repeats=1),
        "clusters": kmeans_cost(X, 3),
    }


PICTURES = {
    "scree": lambda m, ax: plot.scree(m["pca"], choice=m["choice"], ax=ax),
    "kernel scree": lambda m, ax: plot.scree(m["kernel"], ax=ax),
    "scores by group": lambda m, ax: plot.scores(m["pca"], X, color=GROUPS, ax=ax),
    "scores by number": lambda m, ax: plot.scores(m["pca"], X, color=X[:, 0], color_name="alcohol", ax=ax),
    "biplot of rows": lambda m, ax: plot.biplot(m["pca"], X, color=GROUPS, names=NAMES, ax=ax),
    "biplot of columns": lambda m, ax: plot.biplot(m["pca"], X, names=NAMES, scaling="columns", ax=ax),
    "correlation circle": lambda m, ax: plot.correlation_circle(m["pca"], names=NAMES, ax=ax),
    "loadings": lambda m, ax: plot.loadings(m["pca"], names=NAMES, ax=ax),
    "contributions": lambda m, ax: plot.contributions(m["pca"], names=NAMES, component=1, ax=ax),
    "reconstructions": lambda m, ax: plot.reconstructions(m["pca"], X[0], (3, 3), ax=ax),
    "eigenfunctions": lambda m, ax: plot.eigenfunctions(m["kernel"], steps=24, ax=ax),
    "sources": lambda m, ax: plot.sources(m["ica"], MIXED, sampling_rate=100.0, ax=ax),
    "outliers": lambda m, ax: plot.outliers(m["pca"], X, n_components=3, level=0.9, ax=ax),
    "certificate": lambda m, ax: plot.certificate(m["pca"], ax=ax),
    "gamma": lambda m, ax: plot.gamma(m["width"], ax=ax),
    "kmeans": lambda m, ax: plot.kmeans(m["clusters"], ax=ax),
}


def figure_of(width=6.4, height=4.8):
    """A figure that can be drawn, and its axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def texts_of(figure):
    """Every text of a drawn figure that a reader sees, with its box in pixels."""
    renderer = figure.canvas.get_renderer()
    seen = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in seen]
    ticks = {label for ax in figure.findobj(lambda artist: hasattr(artist, "get_xticklabels")) for label in hidden(ax)}
    return [(name, box) for text, (name, box) in zip(seen, boxes, strict=True) if text not in ticks and box.width > 0]


def hidden(ax):
    """Tick labels outside the limits of their axis: matplotlib keeps them, and draws none of them."""
    for labels, places, limits in (
        (ax.get_xticklabels(which="both"), [*ax.get_xticks(), *ax.get_xticks(minor=True)], ax.get_xlim()),
        (ax.get_yticklabels(which="both"), [*ax.get_yticks(), *ax.get_yticks(minor=True)], ax.get_ylim()),
    ):
        shown = ax.axison
        for label, place in zip(labels, places, strict=False):
            if not shown or not min(limits) <= place <= max(limits) or not label.get_text():
                yield label


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("size", [(6.4, 4.8), (4.2, 3.4)])
def test_no_text_lies_over_another(name, size, models):
    """In each picture, at two sizes, the boxes of all texts are apart when it is drawn."""
    figure, ax = figure_of(*(size if name != "sources" else (size[0], 4.8)))
    PICTURES[name](models, ax)
    figure.canvas.draw()
    shown = texts_of(figure)
    assert shown
    over = [(a, b) for (a, one), (b, two) in combinations(shown, 2) if one.padded(-1).overlaps(two.padded(-1))]
    assert not over


@pytest.mark.parametrize("name", PICTURES)
def test_picture_returns_the_axes_it_was_given(name, models):
    """A picture draws on the caller's axes and returns them."""
    _, ax = figure_of()
    assert PICTURES[name](models, ax) is ax
    assert ax.has_data() or ax.child_axes


def test_model_has_every_picture_as_a_method(models):
    """`pca.plot.scree()` is `plot.scree(pca)`; a name that is none is refused with those there are."""
    assert dir(models["pca"].plot) == sorted(set(plot.__all__) - {"gamma", "kmeans"})
    _, ax = figure_of()
    assert models["pca"].plot.scree(ax=ax) is ax
    with pytest.raises(AttributeError, match="There is no picture 'pie'"):
        models["pca"].plot.pie  # noqa: B018 - the look-up itself is what is tested


def test_names_are_placed_again_when_a_figure_shrinks(models):
    """A smaller figure shows fewer names, still apart; a larger one brings them back."""
    figure, ax = figure_of(8, 8)
    plot.correlation_circle(models["pca"], names=NAMES, ax=ax)
    shown = []
    for size in ((8, 8), (2.2, 2.2), (8, 8)):
        figure.set_size_inches(size)
        figure.canvas.draw()
        shown.append(sum(text.get_visible() and text.get_text() in NAMES for text in ax.texts))
    assert shown[0] == shown[2] == 9
    assert shown[1] < 9


def test_scree_shows_the_noise_of_parallel_analysis(models):
    """The band is as high as what each component was held against, as a share of the variance."""
    view = scree_of(models["pca"], choice=models["choice"])
    detail = models["choice"]["parallel analysis"].detail
    np.testing.assert_allclose(view.noise, detail["thresholds"] / detail["total_variance"])
    above = view.shares[: len(view.noise)] > view.noise
    assert above.sum() == models["choice"]["parallel analysis"].n_components
    _, ax = figure_of()
    plot.scree(models["pca"], choice=models["choice"], ax=ax)
    assert "noise alone (95%)" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_scaling_of_a_biplot_is_named(models):
    """The title says which side keeps its distances."""
    for scaling, words in (("rows", "distances between rows kept"), ("columns", "angles between columns kept")):
        _, ax = figure_of()
        plot.biplot(models["pca"], X, scaling=scaling, ax=ax)
        assert words in ax.get_title(loc="left")
    with pytest.raises(ParameterError, match="scaling='both' is not known"):
        plot.biplot(models["pca"], X, scaling="both")


def test_many_points_get_lines_of_density():
    """Beyond some thousand points, lines of equal density are drawn over the cloud."""
    many = np.random.default_rng(0).standard_normal((4000, 3))
    _, ax = figure_of()
    plot.scores(PCA().fit(many), many, ax=ax)
    assert [artist for artist in ax.collections if not isinstance(artist, PathCollection)]


def test_numbers_of_few_kinds_are_groups_and_others_a_scale(models):
    """Whole numbers of three kinds get a legend, measured numbers a bar."""
    _, ax = figure_of()
    plot.scores(models["pca"], X, color=np.repeat([1, 2, 3], 30), ax=ax)
    assert len(ax.get_legend().get_texts()) == 3
    figure, ax = figure_of()
    plot.scores(models["pca"], X, color=X[:, 0], color_name="alcohol", ax=ax)
    assert ax.get_legend() is None
    assert [other.get_ylabel() for other in figure.axes if other is not ax] == ["alcohol"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda m: plot.eigenfunctions(m["pca"]),
        lambda m: plot.sources(m["kernel"], PLANE),
        lambda m: plot.biplot(m["ica"], MIXED),
        lambda m: plot.certificate(m["ica"]),
        lambda _: plot.scree(np.ones(3)),
    ],
)
def test_picture_of_another_kind_of_model_is_refused(draw, models):
    """A picture that a model cannot give is refused with a sentence, before a figure is made."""
    with pytest.raises(NotSupportedError):
        draw(models)


def test_names_of_a_table_are_used():
    """Columns of a pandas table need no names given."""
    pd = pytest.importorskip("pandas")
    _, ax = figure_of()
    PCA(scale=True).fit(pd.DataFrame(X, columns=NAMES)).plot.loadings(ax=ax)
    assert set(NAMES) == {label.get_text() for label in ax.get_yticklabels()}


def with_a_hole():
    """The rows with one value missing."""
    holed = X.copy()
    holed[4, 2] = np.nan
    return holed


@pytest.mark.parametrize(
    "draw, said",
    [
        (lambda _: plot.correlation_circle(PCA(1).fit(X)), "Fit at least 2 components"),
        (lambda m: plot.sources(m["ica"], MIXED[:1]), "1 row is too few. Pass at least 4 rows"),
        (lambda m: plot.scores(m["pca"], X[:, :5]), "X has 5 columns, and the model was fitted to 9"),
        (lambda m: plot.biplot(m["pca"], X[:, :5]), "X has 5 columns, and the model was fitted to 9"),
        (lambda m: plot.outliers(m["pca"], X[:, :5]), "X has 5 columns, and the model was fitted to 9"),
        (lambda m: plot.scores(m["pca"], with_a_hole()), "contains NaN: row 4"),
        (lambda m: plot.outliers(m["pca"], with_a_hole(), n_components=2), "contains NaN: row 4"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused_in_words(models, draw, said):
    """Too few components or rows, other columns and holes are refused with what to do, not dropped or broken on."""
    with pytest.raises((ParameterError, InputError), match=said):
        draw(models)


def test_legend_ends_with_the_number_of_groups_that_it_does_not_name():
    """Of 400 groups twelve are named, and the others counted."""
    X = np.random.default_rng(0).standard_normal((800, 4))
    ax = PCA(2).fit(X).plot.scores(X, color=[f"group {i % 400}" for i in range(800)])
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(named) == 13
    assert named[-1] == "and 388 more"


@pytest.mark.parametrize("picture", ["correlation_circle", "biplot"])
def test_names_without_room_are_counted(picture):
    """Of 60 columns, those whose names are not drawn are said."""
    X = np.random.default_rng(0).standard_normal((200, 60))
    model = PCA(2, scale=True).fit(X)
    names = [f"a rather long name {j}" for j in range(60)]
    ax = getattr(model.plot, picture)(*([X] if picture == "biplot" else []), names=names)
    ax.figure.draw_without_rendering()
    hidden = sum(not text.get_visible() for text in ax.texts if text.get_text() in names)
    assert hidden > 0
    assert f"{hidden} names have no room here" in [text.get_text() for text in ax.texts]
    assert picture != "biplot" or "the 30 longest of 60 arrows" in ax.get_title(loc="left")


def test_only_pictures_are_listed():
    """What completion offers after `plot.` is a picture."""
    assert dir(plot) == sorted(plot.__all__)
