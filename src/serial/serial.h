/* serial: archives. Reading never runs anything: pickles are read as data with a closed list of names. In reading
 * order:
 *
 *   serial/byte_source.h  where bytes come from
 *   serial/archive.h      zip directory and records
 *   serial/pickle.h       pickles as data
 *   serial/pickle_globals.h  the names that they may mention
 *   serial/storages.h     tensor data by key, device map
 *   serial/debug_info.h   the original source of an archive's code
 *   serial/importer.h     the code of an archive, compiled on demand
 *   serial/upgraders.h    what operators meant in older versions
 *   serial/used_operators.h  what operators that code names
 *   serial/import.h       what the formats of archives share
 *   serial/json.h         JSON by cJSON
 *   serial/model_json.h   the format of 2019
 *   serial/safetensors.h  tensors by name
 *   serial/python_print.h    graphs and types as that code
 *   serial/python_printing.h  what the files of that share
 *   serial/python_text.h     text that knows what it was made from
 *   serial/debug_records.h   writing that down
 *   serial/pickle_ops.h      opcodes, written
 *   serial/pickler.h         values as pickles
 *   serial/zip_writer.h      records to a file
 *   serial/reprint.h         both ways, compared
 *   serial/serial.h       loading modules, torch.save's files, NumPy's files (this file) */
#pragma once

#include "frontend/frontend.h"
#include "module/module.h"
#include "serial/byte_source.h"

typedef struct LoadOptions {
  bool map;
  uint64_t max_bytes;
  const char *device_map; /* "cuda=cpu,cuda:1=cpu" or "*=cpu"; NULL: devices other than cpu are an error */
  const char *allow_ops;  /* path-free list of allowed operator names, newline separated; NULL: all */
} LoadOptions;

/* A TorchScript archive of any version. */
Status module_import(ByteSource *source, Exec *exec, const LoadOptions *options, Module **out) MUST_CHECK;
/* Writes an archive that module_import and PyTorch read; the same module gives the same bytes. An older file at `path`
 * is replaced only by a whole one. */
Status module_export(const Module *module, Exec *exec, const char *path) MUST_CHECK;
/* A module whose forward is the function. */
Status function_export(const Function *function, Exec *exec, const char *path) MUST_CHECK;
/* A file of torch.save (zip or legacy stream): tensors, containers, numbers, strings; anything else is an error naming
 * the global. */
Status value_import(ByteSource *source, Exec *exec, const LoadOptions *options, IValue *out) MUST_CHECK;
Status npy_load(ByteSource *source, IValue *out) MUST_CHECK;    /* .npy: a tensor; .npz: a dict of tensors */
Status npy_write(const Tensor *tensor, StrBuf *out) MUST_CHECK; /* appends the bytes of a .npy */
