/* Operators that take graphs: branches and loops become If and Loop, the graphs their blocks; regions of a mode are the
 * graph between the nodes that set the mode and set it back. */
#pragma once

#include "serial/pt2/target.h"

extern const Pt2Target pt2_higher_order_targets[];
extern const size_t pt2_higher_order_count;
