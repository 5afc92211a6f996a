/* ir: programs as data. In reading order: */
#pragma once

#include "ir/graph.h"     /* Graph, Block, Node, Value */
#include "ir/graph_log.h" /* graphs in the log */
#include "ir/node_form.h" /* what a node of each kind looks like */
#include "ir/match.h"     /* arguments against schemas, implicit conversions */
#include "ir/unit.h"      /* Function, CompilationUnit */
