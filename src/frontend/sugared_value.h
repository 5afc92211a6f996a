/* SugaredValue: anything that can stand in an expression while it compiles: a Value of the graph, a function, a class,
 * a namespace, a range that is iterated over. The emitter asks it (for an attribute, to be called, to become a Value)
 * and it writes nodes. What a kind leaves NULL in its table can't be done with it: the asker reports that at `range`.
 *
 * SugaredValues live in the compilation's scratch arena. */
#pragma once

#include "frontend/frontend.h"
#include "ir/match.h"

typedef struct Emitter Emitter; /* emitter.h: one function being emitted */

typedef struct SugaredKind {
  const char *name; /* for messages: "module", "function" */
  Value *(*as_value)(SugaredValue *self, Emitter *e, SourceRange range);
  /* NULL: there is no such attribute (the asker reports it). */
  SugaredValue *(*attr)(SugaredValue *self, Emitter *e, SourceRange range, Str name);
  void (*set_attr)(SugaredValue *self, Emitter *e, SourceRange range, Str name, Value *value);
  SugaredValue *(*call)(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                        uint32_t binders);
  /* What `for x in self` iterates over: something with len and get_item, or with elements. NULL: self. */
  SugaredValue *(*iter)(SugaredValue *self, Emitter *e, SourceRange range);
  Value *(*len)(SugaredValue *self, Emitter *e, SourceRange range);
  SugaredValue *(*get_item)(SugaredValue *self, Emitter *e, SourceRange range, Value *index, const Type *hint);
  /* The number of elements when that is known now: loops over it are unrolled. -1: not known. */
  int64_t (*static_length)(SugaredValue *self, Emitter *e);
  /* Its elements as SugaredValues, for unpacking and unrolling; `binders` 0: as many as there are. */
  SugaredValue **(*elements)(SugaredValue *self, Emitter *e, SourceRange range, uint32_t binders, uint32_t *out_count);
  /* The type that it names, for annotations and isinstance; NULL: none. */
  const Type *(*as_type)(SugaredValue *self, Compilation *c);
} SugaredKind;

/* Kinds with more than a pointer to carry embed this first. */
struct SugaredValue {
  const SugaredKind *kind;
  union {
    Value *value;
    Function *function;
    const Type *type;
    IValue constant; /* borrowed from whoever made it: must live as long as the compilation */
    Symbol symbol;
    void *data;
  };
};

/* ---- for resolvers ---- */
/* A plain number, string, tensor, enum value, tuple...: becomes prim::Constant where it is used. */
SugaredValue *sugared_constant(Compilation *c, IValue value);
/* Called like a user's function: prim::CallFunction. */
SugaredValue *sugared_function(Compilation *c, Function *function);
/* A class to be constructed, a NamedTuple's constructor, an enum whose members are attributes, or a type to be named.
 */
SugaredValue *sugared_class(Compilation *c, const Type *type);
/* Dotted names that lead to values: attr answers for one more identifier, NULL when it does not know it. */
typedef SugaredValue *SugaredNamespaceAttr(void *data, Compilation *c, Str name, SourceRange range);
SugaredValue *sugared_namespace(Compilation *c, Str name, SugaredNamespaceAttr *attr, void *data);
/* An operator by its qualified name ("aten::add"); a method's has its receiver. */
SugaredValue *sugared_builtin(Compilation *c, Symbol name);
/* The function of a prelude file with its overloads, where one of them fits the arguments; otherwise the second value.
 */
SugaredValue *sugared_prelude_or(Compilation *c, Str module, Str name, SugaredValue *otherwise);
SugaredValue *sugared_builtin_method(Compilation *c, Symbol name, Value *receiver, SourceRange range);

/* ---- for the emitter ---- */
SugaredValue *sugared_value(Compilation *c, Value *value);
/* The Value that it is, or NULL when it isn't one without writing nodes. */
/* The operator of one argument that a property of a builtin type is: `x.dtype`; NULL: none. */
const Operator *property_operator(TypeKind kind, Str name);
Value *sugared_plain_value(const SugaredValue *s);
extern const SugaredKind SUGARED_VALUE, SUGARED_CONSTANT, SUGARED_FUNCTION, SUGARED_CLASS, SUGARED_NAMESPACE,
    SUGARED_BUILTIN;

/* ---- asking: these report what can't be done ---- */
Value *sugared_as_value(SugaredValue *s, Emitter *e, SourceRange range);
SugaredValue *sugared_attr(SugaredValue *s, Emitter *e, SourceRange range, Str name);
bool sugared_has_attr(SugaredValue *s, Emitter *e, SourceRange range, Str name); /* writes no nodes */
void sugared_set_attr(SugaredValue *s, Emitter *e, SourceRange range, Str name, Value *value);
SugaredValue *sugared_call(SugaredValue *s, Emitter *e, SourceRange range, const CallArguments *arguments,
                           uint32_t binders);
/* The same in a graph that comes from elsewhere than a tree. `caller`: for errors. */
Value *sugared_call_from(Compilation *c, Graph *graph, const char *caller, SugaredValue *s, SourceRange range,
                         const CallArguments *arguments);
/* Of what prim::tolist gives with these constants; NULL: it does not take that element. */
const Type *tolist_type(TypeStore *store, int64_t depth, int64_t element);
SugaredValue *sugared_iter(SugaredValue *s, Emitter *e, SourceRange range);
Value *sugared_len(SugaredValue *s, Emitter *e, SourceRange range);
SugaredValue *sugared_get_item(SugaredValue *s, Emitter *e, SourceRange range, Value *index, const Type *hint);
int64_t sugared_static_length(SugaredValue *s, Emitter *e);
SugaredValue **sugared_elements(SugaredValue *s, Emitter *e, SourceRange range, uint32_t binders, uint32_t *out_count);
