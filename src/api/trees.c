/* wick_trees: trees that a caller builds node by node. Every node is checked as it is made, so that what is compiled
 * has the shape that a parser would have given it. */
#include "api/trees.h"

#include <assert.h>

#include "api/handles.h"
#include "syntax/grammar.h"
#include "syntax/lexer.h"
#include "syntax/parser.h"

struct wick_trees {
  RefCount refs;
  Arena arena;           /* allocates within arena_protect only */
  Source *source;        /* what ranges refer to now, or NULL; among `sources` */
  VEC(Source *) sources; /* owned */
};
struct wick_tree {
  Tree *tree;
  wick_trees *owner;
  uint32_t size; /* of the tree written out: shared parts count each time */
};
enum { MAX_SIZE = 1 << 24 };

Tree *tree_of(const wick_tree *tree) {
  assert(tree->tree);
  return tree->tree;
}

static void release(void *trees) {
  wick_trees_release(trees);
}
Status trees_keeper(const wick_tree *tree, Source **out) {
  TRY(source_new(STR(""), NULL, 1, out));
  ref_retain(&tree->owner->refs);
  (*out)->original_data = tree->owner;
  (*out)->original_free = release;
  return OK;
}

static Status add_source(wick_trees *trees, Str text, const char *file_name, uint32_t first_line) {
  Source *source;
  if (text.length > UINT32_MAX / 2) return status_new(ERROR_INVALID_ARGUMENT, "the text is too long");
  if (trees->sources.length == UINT32_MAX) return status_new(ERROR_INVALID_ARGUMENT, "there are too many texts");
  TRY(source_new(text, file_name, first_line ? first_line : 1, &source));
  if (!vec_push(&trees->sources, source)) {
    source_release(source);
    return status_out_of_memory();
  }
  trees->source = source;
  return OK;
}
static Status trees_new(const char *text, size_t length, const char *file_name, wick_trees **out) {
  wick_trees *trees = mem_calloc(1, sizeof *trees);
  if (!trees) return status_out_of_memory();
  ref_init(&trees->refs);
  arena_init(&trees->arena, NULL);
  Status status = text ? add_source(trees, (Str){text, length}, file_name, 1) : OK;
  if (status)
    wick_trees_release(trees);
  else
    *out = trees;
  return status;
}
wick_status wick_trees_new(const char *text, size_t length, const char *file_name, wick_trees **out,
                           wick_error **error) {
  API_OUT(out);
  return api_status(trees_new(text, length, file_name, out), error);
}

void wick_trees_release(wick_trees *trees) {
  if (!trees || !ref_release(&trees->refs)) return;
  arena_dispose(&trees->arena);
  for (size_t i = 0; i < trees->sources.length; i++) source_release(trees->sources.data[i]);
  vec_dispose(&trees->sources);
  mem_free(trees);
}

wick_status wick_trees_add_text(wick_trees *trees, const char *text, size_t length, const char *file_name,
                                uint32_t first_line, uint32_t *out_index, wick_error **error) {
  API_OUT(out_index);
  API_NEED(trees);
  API_NEED_BYTES(text, length);
  API_TRY(add_source(trees, (Str){text, length}, file_name, first_line));
  *out_index = (uint32_t)trees->sources.length - 1;
  return api_status(OK, error);
}
wick_status wick_trees_use_text(wick_trees *trees, uint32_t index, wick_error **error) {
  API_NEED(trees);
  if (index >= trees->sources.length)
    return api_status(
        status_new(ERROR_INVALID_ARGUMENT, "text %u of trees that have %zu", index, trees->sources.length), error);
  trees->source = trees->sources.data[index];
  return api_status(OK, error);
}

/* ---- making ---- */

typedef struct TreeRequest {
  wick_trees *trees;
  const char *kind;
  const wick_tree *const *children;
  size_t count;
  Str text;
  bool is_atom, is_code;
  uint32_t begin, end;
  wick_tree *made;
} TreeRequest;

static _Noreturn void refuse(wick_trees *trees, const char *why) {
  catch_throw(trees->arena.catch_point, status_new(ERROR_INVALID_ARGUMENT, "%s", why));
}

static TokenKind kind_named(wick_trees *trees, const char *name) {
  if (name[0] && !name[1] && (unsigned char)name[0] < 128) return name[0];
  for (TokenKind kind = TK_FIRST + 1; kind < TK_COUNT; kind++)
    if (!strcmp(token_kind_enumerator(kind), name)) return kind;
  refuse(trees, arena_printf(&trees->arena, "'%.100s' is no kind of tree", name));
}

static void make(void *argument) {
  TreeRequest *r = argument;
  assert(r->trees->arena.catch_point);
  wick_trees *trees = r->trees;
  Arena *arena = &trees->arena;
  TokenKind kind = kind_named(trees, r->kind);
  SourceRange range = {trees->source, r->begin, r->end};
  if (r->end < r->begin || r->end > (trees->source ? trees->source->length : 0))
    refuse(trees, arena_printf(arena, "a tree can't stand from %u to %u of the text", r->begin, r->end));
  wick_tree *made = ARENA_NEW(arena, wick_tree);
  *made = (wick_tree){.owner = trees, .size = 1};
  if (r->is_atom) {
    const char *misfit = grammar_atom_misfit(arena, kind, r->text);
    if (misfit) refuse(trees, misfit);
    made->tree =
        tree_atom(arena, kind, range, (Str){arena_strndup(arena, r->text.data, r->text.length), r->text.length});
  } else {
    if (r->count > MAX_SIZE) refuse(trees, "a tree has too many children");
    Tree **children = ARENA_ARRAY(arena, Tree *, r->count + 1);
    for (size_t i = 0; i < r->count; i++) {
      if (!r->children[i] || r->children[i]->owner != trees)
        refuse(trees, arena_printf(arena, "child %zu is NULL or of other wick_trees", i));
      children[i] = r->children[i]->tree;
      made->size += r->children[i]->size;
      if (made->size > MAX_SIZE) refuse(trees, "a tree is too large, when shared parts count each time");
    }
    const char *misfit = grammar_misfit(arena, kind, (uint32_t)r->count, children);
    if (misfit) refuse(trees, misfit);
    made->tree = tree_new(arena, kind, range, (uint32_t)r->count, children);
  }
  r->made = made;
}

static wick_status request(TreeRequest *r, const wick_tree **out, wick_error **error) {
  Status status = arena_protect(&r->trees->arena, make, r);
  *out = status ? NULL : r->made;
  return api_status(status, error);
}

wick_status wick_tree_new(wick_trees *trees, const char *kind, const wick_tree *const *children, size_t count,
                          uint32_t begin, uint32_t end, const wick_tree **out, wick_error **error) {
  API_OUT(out);
  API_NEED(trees);
  API_NEED(kind);
  API_NEED_ITEMS(children, count);
  return request(&(TreeRequest){trees, kind, children, count, .begin = begin, .end = end}, out, error);
}
wick_status wick_tree_new_text(wick_trees *trees, const char *kind, const char *text, size_t length, uint32_t begin,
                               uint32_t end, const wick_tree **out, wick_error **error) {
  API_OUT(out);
  API_NEED(trees);
  API_NEED(kind);
  API_NEED_BYTES(text, length);
  return request(&(TreeRequest){trees, kind, .text = {text, length}, .is_atom = true, .begin = begin, .end = end}, out,
                 error);
}

/* ---- parsing, printing ---- */

static uint32_t tree_size(const Tree *tree) {
  uint64_t size = 1;
  for (uint32_t i = 0; !tree_is_atom(tree) && i < tree->count && size < MAX_SIZE; i++)
    size += tree_size(tree->children[i]);
  return size < MAX_SIZE ? (uint32_t)size : MAX_SIZE;
}

static void parse(void *argument) {
  TreeRequest *r = argument;
  r->made = ARENA_NEW(&r->trees->arena, wick_tree);
  Tree *tree = parse_file(&r->trees->arena, r->trees->source, r->is_code ? PARSE_ARCHIVE : PARSE_PYTHON);
  *r->made = (wick_tree){.tree = tree, .owner = r->trees, .size = tree_size(tree)};
}
static Status need_text(const wick_trees *trees) {
  return trees->source ? OK : status_new(ERROR_INVALID_ARGUMENT, "the trees have no text to parse");
}
static Status parse_text(TreeRequest *r, const wick_tree **out) {
  TRY(need_text(r->trees));
  TRY(arena_protect(&r->trees->arena, parse, r));
  *out = r->made;
  return OK;
}
wick_status wick_trees_parse(wick_trees *trees, const wick_tree **out, wick_error **error) {
  API_OUT(out);
  API_NEED(trees);
  return api_status(parse_text(&(TreeRequest){.trees = trees}, out), error);
}
wick_status wick_trees_parse_code(wick_trees *trees, const wick_tree **out, wick_error **error) {
  API_OUT(out);
  API_NEED(trees);
  return api_status(parse_text(&(TreeRequest){.trees = trees, .is_code = true}, out), error);
}

typedef struct TokenPrint {
  Arena arena;
  const Source *source;
  StrBuf text;
} TokenPrint;
static void print_tokens(void *argument) {
  TokenPrint *p = argument;
  Lexer lexer;
  lexer_init(&lexer, &p->arena, p->source);
  lexer_print(&lexer, &p->text);
}
wick_status wick_trees_print_tokens(const wick_trees *trees, char **out_text, wick_error **error) {
  API_OUT(out_text);
  API_NEED(trees);
  API_TRY(need_text(trees));
  TokenPrint p = {.source = trees->source};
  arena_init(&p.arena, NULL);
  Status status = arena_protect(&p.arena, print_tokens, &p);
  arena_dispose(&p.arena);
  if (!status) return api_status(strbuf_take(&p.text, out_text), error);
  strbuf_dispose(&p.text);
  return api_status(status, error);
}

wick_status wick_tree_print(const wick_tree *tree, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 64 << 20};
  API_OUT(out_text);
  API_NEED(tree);
  tree_print(tree->tree, &text);
  return api_status(strbuf_take(&text, out_text), error);
}
