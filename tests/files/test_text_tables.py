"""Text tables as people write them: quotes, accents, true and false, headers of years, decimal commas, odd cells."""

import csv

import numpy as np
import pytest

from gramian.errors import InputError
from gramian.sources import as_source, csv_lines


def table(folder, content, **options):
    """A source of a text table with that content."""
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return as_source(path, **options)


def numbers(source):
    """All rows of a source."""
    return np.concatenate([source.block(i).rows for i in range(source.n_blocks)])


def test_a_quote_inside_a_plain_cell_is_a_plain_character(tmp_path):
    """No row vanishes where inches are written with a quote."""
    lines = [f'{i}" pipe {i},{i}.5,0.{i}' for i in range(40)]
    source = table(tmp_path, "\n".join(["what,a,b", *lines]))
    assert source.n_rows == 40
    np.testing.assert_array_equal(numbers(source)[:, 0], np.arange(40) + 0.5)


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_rows_begin_where_a_parser_says(tmp_path, monkeypatch, chunk):
    """Quoted breaks, doubled quotes and lone quotes, cut anywhere, give the rows of Python's own parser."""
    monkeypatch.setattr(csv_lines, "CHUNK", chunk)
    cells = ['"a\nb"', '"a ""x""\n"', '5"', "plain", '""', '"x"""', '6" or 7"', '""""']
    lines = [f"{a},{i}.5,{b}" for i, (a, b) in enumerate((a, b) for a in cells for b in cells)]
    body = "\n".join(["what,a,b", *lines]) + "\n"
    wanted = [float(row[1]) for row in list(csv.reader(body.splitlines(keepends=True)))[1:]]
    np.testing.assert_array_equal(numbers(table(tmp_path, body))[:, 0], wanted)


def test_more_rows_than_counted_are_refused(tmp_path):
    """A lone carriage return makes Arrow see a row more; that is an error and no shifted table."""
    lines = [f"{i}.5,{i}.25" for i in range(30)]
    lines[3] = "3.5,3.25\r9.5,9.25"
    with pytest.raises(InputError, match="cannot be told apart"):
        table(tmp_path, "\n".join(["a,b", *lines]))
