from math import inf

import numpy as np
import pytest

from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.pictures import certificate_table
from gramian.pictures.certificate import bound_text
from gramian.sources.opening import as_source


def test_one_row_a_component_with_its_grade():
    """The table has a row for each component, named in order, with the certificate's grades."""
    model = fit_pca(as_source(np.random.default_rng(0).standard_normal((30, 5))), PCAOptions(n_components=3))
    table = certificate_table(model)
    assert [row[0] for row in table.rows] == ["PC1", "PC2", "PC3"]
    assert table.grades == tuple(line.grade for line in model.certificate.lines)
    assert all(len(row) == len(table.header) for row in table.rows)


def test_ties_are_named_and_counted():
    """Directions of equal variance are marked as ties and have no bound on their angle."""
    model = fit_pca(as_source(np.vstack([np.eye(4), -np.eye(4)])))
    table = certificate_table(model)
    assert {row[-1] for row in table.rows} == {"yes"}
    assert table.n_free == 4
    assert table.angle_bound == "none"


@pytest.mark.parametrize("bound", [1e-300, 3.14159e-13, 0.99501, 9.99e-8, 12345.6])
def test_printed_bound_is_never_smaller_than_the_bound(bound):
    """Two digits are rounded up: what is printed still bounds."""
    assert bound <= float(bound_text(bound)) <= 1.11 * bound


def test_missing_bound_never_reads_as_a_number():
    """Where there is no bound the text says so."""
    assert bound_text(inf) == "none"
