"""What every rule says about one table, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Any

from gramian.choosing.auto import judge
from gramian.choosing.cross_validation import cross_validation, generalized_cross_validation
from gramian.choosing.facts import Facts, gather_facts
from gramian.choosing.gavish_donoho import gavish_donoho
from gramian.choosing.minka import minka
from gramian.choosing.parallel import parallel_verdict, weigh
from gramian.choosing.share import broken_stick, share_of_variance
from gramian.choosing.spectrum import Verdict, counted
from gramian.errors import ParameterError
from gramian.sources.opening import as_source


@dataclass(frozen=True)
class Panel:
    """What every rule answers, the automatic choice first.

    Attributes
    ----------
    verdicts : tuple of Verdict
    refusals : tuple of (str, str)
        Rules that could not be asked, each with the reason.

    Examples
    --------
    >>> both = Panel((Verdict("auto", 2, "Two stand out."), Verdict("share", 5, "95%.")), ())
    >>> print(both)
    rule  components  why
    auto           2  Two stand out.
    share          5  95%.
    Of the 1 other rule, 0 say the same as auto and 0 differ by one.
    """

    verdicts: tuple[Verdict, ...]
    refusals: tuple[tuple[str, str], ...]

    def __getitem__(self, rule: str) -> Verdict:
        """Return what one rule answers, by its name."""
        for verdict in self.verdicts:
            if verdict.rule == rule:
                return verdict
        message = f"No rule {rule!r} was asked. There are: {', '.join(v.rule for v in self.verdicts)}."
        raise KeyError(message)

    @property
    def n_components(self) -> int:
        """The automatic choice."""
        return self.verdicts[0].n_components

    @property
    def counts(self) -> dict[str, int]:
        """Each rule's answer by its name."""
        return {verdict.rule: verdict.n_components for verdict in self.verdicts}

    @property
    def agreement(self) -> str:
        """How many of the other rules say the same as the automatic choice, in a sentence."""
        apart = [abs(v.n_components - self.n_components) for v in self.verdicts[1:]]
        same = counted(apart.count(0), "says", "say")
        near = counted(apart.count(1), "differs", "differ")
        return f"Of the {counted(len(apart), 'other rule')}, {same} the same as auto and {near} by one."

    def __str__(self) -> str:
        rows = [(v.rule, str(v.n_components), v.reason) for v in self.verdicts]
        rows += [(rule, "-", sentence) for rule, sentence in self.refusals]
        name = max(len(rule) for rule, _, _ in rows)
        lines = [f"{'rule':{name}}  components  why"]
        for rule, k, reason in rows:
            first, *more = wrap(reason, 100 - name - 14) or [""]
            lines.append(f"{rule:{name}}  {k:>10}  {first}".rstrip())
            lines += [" " * (name + 14) + line for line in more]
        return "\n".join([*lines, self.agreement])


def panel(
    variances: Any,
    source: Any | None = None,
    *,
    n_rows: float,
    n_columns: int,
    total_variance: float | None = None,
    column_variances: Any | None = None,
    components: Any | None = None,
    mean: Any | None = None,
    factor: Any | None = None,
    share: float = 0.95,
    seed: int = 0,
) -> Panel:
    """Ask every rule how many components to keep.

    Cost: that of the automatic choice and, with rows, of cross-validation: about a second at 10,000 x 500 and
    above. Parameters are those of :func:`~gramian.choosing.choose_automatically`, and ``share``; ``source`` may
    also be the rows themselves, an array, sparse array or table (n, d).
    A rule that cannot answer (Minka's needs the complete spectrum, cross-validation needs rows) says so.

    Examples
    --------
    >>> print(panel([9.0, 4.0, 1.1, 1.0, 0.9], n_rows=500, n_columns=5))
    rule               components  why
    auto                        2  Component 3 has variance 1.1 and noise alone reaches 1.21.
    parallel analysis           2  Component 3 has variance 1.1 and noise alone reaches 1.21.
    minka                       2  The evidence is greatest for 2 components, ...
    gavish-donoho               2  Variances above 2.27 are worth keeping; ...
    broken stick                1  Component 2 holds 25.00%, and a stick broken at random gives 25.67%.
    gcv                         2  With 2 components, the estimated error is least, ...
    share                       5  The first 5 components hold 100.0% of the variance, ...
    cross-validation            -  This rule reads rows and has none. Pass source=.
    Of the 6 other rules, 4 say the same as auto and 1 differs by one.
    """
    facts = gather_facts(
        variances,
        None if source is None else as_source(source),
        n_rows=n_rows,
        n_columns=n_columns,
        total_variance=total_variance,
        column_variances=column_variances,
        components=components,
        mean=mean,
        factor=factor,
        seed=seed,
    )
    evidence = weigh(facts)
    asked: dict[str, Callable[[], Verdict]] = {
        "auto": partial(judge, facts, evidence),
        "parallel analysis": partial(parallel_verdict, facts, evidence),
        **_spectrum_rules(facts, share),
        "cross-validation": partial(_cross_validated, facts),
    }
    return _ask(asked)


def _ask(asked: dict[str, Callable[[], Verdict]]) -> Panel:
    verdicts: list[Verdict] = []
    refusals: list[tuple[str, str]] = []
    for rule, ask in asked.items():
        try:
            verdicts.append(ask())
        except ParameterError as refusal:
            refusals.append((rule, str(refusal)))
    return Panel(tuple(verdicts), tuple(refusals))


def _spectrum_rules(facts: Facts, share: float) -> dict[str, Callable[[], Verdict]]:
    spectrum = facts.spectrum
    given = {
        "n_rows": spectrum.n_rows,
        "n_columns": spectrum.n_columns,
        "total_variance": spectrum.total_variance,
    }
    rules: dict[str, Callable[..., Verdict]] = {
        "minka": minka,
        "gavish-donoho": gavish_donoho,
        "broken stick": broken_stick,
        "gcv": generalized_cross_validation,
        "share": partial(share_of_variance, share=share),
    }
    return {name: partial(rule, spectrum.values, **given) for name, rule in rules.items()}


def _cross_validated(facts: Facts) -> Verdict:
    if facts.source is None:
        message = "This rule reads rows and has none. Pass source=."
        raise ParameterError(message)
    sample = facts.drawn[0] if facts.drawn else None
    return cross_validation(facts.source, mean=facts.mean, factor=facts.factor, sample=sample, seed=facts.seed)
