/* wick/value: IValues of TorchScript, immutable but for lists, dicts and objects. */
#ifndef WICK_VALUE_H
#define WICK_VALUE_H

#include "wick/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wick_value wick_value;
enum { /* kinds */
       WICK_NONE = 0,
       WICK_INT = 1,
       WICK_DOUBLE = 2,
       WICK_BOOL = 3,
       WICK_DEVICE = 4,
       WICK_TENSOR = 5,
       WICK_COMPLEX = 6,
       WICK_STRING = 7,
       WICK_LIST = 8,
       WICK_DICT = 9,
       WICK_TUPLE = 10,
       WICK_OBJECT = 11,
       WICK_ENUM = 12,
       WICK_FUNCTION = 13,
       WICK_FUTURE = 14,
       WICK_GENERATOR = 15,
       WICK_OTHER = 16
};
WICK_API wick_value *wick_value_retain(wick_value *value);
WICK_API void wick_value_release(wick_value *value); /* NULL is allowed */
WICK_API uint32_t wick_value_kind(const wick_value *value);
/* What two values have in common that are the same tensor, list, dict, tuple or object: an address, only to be
 * compared. NULL for other kinds. */
WICK_API const void *wick_value_identity(const wick_value *value);
/* Makers: NULL when out of memory. */
WICK_API wick_value *wick_value_none(void);
WICK_API wick_value *wick_value_int(int64_t i);
WICK_API wick_value *wick_value_double(double f);
WICK_API wick_value *wick_value_bool(int b);
WICK_API wick_value *wick_value_complex(double real, double imaginary);
WICK_API wick_value *wick_value_string(const char *data, size_t length);
/* "cpu", "cuda:0". */
WICK_API wick_status wick_value_device(const char *text, wick_value **out, wick_error **error);
/* The items are retained. Element types follow from the items; a call converts to what its schema asks for. */
WICK_API wick_status wick_value_list(const wick_value *const *items, size_t count, wick_value **out,
                                     wick_error **error);
/* A List[int], a List[float] of `count` numbers. */
WICK_API wick_status wick_value_ints(const int64_t *items, size_t count, wick_value **out, wick_error **error);
WICK_API wick_status wick_value_doubles(const double *items, size_t count, wick_value **out, wick_error **error);
WICK_API wick_status wick_value_tuple(const wick_value *const *items, size_t count, wick_value **out,
                                      wick_error **error);
WICK_API wick_status wick_value_dict(const wick_value *const *keys, const wick_value *const *values, size_t count,
                                     wick_value **out, wick_error **error);
/* A generator of random numbers that begins with `seed`, for parameters `generator` of operators. */
WICK_API wick_status wick_generator_new(uint64_t seed, wick_value **out, wick_error **error);
/* The one of calls that are given none, of the runtime's. */
WICK_API wick_status wick_generator_default(wick_value **out, wick_error **error);
/* What it began with. WICK_INVALID_ARGUMENT: the value is no generator. */
WICK_API wick_status wick_generator_seed(const wick_value *generator, uint64_t *out_seed, wick_error **error);
/* Begins anew with `seed`. */
WICK_API wick_status wick_generator_set_seed(wick_value *generator, uint64_t seed, wick_error **error);
/* Where its sequence stands, as the bytes of torch.get_rng_state: `bytes` has room for WICK_GENERATOR_STATE_BYTES. */
#define WICK_GENERATOR_STATE_BYTES 5056
WICK_API wick_status wick_generator_state(const wick_value *generator, void *bytes, wick_error **error);
/* Goes on from there. WICK_RUNTIME: the bytes are no such state. */
WICK_API wick_status wick_generator_set_state(wick_value *generator, const void *bytes, size_t count,
                                              wick_error **error);
/* Readers answer 0, or "" and length 0, for a value of another kind. Numbers convert between int, double and bool. */
WICK_API int64_t wick_value_to_int(const wick_value *value);
WICK_API double wick_value_to_double(const wick_value *value);
WICK_API int wick_value_to_bool(const wick_value *value);
WICK_API void wick_value_to_complex(const wick_value *value, double *WICK_NULLABLE out_real,
                                    double *WICK_NULLABLE out_imaginary);
/* Borrowed from the value, terminated; may hold zero bytes inside. */
WICK_API const char *wick_value_to_string(const wick_value *value, size_t *WICK_NULLABLE out_length);
/* Items of a list or tuple, entries of a dict, attributes of an object; 2 for an enum's member; else 0. */
WICK_API size_t wick_value_length(const wick_value *value);
/* Item of a list or tuple, value of a dict's entry, attribute of an object; name (0) and value (1) of an enum's member.
 * NULL: no such index. */
WICK_API wick_value *wick_value_item(const wick_value *value, size_t index);
/* Key of a dict's entry, in order of insertion; name of an object's attribute, or of a NamedTuple's field. */
WICK_API wick_value *wick_value_key(const wick_value *value, size_t index);
WICK_API wick_value *wick_value_get(const wick_value *dict,
                                    const wick_value *key); /* NULL: absent, or memory is short */
WICK_API wick_value *wick_value_get_text(const wick_value *dict_or_object,
                                         const char *name); /* key or attribute; NULL: absent */
/* What a forked call gave, or its error: of a future (WICK_FUTURE) that a program gives back. It is done, for the call
 * that forked it ends last; inside a callback of a running program this blocks. The result is the caller's. */
WICK_API wick_status wick_value_wait(const wick_value *future, wick_value **out, wick_error **error);
/* Writing: items, keys and values are converted to the declared types, and what has another type is refused with
 * WICK_INVALID_ARGUMENT. Programs that hold the list, dict or object see the change. */
WICK_API wick_status wick_list_append(wick_value *list, const wick_value *item, wick_error **error);
WICK_API wick_status wick_list_set(wick_value *list, size_t index, const wick_value *item, wick_error **error);
WICK_API wick_status wick_list_remove(wick_value *list, size_t index, wick_error **error);
WICK_API wick_status wick_dict_set(wick_value *dict, const wick_value *key, const wick_value *value,
                                   wick_error **error);
WICK_API wick_status wick_dict_remove(wick_value *dict, const wick_value *key, wick_error **error);
WICK_API wick_status wick_object_set(wick_value *object, const char *name, const wick_value *value, wick_error **error);
/* As print() shows it; bounded. Freed with wick_text_free. */
WICK_API wick_status wick_value_print(const wick_value *value, char **out_text, wick_error **error);
/* The same, but of tensors of more than 1,000 elements only the first and the last 3 along each dimension. */
WICK_API wick_status wick_value_print_short(const wick_value *value, char **out_text, wick_error **error);
/* TorchScript's name of the value's type: "List[int]", "Tensor". Freed with wick_text_free. */
WICK_API wick_status wick_value_type(const wick_value *value, char **out_text, wick_error **error);
WICK_API void wick_text_free(char *text);
/* Text from files and programs (names, messages), as a terminal may show it: control characters and bytes that are no
 * UTF-8 are spelled, as "\x1b". Those of `kept`, "\n\t" for text of several lines, stay; NULL: none do. Freed with
 * wick_text_free. */
WICK_API wick_status wick_text_escape(const char *text, size_t length, const char *WICK_NULLABLE kept, char **out_text,
                                      wick_error **error);
/* A copy that shares nothing, tensors included, but what objects of native classes hold. */
WICK_API wick_status wick_value_copy(const wick_value *value, wick_value **out, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
