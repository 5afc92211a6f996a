"""Builds wheels of wick (PEP 517) with CMake, a C compiler and zlib, and with nothing from the network.

The wheel holds the package, the extension, the library and the libraries of operators. Builds go to build/wheel of
the clone and are kept, so that a second one takes seconds. ``python3 build_backend.py FOLDER`` writes a wheel to the
folder.

For an older or another system than this one (scripts/wheels.sh) the environment says: WICK_WHEEL_CMAKE, the command
that configures and builds there; WICK_WHEEL_OPTIONS, what it is told besides; WICK_WHEEL_PLATFORM, its name in the
wheel's tag; WICK_WHEEL_STUBS, a file of stubs, where what was built does not run here.
"""
import base64
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in the wheel: the same sources give the same bytes


def _version():
    with open(os.path.join(ROOT, "include", "wick", "status.h")) as file:
        return ".".join(re.findall(r"#define WICK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def _platform():
    return os.environ.get("WICK_WHEEL_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform())


def _tag():
    python = "cp%d%d" % sys.version_info[:2]
    return "%s-%s-%s" % (python, python, _platform())


def _description():
    """What the page about the package in Python begins with."""
    with open(os.path.join(HERE, "README.md")) as file:
        return file.read()


def _metadata():
    return ("Metadata-Version: 2.1\nName: wick\nVersion: %s\nSummary: TorchScript and tensors without torch, under "
            "torch's names\nRequires-Python: >=3.9\nLicense-File: LICENSE\nClassifier: Programming Language :: C\n"
            "Classifier: Programming Language :: Python :: Implementation :: CPython\n"
            "Classifier: Operating System :: POSIX :: Linux\nDescription-Content-Type: text/markdown\n\n%s"
            % (_version(), _description()))


def _headers(folder):
    """Python's headers, copied to where another root of the file system sees them."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}:
        shutil.copytree(path, folder, dirs_exist_ok=True)
    return folder


def _build(prefix):
    """The extension and the libraries, stripped, under prefix/wick."""
    python = "cp%d%d" % sys.version_info[:2]
    elsewhere = os.environ.get("WICK_WHEEL_CMAKE")
    cmake = shlex.split(elsewhere) if elsewhere else ["cmake"]
    build = os.path.join(ROOT, "build", "wheel", _platform() if elsewhere else python)
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF"]
    options += shlex.split(os.environ.get("WICK_WHEEL_OPTIONS", ""))
    if elsewhere:  # one build of the library for all Pythons
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        suffix = suffix.replace(os.uname().machine, _platform().split("_", 1)[1])
        options += ["-DWICK_PYTHON_INCLUDE=" + _headers(os.path.join(ROOT, "build", "wheel", "include", python)),
                    "-DWICK_PYTHON_SUFFIX=" + suffix]
    else:
        options += ["-DPython3_EXECUTABLE=" + sys.executable]
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        options += ["-G", "Ninja"]
    installed = os.path.join(build, "installed")
    for command in (["-S", ROOT, "-B", build] + options, ["--build", build, "--target", "wick_python", "--parallel"],
                    ["--install", build, "--component", "python", "--prefix", installed, "--strip"]):
        shutil.rmtree(installed, ignore_errors=True)
        subprocess.check_call(cmake + command, stdout=subprocess.DEVNULL)
    shutil.copytree(installed, prefix, dirs_exist_ok=True)


def _write_stubs(built):
    """wick/__init__.pyi, from the operators of what was built."""
    if os.environ.get("WICK_WHEEL_STUBS"):
        shutil.copy(os.environ["WICK_WHEEL_STUBS"], os.path.join(built, "wick", "__init__.pyi"))
        return
    code = "import runpy, sys; sys.path[:0] = [%r]; runpy.run_path(%r, run_name='__main__')"
    folder = os.path.join(built, "wick")
    with tempfile.TemporaryDirectory() as whole, open(os.path.join(folder, "__init__.pyi"), "w") as file:
        os.mkdir(os.path.join(whole, "wick"))
        for source in (os.path.join(HERE, "wick"), folder):
            for name in os.listdir(source):
                if not name.endswith(".pyi"):
                    os.symlink(os.path.join(source, name), os.path.join(whole, "wick", name))
        script = os.path.join(HERE, "make_stubs.py")
        subprocess.check_call([sys.executable, "-B", "-c", code % (whole, script)], stdout=file)


def _package_files(built):
    """Pairs of a name in the wheel and the file's bytes."""
    for folder, under in ((os.path.join(HERE, "wick"), "wick"), (os.path.join(built, "wick"), "wick")):
        for path, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                if name.endswith((".py", ".pyi", ".typed", ".so", ".so.0")):
                    with open(os.path.join(path, name), "rb") as file:
                        yield os.path.join(under, os.path.relpath(os.path.join(path, name), folder)), file.read()


def _info():
    """The files of the wheel's metadata, but for its record: pairs of a name and bytes."""
    folder = "wick-%s.dist-info/" % _version()
    with open(os.path.join(ROOT, "LICENSE"), "rb") as file:
        yield folder + "LICENSE", file.read()
    yield folder + "METADATA", _metadata().encode()
    wheel = "Wheel-Version: 1.0\nGenerator: wick\nRoot-Is-Purelib: false\nTag: %s\n" % _tag()
    yield folder + "WHEEL", wheel.encode()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """What the wheel will say of itself, without building it."""
    for path, data in _info():
        path = os.path.join(metadata_directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return "wick-%s.dist-info" % _version()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and gives its name."""
    info = "wick-%s.dist-info" % _version()
    name = "wick-%s-%s.whl" % (_version(), _tag())
    record = []
    with tempfile.TemporaryDirectory() as built, \
            zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(path, data):
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = (0o755 if ".so" in path else 0o644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d" % (path, digest, len(data)))

        _build(built)
        _write_stubs(built)
        for path, data in _package_files(built):
            add(path, data)
        for path, data in _info():
            add(path, data)
        record.append(info + "/RECORD,,")
        wheel.writestr(zipfile.ZipInfo(info + "/RECORD", EPOCH), "\n".join(record) + "\n")
    return name


# What building a wheel reads.
_SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "cmake", "include", "libraries", "prelude", "pyproject.toml",
            "python/CMakeLists.txt", "python/README.md", "python/build_backend.py", "python/make_stubs.py",
            "python/src", "python/wick", "src", "third_party", "view")


def build_sdist(sdist_directory, config_settings=None):
    """Writes an archive of the sources that a wheel is built of, the same bytes each time, and gives its name."""
    top = "wick-%s" % _version()

    def plain(entry):
        if os.path.basename(entry.name) in ("__pycache__", ".gitignore"):
            return None
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as file, \
            gzip.GzipFile("", "wb", 9, file, 0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        metadata = tarfile.TarInfo(top + "/PKG-INFO")
        metadata.size = len(_metadata().encode())
        archive.addfile(metadata, io.BytesIO(_metadata().encode()))
        for name in _SOURCES:
            archive.add(os.path.join(ROOT, name), top + "/" + name, filter=plain)
    return top + ".tar.gz"


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    os.makedirs(folder, exist_ok=True)
    print(os.path.join(folder, build_wheel(folder)))
