"""What pytest leaves out where it cannot be imported."""

from importlib.util import find_spec

# The one module that is written in Triton; its own tests skip and say why.
collect_ignore = [] if find_spec("triton") and find_spec("torch") else ["src/gramian/kernels/fused.py"]
