"""Topics in words, and documents like one: `python examples/documents.py [text folder] [folder for the picture]`.

Pages of Python's manual, how often each has a word; the table is that of `gramian demo documents`. Sparse, it is
centered without becoming dense. A folder holds `bbc_news_term_counts_csr.npz` and its vocabulary in its place.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from gramian import PCA
from gramian.cli.demo import documents
from gramian.pictures.drawing import COLORS, MUTED, plain_frame


def manual() -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Weights of words (pages x words), names of pages, words."""
    table = documents()
    return sparse.csr_array(table.numbers), table.columns[0], np.array(table.header[1:])


def news(folder: Path) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """The same of 2,225 articles: counts on a log scale, times rarity, in rows of length 1."""
    counts = sparse.csr_array(sparse.load_npz(folder / "bbc_news_term_counts_csr.npz")).astype(float)
    words = np.load(folder / "bbc_news_vocabulary_and_labels.npz")
    X = counts.log1p() @ sparse.diags_array(np.log(counts.shape[0] / (counts > 0).sum(axis=0)))
    X = sparse.diags_array(1 / np.sqrt(X.power(2).sum(axis=1))) @ X
    names = np.array([f"{words['class_names'][label]} {i}" for i, label in enumerate(words["labels"])])
    return sparse.csr_array(X), names, words["vocabulary"]


given = [Path(word) for word in sys.argv[1:]]
source = next((path for path in given if (path / "bbc_news_term_counts_csr.npz").exists()), None)
X, names, words = manual() if source is None else news(source)
pca = PCA(8, random_state=0).fit(X)
print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz / np.prod(X.shape):.1%} of the table is not zero")
for i, component in enumerate(pca.components_):
    order = np.argsort(component)
    print(f"PC{i + 1}: {', '.join(words[order[:-7:-1]])}   against   {', '.join(words[order[:6]])}")

scores = pca.transform(X)
scores /= np.linalg.norm(scores, axis=1, keepdims=True)
for query in ("integers", "exceptions", "string-methods") if "integers" in names else names[::600]:
    likeness = scores @ scores[list(names).index(query)]
    found = names[np.argsort(-likeness)]
    print(f"like {query}: {', '.join(found[found != query][:5])}")

figure = Figure(figsize=(9.6, 4.2), layout="constrained")
for i, ax in enumerate(figure.subplots(1, 4)):
    order = np.argsort(pca.components_[i])[np.r_[:5, -5:0]]
    ax.barh(words[order], pca.components_[i, order], color=np.where(pca.components_[i, order] > 0, COLORS[0], MUTED))
    ax.set_title(f"PC{i + 1}", fontsize=10, loc="left")
    plain_frame(ax)
folder = next((path for path in given if path != source), Path("out"))
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "documents.png", dpi=110)
