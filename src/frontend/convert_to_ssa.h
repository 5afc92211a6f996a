/* From the emitter's prim::Load, prim::Store, ReturnStmt, BreakStmt, ContinueStmt and loops with a condition block to
 * SSA in structured control flow. */
#pragma once

#include "ir/graph.h"

/* In this order. */
void control_flow_load_stores(Graph *graph,
                              Arena *scratch); /* Ifs and Loops get the variables they change as outputs */
void loop_continuations(Graph *graph);         /* BreakStmt and ContinueStmt become LoopContinuation */
void inline_loop_condition(Graph *graph);      /* condition blocks go before the loop and to the body's end */
void erase_load_stores(Graph *graph, Arena *scratch);
/* exit_transform.c */
void enter_exit_to_with(Graph *graph, Arena *scratch); /* Enter ... Exit becomes a prim::With: its body, its exit */
void transform_exits(Graph *graph, Arena *scratch);    /* no LoopContinuation or ReturnStmt is left */
void with_to_enter_exit(Graph *graph);
