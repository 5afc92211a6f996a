/* The prelude: what PyTorch writes in Python, compiled into the unit of the program that uses it. A file of prelude/
 * stands for a module; its functions and classes know each other by their bare names. */
#include "frontend/compilation.h"

#include "frontend/prelude_data.h"

/* Which file holds which module. */
static const struct {
  const char *prefix, *file;
} modules[] = {
    {"torch", "torch"},
    {"torch.functional", "torch_functional"},
    {"torch.nn.functional", "torch_nn_functional"},
    {"torch.nn.init", "torch_nn_init"},
    {"torch.autograd.grad_mode", "torch_autograd_grad_mode"},
    {"torch.autograd.profiler", "torch_autograd_profiler"},
    {"torch._lowrank", "torch_lowrank"},
    {"torch.nn.utils.rnn", "torch_nn_utils_rnn"},
    {"torch.distributions", "torch_distributions"},
    {"torch.linalg", "torch_linalg"},
    {"torch.jit", "torch_jit"},
    {"", "operators"},
};

typedef struct PreludeModule {
  Resolver resolver; /* first: bare names within the file */
  Str prefix;
  Map definitions; /* name -> Tree */
} PreludeModule;

static SugaredValue *find_in_module(PreludeModule *module, Compilation *c, Str name);

static SugaredValue *module_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  return find_in_module((PreludeModule *)resolver, c, name);
}

static const Type *module_type(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  SugaredValue *value = find_in_module((PreludeModule *)resolver, c, name);
  return value && value->kind == &SUGARED_CLASS ? value->type : NULL;
}

static const struct PreludeFile *file_named(const char *name) {
  for (const struct PreludeFile *file = prelude_files; file->name; file++)
    if (strcmp(file->name, name) == 0) return file;
  return NULL;
}

static PreludeModule *load_module(Compilation *c, Str prefix) {
  const char *file_name = NULL;
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
    if (str_is(prefix, modules[i].prefix)) file_name = modules[i].file;
  if (!file_name) return NULL;
  PreludeModule *module = map_get(&c->prelude, str_from(file_name));
  if (module) return module;
  const struct PreludeFile *file = file_named(file_name);
  if (!file) return NULL;
  module = ARENA_NEW(&c->scratch, PreludeModule);
  module->resolver = (Resolver){.resolve_value = module_value, .resolve_type = module_type, .outer = &builtin_resolver};
  module->prefix = (Str){arena_strndup(&c->scratch, prefix.data, prefix.length), prefix.length};
  map_init(&module->definitions, &c->scratch);
  map_put(&c->prelude, str_from(file_name), module);
  Source *source;
  Status status = source_new((Str){file->text, file->length}, file_name, 1, &source);
  if (status) catch_throw(&c->catch_point, status);
  unit_hold_source(c->unit, source);
  source_release(source);
  const Tree *tree = parse_file(&c->scratch, source, PARSE_PYTHON);
  for (uint32_t i = 0; i < tree->count; i++) {
    const Tree *stmt = tree->children[i];
    if (stmt->kind == TK_DEF) map_put(&module->definitions, ident_text(def_name(stmt)), (void *)stmt);
    if (stmt->kind == TK_CLASS_DEF) map_put(&module->definitions, ident_text(class_name(stmt)), (void *)stmt);
  }
  return module;
}

static bool is_overload(const Tree *def) {
  const Tree *decorators = def_decorators(def);
  return decorators && decorators->count && decorators->children[0]->kind == TK_VAR &&
         str_is(var_text(decorators->children[0]), "_overload");
}

static SugaredValue *find_in_module(PreludeModule *module, Compilation *c, Str name) {
  const Tree *tree = map_get(&module->definitions, name);
  if (!tree || (tree->kind == TK_DEF && is_overload(tree))) return NULL;
  Str qualified = str_from(arena_printf(&c->scratch, "__torch__." STR_FMT "%s" STR_FMT, STR_ARG(module->prefix),
                                        module->prefix.length ? "." : "", STR_ARG(name)));
  if (tree->kind == TK_CLASS_DEF) {
    const Type *type = unit_find_type(c->unit, qualified);
    if (!type) type = frontend_define_class(c, tree, qualified, &module->resolver);
    return sugared_class(c, type);
  }
  /* `name`, and variants of it for other types: name__1, name__2, ... */
  VEC(Function *) functions = {0};
  for (uint32_t i = 0;; i++) {
    Str variant = i ? str_from(arena_printf(&c->scratch, STR_FMT "__%u", STR_ARG(name), i)) : name;
    const Tree *def = map_get(&module->definitions, variant);
    if (!def) break;
    Str full = i ? str_from(arena_printf(&c->scratch, STR_FMT "__%u", STR_ARG(qualified), i)) : qualified;
    Function *function = unit_find_function(c->unit, full);
    if (!function) function = frontend_define_function(c, def, full, &module->resolver);
    vec_arena_push(&c->scratch, &functions, function);
  }
  return sugared_overloads(c, (uint32_t)functions.length, functions.data);
}

SugaredValue *prelude_find(Compilation *c, Str prefix, Str name) {
  PreludeModule *module = load_module(c, prefix);
  return module ? find_in_module(module, c, name) : NULL;
}

SugaredValue *prelude_helper(Compilation *c, Str name) {
  return prelude_find(c, STR(""), name);
}
