/* Which dtypes a row takes, read from its text once: CallPlan keeps the bits. */
#include "call/row_dtypes.h"

#include <assert.h>

#include "call/call_plan.h"
#include "call/pointwise.h"

static const struct {
  const char *name;
  uint64_t taken;
} kinds[] = {
#define BIT(name) (UINT64_C(1) << DTYPE_##name)
    {"bool", BIT(BOOL)},
    {"integral", BIT(UINT8) | BIT(INT8) | BIT(INT16) | BIT(INT32) | BIT(INT64)},
    {"int64", BIT(INT64)},
    {"floating", BIT(FLOAT16) | BIT(BFLOAT16) | BIT(FLOAT32) | BIT(FLOAT64)},
    {"complex", BIT(COMPLEX32) | BIT(COMPLEX64) | BIT(COMPLEX128)},
    {"promoted", UINT64_C(1) << 63}, /* the bit that call_check_dtype reads */
};
#define QUANTIZED (BIT(QINT8) | BIT(QUINT8) | BIT(QINT32) | BIT(QUINT4X2) | BIT(QUINT2X4))
/* Where the row's flags do not take them, no call comes this far. */
#define LIMITED                                                                                             \
  (BIT(UINT16) | BIT(UINT32) | BIT(UINT64) | BIT(FLOAT8_E5M2) | BIT(FLOAT8_E4M3FN) | BIT(FLOAT8_E5M2FNUZ) | \
   BIT(FLOAT8_E4M3FNUZ) | BIT(FLOAT8_E8M0FNU))
_Static_assert(DTYPE_COUNT < 63, "a bit for each dtype, and one");

/* False where a word is no kind of dtypes. */
static bool read_kinds(const OpRow *row, uint64_t *out) {
  assert(row->dtypes);
  *out = QUANTIZED | LIMITED;
  const char *p = strchr(row->dtypes, ':');
  if (!p) return false;
  for (p += strspn(p, ": "); *p;) {
    size_t length = strcspn(p, " "), i = 0;
    while (i < sizeof kinds / sizeof *kinds && (strncmp(p, kinds[i].name, length) != 0 || kinds[i].name[length])) i++;
    if (i == sizeof kinds / sizeof *kinds) return false;
    *out |= kinds[i].taken;
    p += length + strspn(p + length, " ");
  }
  return *out != (QUANTIZED | LIMITED);
}

uint64_t row_dtypes_taken(const OpRow *row) {
  uint64_t taken;
  return row->dtypes && read_kinds(row, &taken) ? taken : UINT64_MAX;
}

bool row_dtypes_is_valid(const OpRow *row) {
  uint64_t taken;
  return !row->dtypes || read_kinds(row, &taken);
}

Str row_dtypes_name(const OpRow *row) {
  return row->dtypes ? str_slice(str_from(row->dtypes), 0, strcspn(row->dtypes, ":")) : STR("");
}

Status call_check_computed_dtype(const Call *call, DType dtype) {
  if (!call->op->row->dtypes) return OK;
  const CallPlan *plan;
  TRY(call_plan(call->op, &plan));
  return dtype >= DTYPE_COUNT || plan->taken >> dtype & 1 ? OK : call_unsupported_dtype(call, dtype);
}

Status call_check_dtype(const Call *call) {
  if (!call->op->row->dtypes || call->op->row->lower) return OK;
  const CallPlan *plan;
  DType dtype;
  TRY(call_plan(call->op, &plan));
  if (plan->taken >> 63) {
    TRY(pointwise_promote(call, &dtype));
  } else {
    if (call->inputs[0].tag != TAG_TENSOR || !tensor_is_defined(call->inputs[0].tensor)) return OK;
    dtype = (DType)call->inputs[0].tensor->dtype;
  }
  return call_check_computed_dtype(call, dtype);
}
