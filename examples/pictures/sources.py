"""Independent sources: what each does over time, and how far to trust it.

Three signals in four sensors. Each source is drawn over time with its spectrum; its kurtosis says how far from
Gaussian it is, its stability whether other rows would give it again.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import ICA

rng = np.random.default_rng(0)
t = np.arange(4000) / 250
S = np.column_stack([np.sin(2 * np.pi * 3 * t), np.sign(np.sin(2 * np.pi * 1.3 * t)), rng.laplace(size=len(t))])
X = S @ rng.standard_normal((3, 4)) + 0.01 * rng.standard_normal((len(t), 4))
ica = ICA(3, runs=10).fit(X)
ax = ica.plot.sources(X, sampling_rate=250, ax=Figure(figsize=(9, 5), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/sources.png", dpi=110)
print(f"Stability {ica.stability_.round(2)}, gradient norm {ica.gradient_norm_:.0e}")
