"""The page a person looks at: words, pictures and tables in one HTML file that needs nothing else."""

from gramian.report.answer import answer_words
from gramian.report.document import write_report
from gramian.report.words import certificate_words, component_words

__all__ = ["answer_words", "certificate_words", "component_words", "write_report"]
