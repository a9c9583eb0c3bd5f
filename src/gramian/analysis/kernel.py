"""What is said about kernel principal components: the kernel, what they hold, and whether it is too narrow."""

from collections.abc import Sequence
from typing import Any

from gramian.analysis.findings import Finding, share_words
from gramian.arrays.namespace import HostArray
from gramian.models.kernel_pca.model import kernel_words


def kernel_findings(model: Any, names: Sequence[str], shares: HostArray, k: int) -> list[Finding]:
    """Say how much of the variance in feature space the components hold, through which kernel, and notice its width."""
    seen = f"{'approximately ' if model.approximate else ''}through the kernel {kernel_words(model.kernel)}"
    if not shares.any():
        words = f"All rows are alike, seen {seen}, so there is nothing to find."
        return [Finding("kernel", words, {}, {"kernel": kernel_words(model.kernel)})]
    share = float(shares[:k].sum())
    holds = "component holds" if k == 1 else "components hold"
    words = f"{k} {holds} {share_words(share, None)} of the variance in the feature space of the kernel"
    numbers: dict[str, Any] = {"kept": k, "share": share}
    if k > 1:
        words += f", {names[0]} {share_words(float(shares[0]), None)}"
        numbers["share_1"] = float(shares[0])
    evidence = {"kernel": kernel_words(model.kernel), "approximate": bool(model.approximate)}
    found = [Finding("kernel", f"{words}, seen {seen}.", numbers, evidence, tuple(range(k)))]
    return [*found, *_width(model, shares)]


def _width(model: Any, shares: HostArray) -> list[Finding]:
    """Notice a kernel that sees every row as like itself alone."""
    if len(shares) > 1 and shares[0] < 3.0 / model.n_rows:
        words = (
            "The components hold little more than single rows: the kernel is too narrow, and finds every row like "
            "itself alone. A smaller gamma makes it wider."
        )
        evidence = {"share_1": float(shares[0]), "share_of_one_row": 1.0 / model.n_rows}
        return [Finding("kernel", words, {}, evidence)]
    return []
