/* A program is made of typed variables that are all there from the start: matrices m0.. of sizes [2, 3], rows r0.. of
 * [3], ints i0.. and lists of matrices l0.. that never get empty. Statements write to these, so that every name is
 * defined on every path. */
#include "program_text.h"

enum { MATRICES = 4, ROWS = 2, INTS = 2, LISTS = 2, MAX_DEPTH = 3 };

typedef struct Writer {
  uint64_t state;
  StrBuf *out;
  int depth, loops, iterating; /* open blocks, loops, loops over a list */
  int counter;                 /* for names of loop variables */
} Writer;

/* Sebastiano Vigna's splitmix64 (public domain). */
uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int pick(Writer *w, int n) {
  return (int)(random_next(&w->state) % (uint64_t)n);
}

static void indent(Writer *w) {
  strbuf_repeat(w->out, ' ', (size_t)(w->depth + 1) * 4);
}
static void int_expression(Writer *w, int depth);

/* Patterns: %M a matrix expression, %m a matrix variable, %R, %r a row, %I, %i an int, %l a list, %s a number, %c a
 * condition; the rest stands for itself. */
static void put(Writer *w, const char *pattern, int depth);

static const char *const matrix_leaves[] = {"%m", "%m", "%m", "%l[-1]", "%l[0]"};
static const char *const matrix_forms[] = {
    "(%M + %M)",
    "(%M - %M)",
    "(%M * %M)",
    "(%M * %R)",
    "(%R + %M)",
    "(%M * %s)",
    "(%M + %s)",
    "(%s - %M)",
    "torch.relu(%M)",
    "torch.tanh(%M)",
    "torch.sigmoid(%M)",
    "torch.neg(%M)",
    "%m[:]",
    "%m.view(2, 3)",
    "%m.t().t()",
    "%m.clone()",
    "%R.expand(2, 3).clone()",
    "%M.detach()",
    "torch.stack([%R, %R])",
    "torch.cat([%m[0:1], %M[1:2]], 0)",
    "torch.where(%M > 0, %M, %M)",
    "torch.clamp(%M, -2.0, 2.0)",
    "%m.reshape(6).view(2, 3)",
    "(%M.chunk(2, 0)[%I % 2] + %M)",
    "torch.mul(%M, %I)",
    "%M.unsqueeze(0).squeeze(0)",
    "torch.addcmul(%M, %M, %M)",
};
static const char *const row_leaves[] = {"%r", "%m[0]", "%m[%i % 2]"};
static const char *const row_forms[] = {"(%R + %R)",       "(%R * %s)",  "%M.sum(0)",  "%m[%I % 2]", "torch.tanh(%R)",
                                        "%M.select(0, 1)", "%r.view(3)", "%M.mean(0)", "%R.clone()"};
static const char *const int_forms[] = {"(%I + %I)", "(%I - %I)", "(%I * 2)",   "len(%l)", "min(%I, %I)",
                                        "abs(%I)",   "(%I // 2)", "%m.size(1)", "%m.dim()"};
static const char *const conditions[] = {"%I > %I",          "%I % 2 == 0",       "flag", "not flag", "len(%l) < 3",
                                         "%I <= n and flag", "bool(%M.sum() > 0)"};
static const char *const writes[] = {"%m.add_(%M)",
                                     "%m.mul_(%s)",
                                     "%m.mul_(%M)",
                                     "%m.relu_()",
                                     "%m[0].add_(%R)",
                                     "%m[%I % 2] = %R",
                                     "%m[:, 1:2] = %M[:, 0:1]",
                                     "%m.copy_(%M)",
                                     "%m.zero_()",
                                     "%r.add_(%R)",
                                     "%m += %M",
                                     "%m *= %s",
                                     "%m.t().add_(%s)",
                                     "%r.mul_(%s)",
                                     "%l[0] = %M",
                                     "%l[-1].add_(%M)",
                                     "%m[:, 0].fill_(%s)",
                                     "%m.sub_(%M)",
                                     "%r.copy_(%R)",
                                     "%m.view(6)[%I % 3] = %s"};
static const char *const assignments[] = {"%m = %M",       "%m = %M", "%m = %M", "%r = %R",    "%i = (%I) % 5",
                                          "%l = [%M, %M]", "%m = %m", "%l = %l", "%r = %m[0]", "%m, %m = %M, %M"};
#define PICK(w, table) (table)[pick((w), (int)(sizeof(table) / sizeof *(table)))]

static void expression(Writer *w, char kind, int depth) {
  bool leaf = depth >= 3 || pick(w, 3) == 0;
  switch (kind) {
    case 'M':
      put(w, leaf ? PICK(w, matrix_leaves) : PICK(w, matrix_forms), depth + 1);
      break;
    case 'R':
      put(w, leaf ? PICK(w, row_leaves) : PICK(w, row_forms), depth + 1);
      break;
    default:
      int_expression(w, depth);
  }
}

static void int_expression(Writer *w, int depth) {
  if (depth >= 3 || pick(w, 2)) {
    static const char *const leaves[] = {"%i", "n", "1", "3", "%i"};
    put(w, PICK(w, leaves), depth + 1);
  } else {
    put(w, PICK(w, int_forms), depth + 1);
  }
}

static void put(Writer *w, const char *pattern, int depth) {
  static const char *const numbers[] = {"0.5", "2.0", "-1.0", "0.25", "3", "-0.5"};
  for (const char *at = pattern; *at; at++) {
    if (*at != '%' || at[1] == ' ') {
      strbuf_char(w->out, *at);
      continue;
    }
    switch (*++at) {
      case 'M':
      case 'R':
      case 'I':
        expression(w, *at, depth);
        break;
      case 'm':
        strbuf_printf(w->out, "m%d", pick(w, MATRICES));
        break;
      case 'r':
        strbuf_printf(w->out, "r%d", pick(w, ROWS));
        break;
      case 'i':
        strbuf_printf(w->out, "i%d", pick(w, INTS));
        break;
      case 'l':
        strbuf_printf(w->out, "l%d", pick(w, LISTS));
        break;
      case 's':
        strbuf_puts(w->out, PICK(w, numbers));
        break;
      default:
        put(w, PICK(w, conditions), depth);
    }
  }
}

static void line(Writer *w, const char *pattern) {
  indent(w);
  put(w, pattern, 0);
  strbuf_char(w->out, '\n');
}

static void block(Writer *w, int most);

static void open_block(Writer *w, const char *head, int most) {
  line(w, head);
  w->depth++;
  block(w, most);
  w->depth--;
}

static void loop(Writer *w) {
  int kind = pick(w, 4), id = w->counter++;
  w->loops++;
  indent(w);
  if (kind == 0) {
    strbuf_printf(w->out, "k%d = 0\n", id);
    indent(w);
    strbuf_printf(w->out, "while k%d < %d and i0 < 9:\n", id, 1 + pick(w, 4));
    w->depth++;
    indent(w);
    strbuf_printf(w->out, "k%d += 1\n", id);
  } else if (kind == 1) {
    strbuf_printf(w->out, "for t%d in l%d:\n", id, pick(w, LISTS));
    w->depth++;
    w->iterating++;
    indent(w);
    strbuf_printf(w->out, "m%d = t%d\n", pick(w, MATRICES), id);
  } else {
    strbuf_printf(w->out, "for k%d in range(", id);
    put(w, kind == 2 ? "3" : "min(4, %I)", 1);
    strbuf_puts(w->out, "):\n");
    w->depth++;
    indent(w);
    strbuf_printf(w->out, "i%d = (i%d + k%d) %% 5\n", pick(w, INTS), pick(w, INTS), id);
  }
  block(w, 3);
  if (pick(w, 4) == 0) {
    line(w, "if %c:");
    w->depth++;
    line(w, pick(w, 2) ? "break" : "continue");
    w->depth--;
    block(w, 1);
  }
  w->depth--;
  if (kind == 1) w->iterating--;
  w->loops--;
}

static void statement(Writer *w) {
  int kind = pick(w, 10);
  if (kind < 4) {
    line(w, PICK(w, assignments));
  } else if (kind < 7) {
    line(w, PICK(w, writes));
  } else if (kind == 7) {
    /* a list that is walked or appended to in a loop could grow for ever */
    line(w, w->iterating || w->loops > 1 ? "%l[0] = %M" : "%l.append(%M)");
  } else if (w->depth >= MAX_DEPTH) {
    line(w, PICK(w, writes));
  } else if (kind == 8) {
    open_block(w, "if %c:", 3);
    if (pick(w, 2)) open_block(w, "else:", 3);
  } else {
    loop(w);
  }
}

static void block(Writer *w, int most) {
  int count = 1 + pick(w, most);
  for (int i = 0; i < count; i++) statement(w);
}

void program_text(uint64_t seed, StrBuf *out) {
  Writer w = {.state = seed, .out = out};
  strbuf_puts(out,
              "def f(a: Tensor, b: Tensor, n: int, flag: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, "
              "Tensor, int, int, List[Tensor], List[Tensor]]:\n"
              "    m0 = a\n    m1 = b\n    m2 = a * b\n    m3 = a + 1\n    r0 = a[0]\n    r1 = b.sum(0)\n"
              "    i0 = n\n    i1 = 2\n    l0 = [m2, a]\n    l1 = [m3]\n");
  int count = 4 + pick(&w, 8);
  for (int i = 0; i < count; i++) {
    statement(&w);
    if (pick(&w, 24) == 0) put(&w, "    if %c:\n        return m0, m1, m2, m3, r0, r1, i0, i1, l0, l1\n", 0);
  }
  strbuf_puts(out, "    return m0, m1, m2, m3, r0, r1, i0, i1, l0, l1\n");
}
