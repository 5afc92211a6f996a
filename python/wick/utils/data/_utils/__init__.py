"""Parts of utils.data under the names of torch's."""
from wick.utils.data._utils import collate
