# make run    start gputop; on a simulated box where there is no NVIDIA driver
# make test   every check: ruff, mypy, import contracts, tests
# make sweep  every driver call with every error, on a simulated driver (NVML_MOCK_BOX=1)
# make stress  a pid reused 10,000 times around a signal; 200 samplers killed in a row
# make lowest   the tests with the lowest versions of the dependencies that pyproject.toml allows, in .venv-lowest
# make hardware   the tests that need a driver, real or simulated, and those on data of real boards
# make probe-tests   the tests of the probe on a CPU: installs torch into the environment, and leaves it there
# make fuzz   random input for every parser of foreign data: EXAMPLES=2000 each; ARGS="-k filters" for a part
# make dist   sdist and wheel of gputop-tui and of its probe into dist/: built, checked, tried in a fresh environment; nothing is uploaded
# make zipapp  dist/gputop.pyz: one file for hosts without pip, for each Python of PYTHONS on x86_64 and aarch64
# make generate   write anew what follows from the code: parts of documents, man page, completions
# make bench   gputop beside its peers on the GPUs of this machine; ARGS="--rounds 3" and the like
# make performance   the same on all boxes of ARGS="--box PROGRAM" and how cost grows, into docs/performance.md
# make detectors   how well the detectors do on labelled traces, all of them; ARGS=leaks for a part
# make independent how well they do on traces by an author who does not know them; ARGS="--show NAME"
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
LOWEST = .venv-lowest
PYTHONS ?= 310 311 312 313 314
PLATFORMS = $(foreach python,$(PYTHONS),$(foreach machine,x86_64 aarch64,manylinux_2_28_$(machine)-cp-$(python)-cp$(python)))
ARGS ?=
EXAMPLES ?= 2000
# for probe-tests; the small build: TORCH="torch --index-url https://download.pytorch.org/whl/cpu"
TORCH ?= torch==2.13.0

.PHONY: run test check tests lowest hardware probe-tests sweep fuzz stress detectors independent screenshots generate bench performance dist zipapp clean

run: $(VENV)/installed
	@$(BIN)/gputop snapshot --json --wait 0 >/dev/null 2>&1; \
	if [ $$? -eq 3 ]; then exec $(BIN)/gputop --demo $(ARGS); else exec $(BIN)/gputop $(ARGS); fi

test: check tests

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: $(VENV)/installed-dev
	$(BIN)/python -m pytest

lowest: pyproject.toml
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --editable .
	touch $(LOWEST)/installed
	$(MAKE) tests VENV=$(LOWEST)

hardware: $(VENV)/installed-dev
	$(BIN)/python -m pytest tests/hardware tests/real $(ARGS)

# torch is none of gputop's dependencies: tests/probe skips, saying so, where it is not installed.
# Tests of a file share what workers found, so each file has a process of its own
probe-tests: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/probe

# on a simulated driver alone: NVML_MOCK_BOX=1 and its folder in LD_LIBRARY_PATH
sweep: $(VENV)/installed-dev
	GPUTOP_SWEEP=1 $(BIN)/python -m pytest tests/hardware/sweep $(ARGS)

stress: $(VENV)/installed-dev
	GPUTOP_STRESS=1 $(BIN)/python -m pytest tests/machine/control/test_pid_reuse.py tests/wire/test_client.py $(ARGS)

fuzz: $(VENV)/installed-dev
	GPUTOP_FUZZ=$(EXAMPLES) $(BIN)/python -m pytest tests/fuzz $(ARGS)

detectors: $(VENV)/installed-dev
	PYTHONPATH=tests:tests/support $(BIN)/python -m detector_benchmark $(ARGS)

independent: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m detector_benchmark.independent $(ARGS)

screenshots: $(VENV)/installed-dev
	$(BIN)/python screenshots/draw.py

generate: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py
	$(BIN)/python dashboards/write_dashboards.py

bench: $(VENV)/installed-dev
	$(BIN)/python bench/run.py $(ARGS)

performance: $(VENV)/installed-dev
	$(BIN)/python bench/performance.py docs/performance.json $(ARGS)
	$(BIN)/python docs/generate.py

dist: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --group dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist plugins/cuda-probe
	$(BIN)/twine check --strict dist/*
	.ci/try-dist $(PYTHON)

zipapp: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --group dist
	$(BIN)/pex . --script gputop --venv prepend --no-build --python-shebang "/usr/bin/env python3" \
		$(addprefix --platform=,$(PLATFORMS)) --output-file dist/gputop.pyz
	.ci/try-zipapp

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# pip reads dependency groups since 25.1
$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
