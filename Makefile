# make            installs and builds
# make demo       one resource becomes one cloud, on the embedded Kubernetes
# make test       everything that needs no Go: checks, unit, property, sandbox
.DEFAULT_GOAL := build
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
NODE := $(shell tools/node)
export PATH := $(dir $(NODE)):$(CURDIR)/node_modules/.bin:$(PATH)

.PHONY: install build lock generate check format test test-kubernetes test-kubernetes-clients test-wiring test-cloud test-cloud-tempest cloud cloud-shell cloud-status cloud-down demo kubernetes clean help

install: node_modules/.package-lock.json

node_modules/.package-lock.json: package-lock.json package.json $(wildcard packages/*/package.json)
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

build: install ## installs and builds
	@tools/build

lock: ## package-lock.json for all platforms, after a dependency was added or changed
	npm install --package-lock-only --ignore-scripts --no-audit --no-fund --loglevel=error
	node tools/complete-lockfile.ts
	npm install --prefix bench/client/client-node --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund --loglevel=error

generate: install ## makes the generated files anew (CRDs, RBAC, documentation)
	@node tools/generate.ts

check: install ## types, lint, format, direction of imports, freshness of generated files
	tsc
	oxlint --type-aware
	biome check .
	node tools/generate.ts --check

.PHONY: pack facts facts-check
facts: build ## what OpenStack's packages say of their options, policies and programs, written into packages/facts (root)
	@node tools/facts/main.ts

facts-check: build ## that the packages of today still say so (root)
	@node tools/facts/main.ts --check

pack: install ## tarballs of packages/kube and packages/sandbox as they are published, in dist/libraries
	@node tools/libraries/main.ts

format: install ## formats everything
	biome check --write .

test: check build ## checks, unit, property and sandbox tests (no Go needed)
	vitest run --exclude 'test/command-line/**'
	vitest run --no-file-parallelism test/command-line # one of them counts processor time

kubernetes: ## builds a real Kubernetes, cached outside the tree
	tools/kubernetes/build

.PHONY: images
images: build ## OCI images of a whole cloud from Debian packages, and the operator's own, cached outside the tree (root)
	@images/build

test-kubernetes: install kubernetes ## the sandbox beside the real API server, controllers and scheduler; our CRDs on the oldest API server
	vitest run --config test/kubernetes/conformance/vitest.config.ts
	vitest run --config test/kubernetes/controllers/vitest.config.ts
	vitest run --config test/kubernetes/scheduler/vitest.config.ts
	vitest run --config test/kubernetes/operator/vitest.config.ts
	tools/kubernetes/oldest/check

.PHONY: test-crash-points test-faults test-faults-long
test-faults: install ## 500 schedules of faults on embedded clouds; make test has 50 of them
	FAULT_SCHEDULES=500 vitest run test/sandbox/faults

test-faults-long: install ## 10,000 schedules of faults on embedded clouds (test/sandbox/faults/report.md)
	node test/sandbox/faults/main.ts --count 10000 --report test/sandbox/faults/report.md

test-crash-points: install ## the operator killed before and after every write of a cloud's life; make test has a part of it
	CRASH_POINTS=all vitest run test/sandbox/crash-points

.PHONY: test-leaks
test-leaks: install ## 100,000 objects and reconciles, 150 clouds: nothing stays of what is gone (test/sandbox/leaks/report.md)
	node test/sandbox/leaks/main.ts --report test/sandbox/leaks/report.md

.PHONY: test-upgrade
test-upgrade: install ## what restarts when the operator of an earlier revision (FROM=v1.0) becomes this one; make test does it too
	UPGRADE_FROM=$(FROM) vitest run --disable-console-intercept test/sandbox/upgrade

.PHONY: bench
bench: install ## 1, 10 and 100 minimal clouds: time, processor time, memory, idle cost, restart (bench/README.md; a quiet machine)
	node bench/many-clouds/main.ts

.PHONY: bench-neighbours
bench-neighbours: install ## what a user with `edit` in one namespace costs the others (bench/README.md; a quiet machine)
	@node bench/neighbours/main.ts

.PHONY: bench-large-cloud
bench-large-cloud: install ## one cloud of 1, 100 and 1,000 nodes: a rollout, nodes that come and go, a roll of agents, a rotation (bench/README.md; a quiet machine)
	@node bench/large-cloud/main.ts

.PHONY: bench-cloud
bench-cloud: build ## a real cloud by the operator and by hand, side by side: where the time goes (bench/README.md; a quiet machine)
	@node bench/cloud/main.ts

.PHONY: bench-client bench-operator bench-instant
bench-instant: install kubernetes ## a minimal cloud of instant workloads on a real API server, beside its manifests applied by hand (bench/README.md; a quiet machine)
	@node bench/instant/main.ts

bench-client: install kubernetes ## our client beside @kubernetes/client-node and client-go on a real API server (bench/README.md; a quiet machine)
	@node bench/client/main.ts

bench-operator: install kubernetes ## the same small operator with packages/kube and with controller-runtime on a real API server (bench/README.md; a quiet machine)
	@node bench/small-operator/main.ts

.PHONY: bench-libraries
bench-libraries: install kubernetes ## the same tests of an operator on our sandbox, on envtest's servers, and on kwok (bench/README.md; a quiet machine)
	@node bench/libraries/main.ts

test-kubernetes-clients: build kubernetes ## kubectl and the official Python client against the sandbox
	vitest run --config test/kubernetes/clients/vitest.config.ts

.PHONY: test-kubernetes-foreign
test-kubernetes-foreign: install kubernetes ## operators that others wrote (cert-manager, K-ORC) end with the same objects on the sandbox as on a real API server
	vitest run --config test/kubernetes/foreign/vitest.config.ts

test-wiring: install ## every mistake in the wiring of the minimal cloud, made once: does the cloud notice? (test/sandbox/wiring/report.md)
	node test/sandbox/wiring/main.ts

.PHONY: test-node
test-node: install kubernetes ## a whole Kubernetes node, and that nothing is left of it (root)
	vitest run --config test/node/vitest.config.ts

cloud: build ## a whole real cloud on this machine (root, Debian 12): Kubernetes, operator, OpenStack, a server; CEPH=yes: a Ceph, too, MONITORS=3: of three monitors; NODES=3: three nodes; SAMPLE=full: every service
	@node tools/cloud/main.ts up $(if $(NODES),--nodes $(NODES)) $(if $(MONITORS),--monitors $(MONITORS)) --sample $(or $(SAMPLE),$(if $(filter yes,$(CEPH)),ceph,minimal))

test-cloud: cloud ## what users do with that cloud: the OpenStack SDK and client against its public APIs
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/vitest.config.ts

test-cloud-tempest: cloud ## OpenStack's own API tests on that cloud, or those of the regular expression TESTS (test/cloud/tempest)
	@node tools/cloud/main.ts shell -- node test/cloud/tempest/main.ts '$(TESTS)'

.PHONY: test-cloud-gateway test-cloud-durability test-cloud-chaos
test-cloud-gateway: cloud ## the same through Envoy Gateway: public endpoints by name, over TLS; uploads, downloads, consoles
	@node tools/gateway/main.ts up --domain cloud.example.org
	@status=0; node tools/cloud/main.ts shell -- vitest run --config test/cloud/gateway/vitest.config.ts || status=$$?; \
	  node tools/gateway/main.ts down; exit $$status

test-cloud-durability: cloud ## that its servers outlive every pod of their node, and for how long they are not reached
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/durability/vitest.config.ts

.PHONY: test-cloud-services
test-cloud-services: cloud ## services that are enabled later: each becomes Ready and does what it is for, or the files TESTS of them (test/cloud/services)
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/services/vitest.config.ts $(TESTS)

test-cloud-chaos: cloud ## that it comes back by itself from every pod killed, object deleted, disk full, power cut
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/chaos/vitest.config.ts

.PHONY: test-cloud-storage
test-cloud-storage: export CEPH = yes
test-cloud-storage: cloud ## volumes, images and disks of servers in a real Ceph, on a cloud of its own, or the files TESTS of them (test/cloud/storage)
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/storage/vitest.config.ts $(TESTS)

.PHONY: test-cloud-nodes
test-cloud-nodes: export NODES = 2
test-cloud-nodes: cloud ## that servers on two nodes are kept apart, reach each other, and move while they run, on a cloud of its own (test/cloud/nodes)
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/nodes/vitest.config.ts

.PHONY: test-cloud-ha
test-cloud-ha: cloud ## that quorums of it (database, broker, OVN's databases) grow, and lose members, all at once too, without losing what was acknowledged
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/quorums/vitest.config.ts

.PHONY: test-cloud-storage-failures
test-cloud-storage-failures: export CEPH = yes
test-cloud-storage-failures: cloud ## that a Ceph that stands still, a full pool and changed keys are told, and guests write on
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/storage-failures/vitest.config.ts

.PHONY: test-cloud-storage-monitors
test-cloud-storage-monitors: export CEPH = yes
test-cloud-storage-monitors: export MONITORS = 3
test-cloud-storage-monitors: cloud ## that guests write on while one of three monitors is lost and services are told of others, on a cloud of its own (test/cloud/storage-monitors)
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/storage-monitors/vitest.config.ts

.PHONY: test-cloud-models
test-cloud-models: cloud ## that its programs fail with the words, and take the time, that the embedded cloud's take
	@node tools/cloud/main.ts shell -- vitest run --config test/cloud/models/vitest.config.ts

cloud-shell: install ## a shell in which kubectl, openstack and the right Node.js reach it
	@node tools/cloud/main.ts shell

cloud-status: install ## what runs of it
	@node tools/cloud/main.ts status

cloud-down: install ## ends it, and leaves the machine as it was
	@node tools/cloud/main.ts down

demo: build ## the minimal cloud on the embedded Kubernetes (its OpenStack processes are simulated)
	@bin/kubectl-openstack demo

clean: ## removes what was installed and built
	rm -rf node_modules packages/*/node_modules .node dist

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 24
