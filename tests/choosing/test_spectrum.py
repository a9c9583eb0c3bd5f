import numpy as np
import pytest

from gramian.choosing.spectrum import read_spectrum
from gramian.errors import ParameterError


def test_total_defaults_to_the_sum():
    """Without a total, what is listed is all there is."""
    spectrum = read_spectrum([3.0, 1.0], n_rows=10, n_columns=5)
    assert spectrum.total_variance == 4.0
    assert spectrum.complete


def test_leading_values_with_a_larger_total_are_incomplete():
    """Leading variances know how much is missing."""
    spectrum = read_spectrum([3.0, 1.0], n_rows=10, n_columns=5, total_variance=6.0)
    assert not spectrum.complete
    assert spectrum.rest(1) == 3.0
    assert spectrum.padded(4).tolist() == [3.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("n, d, directions", [(10, 4, 4), (4, 10, 3), (1, 5, 1), (5, 1, 1), (2.5, 7, 2)])
def test_directions_are_those_of_centered_rows(n, d, directions):
    """Centering takes one direction from the rows, and at least one is left."""
    assert read_spectrum([1.0], n_rows=n, n_columns=d, total_variance=9.0).directions == directions


def test_rounding_is_forgiven():
    """A negative zero and an order broken by rounding are put right."""
    spectrum = read_spectrum([1.0, 0.5, 0.5 + 1e-12, -1e-17], n_rows=9, n_columns=4)
    assert (np.diff(spectrum.values) <= 0.0).all()
    assert spectrum.values[-1] == 0.0


@pytest.mark.parametrize(
    "variances, options, sentence",
    [
        ([], {}, "No variances were given"),
        ([np.inf, 1.0], {}, "Variance 0 of 2 is not finite"),
        ([1.0, -0.5], {}, "smallest variance is -0.5"),
        ([1.0, 2.0], {}, "1 is followed by 2"),
        ([3.0, 1.0], {"total_variance": 2.0}, "total_variance=2 is less than 4"),
        ([3.0, 1.0], {"n_rows": 0}, "n_rows=0 and n_columns=5 must both be positive"),
    ],
)
def test_what_is_no_spectrum_is_refused(variances, options, sentence):
    """Each mistake is named with its number."""
    with pytest.raises(ParameterError, match=sentence):
        read_spectrum(variances, **{"n_rows": 10, "n_columns": 5, **options})
