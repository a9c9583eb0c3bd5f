"""The page a person looks at: words, pictures and tables in one HTML file that needs nothing else."""

from gramian.report.page import Page, Section, Table, render, write_page
from gramian.report.words import certificate_words, component_words, fit_words, separation_words

__all__ = [
    "Page",
    "Section",
    "Table",
    "certificate_words",
    "component_words",
    "fit_words",
    "render",
    "separation_words",
    "write_page",
]
