#!/bin/sh
# Whether `make help` names every target for people, and nothing else. usage: make_help.sh SOURCE
cd "$1" || exit 1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
sed -n 's/^\.PHONY: //p' Makefile | tr ' ' '\n' | grep -vxE 'help|all|setup|setup-tests|' | sort > "$work/targets"
sh scripts/help.sh | sed -n 's/^make \([a-z0-9-]*\( [a-z0-9-]*\)*\)   *.*/\1/p' | tr ' ' '\n' | sort > "$work/named"
sh scripts/help.sh | sed -n 's/^make \([a-z0-9-]*\) [a-zA-Z].*/\1/p' >> "$work/named"
sort -u "$work/named" | grep . > "$work/sorted"
diff "$work/targets" "$work/sorted" || exit 1
awk 'length > 118 { print; wrong = 1 } END { exit wrong }' "$work/named"
