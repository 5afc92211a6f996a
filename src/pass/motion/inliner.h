/* Inlining, with a say of who wants it in what becomes of the nodes before more is inlined into them. */
#pragma once

#include "ir/unit.h"

typedef struct InlineVisitor {
  /* Is shown every node in the order in which they run, before its blocks. May put others in its place; gives the node
   * to go on with, which is shown next if it is another one. */
  Node *(*visit)(void *argument, Node *node);
  void *argument;
} InlineVisitor;
void inline_calls_with(Graph *graph, const InlineVisitor *visitor);
/* The function that a prim::CallFunction or prim::CallMethod calls; NULL: not known. */
const Function *inlined_callee(const Node *call);
