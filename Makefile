# Everything runs through hack/with-node, which fetches Node 24 if the machine's own is older.
SHELL := /bin/sh
.DEFAULT_GOAL := help
NODE := hack/with-node
PORT ?= 8080
UI_PORT ?= 3000
modules := node_modules/.package-lock.json
pages := pkg/explorer/dist/index.html

# A failed build of the pages leaves no file that looks finished.
.DELETE_ON_ERROR:
.PHONY: help install tools ui screenshots run run-cluster samples test unit journeys integration e2e e2e-outages image image-lock image-size lint format generate chart-test bench bench-sync clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(modules) ## Install the packages of package-lock.json

$(modules): package.json package-lock.json
	@$(NODE) npm ci --no-fund --no-audit --loglevel=error
	@touch $@

ui: $(pages) ## Build the pages of the explorer

$(pages): $(modules) $(shell find pkg/explorer/web pkg/explorer/boot.ts pkg/api/usage -type f)
	@$(NODE) npx vite build --config pkg/explorer/web/vite.config.ts --logLevel warn
	@$(NODE) npx vite build --config pkg/explorer/web/first-view.config.ts --logLevel warn
	@touch $@

run: $(modules) $(pages) ## Serve the sample registry and its pages on 127.0.0.1 (PORT=8080, UI_PORT=3000)
	@$(NODE) node hack/run.ts --port '$(PORT)' --ui-port '$(UI_PORT)'

run-cluster: $(modules) ## Start a local Kubernetes API server with the samples in it
	@$(NODE) node hack/testbed/control-plane/main.ts --port '$(PORT)' --ui-port '$(UI_PORT)'

samples: $(modules) ## Build the archives of the sample registry
	@$(NODE) node hack/samples.ts

tools: ## Download or build the tools of the tests, once per machine and outside of the work tree
	@hack/tool --all

test: lint unit journeys ## Check types and style, run the tests of the code, then Terraform or OpenTofu

unit: $(modules) ## Run the tests beside the code
	@$(NODE) npx vitest run

journeys: $(modules) ## Run the Terraform and OpenTofu of this machine against a real server
	@$(NODE) npx vitest run --config vitest.journeys.config.ts

integration: $(modules) $(pages) tools ## Run the tests that need clusters, object stores, browsers or Helm (no Docker)
	@$(NODE) npx vitest run --config vitest.integration.config.ts

e2e: $(modules) ## Install the chart into a kind cluster and run everything in it (needs Docker)
	@hack/kind/engine start >/dev/null
	@$(NODE) npx vitest run --config vitest.e2e.config.ts

e2e-outages: $(modules) ## Lose a node of three, and the API server for minutes (needs Docker, 15 minutes)
	@hack/kind/engine start >/dev/null
	@WORKERS=2 DEPOT_E2E_CLUSTER=depot-e2e-outages $(NODE) npx vitest run --config vitest.outages.config.ts

image: $(modules) ## Build the images: plain, with git, with Trivy (BASES=local without a registry, PLATFORM=linux/arm64)
	@$(NODE) hack/image/image
	@VARIANT=git $(NODE) hack/image/image
	@VARIANT=scanning $(NODE) hack/image/image

image-lock: $(modules) ## Write the digests that the images' tags have now, and the versions of Debian's packages, where they are used
	@if command -v mmdebstrap >/dev/null; then \
	  hack/image/bases lock >hack/image/debian.lock.part && mv hack/image/debian.lock.part hack/image/debian.lock; \
	else echo 'depot: without mmdebstrap hack/image/debian.lock stays as it is' >&2; fi
	@$(NODE) node hack/image/lock.ts
	@$(NODE) npx biome format --write hack/chart/values
	@$(NODE) node hack/generate.ts

image-size: ## Fail where the image is larger than it may be
	@$(NODE) node hack/image/size.ts .depot/image/*.tar

# Two at a time, those that take longest first. The second one finds pages that use Node, which browsers do not have. Types are
# checked by a program in Go, which collects garbage less often here and so takes three quarters of the processor time.
checks := 'npx oxlint --type-aware --type-check' 'npx tsc -p pkg/explorer/web/tsconfig.pages.json' 'npx knip' \
  'npx biome check' 'node hack/words.ts' 'node hack/sentences.ts'

lint: $(modules) ## Check types, lint rules, format, unused code, and wording
	@printf '%s\n' $(checks) | GOGC=400 GOMEMLIMIT=3GiB xargs -P 2 -I '{}' $(NODE) sh -c '{}'

format: $(modules) ## Format the code
	@$(NODE) npx biome check --write

generate: $(modules) ## Write the files that come from code or from the chart
	@$(NODE) node hack/generate.ts
	@$(NODE) node hack/chart/kustomize.ts

chart-test: $(modules) ## Render the chart in both Helms and check what comes out
	@$(NODE) npx vitest run --config vitest.integration.config.ts hack/chart

screenshots: $(modules) $(pages) ## Take the pictures of the explorer for the documentation
	@$(NODE) node hack/screenshots.ts

bench: $(modules) ## Measure the server against bare node:http, and the way through the explorer (takes minutes)
	@$(NODE) node hack/bench/main.ts
	@$(NODE) node --expose-gc hack/bench/documentation.ts
	@$(NODE) node hack/bench/explorer.ts
	@$(NODE) node hack/bench/publish.ts
	@$(NODE) node hack/bench/publishing.ts

bench-sync: $(modules) ## Measure what filling a registry and scanning it costs (takes an hour, and 8 GB where TMPDIR is)
	@$(NODE) node hack/bench/module-archives.ts
	@$(NODE) node hack/bench/hostile-archives.ts
	@$(NODE) node hack/bench/sync.ts --modules 1000 --provider-mib 700
	@$(NODE) node hack/bench/scan.ts

clean: ## Remove what was built or installed here
	rm -rf node_modules .depot
