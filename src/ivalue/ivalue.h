/* ivalue: any value of a program.
 *
 *   ivalue/ivalue.h  IValue, 16 bytes: a scalar or one counted pointer (this file)
 *   ivalue/scalar.h  what operators of scalars do, as rows
 *   ivalue/future.h  futures
 *   ivalue/print.h   values as text
 *   ivalue/lock.h    reading and writing objects and containers that threads share
 *   ivalue/snapshot.h  what attributes hold while nobody writes them */
#pragma once

#include "type/type.h"

typedef struct Generator Generator; /* tensor/random.h */

typedef enum Tag {
  TAG_NONE,
  TAG_INT,
  TAG_FLOAT,
  TAG_BOOL,
  TAG_DEVICE,
  TAG_TENSOR, /* first counted tag: ORDER tag */
  TAG_COMPLEX,
  TAG_STRING,
  TAG_LIST,
  TAG_DICT,
  TAG_TUPLE,
  TAG_OBJECT,
  TAG_ENUM,
  TAG_FUNCTION,
  TAG_FUTURE,
  TAG_GENERATOR,
  TAG_STORAGE,
  TAG_CAPSULE
} Tag;
/* prim::Uninitialized is TAG_NONE with payload 1. */

typedef struct IValue {
  uint32_t tag;   /* Tag */
  uint32_t extra; /* unused, zero */
  union {
    int64_t i;
    double f;
    bool b;
    Device device;
    RefCount *counted; /* every heap payload begins with its RefCount */
    Tensor *tensor;
    struct ComplexBox *complex;
    struct String *string;
    struct List *list;
    struct Dict *dict;
    struct Tuple *tuple;
    struct Object *object;
    struct EnumValue *enum_value;
    struct Function *function; /* borrowed from its unit: see function_retain in ir */
    struct Future *future;
    Generator *generator;
    Storage *storage;
    struct Capsule *capsule;
  };
} IValue;
_Static_assert(sizeof(IValue) == 16, "an IValue is 16 bytes");

typedef struct ComplexBox {
  RefCount refs;
  complex128 value;
} ComplexBox;
typedef struct String {
  RefCount refs;
  _Atomic uint64_t hash; /* 0: not computed */
  size_t length;
  char data[]; /* UTF-8, terminated; may hold zeros inside */
} String;

/* Chains containers while they are marked as shared; see share.c. */
typedef struct Link {
  uint32_t tag;
  RefCount *container;
} Link;
/* Of List, Dict, Tuple and Object. What several threads can reach is locked to be read and written; a constant, which
 * nobody writes, may be read as it is where it is known for one. A mark under way is seen by nobody but who marks too,
 * and waits: what a thread can reach was marked whole before it was handed out. */
enum { SHARING_PRIVATE, SHARING_UNDER_WAY, SHARING_CONSTANT, SHARING_SHARED };

/* Lists of int, float and bool are unboxed. */
typedef enum ListKind { LIST_VALUES, LIST_INTS, LIST_FLOATS, LIST_BOOLS } ListKind;
typedef struct List {
  RefCount refs;
  uint8_t kind;
  _Atomic uint8_t shared; /* SHARING_... */
  bool borrows_type;
  const Type *element; /* its store is retained, unless borrows_type */
  size_t length, capacity;
  union {
    IValue *values;
    int64_t *ints;
    double *floats;
    bool *bools;
    void *items;
  };
  Link next_marked;
} List;
typedef struct Tuple { /* immutable; `shared` says that what it holds is marked */
  RefCount refs;
  _Atomic uint8_t shared;
  uint32_t length;
  Link next_marked;
  const Type *type; /* a named tuple's type, else NULL */
  IValue values[];
} Tuple;
typedef struct DictEntry {
  IValue key, value;
  uint64_t hash;
  bool live;
} DictEntry;
typedef struct Dict { /* in order of insertion; keys: int, float, complex, bool, str, Tensor (by identity), enum, device
                       */
  RefCount refs;
  _Atomic uint8_t shared;
  const Type *key_type, *value_type;
  DictEntry *entries;
  uint32_t *slots;
  uint32_t used, live, capacity, slot_count;
  uint32_t first; /* entries before it are dead */
  Link next_marked;
} Dict;
typedef struct Object { /* instance of a ClassType; a Module is one */
  RefCount refs;
  _Atomic uint8_t shared;
  bool borrows_type;
  uint32_t slot_count;
  Link next_marked;
  ClassType *class_type;      /* its store is retained, unless borrows_type */
  struct Snapshot *snapshots; /* of what plans read of it, guarded by its container lock: ivalue/snapshot.h */
  IValue slots[];
} Object;
typedef struct EnumValue {
  RefCount refs;
  const Type *type;
  uint32_t index;
  bool borrows_type;
} EnumValue;
typedef struct Capsule {
  RefCount refs;
  void (*free)(struct Capsule *capsule);
} Capsule;
typedef struct Future Future; /* future.h */

/* ---- ownership ---- */
static inline bool ivalue_is_counted(IValue v) {
  return v.tag >= TAG_TENSOR;
}
static inline IValue ivalue_retain(IValue v) {
  if (ivalue_is_counted(v)) ref_retain(v.counted);
  return v;
}
void ivalue_free_counted(IValue v); /* the last reference went: iterative, never deep recursion */
static inline void ivalue_release(IValue v) {
  if (ivalue_is_counted(v) && ref_release(v.counted)) ivalue_free_counted(v);
}

/* ---- making: immediate ---- */
#define IVALUE_NONE ((IValue){.tag = TAG_NONE})
static inline IValue ivalue_int(int64_t i) {
  return (IValue){.tag = TAG_INT, .i = i};
}
static inline IValue ivalue_float(double f) {
  return (IValue){.tag = TAG_FLOAT, .f = f};
}
static inline IValue ivalue_bool(bool b) {
  IValue v = {.tag = TAG_BOOL, .i = 0};
  v.b = b;
  return v;
}
static inline IValue ivalue_device(Device d) {
  IValue v = {.tag = TAG_DEVICE, .i = 0};
  v.device = d;
  return v;
}
static inline IValue ivalue_uninitialized(void) {
  return (IValue){.tag = TAG_NONE, .i = 1};
}
/* ---- wrapping: takes over the reference ---- */
static inline IValue ivalue_tensor(Tensor *t) {
  return (IValue){.tag = TAG_TENSOR, .tensor = t};
}
static inline IValue ivalue_string(String *s) {
  return (IValue){.tag = TAG_STRING, .string = s};
}
static inline IValue ivalue_list(List *l) {
  return (IValue){.tag = TAG_LIST, .list = l};
}
static inline IValue ivalue_dict(Dict *d) {
  return (IValue){.tag = TAG_DICT, .dict = d};
}
static inline IValue ivalue_tuple(Tuple *t) {
  return (IValue){.tag = TAG_TUPLE, .tuple = t};
}
static inline IValue ivalue_object(Object *o) {
  return (IValue){.tag = TAG_OBJECT, .object = o};
}
static inline IValue ivalue_future(Future *f) {
  return (IValue){.tag = TAG_FUTURE, .future = f};
}
static inline IValue ivalue_generator(Generator *g) {
  return (IValue){.tag = TAG_GENERATOR, .generator = g};
}
/* ---- making: counted, at reference 1 ---- */
Status ivalue_from_complex(complex128 value, IValue *out) MUST_CHECK;
Status ivalue_from_str(Str text, IValue *out) MUST_CHECK;
Status string_new(Str text, String **out) MUST_CHECK;
Status string_new_uninitialized(size_t length, String **out) MUST_CHECK; /* terminated; fill data before sharing */
Status list_new(const Type *element, size_t capacity,
                List **out) MUST_CHECK; /* kind follows from the element type; retains the type's store */
Status list_from_ints(const int64_t *values, size_t count, List **out) MUST_CHECK;
Status list_from_doubles(const double *values, size_t count, List **out) MUST_CHECK;
Status tuple_new(uint32_t length, const Type *named_or_null,
                 Tuple **out) MUST_CHECK; /* values None; fill before sharing */
Status dict_new(const Type *key, const Type *value, Dict **out) MUST_CHECK;
Status object_new(ClassType *class_type, Object **out) MUST_CHECK; /* slots None */
Status enum_value_new(const Type *type, uint32_t index, EnumValue **out) MUST_CHECK;
/* For constants that the type's own unit holds: they must not keep it. Who gives such a value out of the unit keeps the
 * unit. */
void enum_value_borrow_type(EnumValue *value);
void object_borrow_type(Object *object);
void list_borrow_type(List *list);

/* ---- asking ---- */
static inline bool ivalue_is_none(IValue v) {
  return v.tag == TAG_NONE;
}
static inline Str string_view(const String *s) {
  return (Str){s->data, s->length};
}
static inline Str ivalue_str(IValue v) {
  return string_view(v.string);
}
static inline complex128 ivalue_complex(IValue v) {
  return v.complex->value;
}
/* Numbers as a Scalar parameter takes them: int, float, bool or complex. */
bool ivalue_is_number(IValue v);
double ivalue_to_double(IValue number);
int64_t ivalue_to_int(IValue number);
complex128 ivalue_to_complex(IValue number);
/* The dynamic type, as prim::isinstance and error messages see it; of `store` where a new one is needed. */
const Type *ivalue_type(IValue v, TypeStore *store);
/* The same as text, made without a store that would keep the type. */
void ivalue_print_type(IValue v, StrBuf *out);
/* Whether v may be read as a value of the type (lists by declared element type, objects by class). */
bool ivalue_is_instance(IValue v, const Type *type);
/* Python's ==; tensors by identity, out_comparable (may be NULL) says that there were none to compare. Iterative; an
 * error only where memory is short. */
Status ivalue_equal(IValue a, IValue b, bool *out_equal, bool *out_comparable) MUST_CHECK;
/* For who may take equal values for different ones: false where memory is short, too. */
bool ivalue_is_surely_equal(IValue a, IValue b);
bool ivalue_is(IValue a, IValue b);                     /* Python's `is` */
Status ivalue_hash(IValue v, uint64_t *out) MUST_CHECK; /* TypeError "unhashable type" */

/* ---- lists; index checked by the caller unless said otherwise. Readers of any kind go through these. ---- */
IValue list_get(const List *l, size_t index);             /* retained */
bool list_find(const List *l, size_t index, IValue *out); /* the same; false: no such index */
void list_set(List *l, size_t index, IValue value);       /* takes over the reference */
Status list_append(List *l, IValue value) MUST_CHECK;     /* takes over the reference, also on failure */
Status list_insert(List *l, size_t index, IValue value) MUST_CHECK;
IValue list_remove(List *l, size_t index); /* gives the reference */
void list_truncate(List *l, size_t length);
Status list_reserve(List *l, size_t capacity) MUST_CHECK;
Status list_copy(const List *l, List **out) MUST_CHECK;
Status list_slice(const List *l, size_t start, size_t step, size_t count,
                  List **out) MUST_CHECK; /* what is there of the items start, start + step, ... */
/* For reading a whole list: itself, retained, or a copy where other threads may change it. */
Status list_hold(const List *l, List **out) MUST_CHECK;
void list_swap_items(List *l, List *with); /* two lists of one kind; `with` is the caller's alone */
/* Python's index: negative from the end; IndexError "list index out of range". */
Status list_index(const List *l, int64_t index, size_t *out) MUST_CHECK;

/* ---- dicts ---- */
/* Retained where it is found; out may be NULL. An error where memory is short or the key is unhashable. */
Status dict_get(const Dict *d, IValue key, IValue *out, bool *out_found) MUST_CHECK;
bool dict_entry(const Dict *d, size_t index, IValue *out_key,
                IValue *out_value); /* in order of insertion, retained; false: no such index */
size_t dict_length(const Dict *d);
Status dict_set(Dict *d, IValue key, IValue value) MUST_CHECK; /* takes over both, also on failure */
Status dict_remove(Dict *d, IValue key, IValue *out_value_or_null, bool *out_found) MUST_CHECK; /* errors of dict_get */
bool dict_pop_first(Dict *d, IValue *out_key, IValue *out_value); /* gives the references; false: empty */
void dict_clear(Dict *d);
DictEntry *dict_next(const Dict *d,
                     DictEntry *after); /* order of insertion; NULL at the end. Iterate a copy of a shared dict */
Status dict_copy(const Dict *d, Dict **out) MUST_CHECK;
/* For reading a whole dict: itself, retained, or a copy where other threads may change it. */
Status dict_hold(const Dict *d, Dict **out) MUST_CHECK;

/* Of any value: list_hold, dict_hold, or the value retained. */
Status ivalue_hold(IValue v, IValue *out) MUST_CHECK;

/* ---- objects: slots that respect `shared` ---- */
IValue object_get(const Object *o, uint32_t slot);       /* retained */
void object_set(Object *o, uint32_t slot, IValue value); /* takes over */
/* The same, but what was there is the caller's. true: other threads may have borrowed it. */
bool object_exchange(Object *o, uint32_t slot, IValue value, IValue *out_old);

/* ---- deep things; iterative, shared structure stays shared, bounded ---- */
Status ivalue_deep_copy(IValue v, IValue *out) MUST_CHECK; /* copy.deepcopy */
/* The same with the tensors themselves: lists, dicts, tuples and objects are new. */
Status ivalue_copy_containers(IValue v, IValue *out) MUST_CHECK;
/* Lists, dicts and objects reachable from v become safe for several threads. Before another thread can reach them:
 * whatever leaves a call for the caller, and whatever a call hands to a task of its own. */
void ivalue_mark_shared(IValue v);
void ivalue_mark_constant(IValue v); /* the same for what nobody will write */

/* ---- printing, bounded ---- */
Status ivalue_print(IValue v, StrBuf *out) MUST_CHECK;       /* as print() and str.format show it */
Status ivalue_print_repr(IValue v, StrBuf *out) MUST_CHECK;  /* strings quoted, inside containers */
Status ivalue_print_short(IValue v, StrBuf *out) MUST_CHECK; /* as print(), of large tensors the ends alone */
