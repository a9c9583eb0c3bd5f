"""The page a person looks at: words, pictures and tables in one HTML file that needs nothing else."""

from gramian.report.analysis import analyze
from gramian.report.document import write_report
from gramian.report.material import answer_words
from gramian.report.sections import certificate_words

__all__ = ["analyze", "answer_words", "certificate_words", "write_report"]
