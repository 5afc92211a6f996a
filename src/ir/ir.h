/* ir: programs as data. In reading order, and for those who ask for them:
 *
 *   ir/subgraph.h        nodes that hold a graph
 *   ir/constant.h        numbers of constants
 *   ir/operator_use.h    the operators that code uses, and may use
 *   ir/alias_db.h        what values may point to, who writes there, which nodes may change places
 *   ir/memory_dag.h      what may point to what, under it
 *   ir/alias_internal.h  what the files of the alias analysis share
 *   ir/ir_internal.h     what the files of this folder share */
#pragma once

#include "ir/graph.h"     /* Graph, Block, Node, Value */
#include "ir/graph_log.h" /* graphs in the log */
#include "ir/node_kind.h" /* what holds of all nodes of a kind: the table */
#include "ir/node_form.h" /* what a node of each kind looks like */
#include "ir/match.h"     /* arguments against schemas, implicit conversions */
#include "ir/unit.h"      /* Function, CompilationUnit */
