"""Speed, memory and accuracy of Gramian beside its peers, measured the same way.

``python -m benchmarks`` runs the cases of ``cases/`` against the peers of ``peers/`` and writes a JSON file
and a Markdown table; ``python -m benchmarks --help`` lists the rest. A new case, or a new peer, is one file.
"""
