"""The accuracy that is promised without any option, as assertions."""

import numpy as np

from gramian.testing import largest_angle


def promised(n, d, s, dtype="float64"):
    """Error allowed in each singular value: 35 min(n, d) eps s_1."""
    return 35 * min(n, d) * float(np.finfo(dtype).eps) * float(s[0])


def input_rounding(X):
    """Largest change that rounding the rows to their own type can make in a singular value: eps |X|_F."""
    with np.errstate(under="ignore"):
        return float(np.finfo(X.dtype).eps * np.linalg.norm(X.astype(np.longdouble)))


def assert_singular_values(found, truth, allowed):
    """Fail with the place and the excess when a singular value is further from the truth than allowed."""
    found, truth = np.asarray(found, dtype=np.longdouble), np.asarray(truth, dtype=np.longdouble)[: len(found)]
    assert np.isfinite(found).all(), f"singular values are not finite: {found}"
    error = np.abs(found - truth)
    worst = int(error.argmax())
    assert error[worst] <= allowed, (
        f"singular value {worst} is {float(found[worst])!r} and the truth {float(truth[worst])!r}: "
        f"error {float(error[worst]):.3g}, allowed {float(allowed):.3g} ({float(error[worst] / allowed):.3g} times)"
    )


def assert_components(components, vectors, s, allowed):
    """Fail when a component is further from its true direction than the allowed error over its gap.

    Each one whose gap (in singular values, to the rest of the spectrum) exceeds ten times the allowed error is
    compared; the others are inside a numerical tie and have no direction of their own.
    """
    s = np.append(np.asarray(s, dtype=float), 0.0) if len(s) == len(vectors.T) else np.asarray(s, dtype=float)
    compared = 0
    for i, component in enumerate(components):
        if i >= vectors.shape[1]:
            break
        gap = np.abs(np.delete(s, i) - s[i]).min()
        if gap > 10 * allowed:
            compared += 1
            angle = largest_angle(component.astype(float), vectors[:, i].astype(float))
            bound = 2 * allowed / gap + 100 * np.finfo(float).eps
            assert angle <= bound, f"component {i} is off by an angle of {angle:.3g}, allowed {bound:.3g}"
    assert compared > 0, "no component had a gap to be judged by"
