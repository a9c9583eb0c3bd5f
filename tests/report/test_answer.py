from dataclasses import replace

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA, how_many
from gramian.report import answer_words


def noise(n=300, d=8, seed=0):
    """Columns that have nothing to do with one another."""
    return np.random.default_rng(seed).standard_normal((n, d))


def one_factor(n=300, d=8, seed=0):
    """Columns that all follow one hidden number."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 1)) @ np.ones((1, d)) + 0.2 * rng.standard_normal((n, d))


def told(X, **more):
    """The answer about a table as one text."""
    return " ".join(answer_words(PCA(scale=True).fit(X), rows=X, choice=how_many(X, scale=True), **more))


def test_two_tables_of_opposite_findings_get_different_sentences():
    """Noise is said to be noise, and a common factor is said to lead; neither sentence is in the other answer."""
    nothing, factor = told(noise()), told(one_factor())
    assert "No direction stands out" in nothing
    assert "All columns rise together along PC1" not in nothing
    assert "One direction is nearly all there is" in factor
    assert "All columns rise together along PC1" in factor
    assert "No direction stands out" not in factor


def test_few_rows_of_one_direction_are_not_called_noise():
    """Where parallel analysis sees too little in a handful of rows, but one direction has most, both are said."""
    X = one_factor(5, 4, seed=3)
    said = told(X)
    assert "No direction stands out" not in said
    assert "PC1" in said


def test_a_label_is_said_to_follow_a_component_or_none():
    """Groups that lie apart are told with their component, groups drawn at random are told as such."""
    X = one_factor()
    side = np.where(X[:, 0] > 0, "high", "low")
    chance = np.random.default_rng(1).choice(["a", "b"], len(X))
    assert "PC1 tells most about side" in told(X, labels={"side": side})
    assert "PC1 does not tell the groups of coin apart" in told(X, labels={"coin": chance})
    assert "No component tells the groups of coin apart" in told(X, labels={"coin": chance}, chosen=2)


def test_a_number_is_said_to_follow_a_component_or_none():
    """A number that goes with a component is told so, with the share of its variance; another is not."""
    X = one_factor()
    assert "PC1 follows size most: 9" in told(X, labels={"size": X.sum(axis=1) + 2 * noise(300, 1, seed=6)[:, 0]})
    other = {"other": noise(300, 1, seed=5)[:, 0]}
    assert "PC1 does not follow other" in told(X, labels=other)
    assert "No component follows other" in told(X, labels=other, chosen=2)


def test_a_planted_outlier_is_named_with_its_column():
    """A row far off is the one that the words name, with the column to blame; its absence is said too."""
    X = one_factor()
    X[17, 3] += 9.0
    words = told(X, names=[f"c{j}" for j in range(8)])
    assert "row 18 is furthest out (c3 is high" in words
    assert "is furthest out" not in told(noise())


def test_a_column_of_large_numbers_is_pointed_out():
    """Without scaling, one column of large numbers is named as the reason."""
    X = noise() * np.array([1000.0, *np.ones(7)])
    words = " ".join(answer_words(PCA().fit(X), rows=X, names=[f"c{j}" for j in range(8)], chosen=1))
    assert "PC1 is little more than the column c0" in words
    assert "scale=True" in words
    assert "scale=True" not in " ".join(answer_words(PCA().fit(noise()), rows=noise()))


def test_equal_rows_are_said_to_be_equal():
    """A table without variance is told in a sentence, not in a division by zero."""
    assert "nothing to find" in answer_words(PCA().fit(np.ones((5, 3))), rows=np.ones((5, 3)))[0]


@pytest.mark.filterwarnings("ignore::gramian.errors.KernelWidthWarning")
def test_kernel_too_narrow_is_pointed_out():
    """A kernel that sees only single rows is told so; a wide one is not."""
    X = noise(200, 2)
    narrow, wide = (KernelPCA(5, kernel="rbf", gamma=gamma).fit(X) for gamma in (1e6, 0.1))
    assert "too narrow" in answer_words(narrow)[0]
    assert "too narrow" not in answer_words(wide)[0]


@pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning", "ignore:.*did not converge")
def test_sources_are_told_apart_from_gaussian_noise():
    """Peaked sources are told with what unmixing took out; Gaussian columns are said to hold none."""
    rng = np.random.default_rng(0)
    mixed = rng.laplace(size=(4000, 3)) @ rng.standard_normal((3, 3))
    less = "nats of information less than the columns after whitening (decorrelation)"
    assert less in answer_words(ICA().fit(mixed))[0]
    flat = answer_words(ICA().fit(rng.standard_normal((4000, 3))))[0]
    assert "The sources are too Gaussian to be told apart" in flat
    assert "nothing independent" not in flat


def test_drop_within_error_is_no_sign_of_independence():
    """Where nothing is seen beyond decorrelation, that is said, and not that correlated columns were independent."""
    rng = np.random.default_rng(0)
    mixed = rng.laplace(size=(2000, 2)) @ np.array([[1.0, 0.9], [0.0, 0.3]])
    assert np.corrcoef(mixed.T)[0, 1] > 0.9
    fitted = ICA().fit(mixed)
    unsure = replace(fitted._model.independence, drop=0.01, drop_error=0.02)
    words = answer_words(replace(fitted._model, independence=unsure))[0]
    assert "do not show more than decorrelation already gave" in words
    assert "independent" not in words


@pytest.mark.filterwarnings("ignore")
def test_components_are_called_as_in_the_tables_of_scores():
    """Kernel components are KPC1, sources IC1; of few rows no number that is not known is said."""
    X = noise(200, 2)
    assert ", KPC1 " in answer_words(KernelPCA(5, kernel="rbf", gamma=0.1).fit(X))[0]
    rng = np.random.default_rng(0)
    mixed = rng.laplace(size=(4000, 3)) @ rng.standard_normal((3, 3))
    assert answer_words(ICA().fit(mixed))[1].startswith("IC")
    few = " ".join(answer_words(ICA().fit(mixed[:30])))
    assert "nan" not in few
    assert "too few" in few


def test_only_what_stands_out_is_said_to():
    """Components that are kept beyond what parallel analysis finds are not said to stand out."""
    X = noise(300, 8) + noise(300, 1, seed=3) + noise(300, 1, seed=4) * np.array([1.0, -1.0] * 4)
    words = answer_words(PCA().fit(X), rows=X, choice=how_many(X), chosen=8)[0]
    assert "8 of 8 components stand out" not in words
    assert "parallel analysis finds 2 that stand out" in words


def test_labels_are_held_against_kept_components_alone():
    """A label that shows along the second component is not told of where one is kept."""
    X = noise(300, 2) * np.array([3.0, 1.0])
    side = np.where(X[:, 1] > 0, "up", "down")
    one, two = (" ".join(answer_words(PCA().fit(X), rows=X, labels={"side": side}, chosen=k)) for k in (1, 2))
    assert "PC2 tells most about side" in two
    assert "PC2" not in one


def test_stability_is_told_as_the_index_it_is_with_runs_that_did_not_converge():
    """A mean over pairs of runs does not say that every run found a source; runs cut short are counted."""
    rng = np.random.default_rng(0)
    model = ICA(runs=4).fit(rng.laplace(size=(2000, 2)) @ rng.standard_normal((2, 2)))._model
    assert model.converged_runs == 4
    fair = answer_words(replace(model, stability=np.array([0.97, 0.83])))[1]
    assert "stability of every source is 0.83 or more" in fair
    assert "all 4 runs" not in fair
    assert "converge" not in fair
    weak = answer_words(replace(model, stability=np.array([0.97, 0.41]), converged_runs=3))[1]
    assert "IC2 (0.41) came back only in part" in weak
    assert "1 of these runs did not converge" in weak
