"""Names that programs for torch.hub import. Nothing is fetched: files must be there."""
import os
import re
from urllib.parse import urlparse  # noqa: F401

HASH_REGEX = re.compile(r'-([a-f0-9]*)\.')  # of names of files that have the beginning of their SHA-256 in them

_dir = None


class _Quiet:
    """What goes through an iterable as tqdm does, without a bar, where tqdm is not installed."""

    def __init__(self, iterable=None, total=None, disable=None, **options):
        self.iterable, self.total, self.disable, self.n = iterable, total, disable, 0

    def __iter__(self):
        for one in self.iterable:
            yield one
            self.n += 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def update(self, n=1):
        """That many more are done."""
        self.n += n

    def close(self):
        """Does nothing, as the other methods that only show something."""

    set_description = set_postfix = refresh = lambda self, *args, **kwargs: None


def __getattr__(name):
    if name != 'tqdm':
        raise AttributeError("module 'wick.hub' has no attribute {!r}".format(name))
    try:
        from tqdm.auto import tqdm
    except ImportError:
        tqdm = _Quiet
    globals()[name] = tqdm
    return tqdm


def _get_torch_home():
    cache = os.getenv('XDG_CACHE_HOME', os.path.join('~', '.cache'))
    return os.path.expanduser(os.getenv('TORCH_HOME', os.path.join(cache, 'torch')))


def get_dir():
    """The folder of downloaded files: what ``set_dir`` said, or $TORCH_HOME/hub, or torch/hub in the user's cache."""
    return os.path.join(_get_torch_home(), 'hub') if _dir is None else _dir


def set_dir(d):
    """Says where downloaded files are."""
    global _dir
    _dir = os.path.expanduser(d)


def _of_folder(repo_or_dir, source):
    """The module of a folder's hubconf.py."""
    import importlib.util
    import sys
    if source != "local" and not os.path.isdir(repo_or_dir):
        raise ValueError('wick does not download: give a folder and source="local", not {!r}'.format(repo_or_dir))
    path = os.path.join(os.path.expanduser(repo_or_dir), 'hubconf.py')
    sys.path.insert(0, os.path.dirname(path))
    try:
        spec = importlib.util.spec_from_file_location('hubconf', path)
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    finally:
        sys.path.remove(os.path.dirname(path))
    return found


def _entry(repo_or_dir, model, source):
    entry = getattr(_of_folder(repo_or_dir, source), model, None)
    if not callable(entry):
        raise RuntimeError('Cannot find callable {} in hubconf'.format(model))
    return entry


def load(repo_or_dir, model, *args, source='github', trust_repo=None, force_reload=False, verbose=True,
         skip_validation=False, **kwargs):
    """What a function of a folder's hubconf.py gives: `hub.load(folder, "resnet18", source="local")`."""
    return _entry(repo_or_dir, model, source)(*args, **kwargs)


def list(github, force_reload=False, skip_validation=False, trust_repo=None):  # noqa: A001, torch's name
    """The names of a folder's functions."""
    found = _of_folder(github, 'local')
    return [name for name in dir(found) if callable(getattr(found, name)) and not name.startswith('_')]


def help(github, model, force_reload=False, skip_validation=False, trust_repo=None):  # noqa: A001, torch's name
    """What a function of a folder says of itself."""
    return _entry(github, model, 'local').__doc__


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Raises RuntimeError: wick does not download."""
    raise RuntimeError('wick does not download: {} is expected as {}'.format(url, dst))


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None):
    """The state dict of a file that was downloaded before; wick does not download.

    Raises FileNotFoundError, which names the place where the file is expected.
    """
    import wick
    folder = os.path.join(get_dir(), 'checkpoints') if model_dir is None else model_dir
    path = os.path.join(folder, file_name or os.path.basename(url.split('?')[0]))
    if not os.path.exists(path):
        raise FileNotFoundError('wick does not download: {} is expected as {}'.format(url, path))
    return wick.load(path, map_location=map_location)
