#include "serial/pt2/tree_spec.h"

enum { PROTOCOL = 1, MAX_NODES = 100000 };

typedef struct Reader {
  Arena *arena;
  const Json *fields;
  uint32_t nodes;
} Reader;

_Noreturn static void fail(const Reader *r, ErrorCode code, const char *what, Str name) {
  catch_throw(r->arena->catch_point, status_new(code, "the nesting of arguments or results: %s" STR_FMT, what,
                                                STR_ARG(str_slice(name, 0, name.length < 200 ? name.length : 200))));
}
static Str copy(const Reader *r, Str text) {
  return (Str){arena_strndup(r->arena, text.data, text.length), text.length};
}

/* Keys of a dict, as a list or as a list in a text of its own; ints stand for keys that are numbers. */
static void read_keys(const Reader *r, const Json *list, TreeSpec *out) {
  Str *keys = ARENA_ARRAY(r->arena, Str, out->count + 1);
  uint32_t i = 0;
  int64_t number;
  if (!json_is_array(list) || json_count(list) != out->count) fail(r, ERROR_DATA, "keys are missing", STR(""));
  for (const Json *e = json_first(list); e; e = json_next(e), i++) {
    Str key;
    bool is_text = json_string(e, &key);
    const Type *type = is_text ? TYPE(STRING) : TYPE(INT);
    if (!is_text && !json_int(e, &number)) fail(r, ERROR_UNSUPPORTED, "keys that are neither texts nor ints", STR(""));
    if (i && type != out->key_type) fail(r, ERROR_UNSUPPORTED, "a dict with texts and ints as keys", STR(""));
    out->key_type = type;
    keys[i] = is_text ? copy(r, key) : str_from(arena_printf(r->arena, "%lld", (long long)number));
  }
  if (!out->count) out->key_type = TYPE(STRING);
  out->keys = keys;
}

static void read_dict(const Reader *r, const Json *context, TreeSpec *out) {
  out->kind = TREE_DICT;
  read_keys(r, context, out);
}
/* A defaultdict: its factory, then the keys. */
static void read_default_dict(const Reader *r, const Json *context, TreeSpec *out) {
  out->kind = TREE_DICT;
  read_keys(r, json_get(context, "dict_context"), out);
}
static void read_tuple(const Reader *r, const Json *context, TreeSpec *out) {
  (void)r, (void)context;
  out->kind = TREE_TUPLE;
}
static void read_list(const Reader *r, const Json *context, TreeSpec *out) {
  (void)r, (void)context;
  out->kind = TREE_LIST;
}
static void read_named_tuple(const Reader *r, const Json *context, TreeSpec *out) {
  Str name;
  if (!json_string(context, &name)) fail(r, ERROR_DATA, "a named tuple without a name", STR(""));
  out->kind = TREE_NAMED_TUPLE;
  out->name = copy(r, str_after_last(name, '.'));
  const Json *fields = json_array(json_get(r->fields, arena_strndup(r->arena, name.data, name.length)), "field_names");
  if (fields)
    read_keys(r, fields, out);
  else /* older files don't say them */
    out->kind = TREE_TUPLE;
}

static const struct {
  const char *type;
  void (*read)(const Reader *r, const Json *context, TreeSpec *out);
} kinds[] = {{"builtins.tuple", read_tuple},
             {"builtins.list", read_list},
             {"builtins.dict", read_dict},
             {"collections.OrderedDict", read_dict},
             {"collections.defaultdict", read_default_dict},
             {"collections.namedtuple", read_named_tuple},
             {"collections.deque", read_list},
             {"torch.Size", read_tuple},
             {"torch.fx.immutable_collections.immutable_list", read_list},
             {"torch.fx.immutable_collections.immutable_dict", read_dict}};

static bool are_texts(const Json *list) {
  Str text;
  for (const Json *e = json_is_array(list) ? json_first(list) : NULL; e; e = json_next(e))
    if (!json_string(e, &text)) return false;
  return json_is_array(list);
}

/* A context is JSON, in newer files as a text of its own. Texts of classes that are no JSON stay what they are. */
static void read_inner(Reader *r, const Json *node, Str type, const Json *context, TreeSpec *out) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (str_is(type, kinds[i].type)) {
      kinds[i].read(r, context, out);
      return;
    }
  (void)node;
  /* A class of a library: where its context is a list of texts it holds what it has under names, as a dict does. Of a
   * dataclass the context is two: the names of what it holds, and of what is None. */
  const Json *names = json_is_array(context) && json_is_array(json_first(context)) ? json_first(context) : context;
  if (!are_texts(names) || json_count(names) != out->count) fail(r, ERROR_UNSUPPORTED, "an object of the class ", type);
  read_dict(r, names, out);
}

static void read_node(Reader *r, const Json *node, TreeSpec *out);

typedef struct Inner {
  Reader *r;
  const Json *node, *context;
  Str type;
  TreeSpec *out;
} Inner;
static void read_inner_protected(void *argument) {
  const Inner *i = argument;
  read_inner(i->r, i->node, i->type, i->context, i->out);
}

static void read_children(Reader *r, const Json *list, TreeSpec *out) {
  TreeSpec *children = ARENA_ARRAY(r->arena, TreeSpec, out->count + 1);
  uint32_t i = 0;
  for (const Json *e = json_first(list); e; e = json_next(e), i++) {
    read_node(r, e, &children[i]);
    out->leaves += children[i].leaves;
  }
  out->children = children;
}

static void read_node(Reader *r, const Json *node, TreeSpec *out) {
  const Json *children = json_array(node, "children_spec"), *context = json_get(node, "context");
  Str type, text;
  Json *parsed = NULL;
  *out = (TreeSpec){.kind = TREE_LEAF, .leaves = 1};
  if (++r->nodes > MAX_NODES) fail(r, ERROR_DATA, "too large", STR(""));
  if (!json_is_object(node)) fail(r, ERROR_DATA, "a node is missing", STR(""));
  if (!json_string(json_get(node, "type"), &type)) return;
  *out = (TreeSpec){.count = (uint32_t)json_count(children)};
  if (json_string(context, &text)) status_free(json_parse(text, &parsed));
  Inner inner = {r, node, parsed ? parsed : context, type, out};
  Status status = arena_protect(r->arena, read_inner_protected, &inner);
  json_free(parsed);
  if (status) catch_throw(r->arena->catch_point, status);
  read_children(r, children, out);
}

typedef struct Whole {
  Reader reader;
  const Json *root;
  TreeSpec *out;
} Whole;
static void read_whole(void *argument) {
  Whole *w = argument;
  int64_t protocol;
  const Json *node = json_first(w->root);
  if (!json_int(node, &protocol) || protocol != PROTOCOL)
    fail(&w->reader, ERROR_UNSUPPORTED, "an unknown version", STR(""));
  read_node(&w->reader, json_next(node), w->out);
}

const TreeSpec *tree_spec_read(Arena *arena, Str text, const Json *fields) {
  Json *root;
  TreeSpec *spec = ARENA_NEW(arena, TreeSpec);
  Status status = json_parse(text, &root);
  if (status) catch_throw(arena->catch_point, status);
  Whole whole = {.reader = {.arena = arena, .fields = fields}, .root = root, .out = spec};
  status = arena_protect(arena, read_whole, &whole);
  json_free(root);
  if (status) catch_throw(arena->catch_point, status);
  return spec;
}

/* What all of them are; Any where they differ. */
static const Type *common_type(TypeStore *store, uint32_t count, const Type *const *types) {
  const Type *type = count ? types[0] : TYPE(TENSOR);
  for (uint32_t i = 1; i < count && type; i++) type = type_unify(store, type, types[i], false);
  return type ? type : TYPE(ANY);
}

const Type *tree_spec_type(TypeStore *store, const TreeSpec *spec, const Type *const *leaves) {
  if (spec->kind == TREE_LEAF) return leaves[0];
  const Type **types = ARENA_ARRAY(&store->arena, const Type *, spec->count + 1);
  for (uint32_t i = 0; i < spec->count; i++) {
    types[i] = tree_spec_type(store, &spec->children[i], leaves);
    leaves += spec->children[i].leaves;
  }
  switch (spec->kind) {
    case TREE_TUPLE:
      return type_tuple(store, spec->count, types);
    case TREE_LIST:
      return type_list(store, common_type(store, spec->count, types));
    case TREE_DICT:
      return type_dict(store, spec->key_type, common_type(store, spec->count, types));
    default:
      return type_named_tuple(store, str_from(arena_printf(&store->arena, "__torch__." STR_FMT, STR_ARG(spec->name))),
                              spec->count, types, spec->keys);
  }
}
