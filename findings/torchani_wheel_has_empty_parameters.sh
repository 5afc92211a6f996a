#!/bin/sh
# torchani 2.2.4: its wheel lists the parameters of three potentials, but every file of ANI-1ccx and ANI-2x in it has no bytes,
# nor have the three .info files that say where parameters are; only ANI-1x's own folder has content. The package takes an
# .info file without bytes for one that is missing and fetches an archive when a potential is first made, ANI-1x, too:
# without a network torchani.models.ANI1x() fails although its weights are installed.
# Seen: ani-1ccx_8x and ani-2x_8x with files, all empty; ani-1x_8x with 23 MB; three .info files, all empty.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" download -q --no-deps -d "$folder" torchani==2.2.4
"$folder/venv/bin/python" - "$folder/torchani-2.2.4-py3-none-any.whl" << 'END'
import sys, zipfile

wheel = zipfile.ZipFile(sys.argv[1])
assert wheel.testzip() is None
files = [file for file in wheel.infolist() if file.filename.startswith("torchani/resources/ani-")]
sizes = {}
for file in files:
    sizes.setdefault(file.filename.split("/")[2], []).append(file.file_size)
for name, found in sorted(sizes.items()):
    print("%-14s %4d files, %8d bytes" % (name, len(found), sum(found)))
for name in ("ani-1ccx_8x", "ani-2x_8x"):
    assert len(sizes[name]) > 100 and sum(sizes[name]) == 0, name
    assert sizes[name + ".info"] == [0], name
assert sizes["ani-1x_8x.info"] == [0] and sum(sizes["ani-1x_8x"]) > 20e6
END
