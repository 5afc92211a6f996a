/* type: TorchScript's types, immutable and hash-consed within a TypeStore.
 *
 *   type/type.h         Type, its makers and relations (this file)
 *   type/class_type.h   classes, interfaces and enums
 *   type/tensor_type.h  what is known of a tensor
 *   type/store.h        hash-consing, for this folder
 *   type/pair_map.h     the memo of walks over two structures
 *
 * Stores form a chain: the process's (structural types of builtin things, never freed), a unit's (classes and what
 * the unit's programs mention), a plan's (refined Tensor types). Constructors take the store that must own a new type
 * and return an existing equal type of that store or of the process. Compare with type_equal: pointers may differ
 * across stores. */
#pragma once

#include "tensor/tensor.h"

typedef struct Map Map; /* base/map.h */

typedef enum TypeKind {
  TYPE_ANY,
  TYPE_TENSOR,
  TYPE_INT,
  TYPE_FLOAT,
  TYPE_COMPLEX,
  TYPE_BOOL,
  TYPE_STRING,
  TYPE_NONE,
  TYPE_NUMBER,
  TYPE_DEVICE,
  TYPE_GENERATOR,
  TYPE_STREAM,
  TYPE_STORAGE,
  TYPE_QSCHEME,
  TYPE_CAPSULE,
  TYPE_LIST,
  TYPE_DICT,
  TYPE_TUPLE,
  TYPE_OPTIONAL,
  TYPE_UNION,
  TYPE_FUTURE,
  TYPE_RREF,
  TYPE_AWAIT,
  TYPE_CLASS,
  TYPE_INTERFACE,
  TYPE_ENUM,
  TYPE_FUNCTION,
  TYPE_VAR,
  TYPE_ANY_LIST,
  TYPE_ANY_TUPLE,
  TYPE_ANY_CLASS,
  TYPE_ANY_ENUM,
  TYPE_ERROR /* of a declaration that failed to compile: silences what follows from it */
} TypeKind;

enum { TYPE_MAX_DEPTH = 256, TYPE_MAX_PARTS = 1 << 16, TYPE_MAX_MEMBERS = 128 /* of a Union */ };

typedef struct Type Type;
typedef struct TypeStore TypeStore;
typedef struct ClassType ClassType; /* type/class_type.h, as the next two */
typedef struct InterfaceType InterfaceType;
typedef struct EnumType EnumType;
struct Function;       /* ir */
struct FunctionSchema; /* schema */
union IValuePayload;

/* What is known of a Tensor type; -1 is unknown. */
typedef struct TensorInfo {
  int dtype;                     /* DType or -1 */
  int device_type, device_index; /* -1, -1: unknown */
  int ndim;                      /* -1: unknown rank */
  bool has_sizes; /* sizes below are given; an entry may be -1, or less for a symbol: -2 prints as SS(-1) */
  bool has_strides;
  int requires_grad; /* -1, 0, 1 */
  int undefined;     /* -1, 0, 1 */
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
} TensorInfo;

/* LIST, OPTIONAL, FUTURE, RREF, AWAIT: elements[0]. DICT: key, value. TUPLE, UNION: all. UNION is flat, sorted, without
 * subsumed members; Optional[T] is its own kind. */
struct Type {
  uint8_t kind;        /* TypeKind */
  bool has_var;        /* mentions a type variable */
  bool has_refinement; /* mentions a Tensor type of which something is known */
  bool may_be_mutable;
  uint16_t depth; /* of nesting, at most TYPE_MAX_DEPTH, so that walks may recurse */
  uint32_t parts; /* below it, counted as a tree; at most TYPE_MAX_PARTS in a program; saturates */
  uint32_t hash, count;
  TypeStore *store; /* NULL: static, lives as long as the process */
  const Type *const *elements;
  Str name; /* VAR: its letter; CLASS, INTERFACE, ENUM, named TUPLE: qualified name, else empty */
  union {
    const TensorInfo *tensor; /* TENSOR: NULL when nothing is known */
    const Str *field_names;   /* named TUPLE: count of them, else NULL */
    ClassType *class_type;
    InterfaceType *interface_type;
    EnumType *enum_type;
    const struct Function *function; /* FUNCTION */
  };
};

/* The owner of types. A unit embeds one; values whose type belongs to it retain it. destroy runs at the last release.
 */
struct TypeStore {
  RefCount refs;
  Arena arena;
  struct TypeTable *table; /* hash-consing */
  void (*destroy)(TypeStore *store);
  /* Whether a class or interface has an interface's methods; set by whoever knows functions. NULL: by name only, never.
   */
  bool (*implements)(const Type *type, const InterfaceType *interface, StrBuf *why);
  bool is_process;
  TypeStore *home; /* of a plan's store: the one for types of values, which outlive the plan; else NULL */
};
Status type_store_init(TypeStore *store, void (*destroy)(TypeStore *store)) MUST_CHECK;
void type_store_dispose(TypeStore *store);
/* Runs body(argument), which may use the store's arena and throw to it but must not make types, while no other thread
 * makes any. */
Status type_store_change(TypeStore *store, void (*body)(void *argument), void *argument) MUST_CHECK;
TypeStore *type_store_process(void);      /* locked inside; its types are never freed */
void type_store_retain(TypeStore *store); /* NULL and the process's: nothing to do */
void type_store_release(TypeStore *store);

/* ---- the simple types, static ---- */
const Type *type_simple(TypeKind kind);
#define TYPE(kind) type_simple(TYPE_##kind)
/* Frequent composites, of the process's store; never NULL: built into the table. */
const Type *type_list_of(TypeKind element); /* INT, FLOAT, BOOL, COMPLEX, STRING, TENSOR, ANY */
const Type *type_optional_of(TypeKind element);

/* ---- constructors: throw to store->arena.catch_point when out of memory; the process's store answers from static
 * storage or throws likewise ---- */
const Type *type_list(TypeStore *store, const Type *element);
const Type *type_dict(TypeStore *store, const Type *key, const Type *value);
const Type *type_tuple(TypeStore *store, uint32_t count, const Type *const *elements);
const Type *type_named_tuple(TypeStore *store, Str qualified_name, uint32_t count, const Type *const *elements,
                             const Str *field_names);
const Type *type_optional(TypeStore *store, const Type *element); /* of Optional, None, Any: itself as PyTorch folds */
const Type *type_union(TypeStore *store, uint32_t count,
                       const Type *const *members); /* folds subtypes; may give Optional or the single member */
const Type *type_future(TypeStore *store, const Type *element);
const Type *type_wrapped(TypeStore *store, TypeKind kind,
                         const Type *element); /* RREF, AWAIT, FUTURE, LIST, OPTIONAL */
const Type *type_var(TypeStore *store, Str name);
const Type *type_function(TypeStore *store, const struct Function *function);
const Type *type_tensor_refined(TypeStore *store, const TensorInfo *info);

/* ---- relations; memoized over shared structure, so linear in the DAG ---- */
bool type_equal(const Type *a, const Type *b);
/* why (may be NULL) gets the reason when it is not. */
bool type_is_subtype(const Type *sub, const Type *super, StrBuf *why);
/* The same, whatever is known of tensors: a Tensor is a subtype of Float(2, 3). */
bool type_is_subtype_unrefined(const Type *sub, const Type *super);
/* The least type both are subtypes of, as PyTorch's unifyTypes: NULL when there is none (or a Union with
 * default_to_union). */
const Type *type_unify(TypeStore *store, const Type *a, const Type *b, bool default_to_union);
/* Binds the type variables of `formal` so that it accepts `actual`; bindings: name -> Type. NULL and `why` when
 * impossible. */
const Type *type_match_vars(TypeStore *store, const Type *formal, const Type *actual, Map *bindings, StrBuf *why);
const Type *type_substitute(TypeStore *store, const Type *type, const Map *bindings); /* NULL: an unbound variable */
const Type *type_without_refinement(TypeStore *store,
                                    const Type *type); /* Tensor types lose their sizes: unshapedType */
/* The same type, and nothing of it belongs to another store that has a home. */
const Type *type_copy(TypeStore *store, const Type *type);
/* What a value is made with (NULL: of nothing): nothing of a store that has a home, and then nothing refined. */
const Type *type_for_value(const Type *type);
/* torch.autocast or one of torch.cpu.amp, torch.cuda.amp: "__torch__.torch.cpu.amp.autocast_mode.autocast". */
bool type_is_autocast(const Type *type);
/* torch.jit.strict_fusion. */
bool type_is_strict_fusion(const Type *type);
bool type_is_optional_like(const Type *type); /* Optional, or a Union with None */
bool type_may_be_mutable(const Type *type);   /* Tensor, List, Dict, Class, Interface, Any, Future, or contains one */

/* ---- printing, bounded ---- */
void type_print_str(const Type *type, StrBuf *out); /* as schemas and messages print: named tuples and classes by name,
                                                       Tensor types without what is known */
void type_print(const Type *type, StrBuf *out); /* `str()`: Tensor, int[], Dict(str, Tensor), (int, str), Float(2, 3,
                                                   strides=[3, 1]): as graphs print */
void type_print_annotation(const Type *type,
                           StrBuf *out); /* Python: List[int], Dict[str, Tensor], Tuple[int, str], __torch__.M */
