"""The certificate: how well each component is known.

The measured residual of every component by its grade, and the bound on its angle. A component whose variance is nearly
that of the next has a wide bound: the rows fix the plane of both, and not the two axes in it.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import PCA

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 12)) * [9, 7, 5, 5, 4, 3, 2, 2, 1, 1, 1, 1]
pca = PCA(8).fit(X)
ax = pca.plot.certificate(ax=Figure(figsize=(7, 4), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/certificate.png", dpi=110)
print(pca.certificate_)
