/* wick/tensor: what a tensor looks like, and tensors over memory that is there. */
#ifndef WICK_TENSOR_H
#define WICK_TENSOR_H

#include "wick/value.h"

#ifdef __cplusplus
extern "C" {
#endif

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
       WICK_QUINT2X4 = 17,
       /* of PyTorch 2.x: for storing, few operators take them */
       WICK_FLOAT8_E5M2 = 23,
       WICK_FLOAT8_E4M3FN = 24,
       WICK_FLOAT8_E5M2FNUZ = 25,
       WICK_FLOAT8_E4M3FNUZ = 26,
       WICK_UINT16 = 27,
       WICK_UINT32 = 28,
       WICK_UINT64 = 29,
       WICK_FLOAT8_E8M0FNU = 44,
       WICK_DTYPE_LIMIT = 64 /* all dtypes are below; wick_dtype_name gives "" for numbers between that are none */
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
/* Uninitialized, row-major. */
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
typedef struct wick_tensor_spec { /* what a tensor looks like, or a result will */
  uint32_t dtype;                 /* WICK_FLOAT32 ... */
  int32_t ndim;
  int64_t sizes[32];
} wick_tensor_spec;
/* Of any tensor that is defined, also where its elements can't be reached. */
WICK_API wick_status wick_tensor_spec_of(const wick_value *tensor, wick_tensor_spec *out, wick_error **error);
enum { /* flags of wick_tensor_info */
       WICK_INFO_REQUIRES_GRAD = 1,
       WICK_INFO_LEAF = 2,
       WICK_INFO_CONJ = 4,
       WICK_INFO_NEG = 8,
       WICK_INFO_UNDEFINED = 16,
       WICK_INFO_SPARSE = 32,
       WICK_INFO_QUANTIZED = 64,
       WICK_INFO_META = 128,   /* no data */
       WICK_INFO_OPAQUE = 256, /* data that only operators reach */
       WICK_INFO_CONTIGUOUS = 512,
       WICK_INFO_READ_ONLY = 1024 /* memory that nobody may write to */
};
typedef struct wick_tensor_info {
  uint32_t size; /* sizeof(wick_tensor_info), set by the caller */
  uint32_t dtype;
  uint32_t flags; /* WICK_INFO_... */
  int32_t ndim;
  int32_t device_type, device_index;
  int64_t count;  /* of elements */
  int64_t offset; /* of the first element in its storage, in elements */
  uint64_t storage_bytes;
  uint32_t version; /* how often the storage was written to by operators */
  uint32_t reserved;
  const int64_t *sizes, *strides; /* ndim each, as long as the value lives and nobody resizes it */
} wick_tensor_info;
/* Of any tensor, without a look at its elements: cheap, and no operator minds that it was asked. */
WICK_API wick_status wick_tensor_info_of(const wick_value *tensor, wick_tensor_info *out, wick_error **error);
/* What floats become that are given no dtype, for the whole process: WICK_FLOAT32 unless it is set. A floating dtype;
 * plans that were made are given back. */
WICK_API uint32_t wick_default_dtype(void);
WICK_API wick_status wick_set_default_dtype(uint32_t dtype, wick_error **error);
/* One address that an embedder hangs on a tensor, to find what stands for it when a program gives it back; NULL: none.
 * wick neither follows nor copies it, and it goes with the tensor. By one thread at a time. */
WICK_API void *wick_tensor_mark(const wick_value *tensor); /* NULL for what is no tensor */
WICK_API void wick_tensor_set_mark(wick_value *tensor, void *WICK_NULLABLE mark);
/* The tensor shows what `source` does from now on, over its memory: its sizes, dtype and device too, wherever it is
 * held. Whether it requires grad, its gradient and history stay. Not while programs use it elsewhere. */
WICK_API wick_status wick_tensor_set_data(wick_value *tensor, const wick_value *source, wick_error **error);
/* The same elements in row-major order: the tensor itself when it is so already. */
WICK_API wick_status wick_tensor_contiguous(const wick_value *tensor, wick_value **out, wick_error **error);
/* The bytes of a .npy of the tensor, freed with wick_text_free. */
WICK_API wick_status wick_tensor_to_npy(const wick_value *tensor, char **out_data, size_t *out_length,
                                        wick_error **error);
/* Writes them to a file. An older one is replaced as by wick_module_save. */
WICK_API wick_status wick_tensor_save_npy(const wick_value *tensor, const char *path, wick_error **error);
/* A dict of tensors by text as a .npz, which wick_load_value and NumPy read. */
WICK_API wick_status wick_tensors_save_npz(const wick_value *tensors, const char *path, wick_error **error);
/* How many elements; 0 for what is no tensor. */
WICK_API int64_t wick_tensor_count(const wick_value *tensor);
/* The first element of a row-major tensor; NULL for any other value. Holds as wick_tensor_view_of's. */
WICK_API const void *wick_tensor_data(const wick_value *tensor);
/* The same for who writes; NULL also where nobody may (WICK_INFO_READ_ONLY). */
WICK_API void *wick_tensor_mutable_data(wick_value *tensor);
/* Writes all elements from `data`, or reads them to it: row-major, of the tensor's dtype, `bytes` in all (else
 * WICK_INVALID_ARGUMENT). The tensor may have any strides. */
WICK_API wick_status wick_tensor_copy_from(wick_value *tensor, const void *data, size_t bytes, wick_error **error);
WICK_API wick_status wick_tensor_copy_to(const wick_value *tensor, void *data, size_t bytes, wick_error **error);
WICK_API const char *wick_dtype_name(uint32_t dtype); /* "float32"; static; "" for an unknown number */
WICK_API size_t wick_dtype_bytes(uint32_t dtype);     /* of an element; 0 for an unknown number */

#ifdef __cplusplus
}
#endif
#endif
