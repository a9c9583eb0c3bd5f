"""Images from a few numbers: the mean, the components, and one image rebuilt.

Above, the mean of all digits and the first components, as images. Below, one digit from 1, 5, 15 and 50 numbers.
"""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from gramian import PCA

digits = load_digits()
pca = PCA(50).fit(digits.data)
ax = Figure(figsize=(8, 3.6), layout="constrained").subplots()
pca.plot.reconstructions(digits.data[3], (8, 8), ax=ax)

Path("out").mkdir(exist_ok=True)
ax.figure.savefig("out/reconstructions.png", dpi=110)
print(f"15 numbers of 64 hold {pca.explained_variance_ratio_[:15].sum():.0%} of the variance.")
