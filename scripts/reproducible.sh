#!/bin/sh
# Builds Debian's packages and the archive of the static command from two clones of what is committed, in folders of
# other names, one after the other, and compares them byte by byte.
set -e
work=$PWD/build/reproducible
rm -rf "$work" && mkdir -p "$work"
for clone in one another; do
  git clone -q . "$work/$clone"
  (cd "$work/$clone" && umask 0$([ $clone = one ] && echo 22 || echo 27) && make deb tarball) > "$work/$clone.log" 2>&1 ||
    { tail -20 "$work/$clone.log"; exit 1; }
  (cd "$work/$clone/build" && sha256sum ./*.deb ./*.tar.gz) > "$work/$clone.sums"
done
cat "$work/one.sums"
if ! diff "$work/one.sums" "$work/another.sums"; then
  echo "the clones' files differ" >&2
  exit 1
fi
rm -rf "$work/one" "$work/another"
echo "the same bits from both clones"
