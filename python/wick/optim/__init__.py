"""Optimizers and schedules of learning rates."""
from wick.optim import lr_scheduler
from wick.optim.adam import Adam, AdamW
from wick.optim.adam_variants import Adamax, NAdam, RAdam
from wick.optim.adaptive import ASGD, Adadelta, Adagrad, RMSprop, Rprop
from wick.optim.lbfgs import LBFGS
from wick.optim.optimizer import Optimizer
from wick.optim.sgd import SGD
from wick.optim.sparse_adam import SparseAdam
