"""Neural networks: Module, layers, losses, their functions and initial values."""
from wick.nn import functional, init, modules, parallel, parameter, utils
from wick.nn.modules import *
from wick.nn.parallel import DataParallel
from wick.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
