/* Operators in place and their functional forms: what the passes that replace the one by the other share. */
#pragma once

#include "ir/graph.h"

/* aten::add for aten::add_; SYMBOL_NONE: not an operator in place. */
Symbol write_functional_kind(const Node *node);
/* The functional operator with the inputs of `node`, in front of it; NULL: there is none. */
Node *write_insert_functional(Node *node, Symbol kind);
