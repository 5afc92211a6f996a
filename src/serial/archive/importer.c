/* Files are found by name in the archive, parsed once, and their definitions compiled when something names them. A
 * definition in turn names others through the resolver, so that the first class of data.pkl brings in whatever the
 * program needs. */
#include "serial/archive/importer.h"

#include <math.h>

#include "call/native_class.h"
#include "call/operator_library.h"
#include "frontend/sugared_value.h"
#include "serial/archive/debug_info.h"
#include "serial/archive/older_classes.h"
#include "serial/archive/upgraders.h"
#include "serial/archive/used_operators.h"
#include "syntax/parser.h"
#include "syntax/view.h"

typedef struct CodeFile {
  Str module; /* "__torch__.a.b" */
  const ArchiveRecord *record;
  Source *source;  /* held by the unit */
  Tree *tree;      /* NULL until parsed */
  Map definitions; /* name -> Tree of a class or def */
} CodeFile;

/* Data of a namespace: a dotted prefix. */
typedef struct Prefix {
  Importer *importer;
  Str name;
} Prefix;

static CodeFile *parse_code(Importer *importer, CodeFile *file) {
  Arena *arena = &importer->arena;
  if (file->tree) return file;
  char *filename = arena_strndup(arena, file->record->name.data, file->record->name.length), *text;
  const char *debug_name = arena_printf(arena, "%s.debug_pkl", filename);
  size_t length;
  Status status = archive_read(importer->archive, file->record, &text, &length);
  if (status) catch_throw(arena->catch_point, status);
  status = length > UINT32_MAX / 2 ? status_new(ERROR_DATA, "%s is too long", filename)
                                   : source_new((Str){text, length}, filename, 1, &file->source);
  mem_free(text);
  if (status) catch_throw(arena->catch_point, status);
  unit_hold_source(importer->unit, file->source);
  const ArchiveRecord *debug = archive_find(importer->archive, str_from(debug_name));
  if (debug) status = debug_info_attach(file->source, importer->archive, debug);
  if (status) catch_throw(arena->catch_point, status);
  Tree *tree = parse_file(arena, file->source, PARSE_ARCHIVE);
  for (uint32_t i = 0; i < tree->count; i++) {
    Tree *item = tree->children[i];
    if (item->kind == TK_CLASS_DEF) map_put(&file->definitions, ident_text(class_name(item)), item);
    if (item->kind == TK_DEF) map_put(&file->definitions, ident_text(def_name(item)), item);
  }
  file->tree = tree;
  return file;
}

/* The definition of a qualified name, or NULL. */
static Tree *find_definition(Importer *importer, Str qualified) {
  ptrdiff_t dot = str_rfind_char(qualified, '.');
  if (dot < 0) return NULL;
  CodeFile *file = map_get(&importer->files, str_slice(qualified, 0, (size_t)dot));
  if (!file) file = importer->library;
  if (!file) return NULL;
  parse_code(importer, file);
  return map_get(&file->definitions, str_slice(qualified, (size_t)dot + 1, qualified.length));
}

/* NULL: the archive has no such type. */
static const Type *find_type(Importer *importer, Compilation *c, Str qualified) {
  const Type *type = unit_find_type(importer->unit, qualified);
  if (type) return type;
  const NativeClass *native = native_class_find(qualified);
  if (native) {
    type = native_class_type(native);
    if (type->kind != TYPE_CLASS) catch_throw(&c->catch_point, status_out_of_memory());
    return type;
  }
  Tree *tree = find_definition(importer, qualified);
  if (!tree || tree->kind != TK_CLASS_DEF) return NULL;
  return frontend_define_class(c, older_class_definition(c, tree, qualified), qualified, &importer->resolver);
}

static Str join(Importer *importer, Str prefix, Str name) {
  return str_from(arena_printf(&importer->arena, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(name)));
}

/* `__torch__.torch.classes.mine`: what code names native classes by. */
static bool leads_to_native_class(Str path) {
  static const char classes[] = "__torch__.torch.classes";
  if (str_is(path, "__torch__.torch") || str_is(path, classes)) return true;
  return str_starts_with(path, "__torch__.torch.classes.") &&
         str_find_char(str_slice(path, sizeof classes, path.length), '.') < 0;
}

static SugaredValue *torch_namespace_attr(void *data, Compilation *c, Str name, SourceRange range) {
  (void)range;
  Prefix *prefix = data;
  Importer *importer = prefix->importer;
  Str qualified = join(importer, prefix->name, name);
  const Type *type = find_type(importer, c, qualified);
  if (type) return sugared_class(c, type);
  Function *function = unit_find_function(importer->unit, qualified);
  if (function) return sugared_function(c, function);
  Tree *tree = find_definition(importer, qualified);
  if (tree && tree->kind == TK_DEF)
    return sugared_function(c, frontend_define_function(c, tree, qualified, &importer->resolver));
  const NativeClass *native =
      str_starts_with(qualified, "__torch__.torch.classes.") ? native_class_find(qualified) : NULL;
  if (native) {
    type = native_class_type(native);
    if (type->kind != TYPE_CLASS) catch_throw(&c->catch_point, status_out_of_memory());
    return sugared_class(c, type);
  }
  if (!map_has(&importer->folders, qualified) && !leads_to_native_class(qualified)) return NULL;
  Prefix *deeper = ARENA_NEW(&importer->arena, Prefix);
  *deeper = (Prefix){importer, qualified};
  return sugared_namespace(c, qualified, torch_namespace_attr, deeper);
}

/* `torch.add` in an archive is aten::add and nothing else; `torch.autograd.grad` is aten::grad. */
static SugaredValue *operator_attr(void *data, Compilation *c, Str name, SourceRange range) {
  (void)range;
  const Prefix *prefix = data;
  if (str_is(name, "autograd") && str_is(prefix->name, "aten")) return sugared_namespace(c, name, operator_attr, data);
  Symbol symbol =
      symbol_intern(str_from(arena_printf(&c->scratch, STR_FMT "::" STR_FMT, STR_ARG(prefix->name), STR_ARG(name))));
  return symbol ? operator_of_version(c, prefix->importer->version, symbol) : NULL;
}
static SugaredValue *ops_attr(void *data, Compilation *c, Str name, SourceRange range) {
  (void)range;
  Importer *importer = data;
  Prefix *prefix = ARENA_NEW(&importer->arena, Prefix);
  *prefix = (Prefix){importer, str_from(arena_strndup(&importer->arena, name.data, name.length))};
  return sugared_namespace(c, prefix->name, operator_attr, prefix);
}
static SugaredValue *constant_attr(void *data, Compilation *c, Str name, SourceRange range) {
  Importer *importer = data;
  int64_t index;
  if (name.length < 2 || name.data[0] != 'c' || !str_to_int64(str_slice(name, 1, name.length), 10, &index)) return NULL;
  if (index < 0 || (uint64_t)index >= importer->constants.length)
    compilation_fail(c, range, "the archive has %zu constants, not CONSTANTS." STR_FMT, importer->constants.length,
                     STR_ARG(name));
  return sugared_constant(c, importer->constants.data[index]);
}

static SugaredValue *resolve_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  Importer *importer = (Importer *)resolver;
  if (str_is(name, "__torch__")) {
    Prefix *prefix = ARENA_NEW(&importer->arena, Prefix);
    *prefix = (Prefix){importer, STR("__torch__")};
    return sugared_namespace(c, name, torch_namespace_attr, prefix);
  }
  if (str_is(name, "torch")) {
    Prefix *prefix = ARENA_NEW(&importer->arena, Prefix);
    *prefix = (Prefix){importer, STR("aten")};
    return sugared_namespace(c, name, operator_attr, prefix);
  }
  if (str_is(name, "ops")) return sugared_namespace(c, name, ops_attr, importer);
  if (str_is(name, "CONSTANTS")) return sugared_namespace(c, name, constant_attr, importer);
  if (str_is(name, "inf")) return sugared_constant(c, ivalue_float(INFINITY));
  if (str_is(name, "nan")) return sugared_constant(c, ivalue_float(NAN));
  if (importer->library) {
    const Type *type = find_type(importer, c, join(importer, STR("__torch__"), name));
    if (type) return sugared_class(c, type);
  }
  if (str_is(name, "infj") || str_is(name, "nanj")) {
    IValue value;
    Status status =
        ivalue_from_complex(__builtin_complex(0.0, str_is(name, "infj") ? (double)INFINITY : (double)NAN), &value);
    if (status) catch_throw(&c->catch_point, status);
    if (!vec_push(&importer->constants, value)) { /* beyond the archive's own: only holds the reference */
      ivalue_release(value);
      catch_throw(&c->catch_point, status_out_of_memory());
    }
    return sugared_constant(c, value);
  }
  return NULL;
}

static const Type *resolve_type(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  Importer *importer = (Importer *)resolver;
  if (str_starts_with(name, "__torch__."))
    return find_type(importer, c, str_from(arena_strndup(&importer->arena, name.data, name.length)));
  return importer->library ? find_type(importer, c, join(importer, STR("__torch__"), name)) : NULL;
}

static CodeFile *new_file(Importer *importer, Str module, const ArchiveRecord *record) {
  CodeFile *file = ARENA_NEW(&importer->arena, CodeFile);
  file->module = module;
  file->record = record;
  map_init(&file->definitions, &importer->arena);
  map_put(&importer->files, module, file);
  return file;
}

/* code/__torch__/a/b.py -> "__torch__.a.b" */
static void add_folder(Importer *importer, const char *folder) {
  Arena *arena = &importer->arena;
  for (size_t i = 0; i < importer->archive->records.length; i++) {
    const ArchiveRecord *record = &importer->archive->records.data[i];
    if (!str_starts_with(record->name, folder) || !str_ends_with(record->name, ".py")) continue;
    if (record->name.length < strlen(folder) + strlen(".py")) continue;
    size_t length = record->name.length - strlen(folder) - strlen(".py");
    char *module = arena_strndup(arena, record->name.data + strlen(folder), length);
    for (size_t k = 0; k < length; k++) {
      if (module[k] != '/') continue;
      module[k] = '.';
      map_put(&importer->folders, (Str){module, k}, importer);
    }
    map_put(&importer->folders, (Str){module, length}, importer);
    new_file(importer, (Str){module, length}, record);
  }
}
static void add_files(void *importer) {
  add_folder(importer, "code/");
}

static void add_libraries(void *argument) {
  Importer *importer = argument;
  const ArchiveRecord *record = archive_find(importer->archive, STR("libs.py"));
  add_folder(importer, "libs/");
  if (record) importer->library = new_file(importer, STR("libs.py"), record);
}
Status importer_add_libraries(Importer *importer) {
  return arena_protect(&importer->arena, add_libraries, importer);
}

Status importer_init(Importer *importer, Archive *archive, CompilationUnit *unit, Exec *exec) {
  *importer = (Importer){.archive = archive, .unit = unit, .exec = exec};
  importer->resolver =
      (Resolver){.resolve_value = resolve_value, .resolve_type = resolve_type, .outer = frontend_builtin_resolver()};
  arena_init(&importer->arena, NULL);
  map_init(&importer->files, &importer->arena);
  map_init(&importer->folders, &importer->arena);
  return arena_protect(&importer->arena, add_files, importer);
}

Status importer_add_constant(Importer *importer, IValue value) {
  IValue constant = value;
  if (value.tag == TAG_TENSOR && tensor_is_defined(value.tensor) && value.tensor->ndim == 0) {
    Tensor *number;
    TRY(tensor_alias(value.tensor, &number));
    number->flags |= (value.tensor->flags & TENSOR_REQUIRES_GRAD) | TENSOR_WRAPPED_NUMBER;
    constant = ivalue_tensor(number);
  } else {
    ivalue_retain(constant);
  }
  if (vec_push(&importer->constants, constant)) return OK;
  ivalue_release(constant);
  return status_out_of_memory();
}

void importer_dispose(Importer *importer) {
  for (size_t i = 0; i < importer->constants.length; i++) ivalue_release(importer->constants.data[i]);
  vec_dispose(&importer->constants);
  arena_dispose(&importer->arena);
}

/* ---- entry points: each is one act of compiling ---- */

typedef struct Act {
  Importer *importer;
  void (*body)(Compilation *c, void *argument);
  void *argument;
} Act;

static void act_body(Compilation *c, void *argument) {
  const Act *act = argument;
  act->importer->arena.catch_point = &c->catch_point;
  act->body(c, act->argument);
  compilation_finish(c);
}
Status importer_compile(Importer *importer, void (*body)(Compilation *c, void *argument), void *argument) {
  Act act = {importer, body, argument};
  Status status = compilation_run(importer->unit, importer->exec, act_body, &act);
  importer->arena.catch_point = NULL;
  return status;
}

typedef struct Request {
  Importer *importer;
  Str text;
  const Type *type;
} Request;

static void resolve_body(Compilation *c, void *argument) {
  Request *request = argument;
  request->type = find_type(request->importer, c, request->text);
}
static void parse_type_body(Compilation *c, void *argument) {
  Request *request = argument;
  request->type = frontend_parse_type(c, request->text, &request->importer->resolver);
}

void importer_define_methods(Importer *importer, Compilation *c, Str record_name, ClassType *class_type) {
  const ArchiveRecord *record = archive_find(importer->archive, record_name);
  if (!record)
    catch_throw(&c->catch_point,
                status_new(ERROR_DATA, "the archive has no record '" STR_FMT "' with the code of " STR_FMT,
                           STR_ARG(record_name), STR_ARG(class_type->type.name)));
  CodeFile *file = NULL;
  for (MapEntry *e = map_next(&importer->files, NULL); e && !file; e = map_next(&importer->files, e))
    if (((CodeFile *)e->value)->record == record) file = e->value;
  if (!file) file = new_file(importer, record->name, record);
  const Tree *tree = parse_code(importer, file)->tree;
  for (uint32_t i = 0; i < tree->count; i++)
    if (tree->children[i]->kind == TK_DEF)
      frontend_define_method(c, class_type, tree->children[i], &importer->resolver);
}

void importer_parse_all(Importer *importer) {
  Arena *of_unit = &importer->unit->store.arena;
  Catch *outer = of_unit->catch_point;
  of_unit->catch_point = importer->arena.catch_point; /* the unit holds the sources */
  for (MapEntry *e = map_next(&importer->files, NULL); e; e = map_next(&importer->files, e))
    parse_code(importer, e->value);
  of_unit->catch_point = outer;
}

void importer_each_tree(Importer *importer, void (*visit)(void *argument, const Tree *tree), void *argument) {
  for (MapEntry *e = map_next(&importer->files, NULL); e; e = map_next(&importer->files, e)) {
    const CodeFile *file = e->value;
    if (file->tree) visit(argument, file->tree);
  }
}

static void compile_all(Compilation *c, void *argument) {
  Importer *importer = argument;
  importer_parse_all(importer);
  for (MapEntry *f = map_next(&importer->files, NULL); f; f = map_next(&importer->files, f)) {
    const CodeFile *file = f->value;
    for (MapEntry *d = map_next(&file->definitions, NULL); d; d = map_next(&file->definitions, d)) {
      const Tree *tree = d->value;
      Str qualified = join(importer, file->module, d->key);
      if (tree->kind == TK_CLASS_DEF) {
        find_type(importer, c, qualified);
      } else if (!unit_find_function(importer->unit, qualified)) {
        frontend_define_function(c, tree, qualified, &importer->resolver);
      }
    }
  }
}
Status importer_compile_all(Importer *importer) {
  return importer_compile(importer, compile_all, importer);
}

static Status unknown_native_class(Str qualified_name) {
  Str name = str_slice(qualified_name, strlen("__torch__.torch.classes."), qualified_name.length);
  ptrdiff_t dot = str_find_char(name, '.');
  StrBuf text = {0};
  strbuf_printf(&text, "the class " STR_FMT " of a C++ library, which wick does not have", STR_ARG(qualified_name));
  operator_library_print_reason(str_slice(name, 0, dot < 0 ? 0 : (size_t)dot), &text);
  Status status = status_new(ERROR_UNSUPPORTED, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

Status importer_resolve_class(Importer *importer, Str qualified_name, const Type **out) {
  *out = unit_find_type(importer->unit, qualified_name);
  if (*out) return OK;
  const NativeClass *native = native_class_find(qualified_name);
  if (native) {
    *out = native_class_type(native);
    return (*out)->kind == TYPE_CLASS ? OK : status_out_of_memory();
  }
  if (str_starts_with(qualified_name, "__torch__.torch.classes.")) return unknown_native_class(qualified_name);
  Request request = {importer, qualified_name, NULL};
  Status status = importer_compile(importer, resolve_body, &request);
  if (status) return used_operators_explain(importer, status);
  if (!request.type) return status_new(ERROR_DATA, "the archive has no code for " STR_FMT, STR_ARG(qualified_name));
  *out = request.type;
  return OK;
}

Status importer_parse_type(Importer *importer, Str annotation, const Type **out) {
  Request request = {importer, annotation, NULL};
  Status status = importer_compile(importer, parse_type_body, &request);
  if (status) return used_operators_explain(importer, status);
  *out = request.type;
  return OK;
}
