/* See mutate_tree.h: changes that know what bytecode.pkl consists of, so that most of what comes out is still taken for
 * bytecode, and fails (or not) where it is lifted or run. */
#include "call/operator.h"
#include "mutate_tree.h"
#include "serial/archive/bytecode_machine.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MAX_OPERATORS = 8000, DEEPEST_TYPE = 300 };

typedef struct Mutant {
  Arena *arena;
  Chance *chance;
  PickleTree *root, *entry; /* (name, code, schema) */
  PickleTree *instructions, *operators, *constants, *types, *code, *schema;
} Mutant;

static size_t below(const Mutant *f, size_t n) {
  return (size_t)chance_below(f->chance, n);
}
static PickleTree **pick(const Mutant *f, PickleTree *tree) {
  return tree && tree->items.length ? &tree->items.data[below(f, tree->items.length)] : NULL;
}

/* false: there is none. */
static bool pick_function(Mutant *f) {
  if (f->root->items.length < 2) return false;
  f->entry = f->root->items.data[1 + below(f, f->root->items.length - 1)];
  if (f->entry->kind != PICKLE_TUPLE || f->entry->items.length < 2) return false;
  f->code = f->entry->items.data[1];
  f->schema = f->entry->items.length > 2 ? f->entry->items.data[2] : NULL;
  f->instructions = pickle_tree_row(f->code, "instructions");
  f->operators = pickle_tree_row(f->code, "operators");
  f->constants = pickle_tree_row(f->code, "constants");
  f->types = pickle_tree_row(f->code, "types");
  return true;
}

/* ---- instructions ---- */

static PickleTree *any_opcode(const Mutant *f) {
  static const char *const foreign[] = {"CALL", "WAIT", "FORK", "TUPLE_UNPACK", "TYPECHECK", "op", ""};
  size_t which = below(f, 8 * OPCODE_COUNT);
  const char *name = which < 8 * OPCODE_COUNT - COUNT(foreign) ? bytecode_opcode_name((uint8_t)(which % OPCODE_COUNT))
                                                               : foreign[below(f, COUNT(foreign))];
  return pickle_tree_text(f->arena, str_from(name));
}
/* Mostly a number that some table or the code has a row for. */
static int64_t any_operand(const Mutant *f) {
  if (!below(f, 8)) return tree_any_number(f->chance);
  return (int64_t)below(f, f->instructions->items.length + 2) - 1;
}
static PickleTree *changed_operand(const Mutant *f, const PickleTree *operand) {
  int64_t near = (int64_t)below(f, 5) - 2;
  bool stays_near = operand->kind == PICKLE_INT && below(f, 2);
  return pickle_tree_int(f->arena, stays_near    ? (int64_t)((uint64_t)operand->number + (uint64_t)near)
                                   : below(f, 3) ? (int64_t)below(f, 12)
                                                 : any_operand(f));
}

static void change_instruction(Mutant *f) {
  PickleTree **row = pick(f, f->instructions);
  if (!row || (*row)->items.length != 3) return;
  size_t part = below(f, 3);
  *row = pickle_tree_copy(f->arena, *row);
  PickleTree **parts = (*row)->items.data;
  parts[part] = part ? changed_operand(f, parts[part]) : any_opcode(f);
}
static void insert_instruction(Mutant *f) {
  PickleTree **place = pick(f, f->instructions);
  if (!place) return;
  PickleTree *row = pickle_tree_new(f->arena, PICKLE_TUPLE);
  pickle_tree_add(f->arena, row, any_opcode(f));
  for (int i = 0; i < 2; i++)
    pickle_tree_add(f->arena, row, pickle_tree_int(f->arena, below(f, 2) ? (int64_t)below(f, 4) : any_operand(f)));
  size_t at = (size_t)(place - f->instructions->items.data);
  pickle_tree_add(f->arena, f->instructions, row);
  for (size_t i = f->instructions->items.length - 1; i > at; i--)
    f->instructions->items.data[i] = f->instructions->items.data[i - 1];
  f->instructions->items.data[at] = row;
}
static void mutate_instruction_rows(Mutant *f) {
  if (f->instructions) tree_mutate_rows(f->arena, f->instructions, f->chance);
}

/* ---- operators ---- */

static const Operator *any_operator(const Mutant *f) {
  static const Operator *all[MAX_OPERATORS];
  static size_t count;
  for (const Operator *op = count ? NULL : operator_next(NULL); op && count < MAX_OPERATORS; op = operator_next(op))
    all[count++] = op;
  return all[below(f, count)];
}
/* Mostly one that takes as many arguments. */
static const Operator *operator_for(const Mutant *f, int64_t given) {
  const Operator *op = any_operator(f);
  for (int i = 0; i < 200 && below(f, 8) && operator_schema(op)->argument_count != given; i++) op = any_operator(f);
  return op;
}
static void change_operator(Mutant *f) {
  PickleTree **row = pick(f, f->operators);
  if (!row || (*row)->items.length < 2) return;
  *row = pickle_tree_copy(f->arena, *row);
  PickleTree **parts = (*row)->items.data, *given = (*row)->items.length > 2 ? parts[2] : NULL;
  if (given && !below(f, 4)) {
    parts[2] = below(f, 8) ? changed_operand(f, given) : pickle_tree_new(f->arena, PICKLE_NONE);
    return;
  }
  const Operator *op = operator_for(f, given && given->kind == PICKLE_INT ? given->number : 2);
  parts[0] = pickle_tree_text(f->arena, op->name);
  parts[1] = pickle_tree_text(f->arena, op->overload_name);
}
static void mutate_operator_rows(Mutant *f) {
  if (f->operators) tree_mutate_rows(f->arena, f->operators, f->chance);
}

/* ---- constants, types, registers ---- */

static void change_constant(Mutant *f) {
  PickleTree **row = pick(f, f->constants);
  if (row) *row = tree_any_value(f->arena, f->chance, 0);
}
static void mutate_constant_rows(Mutant *f) {
  if (f->constants) tree_mutate_rows(f->arena, f->constants, f->chance);
}

/* A type of the file or another, within others. */
static PickleTree *any_type(const Mutant *f) {
  static const char *const types[] = {"Tensor",
                                      "int",
                                      "float",
                                      "bool",
                                      "str",
                                      "None",
                                      "Any",
                                      "Scalar",
                                      "Device",
                                      "Generator",
                                      "complex",
                                      "number",
                                      "List[",
                                      "Dict[int]",
                                      "Tuple[()]",
                                      "NoneType",
                                      "Future[int]",
                                      "Optional[Optional[int]]",
                                      "__torch__.Unknown",
                                      "List[t]",
                                      "__torch__.torch.classes.quantized.LinearPackedParamsBase",
                                      "Union[int, str]",
                                      "(int",
                                      "RRef[Tensor]",
                                      ""};
  static const char *const outer[] = {"List[", "Optional[", "Dict[str, ", "Dict[Tensor, ", "Tuple[int, ", "Future["};
  PickleTree **own = pick(f, f->types);
  StrBuf text = {0};
  size_t depth = below(f, 3) ? below(f, 3) : below(f, 40) ? 0 : below(f, DEEPEST_TYPE);
  for (size_t i = 0; i < depth; i++) strbuf_puts(&text, outer[below(f, COUNT(outer))]);
  if (own && (*own)->kind == PICKLE_TEXT && below(f, 2))
    strbuf_str(&text, (*own)->text);
  else
    strbuf_puts(&text, types[below(f, COUNT(types))]);
  strbuf_repeat(&text, ']', depth);
  PickleTree *tree = pickle_tree_text(f->arena, strbuf_view(&text));
  strbuf_dispose(&text);
  return tree;
}
static void change_type(Mutant *f) {
  PickleTree **row = pick(f, f->types);
  if (row) *row = any_type(f);
}
static void mutate_type_rows(Mutant *f) {
  if (f->types) tree_mutate_rows(f->arena, f->types, f->chance);
}
/* register_size, or what another table is. */
static void change_table(Mutant *f) {
  PickleTree **row = pick(f, f->code);
  if (!row || (*row)->items.length != 2) return;
  PickleTree **size = &(*row)->items.data[1];
  *size = (*size)->kind == PICKLE_INT ? changed_operand(f, *size) : tree_any_value(f->arena, f->chance, 0);
}

/* ---- schemas, methods ---- */

static void change_schema(Mutant *f) {
  PicklePlaces places = {0};
  if (!f->schema) return;
  pickle_tree_places(f->arena, f->schema, &places);
  if (!places.length) return;
  PicklePlace place = places.data[below(f, places.length)];
  PickleTree **at = &place.parent->items.data[place.index];
  if ((*at)->kind == PICKLE_TUPLE)
    tree_mutate_rows(f->arena, *at, f->chance);
  else
    *at = below(f, 3) ? any_type(f) : tree_any_value(f->arena, f->chance, 0);
}
static void change_name(Mutant *f) {
  static const char *const names[] = {
      "__torch__.M.forward",         "forward",      "", ".", "a.b", "__torch__.Loop.__setstate__",
      "__torch__.Loop.__getstate__", "__torch__.1.2"};
  PickleTree **other = pick(f, f->root);
  bool is_own = other && (*other)->kind == PICKLE_TUPLE && (*other)->items.length && below(f, 2);
  f->entry->items.data[0] =
      is_own ? (*other)->items.data[0] : pickle_tree_text(f->arena, str_from(names[below(f, COUNT(names))]));
}
/* Tables of one function in another. */
static void mix_functions(Mutant *f) {
  Mutant other = *f;
  PickleTree **to = pick(f, f->code);
  if (!pick_function(&other) || !to) return;
  PickleTree **from = pick(f, other.code);
  if (from) *to = pickle_tree_copy(f->arena, *from);
}
static void mutate_functions(Mutant *f) {
  tree_mutate_rows(f->arena, f->root, f->chance);
}
static void change_version(Mutant *f) {
  f->root->items.data[0] = pickle_tree_int(f->arena, below(f, 4) ? (int64_t)below(f, 11) : tree_any_number(f->chance));
}
static void change_anything(Mutant *f) {
  tree_mutate(f->arena, f->root, f->chance);
}

/* The more often, the likelier it is that the program is read to its end. */
static const struct {
  void (*change)(Mutant *f);
  uint8_t share;
} changes[] = {{change_instruction, 24},  {insert_instruction, 12},  {mutate_instruction_rows, 12},
               {change_operator, 16},     {mutate_operator_rows, 4}, {change_constant, 10},
               {mutate_constant_rows, 4}, {change_type, 8},          {mutate_type_rows, 3},
               {change_table, 3},         {change_schema, 6},        {change_name, 2},
               {mix_functions, 3},        {mutate_functions, 2},     {change_version, 1},
               {change_anything, 8}};

void bytecode_mutate(Arena *arena, PickleTree *root, Chance *chance) {
  size_t shares = 0, which = 0;
  Mutant f = {.arena = arena, .chance = chance, .root = root};
  for (size_t i = 0; i < COUNT(changes); i++) shares += changes[i].share;
  size_t at = (size_t)chance_below(chance, shares);
  while (at >= changes[which].share) at -= changes[which++].share;
  if (root->kind == PICKLE_TUPLE && pick_function(&f) && f.instructions)
    changes[which].change(&f);
  else
    tree_mutate(arena, root, chance);
}
