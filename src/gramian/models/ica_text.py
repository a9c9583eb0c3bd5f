"""The line of code that fits an ICA again: whatever differs from the defaults of its class."""

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import to_host
from gramian.models.ica_model import ICAModel, ICAOptions
from gramian.unmixing.contrast import CONTRASTS, Contrast, LogCosh, Own

DEFAULTS = {"ICA": ICAOptions(), "FastICA": replace(ICAOptions(), algorithm="parallel", tol=1e-4, independence=False)}
"""What each class asks for where nothing is said."""


def ica_code(model: ICAModel, name: str) -> str:
    """Return the line that fits this model again by the class of this name.

    A start, or a contrast that has no name, cannot be written in a line: they stand there as names of the reader's own,
    with a comment.
    """
    asked, usual = model.options, DEFAULTS[name]
    count: dict[str, Any] = {"n_components": len(model.components)} if asked.whiten else {}
    always = {"algorithm": asked.algorithm, "random_state": asked.seed}
    differing = {
        field: getattr(asked, field)
        for field in ("tol", "max_iter", "runs", "independence", "memory_budget")
        if getattr(asked, field) != getattr(usual, field)
    }
    words = {key: repr(value) for key, value in (count | always | _whiten(model) | differing).items()}
    words |= _contrast(asked.contrast) | ({} if asked.start is None else {"w_init": "w_init"})
    own = [said for key, said in OWN.items() if words.get(key) == key]
    comment = f"  # {'; '.join(own)}" if own else ""
    return f"model = {name}({', '.join(f'{key}={value}' for key, value in words.items())}).fit(X){comment}"


OWN = {"fun": "fun: the function or Contrast of this fit", "w_init": "w_init: the start of this fit"}
"""What only the reader has, by the parameter that takes it."""


def _contrast(contrast: Contrast) -> dict[str, str]:
    if isinstance(contrast, LogCosh):
        return {} if contrast == LogCosh() else {"fun_args": repr({"alpha": contrast.alpha})}
    if isinstance(contrast, Own):
        return {"fun": "fun"} | ({"fun_args": repr(dict(contrast.arguments))} if contrast.arguments else {})
    named = next((name for name, kind in CONTRASTS.items() if type(contrast) is kind), None)
    return {"fun": "fun" if named is None else repr(named)}


def _whiten(model: ICAModel) -> dict[str, Any]:
    if not model.options.whiten:
        return {"whiten": False}
    # Sources of variance 1/n have a mixing matrix sqrt(n) times that of unit variance; what they explain is the same.
    mixing, variances = to_host(model.mixing).astype(np.float64), to_host(model.variances).astype(np.float64)
    deviations = np.sqrt(variances[0]), float(np.linalg.norm(mixing[:, 0]))
    return {"whiten": "arbitrary-variance"} if deviations[1] > model.n_rows**0.25 * deviations[0] else {}
