/* OpRow: an operator is one row of data. The registry finds rows; operator_call (call/call.h) is the only way to run
 * one. */
#pragma once

#include "call/call.h"
#include "call/exec.h"
#include "report/symbol.h"
#include "schema/schema.h"

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
                  OP_ACCEPT_UNDEFINED | OP_ACCEPT_DEVICES,
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
  OP_OF_PLANS = 1u << 29         /* made by passes: nobody else can name it, operator_check_name */
};

/* Computes the metadata of every tensor output from the arguments (sizes and dtypes only, never data): specs[i] is the
 * i-th return. Errors about shapes and dtypes are raised here. */
typedef Status ShapeFunction(Call *call, TensorSpec *specs);
/* Additions and multiplications of floating numbers that a call which has returned had to do, for profiles. */
typedef double FlopFunction(const Call *call);

/* What an autocast region does to tensor arguments of the functional form (pass/rewrite/autocast.c), as PyTorch 1.13
 * has it for scripted code: */
typedef enum OpCast {
  CAST_NONE,
  CAST_REDUCED,           /* float32 becomes the region's dtype */
  CAST_FULL,              /* float16 and bfloat16 become float32 */
  CAST_FULL_UNLESS_DTYPE, /* the same where no `dtype` is given */
  CAST_WIDEST,            /* the same where a tensor may be float32 */
  CAST_REFUSED            /* can't be computed in a reduced dtype */
} OpCast;

/* What a quantized operator, of (a, b, scale, zero_point), gives: this operator's result of its arguments, dequantized,
 * quantized again. */
typedef struct QuantizedForm {
  const char *of;     /* "aten::add.Tensor"; of arguments that are not among a and b the defaults */
  const char *unpack; /* b is packed, the others included: what gives weight and bias of it; NULL: b is a tensor */
  bool relu;          /* aten::relu comes after it */
} QuantizedForm;

enum { CONV_ANY_DIMS = 4 }; /* OpRow.conv_dims: those of the weight */

/* Columns of a row that few have. */
typedef struct RowExtras {
  /* Archives before version `since` meant something else by the name (in one overload's row, for all of tensors), or
   * had fewer arguments. "0_3": what they meant is the function NAME_0_3 of prelude/upgraders.py; NULL: what it means
   * by default today. */
  const char *upgrader;
  /* "Tensor... int": what stands at `Any` and after `...`, as the kernel takes it (schema/open_types.h). Every row with
   * one of them has it. */
  const char *open;
  const char *blocked; /* the overload, of its own and those derived, that programs can't name, as in PyTorch */
  const QuantizedForm *quantizes;
  const char *graph_grad; /* the gradient of graphs, where it is a simpler one: the same values, laid out otherwise */
  /* Bits by argument: weights that the kernel reads in an order of its own. Their memory may have been dropped, and the
   * kernel restores them itself where it reads them as they are (tensor/storage_drop.h). */
  uint64_t restores;
  /* Runs in the place of the row's body, to the same bits, where gradients record nothing and no tensor is unusual, or
   * declines. */
  Kernel *beside;
  const struct Anchor *anchor; /* what its engine takes along of what comes before and after it (call/region.h) */
  /* ActivationKind (compute/activation.h) by which engines know it. LIMITS: the two arguments after the tensor are. */
  uint8_t activation;
} RowExtras;
#define BESIDE(kernel)           \
  .extras = &(const RowExtras) { \
    .beside = kernel             \
  }
#define OPEN(types)              \
  .extras = &(const RowExtras) { \
    .open = types                \
  }

/* A row. Text fields are C literals. Exactly one of kernel, lower, body and factory says how it runs (with lower the
 * tile interpreter does, shape defaults to shape_pointwise). There are thousands: small members stand together, at the
 * end. */
typedef struct OpRow {
  const char *schema;
  Kernel *kernel;
  /* What the kernel and the shape function are told of which of several operators they run for: a number, or the
   * members of a const struct. */
  union {
    int64_t param;    /* call_param */
    const void *with; /* call_with */
  };
  ShapeFunction *shape; /* NULL: the kernel sets its outputs itself (call_set) */
  const char *lower;    /* formula over the argument names, tile/formula.h */
  const char *grad; /* "self: grad * cos(self); other: ..." TorchScript text; NULL: none known; see docs/autograd.md */
  const char *body; /* TorchScript statements: the body of the function; the parameter names are the schema's */
  struct OpFactory *factory;
  /* Where PyTorch's names do not follow the rule (see call/derive.h): the overload of the in-place form; that of the
   * out form, and after ": " its arguments, separated by blanks. A row with `out` has an out form without OP_OUT too. */
  const char *inplace, *out;
  /* "aten::neg": the operator this one is another name of, plans have one name for each; or, of more results, the one
   * whose first it gives, by which gradients of graphs go. */
  const char *same_as;
  FlopFunction *flops; /* NULL: not known */
  /* "elu_cpu: floating": what PyTorch's refusals call the operator, then the kinds of dtypes it takes, separated by
   * blanks: bool, integral (uint8, int8 to int64), int64, floating (float16 to float64, bfloat16), complex. The dtype
   * that is looked at is the one a formula computes in; of other rows that of the first argument, or, where `promoted`
   * stands among the kinds, the one that tensors and `promote` promote to. NULL: any that the kernel or formula does. */
  const char *dtypes;
  const char *promote; /* Scalar parameters that take part in type promotion, separated by blanks; NULL: "self other" */
  const RowExtras *extras; /* columns that few rows have: row_extras */
  float clamp[2];          /* where the first is the lesser: it only limits elements to them */
  uint32_t flags;
  uint8_t cast; /* OpCast */
  uint8_t line; /* LineFunction (tile/line.h) that it is along the last dimension; 0: none */
  uint8_t since;
  uint8_t conv_dims : 3; /* a convolution over so many dimensions, or CONV_ANY_DIMS, of (input, weight, bias, ...) */
  /* Bits by argument, the first five: it writes to them although its schema, PyTorch's, does not say so, where no
   * argument `train` or `training` is false. */
  uint8_t writes : 5;
} OpRow;
extern const RowExtras row_without_extras;
static inline const RowExtras *row_extras(const OpRow *row) {
  return row->extras ? row->extras : &row_without_extras;
}
/* node -> operation with state (vararg primitives, user compilers); Node is ir's. */
typedef struct OpFactory {
  Status (*make)(const struct Node *node, Kernel **out_kernel, void **out_state, void (**out_free)(void *state));
} OpFactory;

typedef struct OpTable {
  const char *family;
  const OpRow *rows;
  size_t count;
} OpTable;
#define OP_TABLE(name, array) const OpTable name = {#name, array, sizeof(array) / sizeof *(array)}

/* A registered row or a variant derived from one. Made when its name is first looked up; its schema is parsed on first
 * use. */
typedef enum OpVariant { VARIANT_FUNCTIONAL, VARIANT_INPLACE, VARIANT_OUT } OpVariant;
typedef struct Operator {
  const OpRow *row;
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
  void *library;                           /* the loaded library it came from, or NULL */
} Operator;
static inline int64_t call_param(const Call *c) {
  return c->op->row->param;
}
static inline const void *call_with(const Call *c) {
  return c->op->row->with;
}

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
Status operator_register(const OpTable *table, void *library) MUST_CHECK;
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
