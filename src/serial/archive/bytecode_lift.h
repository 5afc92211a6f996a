/* Lifting: a method's bytecode becomes a graph. The program ran on a stack machine once compiled from a graph with
 * structured control flow, so running it on a stack and registers of Values gives that graph back: JF and the JMP
 * before its target bound the blocks of a prim::If, LOOP and the JMP back to it those of a prim::Loop. What is not of
 * that shape is an error.
 *
 * Types come from the schema, the attributes of classes, the types that instructions name, and the operators' schemas.
 * What a loop carries is widened until its body gives back what it takes; an attribute that is set to something else
 * than its objects held so far is widened too, which makes methods lifted before it stale (*out_widened). */
#pragma once

#include "serial/archive/bytecode.h"

/* Gives `method` its schema and graph. Throws to the compilation's catch point. */
void bytecode_lift(Bytecode *bytecode, Compilation *c, const BytecodeFunction *source, Function *method,
                   bool *out_widened);
/* The value under a key in one of the tables of pairs that bytecode.pkl consists of; None when it is not there. */
IValue bytecode_table_get(IValue table, const char *key);
/* The operator that a row of the table of operators names: (name, overload) or (name, overload, arguments given). */
typedef struct BytecodeOperator {
  Str name, overload_name;
  int64_t given; /* arguments on the stack; -1: all of them */
} BytecodeOperator;
bool bytecode_operator(IValue row, BytecodeOperator *out);
/* Whether a row of wick's or an instruction of the language runs it. ERROR_UNSUPPORTED: bytecode can't name it. */
Status bytecode_operator_find(const BytecodeOperator *op, bool *out_is_known) MUST_CHECK;
/* The schema that the bytecode gives a method; without one, of Tensors. In the unit's arena. */
FunctionSchema *bytecode_schema(Compilation *c, Bytecode *bytecode, const BytecodeFunction *function);
/* What a method of the bytecode returns; NULL: there is no such method. */
const Type *bytecode_return_type(Compilation *c, Bytecode *bytecode, Str class_name, Str method);
/* A type as the bytecode writes it: an annotation, or `name[NamedTuple, [[field, type], ...]]`, which declares it. */
const Type *bytecode_parse_type(Compilation *c, Bytecode *bytecode, Str text);
