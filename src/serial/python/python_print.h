/* PythonPrinter: graphs and named types as the Python of archives, which the importer compiles back to the same
 * graphs. Values used once stand in the expression that uses them, as PyTorch 1.13 prints them. */
#pragma once

#include "ir/unit.h"
#include "serial/python/python_text.h"

typedef struct PythonPrinter {
  /* Told of every class, interface, enum, named tuple (type) and function that printed code names. May be NULL. */
  void (*depend)(void *context, const Type *type_or_null, const Function *function_or_null);
  void *context;
  VEC(IValue) constants; /* owned: what the code calls CONSTANTS.c0, CONSTANTS.c1, ... */
  /* What functions were printed from; offsets in the `out` of the call. The caller takes them out, or lets them grow.
   */
  VEC(PythonMark) marks;
  bool bare_self;  /* methods' self without its type, as PyTorch shows code to people; it can't be imported */
  int min_version; /* of the archive: from what version on the printed operators mean what they mean now */
} PythonPrinter;
enum { PYTHON_PRINT_FIRST_VERSION = 3 };
void python_printer_init(PythonPrinter *printer);
void python_printer_dispose(PythonPrinter *printer);

/* "__torch__.f": functions of sources that were not part of an archive get the prefix. */
void python_print_function_name(const Function *function, StrBuf *out);
/* `placeholder` (may be empty): the type of a first parameter `self` that is put before the function's own. */
Status python_print_function(PythonPrinter *printer, const Function *function, int indent, Str placeholder,
                             StrBuf *out) MUST_CHECK;
/* The definition of a class with its methods, an interface, an enum or a named tuple. */
Status python_print_type(PythonPrinter *printer, const Type *type, StrBuf *out) MUST_CHECK;
/* ---- shared by the files of the printer ---- */
bool python_is_identifier(Str name);
/* Whether the name can stand after a point: an identifier that is no keyword. */
bool python_is_name(Str name);
/* A text that reads back as the same bytes, between quotes. */
void python_quote(Str text, StrBuf *out);
/* Whether a list or dict of such items need not say its type. */
bool python_items_tell_type(const Type *element);
void python_depend_type(PythonPrinter *printer, const Type *type);
/* A constant as an expression; what has no literal becomes CONSTANTS.cN. */
Status python_print_constant(PythonPrinter *printer, IValue value, const Type *type_or_null, StrBuf *out) MUST_CHECK;
