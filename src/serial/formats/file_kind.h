/* FileKind: what a file is by its first bytes, or by the records of a zip archive, and what can be done with it. For
 * messages about files that are no programs; nothing of a file is run. */
#pragma once

#include "ivalue/ivalue.h"
#include "serial/archive/byte_source.h"

typedef enum FileUse {
  FILE_PROGRAM, /* of TorchScript, or a zip archive that can't be read */
  FILE_PICKLE,  /* values of torch.save */
  FILE_WEIGHTS, /* tensors by name */
  FILE_ARRAYS,
  FILE_OTHER /* wick reads nothing of it */
} FileUse;
/* A file and its first bytes. A failed read is kept in `status`: it says nothing about the kind. */
typedef struct FileStart {
  ByteSource *source;
  const unsigned char *bytes;
  size_t length;
  Status status;
} FileStart;

typedef struct FileKind {
  const char *name;   /* "a GGUF file" */
  const char *advice; /* what to do next: a clause, or NULL */
  FileUse use;
  const char *magic; /* bytes at `offset`; NULL: others decide */
  uint16_t magic_length, offset;
  const char *record; /* of a zip archive, in its top folder; a final "*" stands for any rest, an initial one for any
                         beginning */
  bool (*is)(FileStart *file);
} FileKind;

/* The first row that fits; NULL: none does. A zip archive whose directory can't be read is "a zip archive". */
Status file_kind_find(ByteSource *source, const FileKind **out) MUST_CHECK;
/* The error for a file that is not `wanted` ("a TorchScript archive"): what it is, what its pickle holds, what to do.
 */
Status file_refuse(ByteSource *source, const char *wanted) MUST_CHECK;
/* The same for a file that could not be opened as a zip archive, with the reason, which is taken over. */
Status file_explain(ByteSource *source, Status reason) MUST_CHECK;
extern const char file_weights_advice[]; /* for tensors without a program */

/* What lies in a file of tensors, or in the data of a TorchScript archive, without its program. Objects of classes that
 * nobody knows here are dicts with what was pickled (pickle.h: foreign). */
Status file_inspect(ByteSource *source, const FileKind *kind, IValue *out) MUST_CHECK;
/* "a state dict of 12 tensors", "a module of class Net", "a dict with 'epoch', 'model'". */
void file_describe_value(IValue value, StrBuf *out);
/* Every tensor with its dotted name, as a module's parameters are called; bounded. */
typedef void TensorVisit(void *argument, Str name, const Tensor *tensor);
Status file_each_tensor(IValue value, TensorVisit *visit, void *argument) MUST_CHECK;
