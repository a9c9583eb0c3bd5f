"""``gramian demo [NAME]``: examples of the lectures, each ending in a page.

Tables are generated, or those that come with scikit-learn's files (wine and digits, CC BY 4.0) and with Python (its
manual, PSF license).
"""

import gzip
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import NotSupportedError

DEMOS = {
    "wine": "178 wines, 13 measurements: what tells three cultivars apart",
    "particle": "a particle on a straight line at constant speed, seen by three sensors: three columns, one motion",
    "circle": "60 points on a circle of radius 10 under the kernel (1 + x.y)^2: four directions, no more",
    "rings": "two rings that no straight line parts, and a kernel that does",
    "zero-one": "360 handwritten zeros and ones of 8 x 8 pixels: two components part them",
    "digits": "1,797 handwritten digits of 8 x 8 pixels, and what they are made of",
    "faces": "eigenfaces of 300 faces that are drawn, not photographed: a face from a few numbers",
    "kmeans": "k-means of 1,797 digits in fewer and fewer dimensions: what it costs, and how much sooner it ends",
    "classifier": "digits told apart with and without PCA: from few rows fewer dimensions are better, from many not",
    "denoise": "1,797 digits with noise, rebuilt from 15 components",
    "documents": "pages of Python's manual and a thousand of their words: topics, each by its words",
    "cocktail": "four sounds recorded by four microphones, unmixed",
    "ratings": "four people and six films, seven question marks; then 900 people and 150 films, nine in ten unknown",
}
"""The demos, each with what it shows."""

EXAMPLES = """\b
Examples:
  gramian demo                  the list
  gramian demo wine             into ./demo/
  gramian demo faces -o out
"""


@click.command("demo", epilog=EXAMPLES)
@click.argument("name", type=click.Choice(list(DEMOS)), required=False)
@click.option("-o", "--output", metavar="DIR", type=click.Path(), default="demo", show_default=True)
@click.option("--quiet", is_flag=True, help="Say nothing on stderr while working.")
def command(name: str | None, output: str, *, quiet: bool) -> None:
    """Run an example, most of them of the lectures; without a name, list them.

    Writes the table to DIR, fits it as `gramian pca`, `kpca`, `ica` or `fill` would, and says where the page is.
    """
    if name is None:
        click.echo("\n".join(f"{demo:12}{words}" for demo, words in DEMOS.items()))
        return
    click.echo(f"{DEMOS[name]}.")
    for made in MAKERS[name]():
        _run(f"{name}{made.suffix}", made, Path(output), quiet=quiet)


def _run(name: str, made: "DemoTable", folder: Path, *, quiet: bool) -> None:
    """Write a table, and fit it as the command line would."""
    from gramian.atomic import atomic_write
    from gramian.cli.writing import cannot_write
    from gramian.models.archive.export import write_csv

    table = folder / f"{name}.csv"
    with cannot_write(table):
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(table) as part:
            write_csv(part, made.header, made.columns)
            _refuse_another(table, part)
    target = folder / f"{name}-{made.verb}"
    words = (made.verb, str(table), *made.flags)
    click.echo(f"$ gramian {shlex.join(words)}\n")
    verb: click.Command = import_module(f"gramian.cli.{made.verb}").command
    given = [*made.flags, "-o", str(target), *(["--quiet"] if quiet else []), "--", str(table)]
    with verb.make_context(made.verb, given, obj=words) as context:
        verb.invoke(context)
    if made.told is not None:
        click.echo(f"\n{made.told(target)}")
    click.echo(f"\nThe page: {(target / 'report.html').resolve()}")


def _refuse_another(table: Path, part: Path) -> None:
    """Refuse to write the table of a demo over a file that is not that table."""
    from filecmp import cmp

    from gramian.cli.exits import CannotWriteError

    if table.exists() and not cmp(table, part, shallow=False):
        message = f"cannot write {table}: a file of yours has that name. Name another folder with -o, or move the file."
        raise CannotWriteError(message)


WINE = (
    "alcohol",
    "malic acid",
    "ash",
    "alcalinity of ash",
    "magnesium",
    "total phenols",
    "flavanoids",
    "nonflavanoid phenols",
    "proanthocyanins",
    "color intensity",
    "hue",
    "OD280/OD315",
    "proline",
)
"""Measurements of the wine table (Aeberhard and Forina, UCI, CC BY 4.0)."""

STOP_WORDS = (
    "the and for that are this with not can may from which use used has have when its any one all other see will also "
    "than only but into such each then they been does being these those where both some same must over more was you "
    "your would there them what about between after how too very"
)
"""Words of every text, which tell no topic."""


@dataclass(frozen=True, eq=False)
class DemoTable:
    """A table, the verb and flags that fit it, what its name has after the demo's, and what more is told of the fit."""

    verb: str
    header: list[str]
    columns: list[Any]
    flags: tuple[str, ...] = ()
    suffix: str = ""
    told: Callable[[Path], str] | None = None

    @property
    def numbers(self) -> HostArray:
        """The columns that are numbers (n, d)."""
        return np.column_stack([column for column in self.columns if column.dtype != object])


def wine() -> DemoTable:
    """178 wines of three cultivars."""
    lines = _bundled("wine_data.csv").read_text(encoding="utf-8").splitlines()[1:]
    X = np.array([line.split(",") for line in lines], dtype=float)
    cultivar = np.array([f"cultivar {int(group) + 1}" for group in X[:, -1]], dtype=object)
    return DemoTable("pca", ["cultivar", *WINE], [cultivar, *X[:, :-1].T])


def digits() -> DemoTable:
    """1,797 handwritten digits of 8 x 8 pixels."""
    with gzip.open(_bundled("digits.csv.gz"), "rt", encoding="utf-8") as file:
        X = np.loadtxt(file, delimiter=",")
    digit = np.array([f"digit {int(group)}" for group in X[:, -1]], dtype=object)
    flags = ("--no-scale", "--image", "8x8")
    return DemoTable("pca", ["digit", *_pixels(8, 8)], [digit, *X[:, :-1].T], flags)


def zero_one() -> DemoTable:
    """The zeros and ones among the digits."""
    every = digits()
    digit = every.columns[0]
    kept = (digit == "digit 0") | (digit == "digit 1")
    return DemoTable("pca", every.header, [column[kept] for column in every.columns], (*every.flags, "-k", "2"))


def kmeans() -> DemoTable:
    """The digits; k-means with ten clusters in all their dimensions and in fewer."""
    from gramian.models.clustering import kmeans_cost

    table = digits()
    return replace(table, told=lambda _: str(kmeans_cost(table.numbers, 10, dimensions=[2, 5, 10, 20, 40])))


def classifier() -> DemoTable:
    """The digits; told apart from 60 rows and from 1,000."""
    from gramian.models.prediction import prediction_curve

    table = digits()
    digit, X = table.columns[0].astype(str), table.numbers
    return replace(table, told=lambda _: "\n\n".join(str(prediction_curve(X, digit, n)) for n in (60, 1000)))


def denoise() -> DemoTable:
    """The digits under noise of a quarter of their range; rebuilt, they are nearer to what they were."""
    from gramian.models.archive.file import open_archive

    table = digits()
    clean = table.numbers
    noisy = clean + 4.0 * np.random.default_rng(0).standard_normal(clean.shape)

    def told(folder: Path) -> str:
        model = open_archive(folder / "model.gramian").model
        before, after = (np.mean((X - clean) ** 2) for X in (noisy, model.reconstruct(model.project(noisy))))
        return f"Mean squared noise per pixel: {before:.1f} in the table, {after:.1f} rebuilt from 15 components."

    return DemoTable("pca", table.header, [table.columns[0], *noisy.T], (*table.flags, "-k", "15"), told=told)


def documents() -> DemoTable:
    """Pages of Python's manual: how often each has a word, on a log scale and by its rarity, in rows of length 1."""
    from pydoc_data.topics import topics

    # Two pages are the same under two names.
    pages = {text: name for name, text in sorted(topics.items())}
    counts = [Counter(re.findall(r"[a-z]{3,}", text.lower())) for text in pages]
    frequency = Counter(word for page in counts for word in page)
    common = set(STOP_WORDS.split())
    words = sorted(word for word, n in frequency.items() if 4 <= n <= 40 and word not in common)
    rarity = np.log(len(pages) / np.array([frequency[word] for word in words]))
    X = np.log1p([[page[word] for word in words] for page in counts]) * rarity
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    names = np.array([*pages.values()], dtype=object)
    return DemoTable("pca", ["page", *words], [names, *X.T], ("--no-scale", "-k", "6", "--id", "page"))


def circle() -> DemoTable:
    """Equally spaced points on a circle of radius 10: eigenvalues of K/n are 2500, 2500, 100, 100 (F9)."""
    t = 2 * np.pi * np.arange(60) / 60
    return DemoTable("kpca", ["x", "y"], [10 * np.cos(t), 10 * np.sin(t)], ("--kernel", "poly(2, gamma=1)", "-k", "4"))


def rings() -> DemoTable:
    """Two rings around one center."""
    rng = np.random.default_rng(0)
    n = 600
    t, outer = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2 == 1
    radius = np.where(outer, 1.0, 0.3) + 0.04 * rng.standard_normal(n)
    ring = np.where(outer, "outer ring", "inner ring").astype(object)
    columns = [ring, radius * np.cos(t), radius * np.sin(t)]
    return DemoTable("kpca", ["ring", "x", "y"], columns, ("--gamma", "2", "-k", "4"))


def particle() -> DemoTable:
    """A particle at speed u = 0.5 over T = 200 instants: one component holds u^2 (T^2 - 1) / 12 = 833.3125 (F1)."""
    along = np.array([2.0, -1.0, 2.0]) / 3.0
    seen = 0.5 * np.outer(np.arange(200.0), along)
    flags = ("--no-scale", "--ddof", "0", "-k", "1")
    return DemoTable("pca", [f"sensor {j + 1}" for j in range(3)], list(seen.T), flags)


def cocktail() -> DemoTable:
    """Four sounds, mixed in four microphones."""
    rng = np.random.default_rng(0)
    t = np.arange(8000) / 2000.0
    sounds = np.column_stack(
        [
            np.sin(2 * np.pi * 7 * t) * np.sin(2 * np.pi * 0.5 * t),
            np.sign(np.sin(2 * np.pi * 3.1 * t)),
            2 * ((1.9 * t) % 1.0) - 1,
            rng.laplace(size=len(t)) * (np.sin(2 * np.pi * 0.8 * t) > 0.3),
        ]
    )
    sounds = (sounds - sounds.mean(axis=0)) / sounds.std(axis=0)
    mixed = sounds @ rng.uniform(0.2, 1.0, (4, 4)) + 0.01 * rng.standard_normal((len(t), 4))
    return DemoTable("ica", [f"microphone {j + 1}" for j in range(4)], list(mixed.T), ("--rate", "2000"))


def faces() -> DemoTable:
    """Faces of 32 x 32 pixels that are drawn."""
    images = _drawn_faces()
    n, height, width = images.shape
    flags = ("--no-scale", "-k", "15", "--image", f"{height}x{width}")
    return DemoTable("pca", _pixels(height, width), list(images.reshape(n, -1).T.astype(float)), flags)


QUESTION_MARKS = {
    "person": ["Tom", "George", "Susan", "Beth"],
    "movie 1": ["5", "?", "4", "4"],
    "movie 2": ["?", "?", "3", "3"],
    "movie 3": ["?", "3", "1", "?"],
    "movie 4": ["1", "1", "?", "2"],
    "movie 5": ["3", "2", "5", "4"],
    "movie 6": ["?", "5", "1", "2"],
}
"""The lectures' own ratings."""

GENRES = ("western", "comedy", "romance", "horror", "space", "crime")


def ratings() -> Sequence[DemoTable]:
    """The lectures' 4 x 6 ratings with their question marks, and a long table of ratings whose tastes are planted."""
    columns = [np.array(cells, dtype=object) for cells in QUESTION_MARKS.values()]
    return DemoTable("fill", list(QUESTION_MARKS), columns, ("--bounds", "1,5")), _many_ratings()


def _many_ratings(n: int = 900, d: int = 150, count: int = 13_500) -> DemoTable:
    """Stars of people who like two genres against two others, each at a level of their own; a tenth is known."""
    rng = np.random.default_rng(0)
    genre, taste = np.arange(d) % len(GENRES), rng.standard_normal((n, 2))
    sides = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.7, 0.7], [-0.7, -0.7]])
    liked = taste @ (sides[genre] * rng.uniform(0.5, 1.0, (d, 1))).T
    level = 3.4 + 0.4 * rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal(d)
    stars = np.clip(np.round(level + liked + 0.6 * rng.standard_normal((n, d))), 1, 5).astype(int)
    # Few films are seen by many.
    chance = np.tile(1.0 / (5.0 + rng.permutation(d)), n)
    i, j = np.divmod(np.sort(rng.choice(n * d, size=count, replace=False, p=chance / chance.sum())), d)
    films = np.array([f"{GENRES[k]} {1 + at // len(GENRES)}" for at, k in enumerate(genre)], dtype=object)
    people = np.array([f"person {at + 1:03}" for at in range(n)], dtype=object)
    header, flags = ["person", "film", "stars"], ("--bounds", "1,5")
    return DemoTable("fill", header, [people[i], films[j], stars[i, j]], flags, "-long")


MAKERS: dict[str, Callable[[], Sequence[DemoTable]]] = {
    "wine": lambda: [wine()],
    "particle": lambda: [particle()],
    "circle": lambda: [circle()],
    "rings": lambda: [rings()],
    "zero-one": lambda: [zero_one()],
    "digits": lambda: [digits()],
    "faces": lambda: [faces()],
    "kmeans": lambda: [kmeans()],
    "classifier": lambda: [classifier()],
    "denoise": lambda: [denoise()],
    "documents": lambda: [documents()],
    "cocktail": lambda: [cocktail()],
    "ratings": ratings,
}
"""The tables of each demo, one after the other."""


def _bundled(name: str) -> Path:
    """Return a file of scikit-learn's, found without importing it."""
    spec = find_spec("sklearn")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        path = Path(folder) / "datasets" / "data" / name
        if path.exists():
            return path
    message = f"The table {name} comes with scikit-learn, which is not where it should be. Install gramian again."
    raise NotSupportedError(message)


def _pixels(height: int, width: int) -> list[str]:
    return [f"pixel {row},{column}" for row in range(height) for column in range(width)]


def _drawn_faces(n: int = 300, size: int = 32) -> HostArray:
    """Draw faces: an oval with eyes, brows and a mouth whose places, sizes and bend vary, under a moving light."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    drawn = np.empty((n, size, size))
    for i in range(n):
        a = rng.normal(size=8)
        skin = 150 + 15 * a[0] + 25 * a[1] * x + 12 * a[2] * y
        inside = 1 / (1 + np.exp(18 * ((x / (0.72 + 0.05 * a[3])) ** 2 + (y / 0.95) ** 2 - 1)))
        face = 40 + (skin - 40) * inside
        for side in (-1, 1):
            face -= 90 * _blob(x - side * (0.32 + 0.03 * a[4]), y + 0.2, 0.11, 0.07 + 0.015 * a[5])
            face -= 45 * _blob(x - side * 0.32, y + 0.42 + 0.03 * a[6], 0.17, 0.05)
        face -= 70 * _blob(x, y - 0.48 - 0.25 * a[7] * x**2, 0.3, 0.06)
        face -= 25 * _blob(x, y - 0.12, 0.07, 0.2)
        drawn[i] = np.clip(face + 3 * rng.normal(size=face.shape), 0, 255).round()
    return drawn


def _blob(x: HostArray, y: HostArray, width: float, height: float) -> HostArray:
    return np.asarray(np.exp(-((x / width) ** 2) - (y / height) ** 2))
