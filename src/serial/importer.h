/* Importer: the code of one archive. As a Resolver it finds `__torch__.a.b.C` in code/__torch__/a/b.py, parsed and
 * compiled on demand, and knows CONSTANTS, torch, ops and the numbers that archives name. */
#pragma once

#include "serial/archive.h"
#include "serial/serial.h"

typedef struct Importer {
  Resolver resolver; /* first: the resolver's address is the importer's */
  Archive *archive;
  CompilationUnit *unit;
  Exec *exec;
  Arena arena;           /* trees, names: live as long as the importer */
  Map files;             /* "__torch__.a.b" -> CodeFile */
  Map folders;           /* every prefix of a file's dotted name */
  VEC(IValue) constants; /* owned */
} Importer;

Status importer_init(Importer *importer, Archive *archive, CompilationUnit *unit, Exec *exec) MUST_CHECK;
void importer_dispose(Importer *importer);
/* The named type with all its methods compiled. Unknown operators of the whole archive are reported together. */
Status importer_resolve_class(Importer *importer, Str qualified_name, const Type **out) MUST_CHECK;
Status importer_parse_type(Importer *importer, Str annotation, const Type **out) MUST_CHECK;
/* Parses every file, or throws to the importer's arena. */
void importer_parse_all(Importer *importer);
/* Every file that has been parsed. */
void importer_each_tree(Importer *importer, void (*visit)(void *argument, const Tree *tree), void *argument);
