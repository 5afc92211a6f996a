# What `make` can do: a line each, the same words as in the pages.
cat <<'END'
make             the libraries, the command, manual pages: all that is installed
make demo        builds the command; it reads digits, hears speech, says what that takes
make install     to /usr/local, as root; PREFIX=/opt/wick, DESTDIR=... are honoured
make uninstall   takes away what was installed
make python      a wheel of the Python package, in build/ (pip install . does without make)
make wheels      wheels for older systems, and the archive of sources (PYTHONS='python3.9 python3.12')
make deb         Debian's packages
make tarball     the command in an archive that runs on any Linux
make docs        a site of the documentation, build/docs/index.html

make test        builds everything, runs every test: N passed, N failed, N skipped
make lint        layers, includes, contents, format: what a change has to pass besides
make format      lays the code out (clang-format)
make asan tsan plain hard valgrind fuzz    the tests in other builds
make musl aarch64                          the same, linked statically; for another processor, in an emulator
make view-test   the page of wick view, in Chromium
make python-full what of the package takes minutes

make bench       beside PyTorch and ONNX Runtime; writes docs/performance.md (BENCH="--threads 1 NAME")
make size        what each folder adds to the library
make tidy        clang-tidy
make reproducible    the packages twice, in two clones: the same bits?
make first-minutes   the first lines of the README in a bare Debian, as root
make clean       takes away what was built
END
