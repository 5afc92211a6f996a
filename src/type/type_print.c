/* Types as text, in three ways: as graphs show them, as schemas and messages do, and as Python annotations. A type is a
 * DAG whose tree may be exponential, so the text is cut at a bound. */
#include "report/jit_log.h"
#include "type/type.h"

typedef enum Style { STYLE_GRAPH, STYLE_STR, STYLE_ANNOTATION } Style;

static void print(const Type *type, Style style, StrBuf *out);

static const char *const simple_names[TYPE_ERROR + 1] = {[TYPE_ANY] = "Any",
                                                         [TYPE_TENSOR] = "Tensor",
                                                         [TYPE_INT] = "int",
                                                         [TYPE_FLOAT] = "float",
                                                         [TYPE_COMPLEX] = "complex",
                                                         [TYPE_BOOL] = "bool",
                                                         [TYPE_STRING] = "str",
                                                         [TYPE_NONE] = "NoneType",
                                                         [TYPE_NUMBER] = "Scalar",
                                                         [TYPE_DEVICE] = "Device",
                                                         [TYPE_GENERATOR] = "Generator",
                                                         [TYPE_STREAM] = "Stream",
                                                         [TYPE_STORAGE] = "Storage",
                                                         [TYPE_QSCHEME] = "QScheme",
                                                         [TYPE_CAPSULE] = "Capsule",
                                                         [TYPE_FUNCTION] = "Function",
                                                         [TYPE_ANY_LIST] = "list",
                                                         [TYPE_ANY_TUPLE] = "tuple",
                                                         [TYPE_ANY_CLASS] = "AnyClassType",
                                                         [TYPE_ANY_ENUM] = "AnyEnumType",
                                                         [TYPE_ERROR] = "<error>"};

static void print_tensor(const TensorInfo *info, StrBuf *out) {
  bool has_shape = info->ndim >= 0;
  if (info->dtype >= 0) strbuf_puts(out, dtype_scalar_name((DType)info->dtype));
  if (info->dtype < 0 || !has_shape) strbuf_puts(out, "Tensor");
  int verbosity = jit_type_verbosity();
  const char *separator = has_shape ? "" : "(";
  if (has_shape) {
    strbuf_char(out, '(');
    bool strides_known = info->has_strides && info->ndim > 0;
    for (int i = 0; i < info->ndim; i++) {
      strbuf_puts(out, separator);
      separator = ", ";
      if (info->has_sizes && info->sizes[i] >= 0)
        strbuf_printf(out, "%lld", (long long)info->sizes[i]);
      else if (info->has_sizes && info->sizes[i] < -1 && verbosity >= TYPE_VERBOSITY_SYMBOLIC)
        strbuf_printf(out, "SS(%lld)", (long long)info->sizes[i] + 1);
      else
        strbuf_char(out, '*');
      strides_known = strides_known && info->strides[i] >= 0;
    }
    if (strides_known && verbosity >= TYPE_VERBOSITY_STRIDE) {
      strbuf_puts(out, ", strides=[");
      for (int i = 0; i < info->ndim; i++) strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)info->strides[i]);
      strbuf_char(out, ']');
    }
  }
  if (info->requires_grad >= 0 && verbosity >= TYPE_VERBOSITY_FULL) {
    strbuf_printf(out, "%srequires_grad=%d", separator, info->requires_grad);
    separator = ", ";
  }
  if (info->device_type >= 0 && verbosity >= TYPE_VERBOSITY_FULL) {
    strbuf_printf(out, "%sdevice=", separator);
    separator = ", ";
    device_print((Device){(int16_t)info->device_type, (int16_t)info->device_index}, out);
  }
  if (has_shape || *separator == ',') strbuf_char(out, ')');
  if (info->undefined == 1) strbuf_puts(out, "[Undefined]");
}

static void print_elements(const Type *type, Style style, StrBuf *out) {
  for (uint32_t i = 0; i < type->count && !out->truncated; i++) {
    if (i) strbuf_puts(out, ", ");
    print(type->elements[i], style, out);
  }
}

/* `Name[a, b]` in annotations, `Name(a, b)` elsewhere. */
static void print_generic(const char *name, const Type *type, Style style, StrBuf *out) {
  strbuf_puts(out, name);
  strbuf_char(out, style == STYLE_ANNOTATION ? '[' : '(');
  print_elements(type, style == STYLE_ANNOTATION ? style : STYLE_STR, out);
  strbuf_char(out, style == STYLE_ANNOTATION ? ']' : ')');
}

static void print_tuple(const Type *type, Style style, StrBuf *out) {
  if (type->field_names && style == STYLE_GRAPH) {
    strbuf_puts(out, "NamedTuple(");
    for (uint32_t i = 0; i < type->count && !out->truncated; i++) {
      strbuf_printf(out, "%s" STR_FMT " : ", i ? ", " : "", STR_ARG(type->field_names[i]));
      print(type->elements[i], style, out);
    }
    strbuf_char(out, ')');
  } else if (type->name.length) {
    strbuf_str(out, type->name);
  } else if (style == STYLE_ANNOTATION) {
    strbuf_puts(out, "Tuple[");
    if (!type->count) strbuf_puts(out, "()");
    print_elements(type, style, out);
    strbuf_char(out, ']');
  } else {
    strbuf_char(out, '(');
    print_elements(type, style, out);
    strbuf_char(out, ')');
  }
}

/* A one-element type: prefix Name[...], or postfix, as the style has it. */
static void print_wrapper(const char *name, const char *postfix, const Type *type, Style style, StrBuf *out) {
  if (style != STYLE_ANNOTATION && postfix) {
    print(type->elements[0], style, out);
    strbuf_puts(out, postfix);
    return;
  }
  strbuf_puts(out, name);
  strbuf_char(out, style == STYLE_STR ? '(' : '[');
  print(type->elements[0], style, out);
  strbuf_char(out, style == STYLE_STR ? ')' : ']');
}

static Str unqualified(Str name) {
  ptrdiff_t dot = str_rfind_char(name, '.');
  return dot < 0 ? name : str_slice(name, (size_t)dot + 1, name.length);
}

static void print(const Type *type, Style style, StrBuf *out) {
  if (out->truncated || out->failed) return;
  switch (type->kind) {
    case TYPE_TENSOR:
      if (type->tensor && style == STYLE_GRAPH)
        print_tensor(type->tensor, out);
      else
        strbuf_puts(out, "Tensor");
      return;
    case TYPE_LIST:
      print_wrapper("List", "[]", type, style, out);
      return;
    case TYPE_OPTIONAL:
      print_wrapper("Optional", "?", type, style, out);
      return;
    case TYPE_FUTURE:
      print_wrapper("Future", NULL, type, style, out);
      return;
    case TYPE_RREF:
      print_wrapper("RRef", NULL, type, style, out);
      return;
    case TYPE_AWAIT:
      print_wrapper("Await", NULL, type, style, out);
      return;
    case TYPE_DICT:
      print_generic("Dict", type, style, out);
      return;
    case TYPE_UNION:
      print_generic("Union", type, style, out);
      return;
    case TYPE_TUPLE:
      print_tuple(type, style, out);
      return;
    case TYPE_CLASS:
    case TYPE_VAR:
      strbuf_str(out, type->name);
      return;
    case TYPE_ENUM:
      strbuf_printf(out, style == STYLE_ANNOTATION ? STR_FMT : "Enum<" STR_FMT ">", STR_ARG(type->name));
      return;
    case TYPE_INTERFACE:
      if (style == STYLE_ANNOTATION)
        strbuf_str(out, type->name);
      else
        strbuf_printf(out, "InterfaceType<" STR_FMT ">", STR_ARG(unqualified(type->name)));
      return;
    case TYPE_NUMBER:
      strbuf_puts(out, style == STYLE_ANNOTATION ? "number" : "Scalar");
      return;
    default:
      strbuf_puts(out, simple_names[type->kind]);
      return;
  }
}

static void print_bounded(const Type *type, Style style, StrBuf *out) {
  enum { MAX_TEXT = 1 << 16 };
  size_t limit = out->max_length;
  if (!limit || limit - out->length > MAX_TEXT) out->max_length = out->length + MAX_TEXT;
  bool own_limit = out->max_length != limit;
  print(type, style, out);
  out->max_length = limit;
  if (own_limit && out->truncated) {
    out->truncated = false;
    strbuf_puts(out, "...");
  }
}

void type_print(const Type *type, StrBuf *out) {
  print_bounded(type, STYLE_GRAPH, out);
}
void type_print_str(const Type *type, StrBuf *out) {
  print_bounded(type, STYLE_STR, out);
}
void type_print_annotation(const Type *type, StrBuf *out) {
  print_bounded(type, STYLE_ANNOTATION, out);
}
