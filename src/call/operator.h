/* Operator: a row of data (call/row.h) or a form derived from one. The registry finds operators; operator_call
 * (call/call.h) is the only way to run one. */
#pragma once

#include "base/str.h"

typedef uint32_t Symbol;                      /* report/symbol.h */
struct OpTable;                               /* call/row.h */
typedef struct FunctionSchema FunctionSchema; /* schema/schema.h */

/* What a kernel may do beyond computing its outputs from its inputs (writes stand in the schema's alias annotations).
 */
enum OpFlags {
  OP_INPLACE = 1u << 0,          /* derive `name_`: self (a!) first, result written into it */
  OP_OUT = 1u << 1,              /* derive the `.out` overload(s) with PyTorch's naming */
  OP_SIDE_EFFECTS = 1u << 2,     /* prints, raises, changes global state: never removed or moved */
  OP_NONDETERMINISTIC = 1u << 3, /* draws random numbers */
  OP_COMPOSITE = 1u << 4,        /* the kernel only calls other operators: autograd records those, not this */
  OP_ALIASING_OK = 1u << 5,      /* out may be exactly one of the inputs (pointwise): in place needs no temporary */
  OP_EAGER_ONLY = 1u << 6,       /* its gradient can't go into a DifferentiableGraph */
  OP_BUILTIN = 1u << 7,          /* body text is matched with the schemas and inlined at emission */
  OP_ACCEPT_SPARSE = 1u << 8,
  OP_ACCEPT_QUANTIZED = 1u << 9,
  OP_ACCEPT_CONJ = 1u << 10, /* kernel sees lazy conj/neg itself; else inputs are resolved first */
  OP_ACCEPT_META = 1u << 11,
  OP_ACCEPT_OPAQUE = 1u << 12,
  OP_ACCEPT_UNDEFINED = 1u << 13,
  OP_ACCEPT_DEVICES = 1u << 27, /* the kernel reads and writes elements by tensor_copy and tensor_fill_scalar alone */
  OP_ACCEPT_ANY = OP_ACCEPT_SPARSE | OP_ACCEPT_QUANTIZED | OP_ACCEPT_CONJ | OP_ACCEPT_META | OP_ACCEPT_OPAQUE |
                  OP_ACCEPT_UNDEFINED | OP_ACCEPT_DEVICES | 1u << 30 | 1u << 31,
  OP_NOT_DIFFERENTIABLE = 1u << 14, /* results never require grad (comparisons, argmax, ...) */
  OP_WRITES_APART = 1u << 15,       /* what it writes may show no memory of an argument beside `self` */
  OP_RESHAPES = 1u << 16,           /* may change sizes or strides of the tensor it writes: resize_, t_, ... */
  OP_GRAD_EXACT = 1u << 17,         /* not pointwise: its formula gives gradients of the arguments' sizes and dtypes */
  OP_RETURNS_ARGUMENT = 1u << 18,   /* the result may be, or show, an argument although the schema does not say so */
  OP_ALIASING_SELF = 1u << 19,      /* as OP_ALIASING_OK for the first input alone, when no other shows it */
  OP_METADATA_ONLY = 1u << 20,   /* of tensors it reads sizes, strides, dtype, layout, device: no values, no history */
  OP_METADATA_OTHERS = 1u << 21, /* as OP_METADATA_ONLY for all arguments but the first */
  OP_NEVER_RAISES = 1u << 22,    /* gives a result whatever the arguments' values */
  OP_EVAL_IDENTITY = 1u << 23,   /* where its argument `train` is false it gives its first argument */
  OP_CONJUGATE = 1u << 24,       /* of real tensors it gives its first argument */
  OP_ELEMENT = 1u << 25,         /* the number that a tensor of one element holds */
  OP_WRITES_EXPANDED = 1u << 26, /* `name_` writes what it changes to a self that shows an element several times too */
  OP_WRITES_NO_DATA = 1u << 28,  /* what it writes of a tensor is what gradients know of it, no elements */
  OP_OF_PLANS = 1u << 29,        /* made by passes: nobody else can name it, operator_check_name */
  /* It takes and makes tensors of uint16, uint32 and uint64, of float8. Views, and what reads metadata alone, do. */
  OP_ACCEPT_UNSIGNED = 1u << 30,
  OP_ACCEPT_FLOAT8 = 1u << 31,
  OP_ACCEPT_LIMITED = OP_ACCEPT_UNSIGNED | OP_ACCEPT_FLOAT8
};

/* A registered row or a variant derived from one. Made when its name is first looked up; its schema is parsed on first
 * use. */
typedef enum OpVariant { VARIANT_FUNCTIONAL, VARIANT_INPLACE, VARIANT_OUT } OpVariant;
typedef struct Operator {
  const struct OpRow *row;
  Str name; /* "aten::add_" */
  Str overload_name;
  uint8_t variant;
  uint32_t flags; /* the row's, adjusted for the variant */
  _Atomic(FunctionSchema *) schema;
  _Atomic(struct KernelProgram *) program; /* compiled `lower`, on first use */
  _Atomic(struct Function *) body;         /* compiled body, on first use */
  _Atomic(struct CallPlan *) plan;         /* what operator_call needs of the schema, on first use */
  _Atomic(struct Operator *) next;         /* next overload of the same name, in order of registration */
  _Atomic(struct Operator *) following;    /* in order of registration over all names, once all are made */
  struct Operator *other_name;             /* the registry's: the first overload of another name */
  const struct Operator *in_torch2; /* what it is in programs of PyTorch 2.x, if that is another row; NULL: the same */
  void *library;                    /* the loaded library it came from, or NULL */
} Operator;
/* Never NULL; the parsed schema, of the process. Where memory runs out, a stand-in that nothing should be matched
 * with: who chooses among schemas asks operator_schema_status first, which then says so. */
const FunctionSchema *operator_schema(const Operator *op);
Status operator_schema_status(const FunctionSchema *schema) MUST_CHECK;
/* Whether of its i-th argument, a tensor or a list of them, it reads only what OP_METADATA_ONLY says. */
bool operator_reads_metadata(const Operator *op, uint32_t i);
/* OP_RETURNS_ARGUMENT, or a body: that may pass on what it got. */
bool operator_may_return_argument(const Operator *op);
/* First overload of a qualified name or NULL; walk with ->next. Opens the library of the name's namespace where that is
 * how it comes to be there (call/operator_library.h). */
const Operator *operator_find(Str qualified_name);
/* Out of memory while names can't be looked up: they would seem unknown. Units ask it when they are made. */
Status operators_prepare(void) MUST_CHECK;
const Operator *operator_find_symbol(Symbol name); /* the same, without a look-up in the index for known symbols */
const Operator *operator_find_overload(Str qualified_name, Str overload_name);
/* The overload whose row has `since`; NULL: the name means what it always did. */
const Operator *operator_find_changed(Str qualified_name);
/* Whether an operator of that namespace ("aten") is there. */
bool operator_space_is_known(Str space);
/* Up to `max` names near to an unknown one, for messages. */
size_t operator_similar(Str qualified_name, Str *out, size_t max);
/* Adds rows (kept by reference) to the open registry; thread-safe. Refuses a schema that is there already or differs
 * from one only in its returns. */
Status operator_register(const struct OpTable *table, void *library) MUST_CHECK;
/* ERROR_UNSUPPORTED where only passes make the operator: asked wherever a name from outside becomes one (a program, an
 * archive, a caller). Graphs hold such nodes, and lint asks of their types what it asks of any. */
Status operator_check_name(const Operator *op) MUST_CHECK;
static inline bool operator_is_of_plans(const Operator *op) {
  return op->flags & OP_OF_PLANS;
}
/* For tests (nothing unloads libraries yet): hides a library's operators from look-ups. Programs compiled with them
 * go on working, so the rows, and the library that holds them, must stay in memory. */
void operator_retire(void *library);
/* For tests: writes a line for every built-in row that is there twice or whose schema is wrong. */
void operator_check_tables(StrBuf *problems);
/* Every operator in turn, for tests and dumps: for (op = operator_next(NULL); op; op = operator_next(op)). */
const Operator *operator_next(const Operator *after);
