# Everything a fresh machine with Python 3.11 or newer, pip and make needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FLOOR := .venv-floor
TO_USE := $(VENV)/.installed-to-use
TO_DEVELOP := $(VENV)/.installed-to-develop
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: install demo test quick floor check format docs clean

install: $(TO_DEVELOP)  ## all that the targets below need

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(TO_USE): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[train]'
	touch $@

$(TO_DEVELOP): $(TO_USE)
	$(INSTALL) --editable '.[dev]'
	touch $@

demo: $(TO_USE)        ## train, evaluate and use a translator
	$(BIN)/dragoman demo

# To check the shapes of each call makes what a model computes take four times as long, so only the
# tests of what has shapes do it here, and no whole training; a test run by hand does, wherever it is.
SHAPES := tests/model tests/decoding \
	$(addprefix tests/training/test_, loss.py objective.py r_drop.py step.py)
QUICK := -m "not slow"

# The blocks of a page go on from each other, so one process runs all of docs.
define run-tests
	$(1)/python -m pytest -q -n 2 $(2) $(SHAPES)
	$(1)/python -m pytest -q -n 2 $(2) --jaxtyping-packages= $(SHAPES:%=--ignore=%) tests src/dragoman
	$(1)/python -m pytest -q --jaxtyping-packages= docs
endef

test: install          ## all tests
	$(call run-tests,$(BIN))

quick: install         ## the tests that learn nothing
	$(call run-tests,$(BIN),$(QUICK))

floor:                 ## the quick tests, with the oldest versions that are allowed
	$(PYTHON) -m venv $(FLOOR)
	$(FLOOR)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(FLOOR)/bin/uv pip compile --quiet --resolution lowest-direct --extra dev \
		--output-file $(FLOOR)/oldest.txt pyproject.toml
	$(FLOOR)/bin/uv pip install --quiet --python $(FLOOR) --requirement $(FLOOR)/oldest.txt
	$(FLOOR)/bin/uv pip install --quiet --python $(FLOOR) --no-deps --editable .
	$(call run-tests,$(FLOOR)/bin,$(QUICK))

check: install         ## format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: install        ## write what `check` wants to read
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: install          ## write the pages that are made from the code
	$(BIN)/python docs/write_settings.py
	$(BIN)/python docs/write_commands.py
	$(BIN)/python docs/draw_figures.py
	$(BIN)/python -m docs.write_mistakes

clean:
	rm -rf $(VENV) $(FLOOR) .mypy_cache .pytest_cache .ruff_cache
