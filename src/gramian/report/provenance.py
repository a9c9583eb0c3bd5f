"""How a page came about: plan, versions, seed, and what its maker adds."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from platform import platform, python_version

from gramian.report.material import Material
from gramian.report.sections import plan_lines


def computed_facts(made: Material, more: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return names and texts of how a model was computed; `more` is what only the caller knows (time, memory)."""
    facts = {
        "plan": plan_lines(made.model) or _ica_lines(made),
        "number of components": getattr(made.model, "verdict", ""),
        **{str(name): str(text) for name, text in more.items()},
        "seed": f"{made.model.options.seed} for the fit, {seed} for the sample of rows",
        "versions": ", ".join(f"{name} {version(name)}" for name in ("gramian", "numpy", "scipy", "plotly")),
        "machine": f"Python {python_version()}, {platform(terse=True)}",
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    return {name: text for name, text in facts.items() if text}


def _ica_lines(made: Material) -> str:
    model = made.model
    how = "converged" if model.converged else "not converged"
    return (
        f"{model.options.algorithm} with the contrast {model.options.contrast}: {how} after {model.n_iter} iterations, "
        f"gradient norm {model.gradient_norm:.1e}"
    )
