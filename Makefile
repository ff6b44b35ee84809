# Logs in, reports out. `make report` and `make test` set up what they need; `make help` lists the rest.

PYTHON := .venv/bin/python
# A file of tests stays in one process, since its tests share what takes longest to make.
PYTEST := $(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder
MONTH  := 2026-10
REPORT := reports/$(MONTH)/manifest.json
CODE   := $(shell find pipeline sql templates data/reference data/sample -type f \
            -not -name '*.pyc' 2>/dev/null)

SQL    := $(shell find sql -name '*.sql' 2>/dev/null)

.DEFAULT_GOAL := report

# Modules stay compiled between runs, whatever the shell says: collecting the tests takes half as
# long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: report
report: $(REPORT)  ## Build the report of the bundled sample (sets up the run-time packages)
	@echo "reports/$(MONTH)/index.html and reports/$(MONTH)/joulebook-$(MONTH).xlsx are ready"

$(REPORT): $(CODE) .venv/run-ready
	.venv/bin/joulebook report --config data/sample/joulebook.toml --month $(MONTH)

.venv/run-ready: requirements.txt pyproject.toml
	python3 -m venv .venv
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

.venv/dev-ready: requirements-dev.txt .venv/run-ready
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	touch $@

.PHONY: spark
spark: .venv/spark-ready  ## Set up what `--engine spark` and its tests need beside Java

.venv/spark-ready: requirements-spark.txt .venv/run-ready
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement requirements-spark.txt
	touch $@

.PHONY: test
test: .venv/dev-ready  ## Run every test (sets up all packages)
	$(PYTEST)

.PHONY: check
check: lint types sqllint fast  ## Lint, types, SQL lint and the fast tests

.PHONY: lint
lint: .venv/dev-ready  ## Check the style of the Python code
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

.PHONY: types
types: .venv/dev-ready  ## Check the types
	$(PYTHON) -m mypy

.PHONY: sqllint
sqllint: .venv/sql-linted  ## Check the style of the SQL, of what changed since it last passed

.venv/sql-linted: $(SQL) pyproject.toml requirements-dev.txt | .venv/dev-ready
	$(PYTHON) -m sqlfluff lint --disable-progress-bar --processes 2 \
		$(if $(filter-out %.sql,$?),sql,$?)
	touch $@

.PHONY: fast
fast: .venv/dev-ready
	$(PYTEST) -m 'not slow'

.PHONY: prices
prices: .venv/dev-ready  ## Rewrite the list prices from the pinned genai-prices; read the diff
	$(PYTHON) -m pipeline.ingest.prices

.PHONY: validation
validation: .venv/dev-ready  ## Rewrite what measurements in JOULEBOOK_SAMPLES say: errors, points, draws, fits
	$(PYTHON) -m pipeline.validation.validate --measurements "$(JOULEBOOK_SAMPLES)/energy/measurements.csv.gz"
	$(PYTHON) -m pipeline.validation.draws --measurements "$(JOULEBOOK_SAMPLES)/energy/measurements.csv.gz"
	$(PYTHON) -m pipeline.validation.rival_fits --measurements "$(JOULEBOOK_SAMPLES)/energy/measurements.csv.gz"
	$(PYTHON) -m pipeline.validation.law_points --measurements "$(JOULEBOOK_SAMPLES)/energy/measurements.csv.gz"

.PHONY: sample
sample: .venv/dev-ready  ## Rewrite the bundled sample
	$(PYTHON) -m pipeline.sample

.PHONY: golden
golden: .venv/dev-ready  ## Rewrite the golden reports; read the diff before committing it
	$(PYTHON) -m pytest tests/test_golden.py --golden

.PHONY: dictionary
dictionary: .venv/run-ready  ## Rewrite DATA.md from the SQL of the marts
	$(PYTHON) -m pipeline.dictionary

.PHONY: bench
bench: .venv/dev-ready .venv/spark-ready  ## Measure speed and memory, and write BENCHMARKS.md; BENCH_MONTHS='200000 36': years too
	$(PYTHON) tests/bench.py
	$(if $(BENCH_MONTHS),$(PYTHON) tests/bench_months.py $(BENCH_MONTHS))

.PHONY: clean
clean:  ## Remove the environment and everything a build made
	rm -rf .venv reports runs build dist

.PHONY: help
help:  ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10
