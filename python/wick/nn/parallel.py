"""Modules over several devices, of which there is one."""
from wick.nn.modules.module import Module


class DataParallel(Module):
    """Calls its module: there is one device. State dicts have the prefix ``module.``, as everywhere."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
