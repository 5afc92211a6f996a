"""Builds wheels of wick (PEP 517) with CMake, a C compiler and zlib, and with nothing from the network.

The wheel holds the package, the extension and the library. Builds go to build/wheel of the clone and are kept, so
that a second one takes seconds. ``python3 build_backend.py FOLDER`` writes a wheel to the folder.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in the wheel: the same sources give the same bytes


def _version():
    with open(os.path.join(ROOT, "include", "wick", "status.h")) as file:
        return ".".join(re.findall(r"#define WICK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def _tag():
    python = "cp%d%d" % sys.version_info[:2]
    return "%s-%s-%s" % (python, python, re.sub(r"[-.]", "_", sysconfig.get_platform()))


def _metadata():
    return ("Metadata-Version: 2.1\nName: wick\nVersion: %s\nSummary: TorchScript and tensors without torch, under "
            "torch's names\nRequires-Python: >=3.9\nLicense-File: LICENSE\nClassifier: Programming Language :: C\n"
            "Classifier: Programming Language :: Python :: Implementation :: CPython\n"
            "Classifier: Operating System :: POSIX :: Linux\n" % _version())


def _build(prefix):
    """The extension and the library, stripped, under prefix/wick."""
    build = os.path.join(ROOT, "build", "wheel", "cp%d%d" % sys.version_info[:2])
    generator = ["-G", "Ninja"] if not os.path.exists(os.path.join(build, "CMakeCache.txt")) else []
    subprocess.check_call(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
                           "-DPython3_EXECUTABLE=" + sys.executable] + generator, stdout=subprocess.DEVNULL)
    subprocess.check_call(["cmake", "--build", build, "--target", "wick_python", "--parallel"],
                          stdout=subprocess.DEVNULL)
    subprocess.check_call(["cmake", "--install", build, "--component", "python", "--prefix", prefix, "--strip"],
                          stdout=subprocess.DEVNULL)


def _write_stubs(built):
    """wick/__init__.pyi, from the operators of what was built."""
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


def build_sdist(sdist_directory, config_settings=None):
    """Not there: wick is built from a clone."""
    raise NotImplementedError("wick is built from a clone: pip install .")


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    os.makedirs(folder, exist_ok=True)
    print(os.path.join(folder, build_wheel(folder)))
