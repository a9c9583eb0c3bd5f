"""Far more columns than rows: the dual problem, chosen by the plan.

100 rows of 20,000 columns. The covariance would be 20,000 x 20,000, 3.2 GB; the Gram matrix is 100 x 100.
"""

import numpy as np

from gramian import PCA

rng = np.random.default_rng(0)
hidden = rng.standard_normal((100, 5)) * [9, 7, 5, 3, 2]
X = hidden @ rng.standard_normal((5, 20_000)) + rng.standard_normal((100, 20_000))

pca = PCA(n_components=5).fit(X)
print(pca.plan_)
print(pca.certificate_)
print(f"Five components hold {pca.explained_variance_ratio_.sum():.1%} of the variance.")

rebuilt = pca.inverse_transform(pca.transform(X))
error = np.linalg.norm(X - rebuilt) / np.linalg.norm(X - X.mean(axis=0))
print(f"Rebuilt from five numbers a row, the rows are off by {error:.1%}.")
