"""How weights of convolutions lie in memory."""
import wick


def convert_conv2d_weight_memory_format(module, memory_format):
    """Lays the weights of all Conv2d and ConvTranspose2d here and below out as ``memory_format``."""
    if isinstance(module, (wick.nn.Conv2d, wick.nn.ConvTranspose2d)):
        module.weight.data = module.weight.detach().clone(memory_format=memory_format)
    for child in module.children():
        convert_conv2d_weight_memory_format(child, memory_format)
    return module
