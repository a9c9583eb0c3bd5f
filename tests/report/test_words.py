import numpy as np
import pytest

from gramian.report import certificate_words, component_words, fit_words, separation_words
from gramian.views.certificates import CertificateTable
from gramian.views.loadings import ColumnWeight
from gramian.views.scree import Scree


def scree(shares, chosen):
    """A scree with these shares."""
    shares = np.asarray(shares, dtype=float)
    return Scree(shares, shares, shares.cumsum(), chosen, 0.5)


def certificate(grades, *, angle="2.0e-14", n_free=0):
    """A certificate with these grades."""
    return CertificateTable((), (), grades, "1.0e-14", angle, n_free)


@pytest.mark.parametrize(
    "shares, chosen, said",
    [
        ([0.6, 0.3, 0.1], 2, "2 of 3 components hold 90% of the variance."),
        ([0.6, 0.4], 2, "Both components hold 100% of the variance."),
        ([1.0], 1, "The one component holds 100% of the variance."),
        ([0.7, 0.3], 1, "1 of 2 components holds 70% of the variance."),
        ([0.0, 0.0], 2, "All rows are the same, so there is no variance to divide."),
    ],
)
def test_fit_is_told_in_numbers_that_were_measured(shares, chosen, said):
    """The sentence gives how many of how many and their share, also for one and for none."""
    words = fit_words(scree(shares, chosen), n_rows=1200, n_columns=3, scaled=False)
    assert words == f"1,200 rows of 3 columns, each column centered. {said}"


@pytest.mark.parametrize(
    "weights, said",
    [
        ({"a": 0.8, "b": -0.6}, "a rises along it, b falls."),
        ({"a": 0.7, "b": 0.7}, "a and b rise along it."),
        ({"a": -0.7, "b": -0.6, "c": -0.4}, "a, b and c fall along it."),
    ],
)
def test_component_is_named_by_what_rises_and_falls(weights, said):
    """Columns are listed by the sign of their weight, with the verb that fits their number."""
    columns = [ColumnWeight(name, weight, weight**2) for name, weight in weights.items()]
    assert component_words(0, 0.5, columns, n_columns=10) == f"PC1 holds 50% of the variance: {said}"


def test_light_columns_are_not_named():
    """A column that carries less than an equal part is left out."""
    columns = [ColumnWeight("heavy", 0.98, 0.96), ColumnWeight("light", 0.2, 0.04)]
    assert "light" not in component_words(1, 0.5, columns, n_columns=2)


def test_best_separating_component_is_named():
    """The component with the largest share between groups is the one that is told of."""
    assert separation_words([0.1, 0.75], grouping="cultivar").startswith("PC2 tells most about the cultivar: 75%")


def test_groups_that_do_not_separate_are_said_not_to():
    """When no component tells the groups apart, the sentence says so."""
    assert separation_words([0.02, 0.05], grouping="cultivar").startswith("No component tells the cultivar apart")


@pytest.mark.parametrize(
    "table, said",
    [
        (
            certificate(("proved", "proved")),
            "Both components are proved: no variance is off by more than 1.0e-14",
        ),
        (certificate(("proved",)), "The one component is proved: "),
        (certificate(("proved",) * 3), "All 3 components are proved: "),
        (certificate(("proved", "probable")), "Of 2 components: 1 proved, 1 probable."),
        (
            certificate(("proved",) * 4, n_free=2),
            "2 share their variance with others and are fixed only together.",
        ),
        (certificate(("proved",) * 2, angle="none", n_free=2), "no direction is fixed by itself."),
    ],
)
def test_certificate_is_told_with_its_limits(table, said):
    """The sentence names grades, bounds, and what is not fixed."""
    assert said in certificate_words(table)
