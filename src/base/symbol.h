/* Symbol: an interned `namespace::name`, an integer that compares by value. Symbols name node kinds and node
 * attributes, nothing else, so the table grows with the registered operators and never with loaded programs. The known
 * ones are an enumeration, usable in switch. */
#pragma once

#include "base/str.h"

typedef uint32_t Symbol;

/* clang-format off */
#define KNOWN_SYMBOLS(X)                                                                                               \
  X(prim, Param)                                                                                                       \
  X(prim, Return)                                                                                                      \
  X(prim, Constant)                                                                                                    \
  X(prim, If) X(prim, Loop) X(prim, Block) X(prim, GetAttr) X(prim, SetAttr) X(prim, CallFunction) X(                  \
      prim, CallMethod) X(prim, CreateObject) X(prim, TupleConstruct) X(prim, TupleUnpack) X(prim, TupleIndex)         \
      X(prim, TupleSlice) X(prim, ListConstruct) X(prim, ListUnpack) X(prim, DictConstruct) X(prim, RaiseException) X( \
          prim, Uninitialized) X(prim, unchecked_cast) X(prim, unchecked_unwrap_optional) X(prim, isinstance)          \
          X(prim, fork) X(prim, forkClosure) X(prim, Closure) X(prim, Function) X(prim, With) X(prim, Enter) X(        \
              prim, Exit) X(prim, Load) X(prim, Store) X(prim, ReturnStmt) X(prim, BreakStmt) X(prim, ContinueStmt)    \
              X(prim, LoopContinuation) X(prim, LoopCondition) X(prim, Print) X(prim, NumToTensor) X(prim, tolist) X(  \
                  prim,                                                                                                \
                  annotate) X(prim, EnumName)                                                                          \
                  X(prim, EnumValue) X(prim, ModuleContainerIndex) X(prim, AutogradZero) X(prim, GradOf) X(            \
                      prim,                                                                                            \
                      DifferentiableGraph) X(prim,                                                                     \
                                             FusionGroup) X(prim, ConstantChunk)                                       \
                      X(prim, profile) X(prim, BailOut) X(prim, BailoutTemplate) X(prim, ComprehensionScope) X(        \
                          prim,                                                                                        \
                          TypeCheck) X(prim,                                                                           \
                                       Guard) X(prim, rpc_async)                                                       \
                          X(prim, awaitable) X(prim, Drop) X(prim, MethodOf) X(prim, min) X(prim, max) X(prim, abs) X( \
                              prim,                                                                                    \
                              dtype) X(prim, device)                                                                   \
                              X(prim, shape) X(prim, data) X(prim, grad) X(prim, requires_grad) X(                     \
                                  prim,                                                                                \
                                  is_cuda) X(prim,                                                                     \
                                             layout) X(prim,                                                           \
                                                       type) X(prim,                                                   \
                                                               CallOptionalFunction) X(aten,                           \
                                                                                       __is__) X(aten,                 \
                                                                                                 __isnot__) X(aten,    \
                                                                                                              __not__) \
                                  X(aten, __contains__) X(aten, __getitem__) X(aten, _set_item) X(aten, append) X(     \
                                      aten,                                                                            \
                                      len) X(aten,                                                                     \
                                             format) X(aten,                                                           \
                                                       warn) X(aten,                                                   \
                                                               wait) X(aten, size)                                     \
                                      X(aten, dim) X(aten, add) X(aten, sub) X(aten, mul)                              \
                                          X(aten, div) X(aten, eq) X(aten, ne) X(aten, lt) X(aten, le) X(aten, gt) X(  \
                                              aten,                                                                    \
                                              ge) X(aten, neg)                                                         \
                                              X(aten, pow) X(aten, floordiv) X(aten, remainder) X(aten, Bool) X(       \
                                                  aten,                                                                \
                                                  Int) X(aten, Float)                                                  \
                                                  X(aten, Complex) X(aten, IntImplicit) X(aten, FloatImplicit) X(      \
                                                      aten,                                                            \
                                                      ComplexImplicit) X(aten,                                         \
                                                                         ScalarImplicit) X(aten,                       \
                                                                                           __and__) X(aten, __or__)    \
                                                      X(aten, __xor__) X(aten, __lshift__) X(aten, __rshift__) X(      \
                                                          aten,                                                        \
                                                          __range_length) X(aten, __derive_index)                      \
                                                          X(aten, slice) X(aten, select) X(aten, index) X(             \
                                                              aten,                                                    \
                                                              copy_) X(aten, index_put_)                               \
                                                              X(aten, unsqueeze) X(aten, tensor) X(aten, Delete) X(    \
                                                                  aten,                                                \
                                                                  list) X(aten, dict)                                  \
                                                                  X(aten, str) X(aten, matmul) X(                      \
                                                                      aten,                                            \
                                                                      bitwise_not) X(aten,                             \
                                                                                     sub_) X(aten,                     \
                                                                                             add_) X(aten, mul_)       \
                                                                      X(aten, div_) X(aten, chunk) X(aten, append_) X( \
                                                                          aten,                                        \
                                                                          ord) X(aten,                                 \
                                                                                 keys) X(aten, values)                 \
                                                                          X(aten, items) X(aten, _unwrap_optional) X(  \
                                                                              attr,                                    \
                                                                              value) X(attr,                           \
                                                                                       name) X(attr,                   \
                                                                                               names) X(attr, slot)    \
                                                                              X(attr, types) X(attr, type) X(attr, i)  \
                                                                                  X(attr, Subgraph) X(attr, beg) X(    \
                                                                                      attr,                            \
                                                                                      end) X(attr, chunks)             \
                                                                                      X(attr, dim) X(attr, inputs) X(  \
                                                                                          attr,                        \
                                                                                          outputs) X(attr,             \
                                                                                                     profiled_type)    \
                                                                                          X(attr, index) X(attr,       \
                                                                                                           shape)      \
                                                                                              X(attr, cached)          \
                                                                                                  X(prim,              \
                                                                                                    EmptyListLiteral)  \
                                                                                                      X(prim, HasAttr)
/* clang-format on */

enum {
  SYMBOL_NONE = 0,
#define X(space, name) SYM_##space##_##name,
  KNOWN_SYMBOLS(X)
#undef X
      SYMBOL_KNOWN_COUNT
};

/* Interns "space::name"; thread-safe. SYMBOL_NONE when out of memory or without "::". */
Symbol symbol_intern(Str qualified);
Symbol symbol_find(Str qualified); /* SYMBOL_NONE: not interned */
Str symbol_name(Symbol symbol);    /* "aten::add"; lives as long as the process */
Str symbol_space(Symbol symbol);   /* "aten" */
Str symbol_base(Symbol symbol);    /* "add" */
