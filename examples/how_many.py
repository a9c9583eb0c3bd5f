"""How many components? Every rule asks another question; one call shows what each of them says.

Four directions are hidden in noise, one of them weak.
"""

import numpy as np

from gramian import PCA
from gramian.choosing import panel
from gramian.sources.opening import as_source

rng = np.random.default_rng(0)
n, d = 400, 40
directions = np.linalg.qr(rng.standard_normal((d, 4)))[0]
X = (rng.standard_normal((n, 4)) * [6, 4, 3, 1.8]) @ directions.T + rng.standard_normal((n, d))

pca = PCA().fit(X)
print(panel(pca.explained_variance_, as_source(X), n_rows=n, n_columns=d))
print(f"\nPCA(n_components='auto') keeps {PCA(n_components='auto').fit(X).n_components_}.")
