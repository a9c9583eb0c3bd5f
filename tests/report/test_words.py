import pytest

from gramian.pictures.certificate import CertificateTable
from gramian.pictures.loadings import ColumnWeight
from gramian.report import certificate_words, component_words


def certificate(grades, *, angle="2.0e-14", n_free=0):
    """A certificate with these grades."""
    return CertificateTable((), (), grades, "1.0e-14", angle, n_free)


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
    assert component_words(0, 0.5, columns, n_columns=10) == f"PC1 holds 50.0% of the variance: {said}"


def test_light_columns_are_not_named():
    """A column that carries less than half an equal part is left out."""
    columns = [ColumnWeight("heavy", 0.98, 0.96), ColumnWeight("light", 0.2, 0.04)]
    assert "light" not in component_words(1, 0.5, columns, n_columns=2)


@pytest.mark.parametrize("d", [2, 6])
@pytest.mark.parametrize("rounding", [-1e-15, 0.0, 1e-15])
def test_columns_that_share_a_component_equally_are_all_named(d, rounding):
    """Rounding does not decide which of equal columns is named."""
    weights = [(-1) ** j * (d**-0.5 + rounding * (j - 1)) for j in range(d)]
    columns = [ColumnWeight(name, weight, weight**2) for name, weight in zip("abcdef", weights, strict=False)]
    said = component_words(0, 0.5, columns, n_columns=d)
    assert said.endswith("a rises along it, b falls." if d == 2 else "a, c and e rise along it, b, d and f fall.")


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
