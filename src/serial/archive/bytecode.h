/* Bytecode: the code of archives for phones that carry no source. bytecode.pkl holds, for every method that can be
 * called, a program for a stack machine with its tables of operators, constants and types. It is read as data; a method
 * becomes a graph (bytecode_lift.h) and from then on is like any other: it can be optimized, saved and looked at.
 *
 * The classes of such an archive have no declarations: they get their attributes from their first object's state, wider
 * types from later ones, and their methods when the whole state is there. */
#pragma once

#include "serial/archive/import.h"

typedef struct BytecodeFunction {
  Str class_name, name; /* "__torch__.M", "forward" */
  IValue code, schema;  /* borrowed from the pickle; schema may be None */
  bool is_used;         /* has run: it stays as it is */
} BytecodeFunction;

typedef struct Bytecode {
  Import *import;
  IValue root; /* owned */
  VEC(BytecodeFunction) functions;
  PtrMap classes; /* those that have objects: their attributes are all there */
} Bytecode;

/* Whether the archive has bytecode and no code that is source. */
bool bytecode_is_there(const Archive *archive);
/* Reads bytecode.pkl. bytecode_dispose also follows a failure. Operators that wick does not have are an error that
 * names them all. */
Status bytecode_read(Bytecode *bytecode, Import *import) MUST_CHECK;
void bytecode_dispose(Bytecode *bytecode);
/* The class of that name, made when it is asked for first. */
Status bytecode_resolve_class(Bytecode *bytecode, Str name, const Type **out) MUST_CHECK;
/* An object with its pickled state, borrowed; by its own __setstate__ if the bytecode has one. */
Status bytecode_make_object(Bytecode *bytecode, ClassType *class_type, IValue state, IValue *out) MUST_CHECK;
/* All methods, when the objects are there. */
Status bytecode_define_methods(Bytecode *bytecode) MUST_CHECK;
