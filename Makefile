# Heddle: two commands do everything on a fresh machine:  make demo,  make test.
#
#   make             build the library, the launcher and the tools into build/
#   make demo        the main job: a multithreaded MPI program on generated and on real input
#   make demo-machines   the main job on two machines, which network namespaces of this one play
#   make test        all tests (25 minutes on 2 cores)
#   make install PREFIX=dir
#   make bench       Heddle beside MPICH, Open MPI and Intel MPI (two hours); make bench-quick for a first look
#   make figures     measures what the README's picture shows and draws it again (half an hour)
#   make figures-lab the same on a simulated machine of 88 cores (half an hour)
#   make papers      repeats the papers' experiments, with all peers (an hour)
#   make verify      long model checks (some hours; it goes on where it was interrupted, as the next does)
#   make soak        long stress and random programs (as long)
#   make lint        formatting, clippy, documentation

PREFIX ?= /usr/local
BUILD  := build
MPICC  := $(CURDIR)/$(BUILD)/bin/mpicc
MPIEXEC := $(CURDIR)/$(BUILD)/bin/mpiexec
CARGO  ?= cargo

.PHONY: all build prerequisites demo demo-machines examples test bench bench-quick figures figures-lab papers verify soak lint install clean

all: build

prerequisites:
	@ci/prerequisites.sh

build: prerequisites
	$(CARGO) build --release --workspace
	tools/stage.sh target/release $(BUILD)

examples: build
	$(MAKE) -C examples/graph500 CC="$(MPICC)" BUILD="$(CURDIR)/$(BUILD)/examples"
	$(MAKE) -C examples/hash_table CC="$(MPICC)" PKG_CONFIG_PATH="$(CURDIR)/$(BUILD)/lib/pkgconfig" BUILD="$(CURDIR)/$(BUILD)/examples"
	$(MPICC) -O2 -pthread examples/hello/hello.c -o $(BUILD)/examples/hello

demo: examples
	@ci/demo.sh $(BUILD)

demo-machines: examples
	@ci/demo_machines.sh $(BUILD)

test: prerequisites
	@ci/test.sh

bench: build
	$(BUILD)/bin/heddle bench --full

bench-quick: build
	$(BUILD)/bin/heddle bench --quick

papers: build
	$(BUILD)/bin/heddle papers

figures: build
	$(BUILD)/bin/heddle bench --overview docs/figures.svg

figures-lab: build
	$(BUILD)/bin/heddle bench --overview docs/figures-lab.svg --machine haswell-88 --peers mpich,openmpi

verify: build
	@ci/verify.sh

soak: build
	@ci/soak.sh $(BUILD)

lint:
	@ci/lint.sh

install: build
	tools/install.sh $(BUILD) $(PREFIX)

clean:
	$(CARGO) clean
	rm -rf $(BUILD)
