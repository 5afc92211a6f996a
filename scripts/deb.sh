#!/bin/sh
# Builds Debian's packages from debian/ as the distribution does: the source package and those made of it, in build/.
set -e
version=$(sed -n 's/^#define WICK_VERSION_[A-Z]* *\([0-9]*\)$/\1/p' include/wick/status.h | paste -sd.)
packaged=$(dpkg-parsechangelog -S Version)
[ "$packaged" = "$version" ] || { echo "debian/changelog says $packaged, include/wick/status.h $version" >&2; exit 1; }

# A folder of its own: nothing of this one's name or of what lies about in it gets into the files.
work=build/deb/wick-$version
rm -rf build/deb && mkdir -p "$work"
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then git ls-files -z; else
  find . \( -path ./build -o -name .git \) -prune -o -type f -print0
fi | tar --null -T - -cf - | tar -C "$work" --no-same-owner -xf -
chmod -R go=rX "$work" # whatever this user's umask says
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH
(cd "$work" && dpkg-buildpackage -us -uc) > build/deb.log 2>&1 || { tail -20 build/deb.log >&2; exit 1; }
for file in build/deb/*.deb build/deb/*.dsc build/deb/*.tar.*; do
  mv "$file" build/
  echo "build/${file##*/}"
done
