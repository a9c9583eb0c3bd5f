"""The page a person looks at: words, pictures and tables in one HTML file that needs nothing else."""

from gramian.report.analysis import analyze
from gramian.report.answer import answer_words, certificate_words
from gramian.report.document import write_report

__all__ = ["analyze", "answer_words", "certificate_words", "write_report"]
