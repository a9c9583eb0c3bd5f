"""How wide a kernel: what every gamma loses of held-out rows.

One line is of the rows, the other of rows whose columns were shuffled. Where the gap between them is largest, the
kernel sees most of what is there and would not be seen in anything.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import choose_gamma, plot

rng = np.random.default_rng(0)
t, radius = rng.uniform(0, 2 * np.pi, 300), np.where(np.arange(300) % 2, 0.3, 1.0)
rings = np.column_stack([radius * np.cos(t), radius * np.sin(t)])
choice = choose_gamma(rings, n_components=6)
ax = plot.gamma(choice, ax=Figure(figsize=(7, 4), layout="constrained").subplots())

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/gamma.png", dpi=110)
print(choice)
