/* pt2: programs of torch.export (`.pt2`). A program is JSON: a graph of operators whose values have names, what its
 * inputs and outputs stand for, and how a caller's arguments are nested. It becomes a Module with a method forward;
 * nothing of the file is evaluated. In reading order:
 *
 *   pt2/container.h   where the parts of a program lie in the file
 *   pt2/weights.h     its tensors by name
 *   pt2/tree_spec.h   how arguments and results are nested
 *   pt2/builder.h     a graph on its way: its values by name
 *   pt2/argument.h    what nodes are given and give
 *   pt2/target.h      what nodes call
 *   pt2/higher_order.h  calls that take graphs
 *   pt2/autocast.h    what regions of autocast cast
 *   pt2/expression.h  sizes as formulas of symbols
 *   pt2/checks.h      what sizes inputs must have
 *   pt2/attributes.h  parameters, buffers and constants as attributes of modules
 *   pt2/forward.h     the method
 *   pt2/pt2.h         loading it (this file) */
#pragma once

#include "serial/archive/archive.h"
#include "serial/serial.h"

/* Whether the archive is of one of the forms of such files. */
bool pt2_is_there(const Archive *archive);
/* The only program of the file, or the one called "model". */
Status pt2_import(Archive *archive, Exec *exec, const LoadOptions *options, Module **out) MUST_CHECK;
