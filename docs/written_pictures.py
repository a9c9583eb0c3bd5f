"""The pictures of the gallery: those that an example wrote."""

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def collect(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Take the pictures that a script has written into its folder ``out`` onto its page."""
    script = Path(block_vars["src_file"])
    paths = []
    for picture in sorted((script.parent / "out").glob("*.png")):
        path = next(block_vars["image_path_iterator"])
        shutil.move(picture, path)
        paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"], f"What {script.name} drew")
