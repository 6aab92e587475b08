# `make demo` and `make test` set everything up by themselves: .venv is made when it is missing or the metadata changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-full fuzz lint docs notebooks commands producers clean

demo: $(VENV)/installed
	$(BIN)/morphlm demo demo

test: $(VENV)/installed-dev lint
	$(BIN)/pytest -n 2

# What takes longer, or needs an environment of its own; `make test` has the rest.
test-full: $(VENV)/installed-dev
	$(BIN)/pytest -n 2 -m full

# Coverage-guided fuzzing of every reader; goes on where the last run ended. `make fuzz MINUTES=60 TARGETS="arpa kbest"`
MINUTES ?= 10
TARGETS ?=
fuzz: $(VENV)/installed-fuzz
	$(BIN)/python -m fuzz.run $(TARGETS) --minutes $(MINUTES)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Records the code of what makes results that are kept; asks whether results change.
producers: $(VENV)/installed-dev
	$(BIN)/python -m tests.producers

# The site, in site/index.html: pages, commands and Python names. A link that leads nowhere is an error.
docs: $(VENV)/installed-docs commands
	rm -rf site
	$(BIN)/sphinx-build -q -W --keep-going -E -d $(VENV)/docs -b html docs site

# Runs the notebooks of the documentation and stores their outputs.
notebooks: $(VENV)/installed-dev
	$(BIN)/python -m tests.notebooks

# docs/commands.md from the help texts; a test compares.
commands: $(VENV)/installed
	$(BIN)/python -m morphlm.cli.reference > docs/commands.md

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

$(VENV)/installed-docs: pyproject.toml constraints.txt $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/installed-fuzz: pyproject.toml constraints.txt $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzz]'
	touch $@

clean:
	rm -rf $(VENV) demo dist site fuzz/kernels
