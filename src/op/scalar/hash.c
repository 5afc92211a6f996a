/* hash(): the numbers that PyTorch gives on Linux, so that features hashed by a saved model are those it was trained
 * with. Integers are their own; text and floats go through MurmurHash64A (A. Appleby, 2008) as libstdc++ seeds it;
 * tuples combine their elements as boost does. Dicts hash in another way: theirs is a secret of the process. */
#include "call/results.h"
#include "call/row.h"

static const uint64_t MULTIPLIER = 0xc6a4a7935bd1e995, SEED = 0xc70f6907;

static uint64_t fold(uint64_t v) {
  return v ^ (v >> 47);
}

static uint64_t hash_bytes(const void *data, size_t length) {
  const unsigned char *p = data;
  uint64_t h = SEED ^ (length * MULTIPLIER);
  for (; length >= 8; length -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    h = (h ^ fold(word * MULTIPLIER) * MULTIPLIER) * MULTIPLIER;
  }
  if (length) {
    uint64_t rest = 0;
    for (size_t i = 0; i < length; i++) rest |= (uint64_t)p[i] << 8 * i;
    h = (h ^ rest) * MULTIPLIER;
  }
  return fold(fold(h) * MULTIPLIER);
}

static uint64_t hash_double(double value) {
  return value == 0 ? 0 : hash_bytes(&value, sizeof value); /* of both zeros */
}

static Status hash_value(IValue v, uint64_t *out);

/* Types nest TYPE_MAX_DEPTH deep at most. */
static Status hash_tuple(const Tuple *tuple, uint64_t *out) {
  *out = 0;
  for (uint32_t i = 0; i < tuple->length; i++) {
    uint64_t element;
    TRY(hash_value(tuple->values[i], &element));
    *out ^= element + 0x9e3779b9 + (*out << 6) + (*out >> 2);
  }
  return OK;
}

static Status hash_value(IValue v, uint64_t *out) {
  switch (v.tag) {
    case TAG_NONE:
      *out = 0;
      return OK;
    case TAG_INT:
      *out = (uint64_t)v.i;
      return OK;
    case TAG_BOOL:
      *out = v.b;
      return OK;
    case TAG_FLOAT:
      *out = hash_double(v.f);
      return OK;
    case TAG_STRING:
      *out = hash_bytes(ivalue_str(v).data, ivalue_str(v).length);
      return OK;
    case TAG_DEVICE:
      *out = (uint64_t)v.device.type << 16 | (uint8_t)v.device.index;
      return OK;
    case TAG_TUPLE:
      return hash_tuple(v.tuple, out);
    default:
      return ivalue_hash(v, out);
  }
}

static Status kernel_hash(Call *c) {
  uint64_t value;
  TRY(hash_value(c->inputs[0], &value));
  return result_int(c, 0, (int64_t)value);
}

static const OpRow rows[] = {
    {.schema = "aten::hash.generic(t value) -> int",
     .kernel = kernel_hash,
     .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE},
};
OP_TABLE(op_table_hash, rows);
