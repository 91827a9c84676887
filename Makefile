# Everything a fresh machine with Python 3.11 or newer, pip and make needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TO_USE := $(VENV)/.installed-to-use
TO_DEVELOP := $(VENV)/.installed-to-develop
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: install demo test quick check format docs clean

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

test: install          ## all tests
	$(BIN)/python -m pytest -q -n 2

quick: install         ## the tests that learn nothing
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

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
	$(BIN)/python docs/draw_figures.py
	$(BIN)/python -m docs.write_mistakes

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
