# The size of the library $1 without symbols, which has to stay below 4 MB: on robots and in containers it is copied often.
set -e
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$1"
size=$(stat -c %s "$stripped")
echo "$size bytes, $(basename "$1") stripped"
[ "$size" -lt 4000000 ] || { echo "4000000 bytes or more: see cmake/size.cmake"; exit 1; }
