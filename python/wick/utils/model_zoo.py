"""``torch.utils.model_zoo``: what programs called before torch.hub had it."""
from ..hub import load_state_dict_from_url as load_url, tqdm  # noqa: F401, torch's names
