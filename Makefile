# The short commands. Each sets up what it needs; see README.md.
PACKAGES_STAMP = build/.packages
BUILD = cmake --preset $(1) > build/$(1).log || (cat build/$(1).log; exit 1); cmake --build build/$(1) $(2)
PREFIX = /usr/local
PYTHONS = python3
DESTDIR =

.PHONY: help all python wheels python-full setup setup-tests demo bench test asan tsan valgrind plain aarch64 musl fuzz hard size lint tidy format install uninstall deb tarball docs view-test reproducible first-minutes clean

all: setup
	@mkdir -p build; $(call BUILD,release,--target product)

# What there is to make.
help:
	@sh scripts/help.sh

setup: $(PACKAGES_STAMP)
$(PACKAGES_STAMP): scripts/setup.sh
	@mkdir -p build; sh scripts/setup.sh && touch $@
# and what tests need
setup-tests: $(PACKAGES_STAMP)-tests
$(PACKAGES_STAMP)-tests: scripts/setup.sh
	@mkdir -p build; sh scripts/setup.sh tests && touch $@

demo: setup
	@mkdir -p build; $(call BUILD,release,--target wick_cli)
	@sh scripts/demo.sh

# wick beside PyTorch and ONNX Runtime, where they are installed; writes docs/performance.md. BENCH: its options.
bench: all
	@python3 bench/bench.py $(BENCH)
	@python3 bench/memory.py

# The wheel of the Python package, in build/.
python: setup
	@sh scripts/setup.sh python3-dev
	@python3 python/build_backend.py build

# Wheels for older systems than this one, and the archive of sources, in build/wheels: make wheels PYTHONS='python3.11 ...'
wheels: setup
	@sh scripts/setup.sh python3-dev
	@sh scripts/wheels.sh $(PYTHONS)

# What of the package takes minutes. PYTHON_FULL: parts of it, as scripts/python_full.sh has them.
python-full: setup-tests
	@mkdir -p build; $(call BUILD,release)
	@sh scripts/python_full.sh $(PYTHON_FULL)

test: setup-tests
	@mkdir -p build; $(call BUILD,release)
	@sh scripts/test.sh release

asan: setup-tests
	@mkdir -p build; $(call BUILD,asan)
	@sh scripts/test.sh asan

tsan: setup-tests
	@mkdir -p build; $(call BUILD,tsan)
	@sh scripts/test.sh tsan

plain: setup-tests
	@mkdir -p build; $(call BUILD,plain)
	@sh scripts/test.sh plain

# The page of `wick view` in Chromium. WICK_MODELS: a folder with resnet18.pt, gpt_tiny.pt and silero_vad.pt, of which the
# pictures of docs/view.md are made.
view-test: setup-tests
	@sh scripts/setup.sh chromium chromium-driver
	@mkdir -p build; $(call BUILD,release,--target wick_cli)
	@python3 tests/view_browser.py build/release/wick . $(if $(WICK_MODELS),--images docs/images --models '$(WICK_MODELS)')

# The hostile build: caches of one entry, released memory overwritten, under the sanitizers. All tests, and what is too
# slow for every day: each allocation and each rewrite refused in turn, each guard failed, many random programs.
hard: setup-tests
	@mkdir -p build; $(call BUILD,hard)
	@sh scripts/test.sh hard
	@sh scripts/hard.sh

# Other processors and C libraries: Debian's cross compiler for AArch64, under qemu-user, and musl-gcc; both without the
# optional libraries and statically linked. CROSS_TESTS names tests (a pattern of ctest).
CROSS_TESTS = .
aarch64: setup-tests
	@sh scripts/setup.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user make bzip2 xz-utils
	@sh scripts/cross_root.sh aarch64-linux-gnu aarch64-linux-gnu-gcc
	@mkdir -p build; $(call BUILD,aarch64)
	@sh scripts/test.sh aarch64 -R '$(CROSS_TESTS)'

musl: setup-tests
	@sh scripts/setup.sh musl-tools make bzip2 xz-utils
	@sh scripts/cross_root.sh musl musl-gcc
	@mkdir -p build; $(call BUILD,musl)
	@sh scripts/test.sh musl -R '$(CROSS_TESTS)'

# Files of every kind under valgrind: reads of what was never written.
valgrind: setup-tests
	@sh scripts/setup.sh valgrind
	@mkdir -p build; $(call BUILD,release)
	@sh scripts/valgrind.sh build/release

# libFuzzer's targets, FUZZ_SECONDS each.
fuzz: setup-tests
	@sh scripts/setup.sh clang libclang-rt-14-dev
	@mkdir -p build; cmake --preset fuzz > build/fuzz.log || (cat build/fuzz.log; exit 1); cmake --build build/fuzz --target fuzzers
	@sh scripts/fuzz.sh

size: all
	@sh scripts/size.sh build/release/libwick.so

lint: setup-tests
	@python3 scripts/check_layers.py src
	@python3 scripts/check_contents.py src
	@python3 scripts/check_includes.py src
	@python3 scripts/check_python_layers.py python/wick/jit
	@python3 scripts/check_unused.py src
	@python3 scripts/check_statics.py docs/statics.md src python/src
	@python3 scripts/check_assertions.py src
	@python3 scripts/check_lines.py README.md docs/*.md
	@! git grep -nE '^( \*|/\*).{119}' -- '*.c' '*.h'
	@! git grep -nE '\b(printf|puts|putchar)\(' -- src/cli/*.c # show() spells what a terminal would obey
	@! git grep -nE '^.{119}' -- 'python/*.py' 'examples/python/*.py'
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

# Slow; TIDY names what to look at: make tidy TIDY='src/serial/*.c'
TIDY = src/*/*.c src/*/*/*.c
tidy: setup
	@mkdir -p build; cmake --preset debug > build/debug.log && cmake --build build/debug --target wick_objects
	@clang-tidy --quiet -p build/debug $(TIDY)

format:
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format -i

install: all
	@DESTDIR='$(DESTDIR)' sh scripts/install.sh build/release '$(PREFIX)'

uninstall:
	@DESTDIR='$(DESTDIR)' sh scripts/uninstall.sh '$(PREFIX)'

# Debian's packages wick, libwick0, libwick-dev and python3-wick, what debuggers read beside them, and their source
# package, in build/; the same bits each time.
deb: setup
	@sh scripts/setup.sh dpkg-dev debhelper dh-python python3-dev
	@sh scripts/deb.sh

# The command statically linked with musl, for any Linux of this processor: build/wick-VERSION-PROCESSOR-linux.tar.gz
tarball: setup
	@sh scripts/setup.sh musl-tools make bzip2 xz-utils python3
	@sh scripts/cross_root.sh musl musl-gcc
	@sh scripts/tarball.sh

# docs/ as a site, one static folder: build/docs/index.html.
docs: all
	@sh scripts/setup.sh python3 mkdocs-material
	@python3 scripts/docs/site.py build/release build/docs

# Packages and the archive of two clones in folders of other names, at other times: the same bits?
reproducible: setup
	@sh scripts/reproducible.sh

# README's first commands in a bare Debian, made by debootstrap; as root.
first-minutes:
	@mkdir -p build; sh scripts/first_minutes.sh

clean:
	@rm -rf build
