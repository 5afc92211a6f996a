/* serial: archives. Reading never runs anything: pickles are read as data with a closed list of names. In reading
 * order:
 *
 *   serial/archive/byte_source.h     where bytes come from
 *   serial/archive/archive.h         zip directory and records
 *   serial/pickle/pickle.h           pickles as data
 *   serial/pickle/pickle_globals.h   the names that they may mention
 *   serial/archive/storages.h        tensor data by key
 *   serial/archive/debug_info.h      the original source of an archive's code
 *   serial/archive/importer.h        the code of an archive, compiled on demand
 *   serial/archive/older_classes.h   what classes of quantized layers were in older versions
 *   serial/archive/upgraders.h       what operators meant in older versions
 *   serial/archive/used_operators.h  what operators that code uses, or lacks
 *   serial/archive/import.h          what the formats of archives share
 *   serial/archive/bytecode.h         code of archives that carry no source
 *   serial/archive/bytecode_lift.h    that as graphs
 *   serial/archive/bytecode_machine.h what instructions do
 *   serial/formats/file_kind.h       what a file is by its first bytes
 *   serial/formats/json.h            JSON as a tree
 *   serial/formats/model_json.h      the format of 2019
 *   serial/formats/safetensors.h     tensors by name
 *   serial/pt2/pt2.h                 programs of torch.export
 *   serial/pt2/container.h           where the parts of one lie in its file
 *   serial/pt2/weights.h             its tensors by name
 *   serial/pt2/attributes.h          those as attributes of modules
 *   serial/pt2/builder.h             its graph on the way: values by name
 *   serial/pt2/argument.h            what nodes are given and give
 *   serial/pt2/target.h              what they call
 *   serial/pt2/operator_call.h       operators of the registry
 *   serial/pt2/functionalized.h      those that write, without that
 *   serial/pt2/higher_order.h        calls that take graphs
 *   serial/pt2/source_place.h        where in the model's source nodes come from
 *   serial/pt2/autocast.h            what regions of autocast cast
 *   serial/pt2/tree_spec.h           how arguments and results are nested
 *   serial/pt2/expression.h          sizes as formulas of symbols
 *   serial/pt2/checks.h              what sizes inputs must have
 *   serial/pt2/forward.h             the method
 *   serial/python/python_print.h     graphs and types as that code
 *   serial/python/graph_source.h     one graph as that, for the log
 *   serial/python/python_printing.h  what the files of that share
 *   serial/python/python_text.h      text that knows what it was made from
 *   serial/archive/debug_records.h   writing that down
 *   serial/pickle/pickle_ops.h       opcodes, written
 *   serial/pickle/pickler.h          values as pickles
 *   serial/archive/inflate.h         compressed records, and checksums
 *   serial/archive/zip_writer.h      records to a file
 *   serial/python/reprint.h          both ways, compared
 *   serial/serial.h                  loading modules, torch.save's files, NumPy's files (this file) */
#pragma once

#include "call/exec.h"
#include "module/module.h"
#include "serial/archive/byte_source.h"

typedef struct LoadOptions {
  bool map;
  uint64_t max_bytes;
  const char *device_map; /* tensor/device_map.h; NULL: devices other than cpu are an error */
  bool keeps_foreign;     /* of pickled values (pickle.h) */
  bool share_weights;     /* equal storages share their memory (tensor/storage_alike.h) */
  uint8_t
      torch_version; /* TorchVersion (call/torch_version.h) that the program means; TORCH_DEFAULT: as its file says */
  const char *allow_ops; /* names of operators that code may use, one a line (ir/operator_use.h); NULL: all */
} LoadOptions;

/* A TorchScript archive of any version. */
Status module_import(ByteSource *source, Exec *exec, const LoadOptions *options, Module **out) MUST_CHECK;
/* Writes an archive that module_import and PyTorch read. Its top folder is called as the file without its last ending,
 * and under one name the same module gives the same bytes. An older file at `path` is replaced only by a whole one. */
Status module_export(const Module *module, Exec *exec, const char *path) MUST_CHECK;
/* A module whose forward is the function. */
Status function_export(const Function *function, Exec *exec, const char *path) MUST_CHECK;
/* A file of torch.save (zip or legacy stream): tensors, containers, numbers, strings; anything else is an error naming
 * the global. */
Status value_import(ByteSource *source, const LoadOptions *options, IValue *out) MUST_CHECK;
/* A file that torch.load and value_import read: the value pickled, its tensors beside it. No objects of classes. */
Status value_export(IValue value, Exec *exec, const char *path) MUST_CHECK;
Status npy_load(ByteSource *source, IValue *out) MUST_CHECK;    /* .npy: a tensor; .npz: a dict of tensors */
Status npy_write(const Tensor *tensor, StrBuf *out) MUST_CHECK; /* appends the bytes of a .npy */
/* A .npz at `path`, from a dict of tensors by text. An older file is replaced only by a whole one. */
Status npz_export(const Dict *tensors, const char *path) MUST_CHECK;
