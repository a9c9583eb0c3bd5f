"""Print how often each rule finds the planted number of components, within one.

Run from the root of the repository: ``python -m tests.choosing.design_table [seeds] [first seed]``.
"""

import sys

from tests.choosing.designs import DESIGNS, RULES, fitted, hits


def rates(name, seeds):
    """Share of seeds on which each rule is within one, and exact, for one design."""
    k, make = DESIGNS[name]
    found = {rule: [] for rule in RULES}
    for seed in seeds:
        fit = fitted(make(seed))
        for rule, ask in RULES.items():
            found[rule].append(ask(fit).n_components)
    return {
        rule: (sum(hits(j, k) for j in answers) / len(answers), sum(j == k for j in answers) / len(answers))
        for rule, answers in found.items()
    }


def main(n_seeds=20, first=1000):
    """Write the table as Markdown to standard output, row by row."""
    write = sys.stdout.write
    write(f"| design | planted | {' | '.join(RULES)} |\n|{'---|' * (len(RULES) + 2)}\n")
    for name, (k, _) in DESIGNS.items():
        row = rates(name, range(first, first + n_seeds))
        cells = " | ".join(f"{within:.0%} ({exact:.0%})" for within, exact in row.values())
        write(f"| {name} | {k} | {cells} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
