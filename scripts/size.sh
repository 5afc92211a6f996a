# The size of the library $1 without symbols, which has to stay below 5.0 MB: on robots and in containers it is copied
# often. docs/embedding.md says what the next capabilities may add.
set -e
most=5000000
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$1"
size=$(stat -c %s "$stripped")
echo "$size bytes, $(basename "$1") stripped"
[ "$size" -lt "$most" ] || { echo "$most bytes or more: see cmake/size.cmake"; exit 1; }
