"""Eigenvalues that lie close together, where a fixed number of iterations is silently wrong.

A noisy square table with slowly falling singular values. scikit-learn's default is a randomized method that
stops after a few passes; Gramian stops when measured residuals allow it, and certifies what it returns.
"""

import numpy as np
from sklearn.decomposition import PCA as ReferencePCA

from gramian import PCA

n, k = 600, 10
X = np.random.default_rng(0).standard_normal((n, n))
exact = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:k]


def angle(components: np.ndarray) -> float:
    """Sine of the largest angle between some components and the true leading ones."""
    outside = components - (components @ exact.T) @ exact
    return float(np.linalg.norm(outside, ord=2))


theirs = ReferencePCA(k, random_state=0).fit(X)
ours = PCA(k, random_state=0).fit(X)
print(f"scikit-learn's default: angle to the truth {angle(theirs.components_):.2f}, and not a word about it")
print(f"Gramian's default:      angle to the truth {angle(ours.components_):.0e}")
print(ours.certificate_)
