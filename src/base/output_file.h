/* OutputFile: a file that is written at once. Where the path leads to a regular file, or to none yet, also through
 * symbolic links, the new contents are written beside it and take its place when they are whole, with the mode and the
 * owner that it had; until then the older file stays as it is, for those who have mapped it, too. A process that dies
 * in between leaves nothing, where the file system has files without a name (O_TMPFILE). Anything else, a FIFO or a
 * device, is written to as it stands. */
#pragma once

#include <stdio.h>

#include "base/status.h"
#include "base/str.h"

typedef struct OutputFile {
  FILE *stream;        /* NULL: not open */
  char *path;          /* owned: where the symbolic links lead */
  char *temporary;     /* owned: the name that the contents have until they are whole; NULL: none */
  const char *shown;   /* the caller's path, for messages: borrowed */
  bool is_replacement; /* contents take their place at the end; else they are there at once */
  bool holds_signal;   /* SIGPIPE: a pipe whose reader went is an error like others */
} OutputFile;
/* `path` must outlive the file. On failure, too, the file is to be closed. */
Status output_file_open(OutputFile *file, const char *path) MUST_CHECK;
Status output_file_write(OutputFile *file, const void *data, size_t size) MUST_CHECK;
/* Everything is written, and on disk where there is one; the contents stand under the path. */
Status output_file_finish(OutputFile *file) MUST_CHECK;
/* Always: without output_file_finish the older file stays as it is. */
void output_file_close(OutputFile *file);
/* All of it for contents that are in memory. */
Status output_file_save(const char *path, Str contents) MUST_CHECK;
