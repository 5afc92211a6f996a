/* What the views need besides their table. */
#include "syntax/view.h"

_Noreturn void unsupported_throw(Arena *arena, const Tree *tree) {
  assert(tree->kind == TK_UNSUPPORTED);
  bool says_so = memmem(tree->text.data, tree->text.length, "support", 7) != NULL;
  tree_error(arena, tree, STR_FMT "%s", STR_ARG(tree->text), says_so ? "" : " is not supported in TorchScript");
}

/* The digits without their sign: `digits` beyond int64 are out of range. */
static NumberKind parse_int(Str digits, int base, bool negative, int64_t *out_int) {
  char text[72];
  if (digits.length > sizeof text - 1) return NUMBER_OUT_OF_RANGE;
  size_t length = 0;
  if (negative) text[length++] = '-';
  memcpy(text + length, digits.data, digits.length);
  length += digits.length;
  return str_to_int64((Str){text, length}, base, out_int) ? NUMBER_INT : NUMBER_OUT_OF_RANGE;
}

NumberKind number_parse(Str text, bool negative, int64_t *out_int, double *out_float) {
  *out_int = 0;
  *out_float = 0;
  char base = text.length > 2 && text.data[0] == '0' ? text.data[1] | 0x20 : 0;
  if (base == 'x' || base == 'o' || base == 'b')
    return parse_int(str_slice(text, 2, text.length), base == 'x' ? 16 : base == 'o' ? 8 : 2, negative, out_int);
  char last = text.length ? text.data[text.length - 1] | 0x20 : 0;
  bool whole = true;
  for (size_t i = 0; i < text.length; i++) whole &= text.data[i] >= '0' && text.data[i] <= '9';
  if (whole) return parse_int(text, 10, negative, out_int);
  if (!str_to_double(last == 'j' ? str_slice(text, 0, text.length - 1) : text, out_float)) return NUMBER_OUT_OF_RANGE;
  if (negative) *out_float = -*out_float;
  return last == 'j' ? NUMBER_COMPLEX : NUMBER_FLOAT;
}
