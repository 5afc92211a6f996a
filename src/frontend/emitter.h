/* Emitter: one definition on its way from Tree to Graph. In reading order:
 *
 *   environment.c      what names stand for in each block
 *   emitter_stmt.c     statements          emitter_assign.c  assignments
 *   emitter_expr.c     expressions         emitter_call.c    calls and special forms
 *   emitter_index.c    subscripts          refine.c          conditions and what they prove
 *   type_annotation.c  expressions as types
 *   sugared_*.c         what can stand in an expression
 *   convert_to_ssa.c, exit_transform.c      what follows emission
 *
 * Everything throws to the compilation's catch point. */
#pragma once

#include "frontend/sugared_value.h"

/* ---- environment ---- */

/* A frame has a name as a value (loaded and stored, known by its type), as a SugaredValue, or as the reason why it is
 * not there. */
typedef struct Variable {
  SugaredValue *sugared;
  const Type *type;
  const char *inferred;    /* Value.inferred of what is stored */
  const char *error;       /* why the name can't be used */
  SourceRange error_range; /* shown below it, if any */
} Variable;
typedef struct Environment {
  struct Environment *outer;
  Block *block;
  Map table; /* name -> Variable */
} Environment;

/* ---- emitter ---- */

typedef struct DefFrame {
  struct DefFrame *outer;
  const Type *declared_return, *merged_return; /* NULL: not known (yet) */
} DefFrame;
typedef enum LoopStatus { LOOP_NONE, LOOP_REAL, LOOP_UNROLLED } LoopStatus;

struct Emitter {
  Compilation *c;
  Arena *arena; /* scratch */
  TypeStore *store;
  Graph *graph;
  Function *function;
  Resolver *resolver;
  ClassType *initializing; /* its __init__ is being emitted: new attributes may be set */
  Environment *environment;
  DefFrame *def;
  LoopStatus loop;
  PtrMap exits;      /* blocks whose end is never reached */
  PtrMap numbers[2]; /* ints, floats: bits -> Value at the top of the graph */
  Value *minus_one;  /* the same of the int -1 */
  uint32_t temporaries;
};

/* What a compilation can be asked while a function is compiled, for the stack in messages. */
typedef struct CompileFrame {
  struct CompileFrame *outer;
  Str name;
  SourceRange call;
} CompileFrame;

Environment *environment_push(Emitter *e, Block *block);
Environment *environment_pop(Emitter *e);
/* In the frame or those around it, names of the language and of the resolver: fails when required and unknown. */
SugaredValue *environment_get(Emitter *e, Environment *env, Str name, SourceRange range, bool required);
Value *environment_get_value(Emitter *e, Environment *env, Str name, SourceRange range);
SugaredValue *environment_find(Emitter *e, Environment *env, Str name); /* frames only; may write a load */
void environment_set(Emitter *e, SourceRange range, Str name, SugaredValue *value, const Type *annotated);
void environment_set_value(Emitter *e, SourceRange range, Str name, Value *value);
void environment_set_type(Emitter *e, Environment *env, Str name, const Type *type);
/* `del name`; fails when it is not there. */
void environment_remove(Emitter *e, Str name, SourceRange range);
void environment_set_error(Emitter *e, Environment *env, Str name, const char *message, SourceRange range);
void environment_store(Emitter *e, Environment *env, SourceRange range, Str name, Value *value, const Type *type);
/* Whether a variable's name is one for a Value: compilers' temporaries begin with $, and printed code calls what has no
 * name _0, _1. */
bool name_is_meaningful(Str name);

/* ---- insertion helpers ---- */
typedef struct InsertPoint {
  Node *before;
  SourceRange range;
} InsertPoint;
static inline InsertPoint insert_point_move(Emitter *e, Node *before) {
  InsertPoint saved = {e->graph->insert_before, e->graph->range};
  graph_set_insert_point(e->graph, before);
  return saved;
}
static inline InsertPoint insert_point_into(Emitter *e, Block *block) {
  return insert_point_move(e, block->ret);
}
static inline void insert_point_restore(Emitter *e, InsertPoint saved) {
  e->graph->insert_before = saved.before;
  e->graph->range = saved.range;
}
Node *emit_node(Emitter *e, SourceRange range, Symbol kind, uint32_t input_count, Value *const *inputs,
                uint32_t output_count);
/* One output of the type. */
Value *emit_typed(Emitter *e, SourceRange range, Symbol kind, uint32_t input_count, Value *const *inputs,
                  const Type *type);
Value *emit_constant(Emitter *e, SourceRange range, IValue value);
Value *emit_int(Emitter *e, SourceRange range, int64_t value);
/* A number of the program's text: at the top of the graph, once. */
Value *emit_number_constant(Emitter *e, SourceRange range, IValue value);
Value *emit_none(Emitter *e, SourceRange range);
Value *emit_string(Emitter *e, SourceRange range, Str text);
Value *emit_unchecked_cast(Emitter *e, SourceRange range, Value *value, const Type *type);
Value *emit_tuple(Emitter *e, SourceRange range, uint32_t count, Value *const *values);
Value *emit_list(Emitter *e, SourceRange range, const Type *element, uint32_t count, Value *const *values);
Value **emit_tuple_unpack(Emitter *e, SourceRange range, Value *tuple);
Value *emit_tuple_index(Emitter *e, SourceRange range, Value *tuple, uint32_t index);
/* Calls the operator or builtin function `kind`; positional Values, optionally with keywords. */
Value *emit_builtin(Emitter *e, SourceRange range, Symbol kind, uint32_t count, Value *const *inputs);
Value *emit_builtin_call(Emitter *e, SourceRange range, Symbol kind, const CallArguments *arguments);
/* The value as one of the type where an implicit conversion makes it so, else unchanged. */
Value *emit_convert(Emitter *e, SourceRange range, const Type *type, Value *value, bool allow_conversions);
NamedValue named_argument(Str name, Value *value, SourceRange range);

/* ---- statements, assignments ---- */
void emit_def(Emitter *e, const Tree *def, Block *block, ClassType *self);
void emit_statements(Emitter *e, const Tree *list);
void emit_assign(Emitter *e, const Tree *stmt);
void emit_aug_assign(Emitter *e, const Tree *stmt);
/* Binds each target expression to what stands at its place. */
void emit_targets(Emitter *e, const Tree *targets, uint32_t count, SugaredValue **values, SourceRange range,
                  uint32_t binders);
/* `for targets in iterable: body`; iterable NULL with a condition: while. */
typedef void EmitBody(Emitter *e, void *argument);
void emit_loop(Emitter *e, SourceRange range, EmitBody *body, void *argument, SugaredValue *iterable,
               const Tree *targets, const Tree *condition);

/* ---- expressions ---- */
Value *emit_expr(Emitter *e, const Tree *expr, const Type *hint);
SugaredValue *emit_sugared(Emitter *e, const Tree *expr, uint32_t binders, const Type *hint);
Value *emit_to_bool(Emitter *e, SourceRange range, Value *value);
SugaredValue *emit_apply(Emitter *e, const Tree *apply, uint32_t binders, const Type *hint);
SugaredValue *emit_subscript(Emitter *e, const Tree *expr, const Type *hint);
void emit_subscript_assign(Emitter *e, SourceRange range, const Tree *target, NamedValue value);
void emit_subscript_aug_assign(Emitter *e, const Tree *stmt);
void emit_subscript_delete(Emitter *e, const Tree *target);
/* in_place: the item of a container is replaced, not changed. */
Value *emit_aug_operation(Emitter *e, const Tree *stmt, Value *lhs, bool in_place);
Symbol aug_operator(Emitter *e, const Tree *stmt, const Type *type);
Value *emit_tuple_slice(Emitter *e, SourceRange range, Value *tuple, Value *start, Value *stop, Value *step);
/* `element for target in iter`. */
Value *emit_list_comprehension(Emitter *e, const Tree *expr, const Type *hint);
/* Evaluates the arguments of a call: positional (starred ones unpacked) and keywords. */
CallArguments emit_arguments(Emitter *e, const Tree *inputs, const Tree *attributes, uint32_t skip);
SugaredValue *emit_fork(Emitter *e, SourceRange range, SugaredValue *callee, const CallArguments *arguments);
/* A closure: a block of its own that runs when it is forked. */
Value *emit_closure(Emitter *e, SourceRange range, void (*body)(Emitter *e, Block *block, void *argument),
                    void *argument);

/* ---- conditions ---- */
typedef struct Refinement {
  Str name;
  const Type *type;
} Refinement;
/* What is known of variables when a condition holds and when it does not. */
typedef struct Refinements {
  Refinement *when[2]; /* [0]: holds, [1]: does not */
  uint32_t count[2];
} Refinements;
typedef struct Condition {
  Value *value;
  Refinements refinements;
  int is_static; /* -1: not; 0, 1: what it always is */
} Condition;
Condition emit_condition(Emitter *e, const Tree *expr);
void emit_refinements(Emitter *e, SourceRange range, const Refinements *refinements, bool holds);
Condition emit_isinstance(Emitter *e, SourceRange range, const Tree *object, const Tree *types);
Condition emit_has_attr(Emitter *e, SourceRange range, const Tree *object, const Tree *name);
/* An expression-valued If; then and else are emitted in blocks of their own. */
typedef Value *EmitValue(Emitter *e, void *argument);
Value *emit_if_expr(Emitter *e, SourceRange range, const Condition *condition, EmitValue *then_value,
                    EmitValue *else_value, void *argument, const Type *hint);

/* ---- types ---- */
/* An annotation expression as a type; fails when it is none. */
const Type *annotation_type(Compilation *c, Resolver *resolver, const Tree *expr);
/* The type; throws when it has more than TYPE_MAX_PARTS: walks over types of values go through them as trees. */
const Type *require_small_type(Compilation *c, SourceRange range, const Type *type);
/* The same, NULL when it is none. */
const Type *annotation_type_or_null(Compilation *c, Resolver *resolver, const Tree *expr);
/* Throws unless a dict can have keys of the type. */
void check_dict_key(Compilation *c, SourceRange range, const Type *key);
/* The arguments of a def and its declared return; `self` (a method's class) types the first parameter. */
FunctionSchema *schema_from_def(Compilation *c, Resolver *resolver, const Tree *def, ClassType *self, Str name,
                                bool skip_self);
const Type *resolver_find_type(Resolver *resolver, Compilation *c, Str name, SourceRange range);
SugaredValue *resolver_find_value(Resolver *resolver, Compilation *c, Str name, SourceRange range);
/* One more identifier after a namespace or class, without an emitter: NULL when it is not there. */
SugaredValue *sugared_namespace_lookup(SugaredValue *s, Compilation *c, Str name, SourceRange range);
/* What a dotted name stands for, NULL when it stands for nothing. */
SugaredValue *dotted_value(Compilation *c, Resolver *resolver, const Tree *expr);
/* The value of a literal, of a name that is a constant, of a member of an enum; owned by the caller. false: it is none.
 * type may be NULL. */
bool constant_from_tree(Compilation *c, Resolver *resolver, const Tree *expr, const Type *type, IValue *out);
/* The same for the default of a parameter of the type, which may also be a NamedTuple: that is kept as a tuple without
 * names, and gets them where the default is used. */
bool default_from_tree(Compilation *c, Resolver *resolver, const Tree *expr, const Type *type, IValue *out);
bool default_fits(IValue value, const Type *type);
/* The member of an enum as a constant that does not keep the enum's unit; owned. false: there is none of the name. */
bool enum_member(Compilation *c, const Type *type, Str name, IValue *out);
/* Defaults of a NamedTuple's fields, NULL when it has none; `extra` of an entry is set where there is one. */
const IValue *named_tuple_defaults(Compilation *c, const Type *type);
/* "List[int]" as messages show it. */
const char *type_text(Compilation *c, const Type *type);

/* ---- sugared kinds used across files ---- */
extern const SugaredKind SUGARED_METHOD, SUGARED_SPECIAL_FORM, SUGARED_CLOSURE, SUGARED_TUPLE, SUGARED_RANGE,
    SUGARED_ITERABLE, SUGARED_SLICE, SUGARED_EXCEPTION, SUGARED_EXCEPTION_MESSAGE;
typedef enum SpecialForm {
  FORM_FORK,
  FORM_ANNOTATE,
  FORM_UNINITIALIZED,
  FORM_UNCHECKED_CAST,
  FORM_TUPLE,
  FORM_LIST,
  FORM_DICT,
  FORM_GETATTR,
  FORM_HASATTR,
  FORM_ISINSTANCE,
  FORM_RANGE,
  FORM_ENUMERATE,
  FORM_ZIP,
  FORM_REVERSED,
  FORM_SLICE,
  FORM_CREATE_OBJECT,
  FORM_TOLIST,
  FORM_LEGACY_TENSOR,
  FORM_IS_SCRIPTING,
  FORM_IS_TRACING,
  FORM_CAST,
  FORM_PRINT,
  FORM_IDENTITY /* decorators and wrappers that change nothing: its first argument */
} SpecialForm;
SugaredValue *sugared_special_form(Compilation *c, SpecialForm form);
typedef struct SugaredForm {
  SugaredValue base;
  SpecialForm form;
  int64_t dtype; /* FORM_LEGACY_TENSOR */
  Value *self;   /* FORM_TOLIST: the tensor */
} SugaredForm;
SugaredValue *sugared_legacy_tensor(Compilation *c, DType dtype);
SugaredValue *sugared_tolist(Compilation *c, Value *tensor);
SugaredValue *sugared_reversed(Emitter *e, SourceRange range, SugaredValue *iterable);
SugaredValue *sugared_method(Compilation *c, Value *self, Str name);
SugaredValue *sugared_overloads(Compilation *c, uint32_t count, Function *const *functions);
SugaredValue *sugared_cast(Compilation *c, const Type *type, Symbol kind, const char *magic);
SugaredValue *sugared_magic(Compilation *c, const char *method, SugaredValue *otherwise);
SugaredValue *sugared_exception(Compilation *c, Str qualified_name);
SugaredValue *sugared_closure(Compilation *c, Value *value);
SugaredValue *sugared_tuple(Compilation *c, uint32_t count, SugaredValue **values);
SugaredValue *sugared_range(Emitter *e, SourceRange range, uint32_t count, Value **inputs, int64_t static_length);
typedef struct SugaredSlice {
  SugaredValue base;
  Value *start, *stop, *step;
} SugaredSlice;
/* zip and enumerate: several iterables in step. */
SugaredValue *sugared_iterable(Emitter *e, SourceRange range, uint32_t count, SugaredValue **children);
typedef struct SugaredMessage {
  SugaredValue base;
  Value *message, *class_name; /* class_name may be NULL */
} SugaredMessage;

/* The names that are always known: int, len, print, ... NULL: not one. */
SugaredValue *builtin_global(Compilation *c, Str name);
/* Fails when the graph can't be had (recursion) with the call's place. */
void function_require(Emitter *e, SourceRange range, Function *function);
Value *emit_method_call(Emitter *e, SourceRange range, Value *self, Str name, const CallArguments *arguments);
