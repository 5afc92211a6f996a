/* wick/archive: what lies in files, without running any of it: records of archives, what a file is that is no program,
 * values and their tensors, the operators that a program uses; and bytes of the caller's into files.
 *
 *   wick_archive *archive;
 *   if (!wick_archive_open("model.pt", NULL, &archive, &error))
 *     for (size_t i = 0; i < wick_archive_count(archive); i++) puts(wick_archive_name(archive, i));
 *   wick_archive_release(archive);                                                                     */
#ifndef WICK_ARCHIVE_H
#define WICK_ARCHIVE_H

#include "wick/module.h"
#include "wick/overload.h"
#include "wick/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of wick_load_options, `mode` and `max_bytes` count in this header. */

/* ---- records ---- */
typedef struct wick_archive wick_archive; /* the directory of an archive; used by one thread at a time */
WICK_API wick_status wick_archive_open(const char *path, const wick_load_options *WICK_NULLABLE options,
                                       wick_archive **out, wick_error **error);
WICK_API void wick_archive_release(wick_archive *archive);         /* NULL is allowed */
WICK_API uint64_t wick_archive_bytes(const wick_archive *archive); /* of the whole file */
WICK_API size_t wick_archive_count(const wick_archive *archive);
/* Without the top folder: "data.pkl", "code/__torch__.py", "extra/notes.txt". Borrowed from the archive; NULL: no such
 * index. */
WICK_API const char *wick_archive_name(const wick_archive *archive, size_t index);
/* The whole record, inflated, and a zero byte after it. WICK_NOT_FOUND: there is none of that name. Freed with
 * wick_text_free. */
WICK_API wick_status wick_archive_read(wick_archive *archive, const char *name, char **out_data, size_t *out_length,
                                       wick_error **error);

/* What deflate's data (RFC 1951) holds, as records of archives are stored and others keep pixels or weights: up to
 * `room` bytes of it, into `out` (NULL where room is 0); *out_length says how many. WICK_DATA: it is damaged, cut
 * short, or there is more than there is room for. */
WICK_API wick_status wick_inflate(const void *data, size_t length, void *WICK_NULLABLE out, size_t room,
                                  size_t *out_length, wick_error **error);
/* CRC-32 as zip and PNG have it (ISO 3309); 0 of no bytes. */
WICK_API uint32_t wick_checksum(const void *WICK_NULLABLE data, size_t length);

/* ---- what a file is ---- */
enum {
  WICK_FILE_UNKNOWN = 0, /* nothing that wick knows */
  WICK_FILE_PROGRAM = 1, /* of TorchScript, or a zip archive that can't be read */
  WICK_FILE_PICKLE = 2,  /* values of torch.save */
  WICK_FILE_WEIGHTS = 3, /* tensors by name */
  WICK_FILE_ARRAYS = 4,  /* .npy, .npz */
  WICK_FILE_OTHER = 5    /* known, but wick reads nothing of it */
};
typedef struct wick_file_kind {
  uint32_t size;      /* sizeof(wick_file_kind), set by the caller */
  uint32_t use;       /* WICK_FILE_... */
  const char *name;   /* "a GGUF file"; static; "" for WICK_FILE_UNKNOWN */
  const char *advice; /* what to do with it, a clause; static; "": there is none */
} wick_file_kind;
/* By its first bytes, or by the records of a zip archive. */
WICK_API wick_status wick_file_kind_of(const char *path, const wick_load_options *WICK_NULLABLE options,
                                       wick_file_kind *out, wick_error **error);
/* What lies in a file of tensors, or in the data of an archive without its program. Objects of classes that nobody
 * knows here are dicts with what was pickled. WICK_DATA: of kinds that hold no tensors. */
WICK_API wick_status wick_file_contents(const char *path, const wick_load_options *WICK_NULLABLE options,
                                        wick_value **out, wick_error **error);
/* "a state dict of 12 tensors", "a module of class Net, whose code is not in the file". Freed with wick_text_free. */
WICK_API wick_status wick_value_describe(const wick_value *value, char **out_text, wick_error **error);
/* Calls visit for every tensor that a value holds, with its dotted name as a module's parameters are called, in order;
 * name and value are borrowed for the call, and a nonzero answer ends the walk. WICK_DATA: there are too many values,
 * or they are nested too deeply. */
typedef int wick_tensor_visit(void *user, const char *name, const wick_value *tensor);
WICK_API wick_status wick_value_each_tensor(const wick_value *value, wick_tensor_visit *visit, void *user,
                                            wick_error **error);

/* ---- writing ---- */
/* Bytes to a file, as everything that wick saves is written: the whole of it stands under the path, also through
 * symbolic links, or what was there before. WICK_IO: it can't be written. */
WICK_API wick_status wick_file_write(const char *path, const void *data, size_t length, wick_error **error);

/* ---- operators of programs ---- */
/* `calls`: how often the code has it. `is_known` 0: neither wick nor a library that is there has it (wick_op_missing
 * says why). A nonzero answer ends the walk. */
typedef int wick_operator_visit(void *user, const char *name, size_t calls, int is_known);
/* Every operator of an archive's code, reached by its objects or not, and then those that nobody has. Of the state
 * nothing is read but constants. `allowed`: names, one a line; code that uses others does not run, not even while it is
 * compiled, and is visited all the same. NULL: all. */
WICK_API wick_status wick_archive_each_operator(const char *path, const char *WICK_NULLABLE allowed,
                                                wick_operator_visit *visit, void *user, wick_error **error);
/* Those of a program that was loaded or compiled. */
WICK_API wick_status wick_module_each_operator(const wick_module *module, wick_operator_visit *visit, void *user,
                                               wick_error **error);
/* The same by overload: those of several functions several times, and those that nobody has, whose overload is NULL and
 * which have their name alone ("mine::scale"; NULL for the others: wick_overload_name). */
typedef int wick_overload_visit(void *user, const wick_overload *WICK_NULLABLE overload,
                                const char *WICK_NULLABLE unknown_name, size_t calls);
WICK_API wick_status wick_archive_each_overload(const char *path, const char *WICK_NULLABLE allowed,
                                                wick_overload_visit *visit, void *user, wick_error **error);
WICK_API wick_status wick_module_each_overload(const wick_module *module, wick_overload_visit *visit, void *user,
                                               wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
