/* pt2: programs of torch.export (`.pt2`). A program is JSON: a graph of operators whose values have names, what its
 * inputs and outputs stand for, and how a caller's arguments are nested. It becomes a Module with a method forward;
 * nothing of the file is evaluated. serial/serial.h lists the files beside this one. */
#pragma once

#include "serial/archive/archive.h"
#include "serial/serial.h"

/* Whether the archive is of one of the forms of such files. */
bool pt2_is_there(const Archive *archive);
/* The only program of the file, or the one called "model", as forward. Of several the others are methods by their
 * names, with their tensors in a module of that name in `programs`. */
Status pt2_import(Archive *archive, Exec *exec, const LoadOptions *options, Module **out) MUST_CHECK;
