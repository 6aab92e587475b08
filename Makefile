# `make demo` and `make test` set everything up by themselves: .venv is made when it is missing or the metadata changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-full lint docs producers clean

demo: $(VENV)/installed
	$(BIN)/morphlm demo demo

test: $(VENV)/installed-dev lint
	$(BIN)/pytest -n 2

# What takes longer, or needs an environment of its own; `make test` has the rest.
test-full: $(VENV)/installed-dev
	$(BIN)/pytest -n 2 -m full

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Records the code of what makes results that are kept; asks whether results change.
producers: $(VENV)/installed-dev
	$(BIN)/python -m tests.producers

docs: $(VENV)/installed-dev
	$(BIN)/python -m morphlm.cli.reference > docs/commands.md

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo dist
