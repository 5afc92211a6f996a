/* Import: one archive on its way to a module; what the formats of archives share. */
#pragma once

#include "serial/archive/importer.h"
#include "serial/archive/storages.h"
#include "serial/pickle/pickle.h"
#include "serial/serial.h"

typedef struct Import {
  Archive *archive;
  const LoadOptions *options;
  Importer importer;
  StorageTable storages;     /* of the pickle that is being read */
  struct Bytecode *bytecode; /* of an archive whose code is that; else NULL */
} Import;

/* The archive of a program. PyTorch's have all their records in one folder; only older ones of torch.export have
 * none. */
Status archive_open_program(ByteSource *source, uint64_t max_bytes, Archive **out) MUST_CHECK;
/* A unit for what is loaded: with the options' device map and operators. The caller's. */
Status import_new_unit(const LoadOptions *options, CompilationUnit **out) MUST_CHECK;
/* Reads the version and makes the unit; archive and options are set. import_end, which also follows a failure, gives
 * the unit back. */
Status import_begin(Import *import, Exec *exec) MUST_CHECK;
void import_end(Import *import);
/* The code, reached by objects or not, without their state. */
Status import_code(Import *import) MUST_CHECK;
/* Reads record `name` with tensors from `folder` ("constants/"). */
Status import_read_pickle(Import *import, const char *name, const char *folder, IValue *out) MUST_CHECK;
/* For pickles with the archive's classes and the tensors of import->storages. */
PickleHost import_host(Import *import);
/* Calls a class's own __setstate__, with the state typed as its schema says; both borrowed. */
Status import_set_state(Import *import, Function *method, IValue object, IValue state) MUST_CHECK;
