import subprocess
import sys

PAGE = """
import sys
sys.modules["matplotlib"] = None  # An import of it is refused.
import numpy as np
from gramian import plot
from gramian.errors import NotSupportedError
from gramian.models.pca.fit import fit_pca
from gramian.pictures import scree_of
from gramian.report import write_report
from gramian.sources.opening import as_source
X = np.random.default_rng(0).standard_normal((20, 4))
model = fit_pca(as_source(X))
scree_of(model)
write_report(model, sys.argv[1], rows=X)
try:
    plot.scree(model)
except NotSupportedError as error:
    print(error)
"""


def test_numbers_and_pages_need_no_matplotlib(tmp_path):
    """Views and a page are made where matplotlib cannot be imported; a drawing says what to install."""
    page = tmp_path / "page.html"
    done = subprocess.run([sys.executable, "-c", PAGE, page], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert "pip install 'gramian[plot]'" in done.stdout
    assert page.exists()
