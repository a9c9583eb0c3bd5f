"""``gramian doctor``: what is installed, and what this machine can do."""

import platform
import sys
from importlib import metadata
from typing import Any

import click

from gramian.cli.output import json_text

PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "narwhals", "safetensors", "click", "rich")
EXTRAS = {
    "plot": "matplotlib",
    "torch": "torch",
    "cupy": "cupy",
    "dask": "dask",
    "hdf5": "h5py",
    "zarr": "zarr",
    "images": "pillow",
    "excel": "openpyxl",
    "onnx": "onnx",
}
"""Each extra with the package that it brings."""


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(*, as_json: bool) -> None:
    """Say what is installed, and what this machine can do: versions, BLAS, cores, memory, GPU, extras."""
    found = _found()
    if as_json:
        click.echo(json_text(found))
        return
    for name, value in found.items():
        click.echo(f"{name:14}{value if not isinstance(value, dict) else _listed(value)}")
    missing = [extra for extra, version in found["extras"].items() if version is None]
    if missing:
        click.echo(
            f"To add one: pip install 'gramian[{missing[0]}]'. A plain install computes all there is on the CPU."
        )


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version or '(not installed)'}" for name, version in values.items())


def _found() -> dict[str, Any]:
    from gramian import __version__
    from gramian.machine import available_memory, cores, total_memory

    return {
        "gramian": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "cores": cores(),
        "memory": f"{total_memory() / 2**30:.1f} GiB, {available_memory() / 2**30:.1f} GiB free",
        "blas": _blas(),
        "gpu": _gpu(),
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": {extra: _version(package) for extra, package in EXTRAS.items()},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _blas() -> str:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.dot(np.ones(1), np.ones(1))
    found = [f"{lib['internal_api']} {lib['version']} ({lib['num_threads']} threads)" for lib in threadpool_info()]
    return ", ".join(found) or "not known"


def _gpu() -> str:
    if _version("torch") is None:
        return "not looked for (the torch extra is not installed)"
    import torch

    if not torch.cuda.is_available():
        return "none that torch can use"
    free, total = (number / 2**30 for number in torch.cuda.mem_get_info(0))
    triton = _version("triton")
    tiles = f"one kernel of Triton {triton}" if triton else "torch blocks (Triton is not installed)"
    return f"{torch.cuda.get_device_name(0)}, {total:.1f} GiB, {free:.1f} GiB free; kernel matrices by {tiles}"
