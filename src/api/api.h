/* api: the functions of wick.h, by the headers' sections. What they share:
 *
 *   api/handles.h     the structs behind the handles, and how statuses cross the border
 *   api/ir_handles.h  those of wick/graph.h
 *   api/arguments.h   values as Python has them to values as a schema wants them
 *   api/find.h        a method or function by name
 *   api/function.h    functions looked up once, and calls of them
 *   api/future.h      calls under way
 *   api/trees.h       trees from outside
 *
 *   api/start.h       what is handed to lower folders before anything is called
 *
 * op_tables.c and pass_tables.c list every table of rows, services.c what calls ask of higher folders. */
#pragma once

#include "api/handles.h"
