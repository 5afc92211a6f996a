/* schema: what functions take and give.
 *
 *   schema/schema.h      FunctionSchema, with defaults and aliases (this file)
 *   schema/open_types.h  types of what is `Any` or `...`
 *   schema/bind.h        which of a call's arguments a parameter gets
 *   schema/type_parse.h  types as text */
#pragma once

#include "ivalue/ivalue.h"

/* `(a! -> b|c)` with what elements of a container may hold: before and after sets are bits, letter a is bit 0; the
 * wildcard `*` is ALIAS_WILDCARD. */
typedef struct AliasInfo {
  uint32_t before, after; /* sets of letters; 0 after: same as before */
  uint32_t contained;     /* for Tensor(a)[]-like element annotations: the element's letters */
  bool is_write, contained_write;
} AliasInfo;
#define ALIAS_WILDCARD (1u << 31)

typedef struct Argument {
  Str name;
  const Type *type;    /* list parameters `int[2]`: type int[], n = 2 */
  int32_t broadcast_n; /* 0: none; a single int or float is accepted and repeated */
  bool kwarg_only, has_default;
  bool is_out;            /* `Tensor(a!) out` after `*` of an .out overload */
  bool dynamic_dtype;     /* ScalarType, Layout, MemoryFormat parameters: int that printing names again */
  uint8_t int_kind;       /* IntKind: how an int parameter was spelled */
  const AliasInfo *alias; /* NULL: none */
  IValue default_value;
} Argument;
typedef enum IntKind { INT_PLAIN, INT_SCALAR_TYPE, INT_LAYOUT, INT_MEMORY_FORMAT, INT_SYM } IntKind;

enum { OPEN_TYPES_MAX = 6 };
/* Types in order: some, a group that may be there any number of times, some more. */
typedef struct TypeRow {
  const Type *types[OPEN_TYPES_MAX];
  uint8_t count, before, repeated; /* of types: all, those before the group, the group */
  uint8_t any;                     /* how many of what the schema lists are `Any` */
} TypeRow;
typedef struct OpenTypes {
  TypeRow inputs, outputs; /* outputs.count 0: nothing is said of them */
} OpenTypes;

typedef struct FunctionSchema {
  Str name;          /* qualified: "aten::add", or a function's own name */
  Str overload_name; /* "Tensor", or empty */
  uint32_t argument_count, return_count;
  Argument *arguments, *returns;
  bool is_vararg, is_varret;
  bool is_mutable; /* some argument is written */
  bool has_out;
  uint8_t training;      /* the argument `train` or `training`, + 1; 0: there is none */
  bool is_blocked;       /* an operator's that programs can't name: OpRow.blocked */
  const OpenTypes *open; /* an operator's: what `Any` and `...` may be (schema/open_types.h); NULL: anything */
} FunctionSchema;

/* "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". The schema and its types belong to arena
 * and store; throws at the arena's catch point on errors (ERROR_SYNTAX with the place). Accepts every line of PyTorch's
 * native_functions and prim registrations. */
FunctionSchema *schema_parse(Arena *arena, TypeStore *store, Str text);
/* For tests, whose arenas end before the process does: gives back the counted values in the defaults. */
void schema_dispose_defaults(FunctionSchema *schema);
void schema_print(const FunctionSchema *schema, StrBuf *out);           /* gives the line back */
ptrdiff_t schema_find_argument(const FunctionSchema *schema, Str name); /* -1: none */
/* Same parameters (types, defaults aside): such overloads are refused when only returns differ. */
bool schema_same_arguments(const FunctionSchema *a, const FunctionSchema *b);
/* Whether a function of schema `a` can stand where interface method `b` is expected. */
bool schema_is_subtype(const FunctionSchema *a, const FunctionSchema *b, bool as_method, StrBuf *why);
/* Whether the type (class or interface) has every method of the interface: what a unit's TypeStore.implements calls
 * with its way to find a method's schema (NULL: no such method). */
bool schema_implements(const Type *type, const InterfaceType *interface,
                       const FunctionSchema *(*find_method)(const Type *type, Str name), StrBuf *why);
const FunctionSchema *interface_type_find_method(const InterfaceType *interface, Str name);
