/* Values: debug names, uses, replacement. Uses know their place and inputs know their use, so that removing one takes
 * constant time however many there are. */
#include "ir/ir_internal.h"

Value *value_new(Node *node, uint32_t offset, const Type *type) {
  Value *value = ARENA_NEW(node->graph->arena, Value);
  value->node = node;
  value->offset = offset;
  value->unique = node->graph->next_unique++;
  value->type = type;
  return value;
}

void value_forget_name(Value *value) {
  if (!value->name.length) return;
  map_remove(&value->node->graph->names, value->name);
  value->name = STR("");
}

void use_add(Node *user, uint32_t offset, Value *value) {
  assert(value->node->graph == user->graph);
  user->inputs[offset] = (NodeInput){value, (uint32_t)value->uses.length};
  vec_arena_push(user->graph->arena, &value->uses, ((Use){user, offset}));
}

void use_remove(Node *user, uint32_t offset) {
  NodeInput *input = &user->inputs[offset];
  Value *value = input->value;
  Use last = vec_pop(&value->uses);
  if (last.user != user || last.offset != offset) {
    value->uses.data[input->use_index] = last;
    last.user->inputs[last.offset].use_index = input->use_index;
  }
  input->value = NULL;
}

static bool is_number(Str s) {
  for (size_t i = 0; i < s.length; i++)
    if (s.data[i] < '0' || s.data[i] > '9') return false;
  return s.length != 0;
}

/* "x.12" is base "x" with suffix 12; other names are their own base with suffix 1. */
static Str split_suffix(Str name, int64_t *out_suffix) {
  *out_suffix = 1;
  ptrdiff_t dot = str_rfind_char(name, '.');
  if (dot < 0 || !is_number(str_slice(name, (size_t)dot + 1, name.length))) return name;
  if (!str_to_int64(str_slice(name, (size_t)dot + 1, name.length), 10, out_suffix) || *out_suffix > INT64_MAX / 4) {
    *out_suffix = 1;
    return name;
  }
  return str_slice(name, 0, (size_t)dot);
}

/* The newcomer gets the name, who had it is renamed: that leaves plain names to the last assignment of a variable. */
/* "base.suffix"; written by hand because every assignment in a program comes here. */
static Str with_suffix(Arena *arena, Str base, int64_t suffix) {
  char digits[24];
  size_t count = 0;
  do {
    digits[count++] = (char)('0' + suffix % 10);
    suffix /= 10;
  } while (suffix);
  char *text = arena_alloc(arena, base.length + 1 + count);
  memcpy(text, base.data, base.length);
  text[base.length] = '.';
  for (size_t i = 0; i < count; i++) text[base.length + 1 + i] = digits[count - 1 - i];
  return (Str){text, base.length + 1 + count};
}

void value_set_name(Value *value, Str name) {
  Graph *graph = value->node->graph;
  if (str_equal(value->name, name)) return;
  value_forget_name(value);
  if (!name.length) return;
  assert(!is_number(name));
  name.data = arena_strndup(graph->arena, name.data, name.length);
  Value *owner = map_get(&graph->names, name);
  if (owner) {
    int64_t suffix;
    Str base = split_suffix(name, &suffix);
    int64_t last = (int64_t)(intptr_t)map_get(&graph->name_suffixes, base);
    if (last && suffix < last + 1) suffix = last + 1;
    Str replacement;
    do {
      replacement = with_suffix(graph->arena, base, suffix++);
    } while (map_has(&graph->names, replacement));
    map_put(&graph->name_suffixes, base, (void *)(intptr_t)suffix);
    owner->name = replacement;
    map_put(&graph->names, replacement,
            owner); /* the old entry is taken over below: renaming often leaves no removed ones behind */
  }
  map_put(&graph->names, name, value);
  value->name = name;
}

void value_replace_all_uses_with(Value *value, Value *with) {
  assert(value->node->graph == with->node->graph);
  if (value == with) return;
  vec_arena_reserve(value->node->graph->arena, &with->uses, with->uses.length + value->uses.length);
  for (size_t i = 0; i < value->uses.length; i++) {
    Use use = value->uses.data[i];
    use.user->op = NULL;
    use.user->inputs[use.offset] = (NodeInput){with, (uint32_t)with->uses.length};
    with->uses.data[with->uses.length++] = use;
  }
  value->uses.length = 0;
}

void value_replace_all_uses_after(Value *value, Node *after, Value *with) {
  for (size_t i = value->uses.length; i-- > 0;) {
    Use use = value->uses.data[i];
    if (use.user != after && node_is_before(after, use.user)) node_replace_input(use.user, use.offset, with);
  }
}
