#include "call/convert.h"

#include <math.h>

/* What it holds, as a number of its dtype's kind; false: there is nothing to read. */
static bool element_of(IValue v, IValue *out, Status *status) {
  if (v.tag != TAG_TENSOR || !tensor_is_defined(v.tensor) || v.tensor->numel != 1) return false;
  const Tensor *t = v.tensor;
  if (t->flags & TENSOR_UNUSUAL & ~(uint32_t)(TENSOR_CONJ | TENSOR_NEG)) return false;
  DType dtype = (DType)t->dtype;
  if (dtype_is_complex(dtype))
    *status = ivalue_from_complex(tensor_item_complex(t), out);
  else if (dtype == DTYPE_BOOL)
    *out = ivalue_bool(tensor_item_bool(t));
  else if (dtype_is_floating(dtype))
    *out = ivalue_float(tensor_item_double(t));
  else
    *out = ivalue_int(tensor_item_int(t));
  return true;
}

static bool is_real(IValue number) {
  return number.tag != TAG_COMPLEX || __imag__ ivalue_complex(number) == 0;
}

static double real_of(IValue number) {
  return number.tag == TAG_COMPLEX ? __real__ ivalue_complex(number) : ivalue_to_double(number);
}

/* Numbers that are no tensor's fit an int only when they are whole by their kind. */
static bool to_int(IValue number, bool of_tensor, IValue *out) {
  if (number.tag == TAG_INT || number.tag == TAG_BOOL) {
    *out = ivalue_int(number.tag == TAG_INT ? number.i : number.b);
    return true;
  }
  if (!of_tensor || !is_real(number)) return false;
  double value = trunc(real_of(number));
  if (!(value >= -0x1p63 && value < 0x1p63)) return false;
  *out = ivalue_int((int64_t)value);
  return true;
}

static bool to_float(IValue number, bool of_tensor, IValue *out) {
  if (number.tag == TAG_COMPLEX && (!of_tensor || !is_real(number))) return false;
  *out = ivalue_float(real_of(number));
  return true;
}

static bool is_true(IValue number) {
  if (number.tag == TAG_COMPLEX) return ivalue_complex(number) != 0;
  return number.tag == TAG_FLOAT ? number.f != 0 : number.tag == TAG_INT ? number.i != 0 : number.b;
}

static bool to_bool(IValue number, Conversion allowed, IValue *out) {
  if (allowed < CONVERT_ANYTHING && number.tag != TAG_BOOL) return false;
  *out = ivalue_bool(is_true(number));
  return true;
}

static bool to_device(IValue text, IValue *out) {
  Device device;
  if (text.tag != TAG_STRING) return false;
  Status status = device_parse(ivalue_str(text), &device);
  bool fits = status == OK;
  status_free(status);
  if (fits) *out = ivalue_device(device);
  return fits;
}

static bool is_number(IValue v) {
  return v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL || v.tag == TAG_COMPLEX;
}

Status value_convert_number(IValue value, const Type *type, Conversion allowed, IValue *out, bool *out_fits) {
  IValue number = value;
  Status status = OK;
  *out = IVALUE_NONE;
  *out_fits = allowed >= CONVERT_NUMBERS && type->kind == TYPE_DEVICE && to_device(value, out);
  if (type->kind == TYPE_NUMBER && is_number(value)) {
    *out = ivalue_retain(value);
    *out_fits = true;
  }
  if (allowed < CONVERT_NUMBERS || type->kind == TYPE_DEVICE || type->kind == TYPE_NUMBER) return OK;
  bool of_tensor = allowed >= CONVERT_ANYTHING && element_of(value, &number, &status);
  if (status) return status;
  if (type->kind == TYPE_BOOL && value.tag == TAG_NONE && allowed >= CONVERT_ANYTHING) {
    *out = ivalue_bool(false);
    *out_fits = true;
    return OK;
  }
  if (is_number(number)) {
    if (type->kind == TYPE_INT) *out_fits = to_int(number, of_tensor, out);
    if (type->kind == TYPE_FLOAT) *out_fits = to_float(number, of_tensor, out);
    if (type->kind == TYPE_BOOL) *out_fits = to_bool(number, allowed, out);
    if (type->kind == TYPE_COMPLEX) {
      status = ivalue_from_complex(ivalue_to_complex(number), out);
      *out_fits = status == OK;
    }
  }
  if (of_tensor) ivalue_release(number);
  return status;
}
