"""What is known about a table besides its spectrum: gathered once, used by every rule that looks further."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.choosing.leading import LeadingComponents, as_components
from gramian.choosing.row_sample import RowSample, draw_sample
from gramian.choosing.spectrum import MeasuredSpectrum, Values, read_spectrum
from gramian.errors import ParameterError
from gramian.sources.measuring import measure_moments
from gramian.sources.rows import RowSource


@dataclass(frozen=True, eq=False)
class Facts:
    """A measured spectrum with whatever else is known.

    Attributes
    ----------
    spectrum : MeasuredSpectrum
    source : RowSource or None
        The rows, where a rule may look at them.
    column_variances : numpy array (d,) or None
        After scaling, in any unit.
    components : numpy array (k, d), LeadingComponents or None
        Leading components, as rows.
    mean, factor : numpy array (d,) or None
        What rows are centered by, and multiplied by after that.
    seed : int
    """

    spectrum: MeasuredSpectrum
    source: RowSource | None = None
    column_variances: Values | None = None
    components: Values | LeadingComponents | None = None
    mean: Values | None = None
    factor: Values | None = None
    seed: int = 0

    def sample(self, k: int) -> RowSample:
        """Draw rows, with the scores of the first ``k`` components (the sample's own if none are known)."""
        if self.source is None or self.mean is None:
            message = "This rule looks at rows and has none. Pass source=."
            raise ParameterError(message)
        known = None if self.components is None else self.components[:k]
        sample = draw_sample(self.source, mean=self.mean, factor=self.factor, components=known, seed=self.seed)
        return sample if self.components is not None else sample.with_own_components()


def gather_facts(
    variances: Any,
    source: RowSource | None = None,
    *,
    n_rows: float,
    n_columns: int,
    total_variance: float | None = None,
    column_variances: Any | None = None,
    components: Any | None = None,
    mean: Any | None = None,
    factor: Any | None = None,
    seed: int = 0,
) -> Facts:
    """Check what is given and measure what is missing.

    Cost: nothing without a source, or when ``mean`` and ``column_variances`` are given; else one pass.
    """
    spectrum = read_spectrum(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance)
    facts = Facts(
        spectrum, source, _vector(column_variances), as_components(components), _vector(mean), _vector(factor), seed
    )
    _check_sides(facts)
    if source is None or (facts.mean is not None and facts.column_variances is not None):
        return facts
    moments = measure_moments(source, scatter=False)
    squares = np.asarray(moments.squares) * (1.0 if facts.factor is None else facts.factor**2)
    return replace(
        facts,
        mean=np.asarray(moments.mean) if facts.mean is None else facts.mean,
        column_variances=squares if facts.column_variances is None else facts.column_variances,
    )


def _vector(values: Any | None) -> Values | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _check_sides(facts: Facts) -> None:
    d = facts.spectrum.n_columns
    sides = {
        "source": None if facts.source is None else facts.source.n_columns,
        "column_variances": None if facts.column_variances is None else facts.column_variances.shape[-1],
        "components": None if facts.components is None else facts.components.shape[-1],
        "mean": None if facts.mean is None else facts.mean.shape[-1],
        "factor": None if facts.factor is None else facts.factor.shape[-1],
    }
    for name, side in sides.items():
        if side is not None and side != d:
            message = f"{name} has {side} columns and n_columns={d}. Pass what belongs to the same table."
            raise ParameterError(message)
