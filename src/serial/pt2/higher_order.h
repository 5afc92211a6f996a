/* Operators that take graphs: branches and loops become If and Loop, the graphs their blocks; regions of a mode are the
 * graph between the nodes that set the mode and set it back. */
#pragma once

#include "serial/pt2/target.h"

/* By name alone: PyTorch 2.4 has some in torch._higher_order_ops, others have all in torch.ops.higher_order. */
extern const Pt2Target pt2_higher_order_targets[];
extern const size_t pt2_higher_order_count;
