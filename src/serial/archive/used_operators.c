/* A walk over trees for calls of `torch.x` and `ops.space.x`, as PyTorch and wick print them, finds names that wick
 * does not have. What is there is known by what was compiled. */
#include "serial/archive/used_operators.h"

#include "call/operator_library.h"
#include "serial/archive/import.h"
#include "serial/pt2/pt2.h"
#include "syntax/view.h"

/* Names that the frontend turns into nodes or control flow without a row. */
static const char *const forms[] = {
    "aten::format",
    "aten::len",
    "aten::__isnot__",
    "aten::__is__",
    "aten::tensor",
    "aten::autograd",
    "aten::device",
    "aten::jit",
    "prim::data",
    "prim::rangelist",
    "prim::min",
    "prim::max",
    "prim::AutogradAnyNonZero",
    "prim::unchecked_cast",
};

/* `a.b.c` -> its parts from the left, when it begins with a variable; at most 3 are of interest. */
static int dotted_parts(const Tree *tree, Str out[3]) {
  if (tree->kind == TK_VAR) {
    out[0] = var_text(tree);
    return 1;
  }
  if (tree->kind != '.') return 0;
  int count = dotted_parts(select_value(tree), out);
  if (!count || count == 3) return 0;
  out[count] = ident_text(select_name(tree));
  return count + 1;
}

static void add(UsedOperators *used, Str space, Str name) {
  Str qualified = str_from(arena_printf(used->arena, STR_FMT "::" STR_FMT, STR_ARG(space), STR_ARG(name)));
  uintptr_t count = (uintptr_t)map_get(&used->counts, qualified);
  map_put(&used->counts, qualified, (void *)(count + 1));
}

/* Trees may share children, so each is visited once. */
void used_operators_collect(UsedOperators *used, const Tree *tree) {
  VEC(const Tree *) stack = {0};
  PtrMap seen;
  ptrmap_init(&seen, used->arena);
  vec_arena_push(used->arena, &stack, tree);
  while (stack.length) {
    const Tree *top = vec_pop(&stack);
    if (tree_is_atom(top) || ptrmap_has(&seen, top)) continue;
    ptrmap_put(&seen, top, used);
    Str parts[3];
    int count = top->kind == TK_APPLY ? dotted_parts(apply_callee(top), parts) : 0;
    if (count == 2 && str_is(parts[0], "torch")) add(used, STR("aten"), parts[1]);
    if (count == 3 && str_is(parts[0], "ops")) add(used, parts[1], parts[2]);
    if (count == 3 && str_is(parts[0], "torch") && str_is(parts[1], "autograd")) add(used, STR("aten"), parts[2]);
    for (uint32_t i = 0; i < top->count; i++) vec_arena_push(used->arena, &stack, top->children[i]);
  }
}

bool used_operator_is_known(Str qualified_name) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (str_is(qualified_name, forms[i])) return true;
  return operator_find(qualified_name) != NULL;
}

typedef struct Search {
  Importer *importer;
  UsedOperators used;
  StrBuf text;
  size_t count;
} Search;

static void visit_tree(void *argument, const Tree *tree) {
  used_operators_collect(&((Search *)argument)->used, tree);
}
static void collect_all(void *argument) {
  Search *search = argument;
  importer_parse_all(search->importer);
  importer_each_tree(search->importer, visit_tree, search);
}

static void search_unknown(void *argument) {
  Search *search = argument;
  collect_all(search);
  for (MapEntry *e = map_next(&search->used.counts, NULL); e; e = map_next(&search->used.counts, e)) {
    if (used_operator_is_known(e->key)) continue;
    enum { SIMILAR = 3 };
    Str similar[SIMILAR];
    size_t found = operator_similar(e->key, similar, SIMILAR);
    strbuf_puts(&search->text, search->count++ ? "\n  " : "  ");
    strbuf_str(&search->text, e->key);
    operator_library_print_reason(e->key, &search->text);
    for (size_t i = 0; i < found; i++) {
      strbuf_puts(&search->text, i ? ", " : " (similar: ");
      strbuf_str(&search->text, similar[i]);
    }
    if (found) strbuf_char(&search->text, ')');
  }
}

Status used_operators_explain(Importer *importer, Status failure) {
  if (importer->unit->allowed_operators) status_free(importer_compile_all(importer)); /* for the rest of them */
  Status refused = unit_check_operators(importer->unit, importer->unit, "the archive");
  if (refused) {
    status_free(failure);
    return refused;
  }
  Search search = {.importer = importer, .used.arena = &importer->arena, .text.max_length = 1 << 16};
  map_init(&search.used.counts, &importer->arena);
  Status status = arena_protect(&importer->arena, search_unknown, &search);
  if (!status && search.count) {
    status_free(failure);
    failure = status_new(ERROR_UNSUPPORTED, "the archive uses %zu operator%s that wick does not have:\n" STR_FMT,
                         search.count, search.count == 1 ? "" : "s", STR_ARG(strbuf_view(&search.text)));
  }
  status_free(status);
  strbuf_dispose(&search.text);
  return failure;
}

/* ---- listing ---- */

typedef struct ArchiveListing {
  const UsedOperatorVisits *visits;
  Search unknown;
} ArchiveListing;

static void visit_known(void *argument, Str name, size_t nodes) {
  const ArchiveListing *listing = argument;
  listing->visits->visit(listing->visits->argument, name, nodes, true);
}

static Status list_unknown(ArchiveListing *listing) {
  Search *search = &listing->unknown;
  search->used.arena = &search->importer->arena;
  map_init(&search->used.counts, search->used.arena);
  TRY(arena_protect(search->used.arena, collect_all, search));
  for (MapEntry *e = map_next(&search->used.counts, NULL); e; e = map_next(&search->used.counts, e)) {
    if (used_operator_is_known(e->key)) continue;
    listing->visits->visit(listing->visits->argument, e->key, (size_t)(uintptr_t)e->value, false);
    search->count++;
  }
  return OK;
}

static Status list_known(const CompilationUnit *unit, const ArchiveListing *listing) {
  if (!listing->visits->visit_overload) return unit_each_operator(unit, visit_known, (void *)(uintptr_t)listing);
  unit_each_overload(unit, listing->visits->visit_overload, listing->visits->argument);
  return OK;
}

/* That code does not compile is said by the list when the list shows why. */
static Status list_import(Import *import, ArchiveListing *listing) {
  CompilationUnit *unit = import->importer.unit;
  Status status = import_code(import);
  Status listed = list_known(unit, listing);
  Status refused = unit_check_operators(unit, unit, "the archive");
  listing->unknown.importer = &import->importer;
  if (!listed) listed = list_unknown(listing);
  if (status && !listed && (refused || listing->unknown.count)) {
    status_free(status);
    status = OK;
  }
  status_free(refused);
  if (!status) return listed;
  status_free(listed);
  return status;
}

/* Where there is no code without a module. That operators are missing, and which, is the error of loading it. */
static Status list_module(const Import *import, Exec *exec, const ArchiveListing *listing) {
  Module *module;
  TRY(pt2_import(import->archive, exec, import->options, &module));
  Status status = list_known(module->unit, listing);
  module_release(module);
  return status;
}

Status used_operators_of_archive(ByteSource *source, Exec *exec, const char *allowed,
                                 const UsedOperatorVisits *visits) {
  ArchiveListing listing = {.visits = visits};
  LoadOptions options = {.allow_ops = allowed};
  Import import = {.options = &options};
  TRY(archive_open_program(source, 0, &import.archive));
  Status status = OK;
  if (pt2_is_there(import.archive)) {
    status = list_module(&import, exec, &listing);
  } else {
    status = import_begin(&import, exec);
    if (!status) status = list_import(&import, &listing);
    import_end(&import);
  }
  archive_free(import.archive);
  return status;
}
