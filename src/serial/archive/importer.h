/* Importer: the code of one archive. As a Resolver it finds `__torch__.a.b.C` in code/__torch__/a/b.py, parsed and
 * compiled on demand, and knows CONSTANTS, torch, ops and the numbers that archives name. */
#pragma once

#include "call/exec.h"
#include "frontend/frontend.h"
#include "serial/archive/archive.h"

typedef struct Importer {
  Resolver resolver; /* first: the resolver's address is the importer's */
  Archive *archive;
  CompilationUnit *unit;
  Exec *exec;
  int64_t version;          /* of the archive: what operators meant when it was written */
  Arena arena;              /* trees, names: live as long as the importer */
  Map files;                /* "__torch__.a.b" -> CodeFile */
  Map folders;              /* every prefix of a file's dotted name */
  struct CodeFile *library; /* libs.py of the first format: its classes are named without a path; NULL: none */
  VEC(IValue) constants;    /* owned */
} Importer;

Status importer_init(Importer *importer, Archive *archive, CompilationUnit *unit, Exec *exec) MUST_CHECK;
void importer_dispose(Importer *importer);
/* The named type with all its methods compiled. Unknown operators of the whole archive are reported together. */
Status importer_resolve_class(Importer *importer, Str qualified_name, const Type **out) MUST_CHECK;
Status importer_parse_type(Importer *importer, Str annotation, const Type **out) MUST_CHECK;
/* The next of CONSTANTS.c0, ...; retained. A tensor without dimensions promotes as the number that it stands for. */
Status importer_add_constant(Importer *importer, IValue value) MUST_CHECK;
/* The classes of the first format: libs.py, libs/. */
Status importer_add_libraries(Importer *importer) MUST_CHECK;
/* One act of compiling; what body defined is finished at its end. */
Status importer_compile(Importer *importer, void (*body)(Compilation *c, void *argument), void *argument) MUST_CHECK;
/* Every def of the record becomes a method. Throws. */
void importer_define_methods(Importer *importer, Compilation *c, Str record_name, ClassType *class_type);
/* Parses every file, or throws to the importer's arena. */
void importer_parse_all(Importer *importer);
/* Every class and function of every file. */
Status importer_compile_all(Importer *importer) MUST_CHECK;
/* Every file that has been parsed. */
void importer_each_tree(Importer *importer, void (*visit)(void *argument, const Tree *tree), void *argument);
