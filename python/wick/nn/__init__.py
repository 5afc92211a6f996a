"""Neural networks: Module, layers, losses, their functions and initial values."""
from wick.nn import functional, init, modules, parameter, utils
from wick.nn.modules import *
from wick.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
