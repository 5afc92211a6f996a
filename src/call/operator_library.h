/* Libraries of operators: shared libraries with a function wick_library_init, which registers operators and classes.
 * Found by name, "torch_scatter", as NAME.so in the folders of the environment's WICK_LIBRARY_PATH, and then in those
 * that belong to wick: where it was installed or built. A library's name is the namespace of its operators, so that one
 * that a program names and nothing has registered is opened by itself, unless that is switched off. Nothing else of a
 * program, and nothing of an archive, says what is opened. */
#pragma once

#include "base/str.h"

enum { LIBRARY_PATH_MAX = 4096 };
/* A name, or the path of a file (which has a '/'). Once it is open, again is OK. */
Status operator_library_open(const char *name_or_path) MUST_CHECK;
/* Opens the library of that name unless it was tried before; whether there may be something new to look up. */
bool operator_library_open_for(Str name);
void operator_library_set_automatic(bool on);
/* The file that would be opened for a name; false: there is none in the folders, or it is no name of a library. */
bool operator_library_find(Str name, char out_path[LIBRARY_PATH_MAX]);
/* The file of each library that is open, in order; for the rest of the process. NULL: no such index. */
const char *operator_library_path(size_t index);
/* Why an operator "mine::scale" is missing when nothing of its namespace is there: that its library is not installed,
 * is not opened by itself, or failed to open. Lives as long as the process; "" where the namespace is there. */
const char *operator_library_explain(Str qualified_name);
/* That, as a sentence of a message in brackets: " (library mine: it is not installed)". */
void operator_library_print_reason(Str qualified_name, StrBuf *out);
