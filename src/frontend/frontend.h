/* frontend: Tree -> Graph. Compiles TorchScript definitions into a CompilationUnit.
 *
 * Names that a definition does not bind are looked up through a Resolver, which answers with a SugaredValue (anything
 * that can stand in an expression: a value, a function, a class, a module's attribute, a builtin) or a Type.
 *
 *   frontend/frontend.h        Compilation, Resolver, defining things (this file)
 *   frontend/sugared_value.h   what an expression may stand for
 *   frontend/emitter.h         one definition on its way to a Graph
 *   frontend/scope.h           variables by block
 *   frontend/convert_to_ssa.h  exits and variables made SSA
 *   frontend/compilation.h     what the files that define things share
 *   frontend/container.h       modules that hold modules
 *   frontend/hooked_call.h     modules with hooks, called
 *   frontend/suggest.h         what errors propose
 *   frontend/prelude_data.h    the embedded sources of prelude/ */
#pragma once

#include "call/operator.h"
#include "ir/unit.h"
#include "syntax/tree.h"

typedef struct Exec Exec; /* call/exec.h */

typedef struct SugaredValue SugaredValue; /* sugared_value.h */
typedef struct Resolver Resolver;

/* One act of compiling: where it fails to, what it holds, what it is compiling now (for the call stack in messages). */
typedef struct Compilation {
  Catch catch_point;
  CompilationUnit *unit;
  Arena scratch;              /* trees, environments, sugared values: freed when the compilation ends */
  Exec *exec;                 /* for constant folding and bodies */
  struct CompileFrame *frame; /* functions being compiled, innermost first */
  VEC(IValue) held;           /* parts of a constant that is being read: released with what throws meanwhile */
  VEC(Status) errors;         /* of declarations that failed; reported together */
  VEC(Function *) pending;    /* defined here, in order; compilation_finish has seen to the first `finished` */
  size_t finished;
  bool is_consequence; /* the error on its way follows from one that is in errors already */
  Map prelude;         /* file name -> parsed tree */
  Resolver *names;     /* what the program defines itself; NULL: it is no program */
} Compilation;

struct Resolver {
  /* NULL: unknown here. name is a single identifier; attributes follow through the SugaredValue. */
  SugaredValue *(*resolve_value)(Resolver *resolver, Compilation *c, Str name, SourceRange range);
  /* A dotted type name ("__torch__.M", "MyTuple"); NULL: unknown here. */
  const Type *(*resolve_type)(Resolver *resolver, Compilation *c, Str name, SourceRange range);
  void *data;
  Resolver *outer; /* asked when this one does not know */
};

/* Catches what throws below; several declarations' errors come back as one Status. */
Status compilation_run(CompilationUnit *unit, Exec *exec, void (*body)(Compilation *c, void *argument),
                       void *argument) MUST_CHECK;
_Noreturn void compilation_fail(Compilation *c, SourceRange range, const char *format, ...) PRINTF_LIKE(3, 4);
/* Runs body with a catch point of its own inside the compilation's: what it throws comes back. */
Status compilation_protect(Compilation *c, void (*body)(Compilation *c, void *argument), void *argument) MUST_CHECK;

/* A whole .py program: functions, classes, NamedTuples, enums, interfaces in any order; their names know each other.
 * Classes are named under "__torch__", functions keep their own. The language's own names (torch, math, ...) are always
 * known. For tests: without a module around it. */
Status frontend_compile_program(CompilationUnit *unit, Exec *exec, Source *source,
                                Resolver *resolver_or_null) MUST_CHECK;
typedef struct FrontendInput {
  Source *source;        /* held by the unit from now on; NULL only with `file` */
  const Tree *file;      /* (list statement...) in place of the source's text, or NULL */
  ClassType *class_type; /* the text's defs become its methods; NULL: they are functions */
  Resolver *resolver;    /* for names that the text does not define, before the language's own; or NULL. Its `outer` is
                            frontend_builtin_resolver() */
} FrontendInput;
/* The same into a unit that may have something already. When it fails, the unit is as it was. */
Status frontend_compile(CompilationUnit *unit, Exec *exec, const FrontendInput *input) MUST_CHECK;

/* For importers and the API; these throw. Bodies compile on first use or at compilation_finish. Trees must live as long
 * as the compilation, their sources as long as the unit. */
Function *frontend_define_function(Compilation *c, const Tree *def, Str qualified_name, Resolver *resolver);
/* `class X(Module)`, `class X`, `class X(NamedTuple)`, `class X(Enum)`, `class X(Interface|ModuleInterface)`. In the
 * dialect of archives attributes stand as annotations with __parameters__ and __buffers__ lists. */
const Type *frontend_define_class(Compilation *c, const Tree *class_def, Str qualified_name, Resolver *resolver);
void frontend_define_method(Compilation *c, ClassType *class_type, const Tree *def, Resolver *resolver);
void compilation_finish(Compilation *c); /* every pending body */
/* A type annotation's text, as in archives and pickles: "List[Tensor]", "Dict[str, __torch__.Foo]". */
const Type *frontend_parse_type(Compilation *c, Str text, Resolver *resolver_or_null);
/* The steps of lowering, by which observers are shown graphs, in order from "emit" on; NULL after the last. */
const char *frontend_lowering_step(size_t index);
/* Compiles an operator's or prelude function's text; Services.compile_body points here. */
Status frontend_compile_body(Exec *exec, const Operator *op, Function **out) MUST_CHECK;
/* Compiles the text of one function with the names that bodies know, for the process; `name` is what messages call its
 * source. */
Status frontend_compile_helper(Exec *exec, Str text, const char *name, Function **out) MUST_CHECK;
/* The resolver of the language's own names: torch, math, cmath, warnings, typing's names, builtins; prelude functions.
 */
Resolver *frontend_builtin_resolver(void);
/* What a dotted name stands for in the program itself, else in the language; NULL: nothing. */
SugaredValue *frontend_alias_value(Compilation *c, Str path, SourceRange range);
const Type *frontend_alias_type(Compilation *c, Str path, SourceRange range);
