/* Every row of the assembler for x86-64, with all registers, masks, lengths, kinds of memory and edge numbers, gives
 * the bytes that binutils gives for the text it prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/x86.h"

enum { MAX_INSTRUCTIONS = 200000 };
static X86Ins all[MAX_INSTRUCTIONS];
static int count;

static void add(X86Ins ins) {
  assert_true(count < MAX_INSTRUCTIONS);
  all[count++] = ins;
}

static char class_of(X86Op op, int operand) { /* 0: reg, 1: other, 2: rm */
  return x86_form(op)->operands[operand];
}
static bool takes_register(X86Op op) {
  return isupper((unsigned char)class_of(op, 2)) != 0;
}
static bool takes_broadcast(X86Op op) {
  return x86_form(op)->memory == 'F' || x86_form(op)->memory == 'H';
}

static int register_count(char class) {
  char upper = (char)toupper((unsigned char)class);
  return upper == '-' ? 1 : upper == 'K' ? 8 : upper == 'D' || upper == 'Q' ? 16 : 32;
}

static bool has_vectors(X86Op op) {
  for (int i = 0; i < 3; i++)
    if (strchr("VHv", class_of(op, i))) return true;
  return false;
}

/* A vector of half a length and broadcasting to whole ones have their forms from 256 bits on. */
static X86Length first_length(X86Op op) {
  for (int i = 0; i < 3; i++)
    if (class_of(op, i) == 'H') return X86_256;
  return op == X86_VBROADCASTSD ? X86_256 : X86_128;
}

static void add_memory(X86Ins ins, X86Op op) {
  static const int32_t displacements[] = {0, 8, 64, -64, 127, 128, -128, -129, 8128, 8192, -8192, 1000000};
  static const uint8_t bases[] = {X86_RAX, X86_RSP, X86_RBP, X86_RDI, X86_R8, X86_R12, X86_R13, X86_R15};
  static const uint8_t indexes[] = {X86_NO_INDEX, X86_RAX, X86_RBP, X86_R9, X86_R12};
  ins.is_memory = true;
  for (size_t b = 0; b < sizeof bases; b++)
    for (size_t i = 0; i < sizeof indexes; i++)
      for (size_t d = 0; d < sizeof displacements / sizeof *displacements; d++) {
        ins.rm = bases[b];
        ins.index = indexes[i];
        ins.scale_log2 = indexes[i] == X86_NO_INDEX ? 0 : (uint8_t)(d % 4);
        ins.displacement = displacements[d];
        ins.broadcasts = takes_broadcast(op) && (b + d) % 3 == 0;
        /* Text without a size does not say which length is meant. */
        if (class_of(op, 0) == 'H' && !ins.broadcasts) continue;
        add(ins);
      }
}

static void add_form(X86Op op, X86Length length) {
  static const int64_t wide[] = {0, 1, -1, 127, -128, 128, -129, 0x7fffffff, -0x7fffffff - 1};
  int counts[3], most = 1;
  for (int i = 0; i < 3; i++) {
    counts[i] = register_count(class_of(op, i));
    if (counts[i] > most) most = counts[i];
  }
  for (int turn = 0; turn < 2 * most; turn++) {
    X86Ins ins = {.op = (uint8_t)op, .length = (uint8_t)length, .index = X86_NO_INDEX};
    ins.reg = (uint8_t)(turn % counts[0]);
    ins.other = (uint8_t)((turn * 5 + 1) % counts[1]);
    ins.rm = (uint8_t)((turn * 11 + 2) % counts[2]);
    if (x86_form(op)->masks && turn % 3) ins.mask = (uint8_t)(1 + turn % 7);
    if (ins.mask && turn % 2 && toupper((unsigned char)class_of(op, 0)) != 'K' && takes_register(op)) ins.zeroes = true;
    int bytes = x86_form(op)->immediate_bytes;
    if (bytes == 1) ins.immediate = turn * 7 % 32;
    if (bytes == 4) ins.immediate = wide[(size_t)turn % (sizeof wide / sizeof *wide)];
    if (bytes == 8) ins.immediate = turn % 2 ? INT64_MAX - turn : INT64_MIN + turn;
    if (op == X86_MOV_32) ins.immediate &= 0xffffffff;
    if (takes_register(op) || class_of(op, 2) == '-') add(ins);
    if (op == X86_VCVTPS2PH) ins.zeroes = false; /* which no store takes */
    if (x86_takes_memory(op) && turn == 0) add_memory(ins, op);
    if (x86_takes_memory(op) && turn) {
      ins.is_memory = true;
      ins.rm = X86_RCX;
      if (class_of(op, 0) != 'H') add(ins);
    }
  }
}

/* The bytes that binutils make of a text; NULL: there are none here. */
static uint8_t *assemble(const StrBuf *text, size_t *out_size) {
#if !defined(__x86_64__)
  return NULL; /* `as` is for another processor */
#endif
  char path[] = "/tmp/wick_x86_XXXXXX", command[256], name[64];
  if (system("as --version > /dev/null 2>&1") || system("objcopy --version > /dev/null 2>&1")) return NULL;
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text->data, text->length), (ssize_t)text->length);
  close(fd);
  snprintf(command, sizeof command, "as --64 -o %s.o %s && objcopy -O binary -j .text %s.o %s.bin", path, path, path,
           path);
  assert_int_equal(system(command), 0);
  snprintf(name, sizeof name, "%s.bin", path);
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *out_size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*out_size);
  assert_int_equal(fread(bytes, 1, *out_size, file), *out_size);
  fclose(file);
  unlink(name);
  snprintf(name, sizeof name, "%s.o", path);
  unlink(name);
  unlink(path);
  return bytes;
}

static void test_all_rows_as_binutils(void **state) {
  (void)state;
  for (int op = 0; op < X86_OP_COUNT; op++) {
    if (x86_is_jump((X86Op)op)) continue; /* the test below */
    bool vectors = has_vectors((X86Op)op);
    for (int length = vectors ? (int)first_length((X86Op)op) : 0; length <= (vectors ? X86_512 : 0); length++)
      add_form((X86Op)op, (X86Length)length);
  }
  StrBuf text = {0};
  strbuf_puts(&text, ".intel_syntax noprefix\n");
  for (int i = 0; i < count; i++) {
    if (x86_form((X86Op)all[i].op)->encoding == X86_EVEX) strbuf_puts(&text, "{evex} ");
    x86_print(&all[i], &text);
    strbuf_puts(&text, "\n");
  }
  assert_false(text.failed);
  size_t size = 0, at = 0;
  uint8_t *expected = assemble(&text, &size);
  if (!expected) {
    strbuf_dispose(&text);
    print_message("there is no `as` or no `objcopy` to compare with\n");
    skip();
  }
  for (int i = 0; i < count; i++) {
    uint8_t bytes[X86_MAX_BYTES];
    int n = x86_encode(&all[i], bytes);
    if (at + (size_t)n > size || memcmp(bytes, expected + at, (size_t)n)) {
      StrBuf shown = {0};
      x86_print(&all[i], &shown);
      for (int k = 0; k < n; k++) strbuf_printf(&shown, " %02x", bytes[k]);
      strbuf_puts(&shown, ", not");
      for (size_t k = at; k < size && k < at + 16; k++) strbuf_printf(&shown, " %02x", expected[k]);
      fail_msg("%s", shown.data);
    }
    at += (size_t)n;
  }
  assert_int_equal(at, size);
  print_message("%d instructions of %d rows\n", count, X86_OP_COUNT);
  free(expected);
  strbuf_dispose(&text);
}

static void test_jumps_reach_their_labels(void **state) {
  (void)state;
  static const X86Op jumps[] = {X86_JMP, X86_JA, X86_JBE, X86_JE};
  StrBuf text = {0};
  X86Code code;
  x86_code_init(&code, NULL);
  strbuf_puts(&text, ".intel_syntax noprefix\n0: ret\n");
  int start = x86_label(&code), end = x86_label(&code);
  x86_place(&code, start);
  x86_add(&code, &(X86Ins){.op = X86_RET});
  for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
    x86_jump(&code, jumps[i], start);
    x86_jump(&code, jumps[i], end);
    strbuf_printf(&text, "{disp32} %s 0b\n{disp32} %s 1f\n", x86_form(jumps[i])->text, x86_form(jumps[i])->text);
  }
  x86_place(&code, end);
  x86_add(&code, &(X86Ins){.op = X86_RET});
  x86_finish(&code);
  strbuf_puts(&text, "1: ret\n");
  size_t size;
  uint8_t *expected = assemble(&text, &size);
  strbuf_dispose(&text);
  if (expected) {
    assert_int_equal(code.bytes.length, size);
    assert_memory_equal(code.bytes.data, expected, size);
    free(expected);
  }
  x86_code_dispose(&code);
  if (!expected) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_rows_as_binutils),
      cmocka_unit_test(test_jumps_reach_their_labels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
