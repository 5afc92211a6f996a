"""Streams of files: their paths, opened, and read."""
import fnmatch
import os

from wick.utils.data.datapipes._base import IterDataPipe, functional_datapipe
from wick.utils.data.datapipes.iter._samples import IterableWrapperIterDataPipe


def _sorted_walk(root, recursive):
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            yield os.path.join(folder, name)
        if not recursive:
            return


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe):
    """The paths of files in folders whose names match."""

    def __init__(self, root=".", masks="", *, recursive=False, abspath=False, non_deterministic=False, length=-1):
        if isinstance(root, str):
            root = [root]
        self.datapipe = root if isinstance(root, IterDataPipe) else IterableWrapperIterDataPipe(root)
        self.masks = [masks] if isinstance(masks, str) else list(masks)
        self.recursive, self.abspath, self.length = recursive, abspath, length

    def __iter__(self):
        for root in self.datapipe:
            for path in _sorted_walk(root, self.recursive):
                name = os.path.basename(path)
                if any(not mask or fnmatch.fnmatch(name, mask) for mask in self.masks or [""]):
                    yield os.path.abspath(path) if self.abspath else path

    def __len__(self):
        if self.length == -1:
            raise TypeError("{} instance doesn't have valid length".format(type(self).__name__))
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe):
    """Paths and the files, opened for reading."""

    def __init__(self, datapipe, mode="r", encoding=None, length=-1):
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError("Invalid mode {}".format(mode))
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self):
        mode = "r" + self.mode if self.mode in ("b", "t") else self.mode
        for path in self.datapipe:
            if not isinstance(path, str):
                raise TypeError("Expected string type for pathname, but got {}".format(type(path)))
            yield path, open(path, mode, encoding=self.encoding)

    def __len__(self):
        if self.length == -1:
            raise TypeError("{} instance doesn't have valid length".format(type(self).__name__))
        return self.length


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Names and what their files hold, in pieces of `chunk` bytes if that is given."""

    def __init__(self, datapipe, chunk=None):
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self):
        for name, file in self.datapipe:
            with file:
                while True:
                    piece = file.read(self.chunk) if self.chunk is not None else file.read()
                    if not piece:
                        break
                    yield name, piece
