"""Names that programs for torch.hub import. Nothing is fetched: files must be there."""
import os


_dir = None


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
