/* A graph by itself as the Python of archives, for the optimizer's log. */
#pragma once

#include "ir/graph_log.h"

GraphSourcePrinter graph_source_print;
