/* The listing of Code: `wick dump --stage bytecode`. One line for an instruction: place, the documents' word, outputs =
 * name with operands, `move(r)` where a value dies. */
#include "interp/code.h"

#include <assert.h>

static const struct {
  const char *name, *word;
  enum Form {
    FORM_AB,
    FORM_A,
    FORM_TARGET,
    FORM_BRANCH,
    FORM_COMPARE_BRANCH,
    FORM_LOOP,
    FORM_ARGS,
    FORM_ABC,
    FORM_BC,
    FORM_MAKE,
    FORM_SPREAD,
    FORM_ABN,
    FORM_SITE_AB,
    FORM_NBC,
    FORM_SITE
  } form;
} table[] = {
#define X(name, word, form, meaning) {#name, word, FORM_##form},
    INSTRUCTIONS(X)
#undef X
};

static void operand(uint32_t o, bool move, StrBuf *out) {
  uint32_t r = OPERAND_REGISTER(o);
  move |= (o & OPERAND_MOVE) != 0;
  strbuf_printf(out, move ? "move(%u)" : "%u", r);
}

static void arguments(const Code *code, const Site *site, StrBuf *out) {
  for (uint32_t i = 0; i < site->arg_count; i++) {
    strbuf_puts(out, i ? ", " : " ");
    operand(code->operands[site->arg_begin + i], false, out);
  }
}

static void outputs(const Code *code, const Site *site, StrBuf *out) {
  for (uint32_t i = 0; i < site->output_count; i++) {
    uint32_t r = code->operands[site->output_begin + i];
    if (i) strbuf_puts(out, ", ");
    if (r == NO_REGISTER)
      strbuf_char(out, '_');
    else
      strbuf_printf(out, "%u", r);
  }
  strbuf_puts(out, " = ");
}

static void lower(const char *name, StrBuf *out) {
  for (; *name; name++) strbuf_char(out, *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name);
}

static void print_site(const Code *code, const Instruction *i, StrBuf *out) {
  assert(i->a < code->site_count);
  const Site *site = &code->sites[i->a];
  outputs(code, site, out);
  if (site->op || i->op == INST_UNSUPPORTED) {
    Str name = site->op ? site->op->name : site->name;
    ptrdiff_t colon = str_rfind_char(name, ':');
    strbuf_str(out, str_slice(name, (size_t)(colon + 1), name.length));
  } else if (site->function) {
    strbuf_str(out, site->function->name);
  } else if (site->name.length) {
    strbuf_str(out, site->name);
  } else {
    lower(table[i->op].name, out);
  }
  arguments(code, site, out);
}

static void print_instruction(const Code *code, const Instruction *i, StrBuf *out) {
  assert(i->op < INST_COUNT);
  bool b = i->flags & MOVES_B, c = i->flags & MOVES_C, a = i->flags & MOVES_A;
  switch (table[i->op].form) {
    case FORM_SITE:
      print_site(code, i, out);
      return;
    case FORM_SPREAD:
      print_site(code, i, out);
      return;
    case FORM_MAKE:
      strbuf_printf(out, "%u = ", i->a);
      lower(table[i->op].name, out);
      arguments(code, &code->sites[i->b], out);
      return;
    case FORM_ARGS:
      strbuf_puts(out, "return");
      for (uint32_t k = 0; k < i->c; k++) {
        strbuf_puts(out, k ? ", " : " ");
        operand(code->operands[i->b + k], false, out);
      }
      return;
    case FORM_TARGET:
      strbuf_printf(out, "-> %u", i->a);
      return;
    default:
      break;
  }
  bool stores = table[i->op].form == FORM_AB || table[i->op].form == FORM_ABC || table[i->op].form == FORM_ABN ||
                table[i->op].form == FORM_SITE_AB;
  bool is_store = i->op == INST_LIST_SET || i->op == INST_LIST_SET_INT || i->op == INST_LIST_SET_FLOAT ||
                  i->op == INST_LIST_SET_BOOL || i->op == INST_DICT_SET;
  if (stores && !is_store) strbuf_printf(out, "%u = ", i->a);
  lower(table[i->op].name, out);
  strbuf_char(out, ' ');
  switch (table[i->op].form) {
    case FORM_A:
      operand(i->a, a, out);
      break;
    case FORM_AB:
    case FORM_SITE_AB:
      operand(i->b, b || i->op == INST_MOVE, out);
      break;
    case FORM_ABN:
      operand(i->b, b, out);
      strbuf_printf(out, " [%u]", i->c);
      break;
    case FORM_NBC:
      operand(i->b, b, out);
      strbuf_printf(out, " [%u], ", i->a);
      operand(i->c, c, out);
      break;
    case FORM_BRANCH:
      operand(i->b, b, out);
      strbuf_printf(out, " -> %u", i->a);
      break;
    case FORM_COMPARE_BRANCH:
    case FORM_LOOP:
      operand(i->b, b, out);
      strbuf_puts(out, ", ");
      operand(i->c, c, out);
      strbuf_printf(out, " -> %u", i->a);
      break;
    default:
      if (is_store) {
        operand(i->a, a, out);
        strbuf_puts(out, ", ");
      }
      operand(i->b, b, out);
      strbuf_puts(out, ", ");
      operand(i->c, c, out);
  }
}

static void print_code(const Code *code, StrBuf *out) {
  strbuf_str(out, code->name);
  strbuf_printf(out, ": %u registers\n", code->register_count);
  for (uint32_t i = 0; i < code->parameter_count; i++) strbuf_printf(out, i ? ", %u" : "%u", i);
  if (code->parameter_count) strbuf_puts(out, " = LOAD parameters\n");
  for (uint32_t i = 0; i < code->constant_count; i++) {
    strbuf_printf(out, "%u = LOADC ", code->parameter_count + i);
    StrBuf text = {.max_length = 200};
    Status status = code->constants[i].tag == TAG_TENSOR || code->constants[i].tag == TAG_FUNCTION
                        ? OK
                        : ivalue_print_repr(code->constants[i], &text);
    if (status)
      status_free(status);
    else if (code->constants[i].tag == TAG_TENSOR)
      strbuf_puts(&text, "<Tensor>");
    else if (code->constants[i].tag == TAG_FUNCTION)
      strbuf_str(&text, code->constants[i].function->name);
    strbuf_str(out, strbuf_view(&text));
    strbuf_char(out, '\n');
    strbuf_dispose(&text);
  }
  for (uint32_t i = 0, first = code->parameter_count + code->constant_count; i < code->state_count; i++) {
    const StateRead *read = &code->state[i];
    strbuf_printf(out, "%u = STATE slot %u of %u\n", first + i, read->slot,
                  read->object ? first + read->object - 1 : 0);
  }
  for (uint32_t i = 0; i < code->instruction_count; i++) {
    const Instruction *instruction = &code->instructions[i];
    strbuf_printf(out, "%4u  %-14s ", i, table[instruction->op].word);
    print_instruction(code, instruction, out);
    strbuf_char(out, '\n');
  }
}

void code_print(const Code *code, StrBuf *out) {
  print_code(code, out);
  for (uint32_t i = 0; i < code->site_count; i++)
    if (code->sites[i].code) {
      strbuf_printf(out, "\nforked by site %u: ", i);
      code_print(code->sites[i].code, out);
    }
}
