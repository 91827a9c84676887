# Everything a fresh machine with Python 3.11 or newer, pip and make needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: install demo test quick check format docs clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: install          ## train, evaluate and use a translator
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

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
