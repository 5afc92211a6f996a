#!/bin/sh
# Removes what the last install.sh put under $DESTDIR$PREFIX, and the folders that are empty then.
# usage: [DESTDIR=...] uninstall.sh PREFIX
set -e
list=build/installed.txt
[ -f "$list" ] || { echo "nothing was installed from here: $list is not there" >&2; exit 1; }
grep -q "^$1/" "$list" || { echo "the last installation went to $(head -n 1 "$list" | sed 's,/[^/]*/[^/]*$,,'): make uninstall PREFIX=..." >&2; exit 1; }
while IFS= read -r file || [ -n "$file" ]; do
  rm -f "$DESTDIR$file"
  rmdir "$DESTDIR${file%/*}" 2> /dev/null || :
done < "$list"
rm "$list"
[ -n "$DESTDIR" ] || [ "$(id -u)" != 0 ] || PATH=$PATH:/sbin:/usr/sbin ldconfig 2> /dev/null || :
echo "wick is removed from $DESTDIR$1"
