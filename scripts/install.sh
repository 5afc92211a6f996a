#!/bin/sh
# Installs a build under $DESTDIR$PREFIX, says where and what is still to be done to compile and run against it.
# usage: [DESTDIR=...] install.sh BUILD PREFIX
set -e
build=$1 prefix=$2
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
mkdir -p build
cmake --install "$build" --prefix "$prefix" > build/install.log || { tail -5 build/install.log >&2; exit 1; }
cp "$build/install_manifest.txt" build/installed.txt
pc=$(grep '/wick\.pc$' build/installed.txt)
lib=${pc%/pkgconfig/wick.pc}
echo "wick is in $DESTDIR$prefix: $(wc -l < build/installed.txt) files, listed in build/installed.txt"
[ -z "$DESTDIR" ] || exit 0

# The loader looks into the directories of its configuration, as of its last ldconfig.
loader_knows() {
  ldconfig -vN 2> /dev/null | sed -n 's/^\(\/[^:]*\):.*/\1/p' | grep -qxF "$lib"
}
PATH=$PATH:/sbin:/usr/sbin
if command -v ldconfig > /dev/null && loader_knows; then
  if [ "$(id -u)" = 0 ]; then ldconfig; else echo "programs find the library after: sudo ldconfig"; fi
else
  echo "to compile and run against it:"
  echo "    export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib"
fi
