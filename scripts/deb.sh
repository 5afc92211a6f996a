#!/bin/sh
# Builds as the distribution would (under /usr, nothing of this folder in the files) and makes packages of it.
set -e
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH
mkdir -p build
cmake -S . -B build/deb -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
  -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON -DCMAKE_C_FLAGS="-ffile-prefix-map=$PWD=." > build/deb.log || { tail -5 build/deb.log >&2; exit 1; }
cmake --build build/deb --target product
if cmake --build build/deb --target help | grep -q '^wick_python:'; then
  cmake --build build/deb --target wick_python
  mkdir -p build/deb/stubs
  python=$(sed -n 's/^_Python3_EXECUTABLE:INTERNAL=//p' build/deb/CMakeCache.txt)
  PYTHONPATH=build/deb/python "${python:-python3}" -B python/make_stubs.py > build/deb/stubs/__init__.pyi
fi
(cd build/deb && umask 022 && cpack > ../deb.log) || { tail -5 build/deb.log >&2; exit 1; }
for package in build/deb/*.deb; do
  mv "$package" build/
  echo "build/${package##*/}"
done
