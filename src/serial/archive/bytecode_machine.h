/* The machine that bytecode is lifted on: a stack and registers of Values, and what instructions do to them. For the
 * files of lifting. */
#pragma once

#include "serial/archive/bytecode.h"

/* Those that leave the order as it is, and what lifts them. */
#define PLAIN_INSTRUCTIONS(X)                          \
  X(OP, lift_op)                                       \
  X(OPN, lift_op)                                      \
  X(LOAD, lift_load)                                   \
  X(MOVE, lift_load)                                   \
  X(STORE, lift_store)                                 \
  X(STOREN, lift_storen)                               \
  X(DROP, lift_drop)                                   \
  X(DROPR, lift_dropr)                                 \
  X(LOADC, lift_loadc)                                 \
  X(LIST_CONSTRUCT, lift_list_construct)               \
  X(DICT_CONSTRUCT, lift_dict_construct)               \
  X(TUPLE_CONSTRUCT, lift_tuple_construct)             \
  X(NAMED_TUPLE_CONSTRUCT, lift_named_tuple_construct) \
  X(LIST_UNPACK, lift_list_unpack)                     \
  X(TUPLE_SLICE, lift_tuple_slice)                     \
  X(TUPLE_INDEX, lift_tuple_index)                     \
  X(DICT_INDEX, lift_dict_index)                       \
  X(GET_ATTR, lift_get_attr)                           \
  X(SET_ATTR, lift_set_attr)                           \
  X(CREATE_OBJECT, lift_create_object)                 \
  X(ISINSTANCE, lift_isinstance)                       \
  X(UN_INITIALIZED, run_uninitialized)                 \
  X(UNCHECKED_CAST, run_unchecked_cast)                \
  X(RAISE_EXCEPTION, lift_raise)                       \
  X(__IS__, lift_is_same)                              \
  X(__ISNOT__, lift_is_not)                            \
  X(__NOT__, lift_not)                                 \
  X(WARN, lift_warn)                                   \
  X(TO_LIST, lift_to_list)                             \
  X(INTERFACE_CALL, lift_call_method)
/* Instructions that stand for an operator: its name, overload, how many values it takes (-1: x). */
#define OPERATOR_INSTRUCTIONS(X)     \
  X(FORMAT, "aten::format", "", -1)  \
  X(DIM, "aten::dim", "", 1)         \
  X(DTYPE, "prim::dtype", "", 1)     \
  X(DEVICE, "prim::device", "", 1)   \
  X(IS_CUDA, "prim::is_cuda", "", 1) \
  X(NUM_TO_TENSOR, "prim::NumToTensor", "Scalar", 1)
#define FLOW_INSTRUCTIONS(X) X(JF) X(JMP) X(LOOP) X(RET)

enum {
#define X(name, ...) OPCODE_##name,
  PLAIN_INSTRUCTIONS(X) OPERATOR_INSTRUCTIONS(X) FLOW_INSTRUCTIONS(X)
#undef X
      OPCODE_COUNT
};

typedef struct Instruction {
  uint8_t opcode;
  int64_t x, n;
} Instruction;

typedef struct Lift {
  Compilation *c;
  Bytecode *bytecode;
  Graph *graph;
  Source *source;      /* the listing, a line an instruction: what errors point at */
  StrBuf listing, why; /* freed with this, for what is thrown passes them by; why: an operator does not fit */
  uint32_t *lines;
  Instruction *instructions;
  size_t count, at; /* the one that is being lifted */
  IValue operators, constants, types;
  VEC(Value *) stack;
  size_t base; /* what lies below belongs to an outer block */
  Value **registers;
  size_t register_count;
  uint64_t work; /* loops are lifted again when their types widen: a bound for all of it */
  int nesting;
  bool widened;
} Lift;

#define LIFT_FAIL(l, ...) graph_fail((l)->graph, ERROR_DATA, lift_line((l), (l)->at), __VA_ARGS__)
SourceRange lift_line(const Lift *l, size_t at);

/* ---- stack and registers; what is not there is an error ---- */
void lift_push(Lift *l, Value *value);
Value *lift_pop(Lift *l);
/* The topmost n in the order in which they were pushed, in the graph's arena. */
Value **lift_pop_many(Lift *l, int64_t n);

/* ---- nodes, at the insertion point ---- */
Node *lift_add(Lift *l, Symbol kind, uint32_t count, Value *const *inputs, uint32_t outputs);
Value *lift_add_one(Lift *l, Symbol kind, uint32_t count, Value *const *inputs, const Type *type);
/* A value of no type yet (the bytecode does not say it): of None's until it meets a type. */
Value *lift_uninitialized(Lift *l, const Type *type);
bool value_is_uninitialized(const Value *value);
/* The value where one of that type is needed, which the program knew it to be when it was compiled. */
Value *lift_fit(Lift *l, const Type *type, Value *value);

/* None where a value of the type is needed, in a branch that is not taken: it raises when it is. */
Value *lift_impossible(Lift *l, const Type *type);
/* Its type, which must be of that kind. */
const Type *lift_require_kind(Lift *l, const Value *value, TypeKind kind);

/* ---- operators, from the stack to the stack ---- */
void lift_operator(Lift *l, const char *name, const char *overload_name, int64_t given);
void lift_unchecked_cast(Lift *l); /* what is not None */
/* An instruction that leaves the order as it is. */
void lift_instruction(Lift *l, const Instruction *in);
/* OPCODE_COUNT: there is no such instruction. */
uint8_t bytecode_opcode(Str name);
const char *bytecode_opcode_name(uint8_t opcode);
/* OP and OPN. */
void lift_op(Lift *l, const Instruction *in);
/* A row of one of the function's tables. */
IValue lift_row(Lift *l, IValue table, int64_t index, const char *what);
