/* Where the parts of a program lie. Up to PyTorch 2.7 a file is a zip archive without a folder, with
 * serialized_exported_program.json beside pickles of tensors. Since then it is a "PT2 archive": models/NAME.json, each
 * tensor a record of its own under data/, and a NAME_..._config.json that says which is which. There may be several. */
#pragma once

#include "serial/archive/archive.h"
#include "serial/formats/json.h"

typedef struct Pt2Container {
  Archive *archive;
  Str model;     /* its name: points into the archive */
  bool is_older; /* of the first form */
  Json *program; /* owned */
} Pt2Container;

/* The names of the programs, at least one; they point into the archive, the array is the caller's (mem_free). */
Status pt2_find_models(const Archive *archive, Str **out_names, uint32_t *out_count) MUST_CHECK;
/* Reads the program of that name; pt2_container_dispose follows in either case. */
Status pt2_container_open(Archive *archive, Str model, Pt2Container *out) MUST_CHECK;
void pt2_container_dispose(Pt2Container *container);
/* The record of that name, parsed. *out is NULL where there is none. */
Status pt2_read_json(Archive *archive, Str name, Json **out) MUST_CHECK;
