/* wick: loads, compiles and runs TorchScript programs.
 *
 *   wick_module *module;
 *   wick_error *error;
 *   if (wick_load(NULL, "model.pt", NULL, &module, &error)) {
 *     fprintf(stderr, "%s\n", wick_error_message(error));
 *     wick_error_free(error);
 *     return 1;
 *   }
 *   wick_value *input, *output;
 *   int64_t sizes[] = {1, 3, 224, 224};
 *   wick_tensor_borrow(pixels, WICK_FLOAT32, 4, sizes, NULL, NULL, NULL, &input, NULL);
 *   wick_run(module, "forward", (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, NULL);
 *   ...
 *   wick_value_release(output);
 *   wick_value_release(input);
 *   wick_module_release(module);
 *
 * Handles are opaque and counted: what a function gives through an out-parameter is the caller's, to be released once;
 * what it takes it borrows. Every function that can fail returns a status, 0 when all went well; `error` (may be NULL)
 * then receives an object that the caller frees. NULL where something is needed is such a failure, and so is a struct
 * whose size is not set; functions without a status answer NULL, 0 or "" then, and do nothing. On failure other
 * out-parameters are set to NULL or 0. Handles may be used from several threads at once, but for those that say
 * otherwise. Text is UTF-8. Structs begin with their size and grow at the end only; zero in a field is the default. */
#ifndef WICK_H
#define WICK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WICK_API __attribute__((visibility("default")))
#else
#define WICK_API
#endif
/* On a parameter of a function: this pointer may be NULL. So may each wick_runtime, each `error`, each `user` that only
 * callbacks get, and an array of a count of 0. */
#define WICK_NULLABLE

/* ---- version ---- */
#define WICK_VERSION_MAJOR 0
#define WICK_VERSION_MINOR 1
#define WICK_VERSION_PATCH 0
/* Of the library that runs: "0.1.0". Static. */
WICK_API const char *wick_version(void);

/* ---- status and errors ---- */
typedef int32_t wick_status; /* 0 fine, below 0 a stable code; an unknown code means failed */
enum {
  WICK_OK = 0,
  WICK_INVALID_ARGUMENT = -1, /* the caller's value does not fit */
  WICK_OUT_OF_MEMORY = -2,    /* the allocator refused, or the byte budget is used up */
  WICK_IO = -3,               /* a file can't be read or written */
  WICK_DATA = -4,             /* an archive or pickle is damaged or unsafe */
  WICK_SYNTAX = -5,           /* text that does not parse */
  WICK_COMPILE = -6,          /* a program that does not compile */
  WICK_UNSUPPORTED = -7,      /* right, but wick does not have it */
  WICK_NOT_FOUND = -8,        /* no such name */
  WICK_RUNTIME = -9,          /* an operator or a program failed */
  WICK_RAISED = -10,          /* the program raised an exception itself */
  WICK_CANCELLED = -11,
  WICK_DEADLINE = -12,
  WICK_BUDGET = -13,  /* step or memory budget used up */
  WICK_INTERNAL = -14 /* wick's own mistake */
};
/* Owned by one thread; freed with wick_error_free. */
typedef struct wick_error wick_error;
/* The accessors borrow from the error. NULL is answered with "" or 0. */
WICK_API wick_status wick_error_status(const wick_error *error);
WICK_API const char *wick_error_message(const wick_error *error);
WICK_API const char *wick_error_exception(const wick_error *error); /* Python's class name: "RuntimeError" */
WICK_API const char *wick_error_trace(const wick_error *error);     /* the TorchScript stack trace, or "" */
WICK_API void wick_error_free(wick_error *error);                   /* NULL is allowed */
/* For kernels registered from outside. */
WICK_API wick_error *wick_error_new(wick_status status, const char *message);

/* ---- runtime: threads, caches, printing ---- */
typedef struct wick_runtime wick_runtime; /* NULL stands for the process's default everywhere */
typedef struct wick_runtime_options {
  uint32_t size;        /* sizeof(wick_runtime_options) */
  uint32_t max_threads; /* within one call; 0: the processors this process may use */
  uint64_t cache_bytes; /* freed storage kept for reuse, for the whole process; 0: 256 MiB */
  void *user;
  void *(*alloc)(void *user, size_t bytes, size_t align); /* reserved: must be NULL */
  void (*free)(void *user, void *p, size_t bytes);        /* reserved: must be NULL */
  void (*parallel)(void *user, int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t),
                   void *arg);                                /* reserved */
  void (*print)(void *user, const char *text, size_t length); /* print() and warnings; NULL: standard output */
} wick_runtime_options;
WICK_API wick_status wick_runtime_new(const wick_runtime_options *WICK_NULLABLE options, wick_runtime **out,
                                      wick_error **error);
WICK_API void wick_runtime_release(wick_runtime *runtime);
/* Gives back what is kept for later calls and can be made again: storage for reuse, packed weights, stacks of calls
 * that ended, and the plans that no call is in, which later calls make anew. Returns how many bytes of storage. */
WICK_API uint64_t wick_trim(void);
typedef struct wick_stats {
  uint32_t size;
  uint32_t reserved;
  uint64_t cache_bytes; /* freed storage kept for reuse */
  /* since the process started: */
  uint64_t invocations;    /* calls that came to an optimising executor */
  uint64_t plan_hits;      /* of these, ran in a plan */
  uint64_t plan_misses;    /* ran the program as written, for want of a plan */
  uint64_t compiles;       /* plans that were made */
  uint64_t bailouts;       /* calls that left their plan because an assumption failed; they went on as written */
  uint64_t packed_weights; /* weights that convolutions put in the order their kernels read */
} wick_stats;
/* Fills the part of *out that its size covers. */
WICK_API void wick_stats_get(wick_stats *out);

/* ---- executors: how functions are made to run ----
 * simple         as written
 * specialising   optimised for every kind of arguments: dtypes, ranks, what requires a gradient, what is None
 * profiling      a few calls are watched; then calls run in a plan that assumes what was seen, checks it, and goes on
 *                as written where it does not hold
 * Plans are made on a thread of wick's own while calls go on. Only the first call of a function may wait for it: up to
 * 10 ms, and then up to 10 ms or as long again as it took. The environment's WICK_EXECUTOR names the default. */
enum {
  WICK_EXECUTOR_DEFAULT = 0,
  WICK_EXECUTOR_SIMPLE = 1,
  WICK_EXECUTOR_SPECIALISING = 2,
  WICK_EXECUTOR_PROFILING = 3
};
typedef struct wick_executor_options {
  uint32_t size;
  uint32_t executor;      /* WICK_EXECUTOR_... */
  uint32_t profiled_runs; /* calls that are watched before a plan is made; 0: the default */
  uint32_t bailout_depth; /* how often calls are watched again after assumptions failed; 0: the default */
  uint32_t max_plans;     /* kinds of arguments of one function with plans of their own, 32 at most; 0: the default */
  uint32_t synchronous;   /* nonzero: plans are made by the call that wants them, and kept whatever they gain */
} wick_executor_options;
/* For later calls of modules of this runtime (NULL: of those without one, and of runtimes to come). Calls under way go
 * on as they began. */
WICK_API wick_status wick_set_executor(wick_runtime *runtime, const wick_executor_options *WICK_NULLABLE options,
                                       wick_error **error);
/* What runs groups of pointwise operators as one. Results have the same bits with any. */
enum { WICK_FUSER_DEFAULT = 0, WICK_FUSER_NONE = 1 /* operator by operator */, WICK_FUSER_TILE = 2 /* interpreted */ };
/* For later calls of modules of this runtime (NULL: of those without one) on a kind of device ("cpu"); a call's options
 * go before. WICK_FUSER_DEFAULT: as the environment's WICK_FUSER=none|tile says. */
WICK_API wick_status wick_set_fuser(wick_runtime *runtime, const char *device, uint32_t fuser, wick_error **error);
/* Whose arithmetic quantized linear layers, convolutions and additions follow: "qnnpack" or "onednn" ("fbgemm", "x86"
 * mean the latter), as torch.backends.quantized.engine. The default is onednn on x86, qnnpack elsewhere. runtime NULL:
 * for calls without a runtime. */
WICK_API wick_status wick_set_quantized_engine(wick_runtime *runtime, const char *name, wick_error **error);
/* Switches one of them off, or on again, for the whole process, whoever asks for it. */
WICK_API wick_status wick_enable_fuser(uint32_t fuser, int on, wick_error **error);
/* 0: plans get what is required to run them and nothing else. For later calls, as wick_set_executor. */
WICK_API void wick_set_optimize(wick_runtime *runtime, int optimize);
/* Returns when no plan is being made. */
WICK_API void wick_wait_for_plans(void);

/* ---- values: IValues of TorchScript, immutable but for lists, dicts and objects ---- */
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
WICK_API wick_status wick_value_tuple(const wick_value *const *items, size_t count, wick_value **out,
                                      wick_error **error);
WICK_API wick_status wick_value_dict(const wick_value *const *keys, const wick_value *const *values, size_t count,
                                     wick_value **out, wick_error **error);
/* Readers answer 0, or "" and length 0, for a value of another kind. Numbers convert between int, double and bool. */
WICK_API int64_t wick_value_to_int(const wick_value *value);
WICK_API double wick_value_to_double(const wick_value *value);
WICK_API int wick_value_to_bool(const wick_value *value);
WICK_API void wick_value_to_complex(const wick_value *value, double *WICK_NULLABLE out_real,
                                    double *WICK_NULLABLE out_imaginary);
/* Borrowed from the value, terminated; may hold zero bytes inside. */
WICK_API const char *wick_value_to_string(const wick_value *value, size_t *WICK_NULLABLE out_length);
/* Items of a list or tuple, entries of a dict, attributes of an object; else 0. */
WICK_API size_t wick_value_length(const wick_value *value);
/* Item of a list or tuple, value of a dict's entry, attribute of an object; NULL: no such index. */
WICK_API wick_value *wick_value_item(const wick_value *value, size_t index);
WICK_API wick_value *wick_value_key(const wick_value *dict, size_t index);          /* in order of insertion */
WICK_API wick_value *wick_value_get(const wick_value *dict, const wick_value *key); /* NULL: absent */
WICK_API wick_value *wick_value_get_text(const wick_value *dict_or_object,
                                         const char *name); /* key or attribute; NULL: absent */
/* As print() shows it; bounded. Freed with wick_text_free. */
WICK_API wick_status wick_value_print(const wick_value *value, char **out_text, wick_error **error);
/* TorchScript's name of the value's type: "List[int]", "Tensor". Freed with wick_text_free. */
WICK_API wick_status wick_value_type(const wick_value *value, char **out_text, wick_error **error);
WICK_API void wick_text_free(char *text);
/* A copy that shares nothing, tensors included. */
WICK_API wick_status wick_value_copy(const wick_value *value, wick_value **out, wick_error **error);

/* ---- tensors ---- */
enum { /* dtypes, numbered as PyTorch's ScalarType */
       WICK_UINT8 = 0,
       WICK_INT8 = 1,
       WICK_INT16 = 2,
       WICK_INT32 = 3,
       WICK_INT64 = 4,
       WICK_FLOAT16 = 5,
       WICK_FLOAT32 = 6,
       WICK_FLOAT64 = 7,
       WICK_COMPLEX32 = 8,
       WICK_COMPLEX64 = 9,
       WICK_COMPLEX128 = 10,
       WICK_BOOL8 = 11,
       WICK_QINT8 = 12, /* quantized: wick_tensor_quantizer_of says how */
       WICK_QUINT8 = 13,
       WICK_QINT32 = 14,
       WICK_BFLOAT16 = 15,
       WICK_QUINT4X2 = 16,
       WICK_QUINT2X4 = 17
};
enum { WICK_DEVICE_CPU = 0, WICK_DEVICE_CUDA = 1 }; /* numbered as PyTorch's DeviceType */
enum { WICK_TENSOR_REQUIRES_GRAD = 1, WICK_TENSOR_UNDEFINED = 2, WICK_TENSOR_CONJ = 4 /* data is to be conjugated */ };
typedef struct wick_tensor_view {
  uint32_t size; /* sizeof(wick_tensor_view), set by the caller */
  uint32_t dtype;
  int32_t ndim;
  int32_t device_type, device_index;
  uint32_t reserved;
  uint64_t flags;                 /* WICK_TENSOR_... */
  const int64_t *sizes, *strides; /* ndim each; strides in elements */
  void *data;                     /* of the first element */
} wick_tensor_view;
/* Uninitialised, row-major. */
WICK_API wick_status wick_tensor_new(uint32_t dtype, int32_t ndim, const int64_t *sizes, wick_value **out,
                                     wick_error **error);
/* A tensor over the caller's memory, which must stay until `drop` (may be NULL) is called: once, when the last view of
 * it is gone, from whichever thread that happens on. strides in elements, none negative; NULL: row-major. */
WICK_API wick_status wick_tensor_borrow(void *data, uint32_t dtype, int32_t ndim, const int64_t *sizes,
                                        const int64_t *WICK_NULLABLE strides, void (*WICK_NULLABLE drop)(void *user),
                                        void *user, wick_value **out, wick_error **error);
/* How the integers of a quantized tensor, which wick_tensor_view_of shows, stand for numbers:
 * (q - zero_point) * scale. Such tensors are made by wick_op_call of aten::quantize_per_tensor, or from integers by
 * aten::_make_per_tensor_quantized_tensor (and their forms per channel), and become numbers by aten::dequantize. */
enum { WICK_PER_TENSOR_AFFINE = 0, WICK_PER_CHANNEL_AFFINE = 1, WICK_PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4 };
typedef struct wick_quantizer {
  uint32_t size;                  /* sizeof(wick_quantizer), set by the caller */
  uint32_t scheme;                /* WICK_PER_... */
  double scale;                   /* per tensor */
  int64_t zero_point;             /* per tensor */
  int64_t axis;                   /* per channel: the dimension that the channels are counted along */
  int64_t channels;               /* per channel; else 0 */
  const double *scales;           /* per channel affine: `channels` of them, as long as the value lives; else NULL */
  const int64_t *zero_points;     /* likewise */
  const float *float_scales;      /* of float qparams; else NULL */
  const float *float_zero_points; /* likewise */
} wick_quantizer;
/* Fails for what is no quantized tensor. */
WICK_API wick_status wick_tensor_quantizer_of(const wick_value *tensor, wick_quantizer *out, wick_error **error);
/* What the tensor looks like; pointers hold while the value does and nobody resizes it. Fails for what is no tensor, or
 * has no plain memory. */
WICK_API wick_status wick_tensor_view_of(const wick_value *tensor, wick_tensor_view *out, wick_error **error);
/* The same elements in row-major order: the tensor itself when it is so already. */
WICK_API wick_status wick_tensor_contiguous(const wick_value *tensor, wick_value **out, wick_error **error);
WICK_API const char *wick_dtype_name(uint32_t dtype); /* "float32"; static; "" for an unknown number */

/* ---- modules ---- */
/* Callable from any thread, from several at once: calls read and replace attributes whole, in no order of their own.
 * What they write in place (x.add_(), x[0] = y, resize_) on one tensor is the program's to keep apart. */
typedef struct wick_module wick_module;
enum { WICK_LOAD_READ = 0, WICK_LOAD_MAP = 1 };
typedef struct wick_load_options {
  uint32_t size;
  uint32_t mode; /* WICK_LOAD_READ for files of unknown origin: checksums, no surprises when a file is cut under us.
                    WICK_LOAD_MAP: tensor data stays in the file, mapped privately */
  uint64_t max_bytes;     /* that reading the archive may take; 0: 1 GiB and 16 times the file */
  const char *device_map; /* "cuda=cpu,cuda:1=cpu", "*=cpu"; NULL: devices other than the processor are an error */
  const char *allow_ops;  /* names of operators a program may use ("aten::add"), one a line; NULL: all. Code with others
                             is refused before any of it runs: WICK_UNSUPPORTED, naming them. The list holds for as long
                             as the module lives, for what wick_module_define adds and a resolver brings in, too */
  uint64_t deadline_ns;   /* for loading and compiling, from now; 0: none. WICK_DEADLINE */
  uint64_t max_steps;     /* statements and expressions that may be compiled; 0: no limit. WICK_BUDGET */
} wick_load_options;
/* Reads exactly `length` bytes at `offset`; 0 when it did. */
typedef int wick_read_callback(void *user, uint64_t offset, void *to, size_t length);
/* A TorchScript archive. Nothing in it can run anything but TorchScript. */
WICK_API wick_status wick_load(wick_runtime *runtime, const char *path, const wick_load_options *WICK_NULLABLE options,
                               wick_module **out, wick_error **error);
/* The bytes may go after the call. */
WICK_API wick_status wick_load_memory(wick_runtime *runtime, const void *data, size_t length,
                                      const wick_load_options *WICK_NULLABLE options, wick_module **out,
                                      wick_error **error);
WICK_API wick_status wick_load_callbacks(wick_runtime *runtime, wick_read_callback *read, void *user, uint64_t size,
                                         const wick_load_options *WICK_NULLABLE options, wick_module **out,
                                         wick_error **error);
/* TorchScript source text: its functions are called by name with wick_run. file_name (may be NULL) is for messages. */
WICK_API wick_status wick_compile(wick_runtime *runtime, const char *text, size_t length,
                                  const char *WICK_NULLABLE file_name, wick_module **out, wick_error **error);
/* A value from a file of torch.save, a .npy (a tensor), a .npz or a safetensors file (dicts of tensors), told apart by
 * content. Nothing is executed. */
WICK_API wick_status wick_load_value(wick_runtime *runtime, const char *path,
                                     const wick_load_options *WICK_NULLABLE options, wick_value **out,
                                     wick_error **error);
WICK_API wick_status wick_load_value_memory(wick_runtime *runtime, const void *data, size_t length,
                                            const wick_load_options *WICK_NULLABLE options, wick_value **out,
                                            wick_error **error);
/* The bytes of a .npy of the tensor, freed with wick_text_free. */
WICK_API wick_status wick_tensor_to_npy(const wick_value *tensor, char **out_data, size_t *out_length,
                                        wick_error **error);
WICK_API wick_module *wick_module_retain(wick_module *module);
WICK_API void wick_module_release(wick_module *module); /* NULL is allowed */

/* ---- compiling with names from outside ----
 *
 *   static wick_status resolve(void *user, const char *name, wick_name *out) {
 *     if (strcmp(name, "scale") == 0) out->kind = WICK_NAME_VALUE, out->value = user;
 *     return WICK_OK;
 *   }
 *   wick_compile_options options = {.size = sizeof options, .resolve = resolve, .user = scale};
 *   wick_compile_with(NULL, text, strlen(text), &options, &module, &error);                                */
enum {
  WICK_NAME_UNKNOWN = 0,  /* not the resolver's: the language's own names are tried, then it is an error */
  WICK_NAME_VALUE = 1,    /* `value` becomes a constant of the program. An object (a module, too: wick_module_object)
                             has its attributes and methods */
  WICK_NAME_FUNCTION = 2, /* the function `member` of a compiled text, or the method of a loaded module */
  WICK_NAME_CLASS = 3,    /* the class `member` of `module`'s program, as it names it: "__torch__.Net", "Net" */
  WICK_NAME_NAMESPACE = 4 /* what leads to names: for `config.size` the resolver is asked "config", "config.size" */
};
typedef struct wick_name {
  uint32_t size; /* set by wick */
  uint32_t kind; /* WICK_NAME_...; UNKNOWN when the resolver is called */
  const wick_value *value;
  const wick_module *module;
  const char *member;
} wick_name;
/* What a name stands for that a program uses and does not define, as a value or as a type. `name` is borrowed for the
 * call; so is what the answer points to, until the compilation has returned: then the program holds it itself. An
 * answer other than WICK_OK makes the use of the name an error. It may call wick, but not with the module that is being
 * compiled into. Asked more than once, it must answer the same. */
typedef wick_status wick_resolve_callback(void *user, const char *name, wick_name *out);
typedef struct wick_compile_options {
  uint32_t size;
  uint32_t first_line;            /* the number of the text's first line in messages; 0: 1 */
  const char *file_name;          /* for messages; may be NULL */
  wick_resolve_callback *resolve; /* may be NULL */
  void *user;                     /* given to resolve */
  uint64_t deadline_ns;           /* from now; 0: none. WICK_DEADLINE, and nothing is compiled */
  uint64_t max_steps;             /* statements and expressions that may be compiled; 0: no limit. WICK_BUDGET */
} wick_compile_options;
/* As wick_compile. WICK_SYNTAX and WICK_COMPILE: the message has an excerpt with the place for each mistake. */
WICK_API wick_status wick_compile_with(wick_runtime *runtime, const char *text, size_t length,
                                       const wick_compile_options *WICK_NULLABLE options, wick_module **out,
                                       wick_error **error);
/* Adds to what is there: to a loaded module the text's functions as methods of its class (their first parameter is
 * self), to a compiled text its functions and classes. All or, on failure, nothing; what has a name already is an
 * error. Not while the module, or one of the same program, runs or is asked elsewhere. */
WICK_API wick_status wick_module_define(wick_runtime *runtime, wick_module *module, const char *text, size_t length,
                                        const wick_compile_options *WICK_NULLABLE options, wick_error **error);

/* ---- trees: for front ends that have a syntax tree instead of a text ----
 *
 * A tree has a kind and children, or a text. Kinds go by their names, those of `wick dump --stage tree` in the form
 * "TK_DEF", "TK_APPLY", "TK_IF"; operators of one character are "+", ".", "~". What children each has:
 *
 *   TK_DEF            ident, TK_DECL, list of statements, [list of decorators]
 *   TK_DECL           list of TK_PARAM, option of the return type
 *   TK_PARAM          ident, option of type, option of default, TK_FALSE (TK_TRUE: keyword only)
 *   TK_CLASS_DEF      ident, list of bases, list of statements, list of decorators
 *   TK_ASSIGN         list of targets, option of value, option of type
 *   TK_AUG_ASSIGN     target, an empty tree of the operator, value
 *   TK_IF             condition, list, list
 *   TK_WHILE          condition, list
 *   TK_FOR            list of one target, list of one iterable, list
 *   TK_WITH           list of TK_WITH_ITEM, list
 *   TK_WITH_ITEM      expression, option of target
 *   TK_RETURN         expression (TK_NONE where nothing is written)
 *   TK_RAISE          the same
 *   TK_ASSERT         expression, option of message
 *   TK_DELETE         list of targets
 *   TK_EXPR_STMT      expression
 *   TK_IMPORT         option of ident, list of TK_ALIAS
 *   TK_ALIAS          ident, option of ident
 *   TK_VAR            ident
 *   .                 expression, ident
 *   TK_APPLY          callee, list of expressions, list of TK_ATTRIBUTE
 *   TK_ATTRIBUTE      ident, expression: a keyword argument
 *   TK_SUBSCRIPT      expression, list
 *   TK_SLICE_EXPR     options of start, stop and step
 *   TK_STARRED        expression
 *   TK_IF_EXPR        condition, then, else
 *   TK_LIST_LITERAL   list, and so TK_TUPLE_LITERAL
 *   TK_DICT_LITERAL   list of keys, list of values
 *   TK_LIST_COMP      element, target, iterable, [list of conditions]
 *   TK_DICT_COMP      key, value, target, iterable, [list of conditions]
 *   TK_LIST           any trees
 *   TK_OPTION         nothing, or one tree
 *
 * Two expressions: + - * / % @ & | ^ < > and TK_POW, TK_LSHIFT, TK_RSHIFT, TK_FLOOR_DIV, TK_EQ, TK_NE, TK_LE, TK_GE,
 * TK_AND, TK_OR, TK_IN, TK_IS, TK_ISNOT. One: ~ and TK_NOT, TK_UNARY_MINUS. None: TK_PASS, TK_BREAK, TK_CONTINUE,
 * TK_TRUE, TK_FALSE, TK_NONE, TK_DOTS. A text: TK_IDENT, TK_CONST (a number as it is written), TK_STRINGLITERAL
 * (decoded). */
typedef struct wick_trees wick_trees; /* counted; used by one thread at a time. Holds trees */
typedef struct wick_tree wick_tree;   /* borrowed from its wick_trees, immutable */
/* `text` is what ranges of trees refer to, for messages: copied; NULL: there is none. */
WICK_API wick_status wick_trees_new(const char *WICK_NULLABLE text, size_t length, const char *WICK_NULLABLE file_name,
                                    wick_trees **out, wick_error **error);
WICK_API void wick_trees_release(wick_trees *trees); /* NULL is allowed; programs compiled from them hold them too */
/* begin and end are offsets in the text; both 0 where there is none. Children are of the same wick_trees, and may stand
 * in several trees. WICK_INVALID_ARGUMENT: a kind that is not one, children that do not fit it, a text that is no
 * identifier or number. */
WICK_API wick_status wick_tree_new(wick_trees *trees, const char *kind, const wick_tree *const *children, size_t count,
                                   uint32_t begin, uint32_t end, const wick_tree **out, wick_error **error);
WICK_API wick_status wick_tree_new_text(wick_trees *trees, const char *kind, const char *text, size_t length,
                                        uint32_t begin, uint32_t end, const wick_tree **out, wick_error **error);
/* The TK_LIST of the statements of the text of the wick_trees. */
WICK_API wick_status wick_trees_parse(wick_trees *trees, const wick_tree **out, wick_error **error);
/* As `wick dump --stage tree` prints it. Freed with wick_text_free. */
WICK_API wick_status wick_tree_print(const wick_tree *tree, char **out_text, wick_error **error);
/* As wick_compile_with; `statements` is a TK_LIST of what a file has. Of the options file_name and first_line have no
 * meaning here. */
WICK_API wick_status wick_compile_tree(wick_runtime *runtime, const wick_tree *statements,
                                       const wick_compile_options *WICK_NULLABLE options, wick_module **out,
                                       wick_error **error);
WICK_API wick_status wick_module_define_tree(wick_runtime *runtime, wick_module *module, const wick_tree *statements,
                                             const wick_compile_options *WICK_NULLABLE options, wick_error **error);

/* ---- what a module has ---- */

/* Methods of a module, functions of a compiled text. */
WICK_API size_t wick_module_method_count(const wick_module *module);
/* Borrowed from the module; NULL: no such index. */
WICK_API const char *wick_module_method_name(const wick_module *module, size_t index);
/* "forward(__torch__.Net self, Tensor x) -> Tensor". Freed with wick_text_free. */
WICK_API wick_status wick_module_schema(const wick_module *module, const char *method, char **out_text,
                                        wick_error **error);
/* The module as an object: attributes with wick_value_get_text. None for a compiled text. */
WICK_API wick_value *wick_module_object(const wick_module *module);
WICK_API const char *wick_module_class_name(const wick_module *module); /* "__torch__.Net"; "" for a compiled text */
enum { WICK_ATTRIBUTE = 0, WICK_PARAMETER = 1, WICK_BUFFER = 2 };
/* Saves an archive that wick_load and PyTorch read: the module with its state, code and extra files; of a compiled text
 * the function `entry` (NULL: the first) as the forward of a module. The same module gives the same bytes. A file to
 * which `path` leads, also through symbolic links, is replaced only by a whole one, which gets its mode and, where that
 * is allowed, its owner; a FIFO or a device is written to. Not while the module runs elsewhere. */
WICK_API wick_status wick_module_save(wick_runtime *runtime, const wick_module *module, const char *path,
                                      const char *WICK_NULLABLE entry, wick_error **error);
/* Calls visit for every attribute, depth first, names joined with dots ("layer1.0.weight"); submodules before what they
 * hold. The name is borrowed for the call, the value too; a nonzero answer ends the walk. */
typedef int wick_attribute_visit(void *user, const char *name, uint32_t attribute_kind, const char *type,
                                 const wick_value *value);
WICK_API wick_status wick_module_each(const wick_module *module, wick_attribute_visit *visit, void *user,
                                      wick_error **error);
/* Parameters and buffers by name; the tensors themselves. */
WICK_API wick_status wick_module_state_dict(const wick_module *module, wick_value **out, wick_error **error);
/* Copies a dict of tensors (as wick_load_value reads from a file of torch.save or safetensors) into the parameters and
 * buffers. Names and sizes must be the module's: otherwise the error lists what is missing, unexpected or different,
 * and nothing is changed. Not while the module runs elsewhere. */
WICK_API wick_status wick_module_load_state(wick_module *module, const wick_value *state, wick_error **error);
/* Not while the module runs elsewhere. */
WICK_API wick_status wick_module_train(wick_module *module, int training, wick_error **error);
WICK_API wick_status wick_module_to(wick_module *module, uint32_t floating_dtype, wick_error **error);
/* A new module whose forward (and preserved methods) has the attributes that nobody changes as constants, and the calls
 * inlined. `preserved` names methods and attributes that stay ("scale", "inner.weight", a
 * whole submodule "inner"). Only in evaluation mode. */
WICK_API wick_status wick_module_freeze(wick_runtime *runtime, const wick_module *module, const char *const *preserved,
                                        size_t preserved_count, wick_module **out, wick_error **error);
/* A file of the archive's extra/ folder, borrowed from the module; NULL: absent. */
WICK_API const char *wick_module_extra_file(const wick_module *module, const char *name,
                                            size_t *WICK_NULLABLE out_length);

/* ---- running ---- */
typedef struct wick_cancel wick_cancel;              /* counted; fired from any thread */
WICK_API wick_cancel *wick_cancel_new(void);         /* NULL: out of memory */
WICK_API void wick_cancel_fire(wick_cancel *cancel); /* safe in signal handlers */
WICK_API void wick_cancel_release(wick_cancel *cancel);
/* How long each operator of the calls that record into it took, by the place in the program and the shapes it saw. */
typedef struct wick_profile wick_profile;      /* counted; calls on any number of threads may record into one */
WICK_API wick_profile *wick_profile_new(void); /* NULL: out of memory */
WICK_API void wick_profile_release(wick_profile *profile); /* NULL is allowed */
enum {
  WICK_PROFILE_TABLE = 1, /* a line for each operator, shapes and place, by time: for people */
  WICK_PROFILE_JSON = 2,  /* {"calls", "ms", "interpreter_ms", "rows": [{"op", "overload", "inputs", "output", "source",
                           * "function", "count", "ms", "least_ms", "flops", "bytes"}]}: totals over all calls; flops 0
                           * where not known, bytes those of all tensors read and written */
  WICK_PROFILE_TRACE = 3  /* every run of an operator, as Chrome's trace events (the first 1,048,576) */
};
/* What was recorded so far, as text to be freed with wick_text_free. An operator's time is without that of operators it
 * runs inside; backward passes that wick_backward runs are not recorded. WICK_INVALID_ARGUMENT: no such format. */
WICK_API wick_status wick_profile_print(wick_profile *profile, uint32_t format, char **out_text, wick_error **error);
enum { WICK_GRAD_DEFAULT = 0, WICK_GRAD_ON = 1, WICK_GRAD_OFF = 2 };
typedef struct wick_run_options {
  uint32_t size;
  uint32_t threads;       /* within this call; 0: the runtime's */
  uint32_t grad;          /* WICK_GRAD_...; the default is off */
  uint32_t deterministic; /* nonzero: the same bits on every call */
  uint64_t deadline_ns;   /* from now; 0: none. Running, waiting and standing in a queue end then */
  uint64_t max_steps;     /* loop iterations and calls, of all it forks together; 0: no limit */
  uint64_t max_bytes;     /* that it holds at once (tensors, text, containers), less what it frees; 0: no limit */
  wick_cancel *cancel;    /* may be NULL */
  uint32_t executor;      /* WICK_EXECUTOR_...; 0: the runtime's */
  uint32_t fuser;         /* WICK_FUSER_...; 0: the runtime's */
  wick_profile *profile;  /* where the time of operators is recorded; NULL: nowhere, which costs nothing */
} wick_run_options;
/* Calls a method (or function). `arguments` are borrowed; the last `named_count` of the `count` are named by `names`.
 * Containers are passed as Python passes them to TorchScript: copied, with the types the schema asks for; tensors and
 * objects are passed themselves. `out` NULL, here and wherever it may be: the result is not wanted. */
WICK_API wick_status wick_run(const wick_module *module, const char *method, const wick_value *const *arguments,
                              size_t count, const char *const *names, size_t named_count,
                              const wick_run_options *WICK_NULLABLE options, wick_value **WICK_NULLABLE out,
                              wick_error **error);

/* ---- asynchronous calls ---- */
typedef struct wick_future wick_future; /* counted by its users; the call goes on when all of them let go */
/* As wick_run, but returns at once: the call goes on in wick's threads. The arguments must not be changed meanwhile
 * unless the program is written for it. Errors of the arguments come at once, errors of the run with wick_future_wait.
 */
WICK_API wick_status wick_run_async(const wick_module *module, const char *method, const wick_value *const *arguments,
                                    size_t count, const char *const *names, size_t named_count,
                                    const wick_run_options *WICK_NULLABLE options, wick_future **out,
                                    wick_error **error);
WICK_API int wick_future_done(const wick_future *future);
/* Blocks until the call has ended with all it forked, for timeout_ns at most (0: for ever; afterwards WICK_DEADLINE,
 * and the call goes on). Gives the result, or the call's error, each time it is asked. */
WICK_API wick_status wick_future_wait(wick_future *future, uint64_t timeout_ns, wick_value **WICK_NULLABLE out,
                                      wick_error **error);
/* Calls back once, when the call has ended: on the thread that ended it, or on this one when it has already. The
 * callback must not block for long; wick_future_wait returns at once in it. */
typedef void wick_future_callback(void *user, wick_future *future);
WICK_API wick_status wick_future_then(wick_future *future, wick_future_callback *callback, void *user,
                                      wick_error **error);
WICK_API void wick_future_release(wick_future *future); /* NULL is allowed */

/* ---- gradients ----
 * wick_tensor_set_requires_grad(weight, 1, NULL);
 * options.grad = WICK_GRAD_ON; wick_run(..., &loss, NULL);
 * wick_backward(NULL, (const wick_value *[]){loss}, NULL, 1, 0, &error);
 * wick_tensor_grad(weight, &gradient, NULL);                                      */
enum {
  WICK_RETAIN_GRAPH = 1,
  WICK_CREATE_GRAPH = 2 /* gradients can be differentiated again */,
  WICK_ALLOW_UNUSED = 4
};
/* Of a leaf: a tensor that no recorded call made. */
WICK_API wick_status wick_tensor_set_requires_grad(const wick_value *tensor, int wanted, wick_error **error);
/* *out is NULL when backward left none. */
WICK_API wick_status wick_tensor_grad(const wick_value *tensor, wick_value **out, wick_error **error);
WICK_API wick_status wick_tensor_clear_grad(const wick_value *tensor, wick_error **error);
/* Called by wick_backward, on its thread, with the gradient that is about to be added to a leaf's. *out_replacement
 * (NULL before) may be set to an owned tensor of the same sizes and dtype, which takes its place. A status other than
 * 0, with an error from wick_error_new or none, ends the backward. */
typedef wick_status wick_grad_hook(void *user, const wick_value *grad, wick_value **out_replacement,
                                   wick_error **error);
/* Hooks of a leaf that requires grad run in the order they were added, until they are cleared or the tensor goes;
 * `drop` (may be NULL) is then called with the user's pointer, and at once on failure. Not while a backward runs. */
WICK_API wick_status wick_tensor_add_hook(const wick_value *leaf, wick_grad_hook *hook,
                                          void (*WICK_NULLABLE drop)(void *user), void *user, wick_error **error);
WICK_API wick_status wick_tensor_clear_hooks(const wick_value *leaf, wick_error **error);
/* Adds to the gradients of the leaves that the outputs were computed from. grads (or one of them) may be NULL for
 * outputs of one element. */
WICK_API wick_status wick_backward(wick_runtime *runtime, const wick_value *const *outputs,
                                   const wick_value *const *WICK_NULLABLE grads, size_t count, uint32_t flags,
                                   wick_error **error);
/* The gradients of the inputs in out[input_count]; leaves keep theirs. With WICK_ALLOW_UNUSED out[i] is NULL where the
 * outputs do not depend on an input. */
WICK_API wick_status wick_grad(wick_runtime *runtime, const wick_value *const *outputs,
                               const wick_value *const *WICK_NULLABLE grads, size_t count,
                               const wick_value *const *inputs, size_t input_count, uint32_t flags, wick_value **out,
                               wick_error **error);

/* ---- operators ---- */
/* Calls one operator by its qualified name ("aten::add") and overload ("Tensor"; NULL: the first that fits the
 * arguments). The last `named_count` of the `count` arguments are named by `names`. Several results come as a tuple. */
WICK_API wick_status wick_op_call(wick_runtime *runtime, const char *name, const char *WICK_NULLABLE overload,
                                  const wick_value *const *arguments, size_t count, const char *const *names,
                                  size_t named_count, wick_value **WICK_NULLABLE out, wick_error **error);
/* The same with a call's options; executor, fuser and max_steps concern programs alone. */
WICK_API wick_status wick_op_call_with(wick_runtime *runtime, const char *name, const char *WICK_NULLABLE overload,
                                       const wick_value *const *arguments, size_t count, const char *const *names,
                                       size_t named_count, const wick_run_options *WICK_NULLABLE options,
                                       wick_value **WICK_NULLABLE out, wick_error **error);
typedef struct wick_call wick_call; /* one invocation of an operator; ends with the kernel's return */
WICK_API size_t wick_call_argument_count(const wick_call *call);
WICK_API wick_value *wick_call_argument(wick_call *call, size_t index); /* NULL: no such index, or no memory */
WICK_API void wick_call_set_result(wick_call *call, size_t index, const wick_value *value);
/* Computes; on failure sets *error (wick_error_new) and returns its status. Must not keep the call. Called from any
 * thread. */
typedef wick_status wick_kernel(void *user, wick_call *call, wick_error **error);
/* Adds an operator for the rest of the process: "my_namespace::magic(Tensor x, int n=2) -> Tensor". Overloads that
 * differ only in returns are refused. */
WICK_API wick_status wick_op_register(const char *schema, wick_kernel *kernel, void *user, wick_error **error);
/* Opens a shared library and calls its `wick_status wick_library_init(wick_error **error)`, which registers operators.
 */
WICK_API wick_status wick_load_library(const char *path, wick_error **error);
/* Whether an operator of that name is there. */
WICK_API int wick_op_exists(const char *name);

#ifdef __cplusplus
}
#endif
#endif
