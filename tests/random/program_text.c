/* A program is made of typed variables that are all there from the start: matrices m0.. of sizes [2, 3], rows r0.. of
 * [3], tensors t0.. of any shape and dtype, ints i0.., lists of matrices l0.. and one of any tensors, ts, that never
 * get empty, an optional matrix o, an object s that comes from outside. Statements write to these, so that every name
 * is defined on every path. */
#include "program_text.h"

enum { MATRICES = 4, ROWS = 2, TENSORS = 3, INTS = 2, LISTS = 2, MAX_DEPTH = 3 };

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

/* Patterns: %M a matrix expression, %m a matrix variable, %R, %r a row, %T, %t any tensor, %I, %i an int, %l a list, %s
 * a number, %c a condition; a new line begins at the statement's column, and a tab moves it by one step; the rest
 * stands for itself. */
static void put(Writer *w, const char *pattern, int depth);

static const char *const matrix_leaves[] = {"%m", "%m", "%m", "%l[-1]", "%l[0]", "s.m"};
static const char *const matrix_forms[] = {
    "%M.view_as(%M)",
    "%M.expand_as(%M)",
    "%R.expand_as(%M).clone()",
    "%M.t().contiguous().t()",
    "%M.type_as(%M)",

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
    "g(%M, %I)",
    "s.step(%M)",
    "torch.jit.wait(torch.jit.fork(g, %M.clone(), %I))",
    "(%M + %T.sum())",
};
static const char *const row_leaves[] = {"%r", "%m[0]", "%m[%i % 2]"};
static const char *const row_forms[] = {"(%R + %R)",       "(%R * %s)",  "%M.sum(0)",  "%m[%I % 2]", "torch.tanh(%R)",
                                        "%M.select(0, 1)", "%r.view(3)", "%M.mean(0)", "%R.clone()"};
static const char *const tensor_leaves[] = {"%t", "%t", "%m", "%r", "ts[-1]", "ts[0]", "s.m"};
static const char *const tensor_forms[] = {
    "(%T + 1)",
    "(%T * 0.5)",
    "%T.abs()",
    "%t.squeeze()",
    "%T.reshape(-1)",
    "%t.flatten()",
    "%t.to(torch.float64)",
    "%t.to(torch.int64)",
    "%t.float()",
    "%t.clone()",
    "%t.transpose(0, -1)",
    "torch.relu(%T)",
    "(%t + %T.sum())",
    "%t.detach()",
    "%t.flatten()[0:1]",
    "(%T + %t.flatten()[0])",
    "%t.view_as(%t)",
    "%t.contiguous()",
    "%T.sum()",
    "torch.cat([%T.flatten(), %t.flatten()])",
};
static const char *const int_forms[] = {"(%I + %I)", "(%I - %I)", "(%I * 2)",        "len(%l)",  "min(%I, %I)",
                                        "abs(%I)",   "(%I // 2)", "%m.size(1)",      "%m.dim()", "%t.dim()",
                                        "len(ts)",   "s.k",       "(%t.numel() % 7)"};
static const char *const conditions[] = {"%I > %I",
                                         "%I % 2 == 0",
                                         "flag",
                                         "not flag",
                                         "len(%l) < 3",
                                         "%I <= n and flag",
                                         "bool(%M.sum() > 0)",
                                         "%t.dim() > 1",
                                         "%t.dtype == torch.float64",
                                         "%t.requires_grad",
                                         "%t.is_floating_point()",
                                         "lacks(o)",
                                         "%m.requires_grad",
                                         "%t.numel() > 3",
                                         "%t.size() == [2, 3]",
                                         "s.k > 2",
                                         "s.o is None"};
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
/* What changes the shape, the dtype, whether a gradient is asked for, or what is None. */
static const char *const changes[] = {"%t = %T",
                                      "%t = %T",
                                      "%t = %T",
                                      "%t = %m",
                                      "if %t.dim() < 4:\n\t%t.unsqueeze_(0)",
                                      "if %t.dim() < 4:\n\t%t = %t.unsqueeze(-1)",
                                      "%t.squeeze_()",
                                      "%t.transpose_(0, -1)",
                                      "%t.add_(1)",
                                      "%t.mul_(2)",
                                      "%t.relu_()",
                                      "%t.resize_([1])",
                                      "%t.zero_()",
                                      "%t.detach_()",
                                      "%m.detach_()",
                                      "%m = %m.detach().requires_grad_()",
                                      "%m = %m.detach().requires_grad_() * %s",
                                      "%t = %t.detach().float().requires_grad_()",
                                      "if not %t.requires_grad:\n\t%t = %t.float()",
                                      "ts[-1].unsqueeze_(0)\nts[-1] = ts[-1].flatten()",
                                      "ts[0].transpose_(0, -1)",
                                      "ts[0] = %T",
                                      "ts = [%T, %t]",
                                      "o = torch.jit.annotate(Optional[Tensor], None)",
                                      "o = some(%M)",
                                      "v = o\nif v is not None:\n\t%m = %m + v\n\tv.add_(%s)",
                                      "v = s.o\nif v is not None:\n\t%m = %m * v",
                                      "s.o = torch.jit.annotate(Optional[Tensor], None)",
                                      "s.o = %M",
                                      "s.m = %M",
                                      "s.m.add_(%M)",
                                      "s.k += 1",
                                      "s.k = %I",
                                      "u = torch.jit.fork(g, %M.clone(), %I)\n%m = %M\n%m = torch.jit.wait(u)",
                                      "v1, v2 = pair(%M, %R)\nv1.add_(v2)\n%m = v1"};
static const char *const modes[] = {"with torch.no_grad():", "with torch.no_grad():", "with torch.enable_grad():"};
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
    case 'T':
      put(w, leaf ? PICK(w, tensor_leaves) : PICK(w, tensor_forms), depth + 1);
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
    if (*at == '\n') {
      strbuf_char(w->out, '\n');
      indent(w);
      continue;
    }
    if (*at == '\t') {
      strbuf_puts(w->out, "    ");
      continue;
    }
    if (*at != '%' || at[1] == ' ') {
      strbuf_char(w->out, *at);
      continue;
    }
    switch (*++at) {
      case 'M':
      case 'R':
      case 'T':
      case 'I':
        expression(w, *at, depth);
        break;
      case 'm':
        strbuf_printf(w->out, "m%d", pick(w, MATRICES));
        break;
      case 'r':
        strbuf_printf(w->out, "r%d", pick(w, ROWS));
        break;
      case 't':
        strbuf_printf(w->out, "t%d", pick(w, TENSORS));
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
    strbuf_printf(w->out, "for e%d in l%d:\n", id, pick(w, LISTS));
    w->depth++;
    w->iterating++;
    indent(w);
    strbuf_printf(w->out, "m%d = e%d\n", pick(w, MATRICES), id);
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
  int kind = pick(w, 14);
  if (kind >= 11) {
    line(w, PICK(w, changes));
  } else if (kind == 10) {
    if (w->depth >= MAX_DEPTH)
      line(w, PICK(w, changes));
    else
      open_block(w, PICK(w, modes), 2);
  } else if (kind < 4) {
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

static const char *const bodies_of_g[] = {
    "    if i > 1:\n        x = x * i\n    return x + 1\n",
    "    y = x.t()\n    y.add_(i)\n    return x\n",
    "    x.mul_(0.5)\n    return torch.tanh(x)\n",
    "    with torch.no_grad():\n        y = x * 2\n    return x + y\n",
    "    y = x.view(-1)\n    y[0:2].add_(y[2:4])\n    return x\n",
};
static const char *const bodies_of_step[] = {
    "        self.k += 1\n        return x + self.m\n",
    "        self.m = x\n        return x * self.k\n",
    "        if self.k > 3:\n            self.m.add_(x)\n        return self.m\n",
    "        v = self.o\n        if v is not None:\n            x = x - v\n        self.o = self.m\n        return x\n",
};

void program_text(uint64_t seed, StrBuf *out) {
  Writer w = {.state = seed, .out = out};
  strbuf_puts(out,
              "class State:\n"
              "    def __init__(self, m: Tensor, k: int, o: Optional[Tensor]):\n"
              "        self.m = m\n        self.k = k\n        self.o = o\n"
              "    def step(self, x: Tensor) -> Tensor:\n");
  strbuf_puts(out, PICK(&w, bodies_of_step));
  strbuf_puts(out,
              "def make(m: Tensor, k: int, o: Optional[Tensor]) -> State:\n    return State(m, k, o)\n"
              "def g(x: Tensor, i: int) -> Tensor:\n");
  strbuf_puts(out, PICK(&w, bodies_of_g));
  static const char results[] = "m0, m1, m2, m3, r0, r1, i0, i1, l0, l1, t0, t1, t2, ts, o, s.m, s.k, s.o\n";
  strbuf_puts(out,
              "def lacks(x: Optional[Tensor]) -> bool:\n    return x is None\n"
              "def some(x: Tensor) -> Optional[Tensor]:\n    return x\n"
              "def pair(x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor]:\n    return x * 2, y\n"
              "def f(s: State, a: Tensor, b: Tensor, c: Tensor, n: int, flag: bool) -> Tuple[Tensor, Tensor, Tensor, "
              "Tensor, Tensor, Tensor, int, int, List[Tensor], List[Tensor], Tensor, Tensor, Tensor, List[Tensor], "
              "Optional[Tensor], Tensor, int, Optional[Tensor]]:\n"
              "    m0 = a\n    m1 = b\n    m2 = a * b\n    m3 = a + 1\n    r0 = a[0]\n    r1 = b.sum(0)\n"
              "    t0 = c\n    t1 = c + 1\n    t2 = c.view_as(c)\n    ts = [t1, m2]\n"
              "    o: Optional[Tensor] = None\n    if flag:\n        o = some(m3)\n"
              "    i0 = n\n    i1 = 2\n    l0 = [m2, a]\n    l1 = [m3]\n");
  int count = 4 + pick(&w, 8);
  for (int i = 0; i < count; i++) {
    statement(&w);
    if (pick(&w, 24) == 0) {
      put(&w, "    if %c:\n\treturn ", 0);
      strbuf_puts(out, results);
    }
  }
  strbuf_puts(out, "    return ");
  strbuf_puts(out, results);
}
