/* What the files that define things share: the state of a function whose body is not yet compiled. */
#pragma once

#include "frontend/emitter.h"

typedef struct Definition {
  const Tree *def;
  Resolver *resolver;
  ClassType *self;              /* of a method */
  const FunctionSchema *schema; /* of an operator's body: it has no parameters of its own */
  bool failed;                  /* its error was reported */
  bool is_on_demand;            /* a method that is compiled where another calls it, and else is not there */
} Definition;

Function *define_method(Compilation *c, ClassType *class_type, const Tree *def, Str name, Resolver *resolver);
/* What runs before or after a module's forward. */
Function *define_hook(Compilation *c, ClassType *class_type, const Tree *def, Resolver *resolver);
void define_with_schema(Compilation *c, Function *function, const Tree *def, const FunctionSchema *schema,
                        Resolver *resolver);
/* A def whose parameters and result are a schema's. */
void emit_body_def(Emitter *e, const Tree *def, const FunctionSchema *schema);

extern Resolver builtin_resolver; /* what frontend_builtin_resolver gives */
/* prelude.c: functions and classes of prelude files, by dotted prefix ("torch.nn.functional"); NULL: not there. */
SugaredValue *prelude_find(Compilation *c, Str prefix, Str name);

/* The error is of a limit: compiling ends, whatever else there would be to say. */
bool compilation_is_over(Status status);

/* Releases what is held of constants being read, from the mark (a length of c->held) on. */
void compilation_release_held(Compilation *c, size_t mark);

/* Lists of trees by name, in a map with an arena. */
typedef VEC(const Tree *) TreeList;
void tree_list_add(Map *lists, Str name, const Tree *tree);
