/* Function and CompilationUnit: named, compiled code and the types it declares. A unit lives as long as its type store
 * is retained (by values of its classes, by modules, by its maker). */
#pragma once

#include <pthread.h>

#include "ir/graph.h"
#include "schema/schema.h"
#include "tensor/device_map.h"
#include "type/class_type.h"

typedef struct Exec Exec; /* call/exec.h */

typedef struct CompilationUnit CompilationUnit;

/* What runs in the place of a graph as written. Its types are its own, as a plan's are: other threads may be making
 * some in the unit's store. */
typedef struct PreparedGraph {
  TypeStore store; /* first member; the graph lies in its arena */
  Graph *graph;
} PreparedGraph;
Status prepared_graph_new(TypeStore *home, PreparedGraph **out) MUST_CHECK;
void prepared_graph_free(PreparedGraph *prepared); /* may be NULL */

/* A Function's graph is as written and sealed (graph_seal) once `graph` is set: any thread may read it, executors copy
 * it. What is made of it later stands in slots that threads fill by exchange: who comes second frees its own. */
typedef struct Function {
  RefCount refs; /* of function values; memory belongs to the unit */
  Str name;      /* qualified: "__torch__.M.forward", "f" */
  CompilationUnit *unit;
  ClassType *class_type;  /* of a method or a hook, else NULL */
  FunctionSchema *schema; /* NULL until it is known; annotations may give it before the body is compiled */
  Graph *graph;           /* NULL until compiled */
  /* Compiles on demand when graph is NULL (frontend sets it with its state); throws. NULL: graph is there. */
  void (*ensure_defined)(struct Function *function, void *compilation);
  void *definition;                      /* frontend: tree and resolver */
  const struct OperatorCount *operators; /* operator_use.h: what the body was emitted to; operator_count of them */
  uint32_t operator_count;
  bool is_compiling;                 /* recursion is a compile error */
  bool is_hook;                      /* of class_type: called as a function, `__torch__.M.hook(m, ...)` */
  bool is_native;                    /* a method of a native class: stays a call, for archives name it so */
  _Atomic(PreparedGraph *) prepared; /* what runs, where that is not the graph as written (function_graph_to_run) */
  _Atomic(bool) runs_as_written;     /* it does; false: nobody asked yet */
  _Atomic(struct Code *) code;       /* of the graph to run, made on first call */
  _Atomic(struct GraphExecutor *) executor; /* its plans */
} Function;
/* What fills and frees the slots of later folders. */
typedef struct FunctionSlots {
  /* The graph that a function runs: pass/pass.h, function_graph_to_run. */
  Status (*graph_to_run)(struct Exec *exec, Function *function, const Graph **out);
  void (*free_code)(struct Code *code);                  /* may be NULL */
  void (*free_executor)(struct GraphExecutor *executor); /* may be NULL */
} FunctionSlots;
/* Handed over once, before anything runs (src/api/start.c). */
void function_slots_set(const FunctionSlots *slots);
const FunctionSlots *function_slots(void); /* NULL: none were */

struct CompilationUnit {
  TypeStore store;               /* first member: the unit's reference count and arena */
  VEC(Function *) functions;     /* not methods, in order of definition */
  VEC(Function *) all_functions; /* with methods */
  Map function_names;            /* qualified name -> Function (not methods) */
  Map types;                     /* qualified name -> Type: classes, interfaces, enums, named tuples */
  PtrMap tuple_defaults;         /* Type of a NamedTuple -> IValue array, `extra` where a field has a default */
  VEC(Source *) sources;         /* held */
  VEC(IValue) held;              /* released with the unit: class constants, enum values, schema defaults */
  pthread_mutex_t *growth;     /* held by who defines functions while others run: making Code of what is there takes it,
                              and may find it taken by its own thread. NULL: nobody does */
  VEC(CompilationUnit *) used; /* retained: units whose functions and types this one's code names */
  VEC(TypeStore *) stores;     /* retained: others whose types its graphs have */
  Map *allowed_operators;      /* operator_use.h: the names that code may use; NULL: all */
  DeviceMap device_map;        /* for the devices that code and pickles name */
  uint8_t torch_version;       /* TorchVersion: which operators it means; TORCH_DEFAULT: those of whoever runs it */
  uint32_t mangle_counter;
};
struct NativeClass;
/* Gives the type of a native class its methods; their operators are there. */
Status native_methods_add(const struct NativeClass *native) MUST_CHECK;
Status unit_new(CompilationUnit **out) MUST_CHECK;
void unit_release(CompilationUnit *unit);
CompilationUnit *unit_retain(CompilationUnit *unit);
Function *unit_find_function(const CompilationUnit *unit, Str qualified_name);
const Type *unit_find_type(const CompilationUnit *unit, Str qualified_name);
/* These throw to unit->store.arena.catch_point. */
Function *unit_new_function(CompilationUnit *unit,
                            Str qualified_name); /* registered; names are unique: ERROR_COMPILE otherwise */
Function *unit_new_method(CompilationUnit *unit, ClassType *c, Str method_name);
/* A function of the class that no look-up of methods finds; it joins the class's hooks by class_type_add_hook. */
Function *unit_new_hook(CompilationUnit *unit, ClassType *c, Str hook_name);
/* A function, or with a class a method of it, whose body is a copy of the graph; its parameters are called as the
 * graph's inputs are. The graph's types are kept. */
Function *unit_add_graph(CompilationUnit *unit, ClassType *class_or_null, Str name, const Graph *graph);
void class_type_add_hook(ClassType *c, HookKind kind, Function *hook);
Function *class_type_find_hook(const ClassType *c, Str name); /* of either kind; NULL: none */
void unit_add_type(CompilationUnit *unit, const Type *named);
void unit_hold(CompilationUnit *unit,
               IValue value); /* takes over a reference; beware of values that retain the unit themselves */
void unit_hold_source(CompilationUnit *unit, Source *source); /* takes over a reference, also when it throws */
/* Copies the text (tensor/device_map.h; may be NULL) and checks it. */
void unit_set_device_map(CompilationUnit *unit, const char *text);
/* The unit's program is what the call compiles or runs: its device map, its version of PyTorch. */
void unit_enter(CompilationUnit *unit, Exec *exec);
/* Keeps `other` for as long as the unit lives; refused when `other` uses the unit itself, for neither would ever go, or
 * an operator that the unit may not use. */
void unit_use(CompilationUnit *unit, CompilationUnit *other);
/* Keeps the types of a store that does not keep the unit, for graphs of the unit that were copied from there. Copies of
 * a plan's graphs have types of its function's unit, which is the caller's to keep: the plan may hold such a copy. */
void unit_keep_types(CompilationUnit *unit, TypeStore *store);
/* NULL: the store is another's, a plan's or the process's. */
CompilationUnit *unit_of_store(TypeStore *store);

/* What a unit has now. Rolling back removes what was defined since, for definitions that failed: no one else may have
 * seen it. Memory of the arena is not given back. */
typedef struct UnitMark {
  size_t functions, all_functions;
  uint32_t types;
} UnitMark;
/* Of a method that is not compiled, and that nothing calls. */
void unit_remove_method(CompilationUnit *unit, Function *method);
UnitMark unit_mark(const CompilationUnit *unit);
void unit_roll_back(CompilationUnit *unit, UnitMark mark);
