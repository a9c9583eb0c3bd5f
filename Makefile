# Everything a person or a machine does here. `make help` lists it.
#
# Each target makes its own environment: only make and Python 3.11 or newer have to be there. A stamp file
# remembers what was installed, and pyproject.toml being newer makes it install again.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --no-input install -q

# For the tests that follow torch tensors through the core, and for Triton's interpreter. `make test TORCH=` leaves both
# out; those tests then skip and say why. They are never installed for a user, nor for the demo.
TORCH ?= torch==2.13.0
TRITON ?= triton>=3.5

# Two workers for the tests, and one BLAS thread in each, so that they do not fight over two cores.
WORKERS ?= 2
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# Extra words for pytest: make test ARGS="-k certificate -x"
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lowest check compat bench torture torture-all soak docs format clean

help:  ## List the commands.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Which ones: make demo DEMOS="wine particle circle rings zero-one digits faces kmeans classifier denoise documents cocktail"
DEMOS ?= wine

demo: $(VENV)/.ready-demo  ## Run PCA on a table of wines and write a page to look at (DEMOS= for others).
	@for name in $(DEMOS); do $(BIN)/gramian demo $$name -o out --quiet || exit $$?; done

test: $(VENV)/.ready-dev $(VENV)/.ready-torch  ## Run the tests, the doctests and the examples.
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

test-all: $(VENV)/.ready-dev $(VENV)/.ready-torch  ## The same with the slow sweeps: more sizes, kernels, memory, a cluster.
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(VENV)/.ready-dev docs  ## Lint, types, import layers, and the documentation without a warning.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The lowest version of each dependency that pyproject.toml states, in an environment of its own; uv can resolve to them.
# SCIPY_ARRAY_API: without it scikit-learn 1.6 cannot import its test suite beside that SciPy.
LOWEST := $(VENV)-lowest
lowest: $(VENV)/.ready-pip  ## Run tests with the lowest version of each dependency that is stated.
	@$(PIP) uv
	@$(BIN)/uv venv -q --clear -p $(BIN)/python $(LOWEST)
	@$(BIN)/uv pip install -q -p $(LOWEST) --resolution lowest-direct --editable '.[plot]' --group tests
	$(ONE_THREAD) SCIPY_ARRAY_API=1 $(LOWEST)/bin/python -m pytest -n $(WORKERS) -m "not slow" -W default $(ARGS) \
	  tests/estimators tests/models tests/sources tests/cli tests/analysis tests/files

compat: $(VENV)/.ready-dev $(VENV)/.ready-torch  ## Run scikit-learn's own tests on our classes.
	$(BIN)/python tests/compat/run.py

bench: $(VENV)/.ready-bench $(VENV)/.ready-torch  ## Measure against the peers and rewrite the table of docs/speed.md.
	$(BIN)/python -m benchmarks $(ARGS)

torture: $(VENV)/.ready-dev  ## Attack what is promised for ten minutes, and print a scoreboard (ARGS="--minutes 2").
	$(ONE_THREAD) $(BIN)/python -m torture $(ARGS)

torture-all: $(VENV)/.ready-dev  ## Go on where the last one stopped, until each family has its count (hours).
	$(ONE_THREAD) $(BIN)/python -m torture --until-done --minutes 600 $(ARGS)

soak: $(VENV)/.ready-dev  ## Fit, transform, save and load in one process for an hour: nothing may grow (ARGS="--minutes 5").
	$(ONE_THREAD) $(BIN)/python -m torture.soak $(ARGS)

docs: $(VENV)/.ready-dev  ## Build the documentation into docs/_build/html.
	$(BIN)/python -m sphinx -W --keep-going -n -q -j 2 -b html docs docs/_build/html

format: $(VENV)/.ready-dev  ## Let ruff put the code in order.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## Remove what these commands made, the environment too.
	rm -rf $(VENV) $(LOWEST) out docs/_build docs/api docs/lectures.rst docs/gallery docs/records .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is `$(PYTHON) --version`. Try: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Making an environment in $(VENV); the first time takes a minute."
	@$(PYTHON) -m venv $(VENV)

# pip learned dependency groups in 25.1; the one that comes with Python may be older.
$(VENV)/.ready-pip: | $(BIN)/python
	@$(PIP) --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.ready-demo: pyproject.toml | $(VENV)/.ready-pip
	@$(PIP) --editable '.[plot]'
	@touch $@

$(VENV)/.ready-dev: pyproject.toml | $(VENV)/.ready-pip
	@$(PIP) --editable '.[plot]' --group dev
	@touch $@ $(VENV)/.ready-demo

$(VENV)/.ready-bench: pyproject.toml | $(VENV)/.ready-pip
	@$(PIP) --editable '.[plot]' --group bench
	@touch $@

$(VENV)/.ready-torch: | $(VENV)/.ready-pip
	@if [ -n "$(TORCH)" ]; then $(PIP) '$(TORCH)' || \
	  echo "$(TORCH) could not be installed; the tests that need it will be skipped."; \
	  $(PIP) '$(TRITON)' || echo "$(TRITON) could not be installed; the tests that need it will be skipped."; fi
	@touch $@
