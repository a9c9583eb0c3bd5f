"""Rows that arrive in parts: `partial_fit` gives the answer of one fit, whatever the parts.

It keeps count, mean and scatter in float64 and merges them, so its memory does not grow with the rows.
"""

import numpy as np

from gramian import PCA

rng = np.random.default_rng(0)
X = rng.standard_normal((10_000, 30)) @ rng.standard_normal((30, 30)) + 1e6

whole = PCA(n_components=4).fit(X)
stream = PCA(n_components=4)
for part in np.array_split(X, [1, 10, 100, 1_000, 7_777]):
    stream.partial_fit(part)

difference = np.abs(stream.explained_variance_ / whole.explained_variance_ - 1).max()
print(f"Largest relative difference of a variance, six parts against one fit: {difference:.1e}")
outside = stream.components_ - (stream.components_ @ whole.components_.T) @ whole.components_
print(f"Sine of the largest angle between the two spaces: {np.linalg.norm(outside, ord=2):.1e}")
