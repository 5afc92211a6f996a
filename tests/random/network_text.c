/* Values v0.. are images [batch, channels, height, width] or rows [batch, width]; each is given a name once and all of
 * them are results, so that nothing is dead that could fail. Sizes but the batch are known here, so most calls are
 * fine; the batch, layouts, dtypes and state change from call to call. */
#include "network_text.h"

#include <stdio.h>

#include "program_text.h"

enum { MAX_VALUES = 40 };

typedef struct Image {
  int channels, height, width; /* of rows: height is 0 */
} Image;

typedef struct Writer {
  uint64_t state;
  StrBuf body, attributes;
  int attribute_count, value_count;
  bool is_quiet; /* nothing is written but new memory, and no random number is drawn */
  Image values[MAX_VALUES];
} Writer;

static int pick(Writer *w, int n) {
  return (int)(random_next(&w->state) % (uint64_t)n);
}
static bool one_in(Writer *w, int n) {
  return pick(w, n) == 0;
}
#define PICK(w, table) (table)[pick((w), (int)(sizeof(table) / sizeof *(table)))]

/* ---- parts ---- */

/* A new attribute; its text is to be formatted where it is used. */
static int attribute(Writer *w, const char *text) {
  strbuf_printf(&w->attributes, "        self.a%d = %s\n", w->attribute_count, text);
  return w->attribute_count++;
}
static int tensor_attribute(Writer *w, const char *maker, const char *sizes, const char *more) {
  char text[200];
  snprintf(text, sizeof text, "torch.%s(%s) * 0.5%s", maker, sizes, more);
  return attribute(w, text);
}
static int vector(Writer *w, int n, bool positive) {
  char text[100];
  snprintf(text, sizeof text, positive ? "torch.rand([%d]) + 0.5" : "torch.randn([%d]) * 0.5", n);
  return attribute(w, text);
}

static void begin(Writer *w) {
  strbuf_printf(&w->body, "    v%d = ", w->value_count);
}
static void end(Writer *w, Image of) {
  strbuf_puts(&w->body, "\n");
  w->values[w->value_count++] = of;
}
static void statement(Writer *w, const char *text) {
  strbuf_printf(&w->body, "    %s\n", text);
}

static const Image *image_at(const Writer *w, int at) {
  return &w->values[at];
}
static bool is_image(const Writer *w, int at) {
  return w->values[at].height > 0;
}
/* One of the last values that is (or is no) image; -1: none. */
static int choose(Writer *w, bool image) {
  int recent = pick(w, 3) ? 4 : w->value_count;
  for (int tries = 0; tries < 12; tries++) {
    int at = w->value_count - 1 - pick(w, recent < w->value_count ? recent : w->value_count);
    if (is_image(w, at) == image) return at;
  }
  for (int at = w->value_count - 1; at >= 0; at--)
    if (is_image(w, at) == image) return at;
  return -1;
}
/* Another value of these sizes; -1: none. */
static int twin(Writer *w, Image of, int but) {
  int first = pick(w, w->value_count);
  for (int i = 0; i < w->value_count; i++) {
    int at = (first + i) % w->value_count;
    if (at != but && !memcmp(&w->values[at], &of, sizeof of)) return at;
  }
  return -1;
}

static const char *const activations[] = {
    "F.relu(%s)",     "F.relu(%s, inplace=True)",  "torch.relu_(%s)",   "F.gelu(%s)",
    "F.silu(%s)",     "torch.sigmoid(%s)",         "F.hardswish(%s)",   "F.hardtanh(%s)",
    "F.relu6(%s)",    "F.hardtanh_(%s, 0.0, 6.0)", "F.hardsigmoid(%s)", "torch.sigmoid_(%s)",
    "torch.tanh(%s)", "F.leaky_relu(%s)",          "F.elu(%s)",         "F.leaky_relu_(%s, 0.1)"};
static const char *const pure_activations[] = {"F.relu(%s)",        "F.gelu(%s)",      "F.silu(%s)",
                                               "torch.sigmoid(%s)", "F.hardswish(%s)", "torch.tanh(%s)"};

static void put_activated(Writer *w, const char *inner, bool may_write) {
  const char *pattern = one_in(w, 3)                ? "%s"
                        : may_write && !w->is_quiet ? PICK(w, activations)
                                                    : PICK(w, pure_activations);
  const char *at = strstr(pattern, "%s");
  strbuf_printf(&w->body, "%.*s%s%s", (int)(at - pattern), pattern, inner, at + 2);
}

/* ---- layers of images ---- */

static const char *const makers[] = {"randn", "randn", "randn", "ones", "zeros"};
static const int channel_counts[] = {1, 1, 2, 4, 8, 16, 3};

static void norm_text(Writer *w, const char *inner, int channels, StrBuf *out) {
  static const char *const modes[] = {"False", "False", "False", "s.training", "True"};
  int mean = vector(w, channels, false), var = vector(w, channels, true);
  strbuf_printf(out, "F.batch_norm(%s, s.a%d, s.a%d, ", inner, mean, var);
  if (pick(w, 2))
    strbuf_printf(out, "s.a%d, s.a%d, ", vector(w, channels, true), vector(w, channels, false));
  else
    strbuf_puts(out, "None, None, ");
  strbuf_printf(out, "%s, 0.1, 1e-5)", w->is_quiet ? "False" : PICK(w, modes));
}

static Image transposed_text(Writer *w, const char *of, Image in, StrBuf *out) {
  int kernel = 2 + pick(w, 2), stride = in.height <= 8 && in.width <= 8 ? 1 + pick(w, 2) : 1, padding = pick(w, 2);
  int channels = PICK(w, channel_counts);
  if ((in.height - 1) * stride + kernel <= 2 * padding || (in.width - 1) * stride + kernel <= 2 * padding) padding = 0;
  char sizes[100];
  snprintf(sizes, sizeof sizes, "[%d, %d, %d, %d]", in.channels, channels, kernel, kernel);
  int weight = tensor_attribute(w, PICK(w, makers), sizes, ""), bias = pick(w, 2) ? vector(w, channels, false) : -1;
  char text[40] = "None";
  if (bias >= 0) snprintf(text, sizeof text, "s.a%d", bias);
  if (pick(w, 3))
    strbuf_printf(out, "F.conv_transpose2d(%s, s.a%d, %s, [%d, %d], [%d, %d])", of, weight, text, stride, stride,
                  padding, padding);
  else
    strbuf_printf(out, "torch.convolution(%s, s.a%d, %s, [%d, %d], [%d, %d], [1, 1], True, [0, 0], 1)", of, weight,
                  text, stride, stride, padding, padding);
  return (Image){channels, (in.height - 1) * stride + kernel - 2 * padding,
                 (in.width - 1) * stride + kernel - 2 * padding};
}

static Image conv_text(Writer *w, const char *of, Image in, StrBuf *out) {
  if (one_in(w, 6)) return transposed_text(w, of, in, out);
  int kind = pick(w, 5), kernel = kind < 2 ? 1 : 3, stride = one_in(w, 6) ? 2 : 1;
  bool depthwise = kind == 4;
  int channels = depthwise ? in.channels : PICK(w, channel_counts), padding = kernel / 2;
  char sizes[100];
  snprintf(sizes, sizeof sizes, "[%d, %d, %d, %d]", channels, depthwise ? 1 : in.channels, kernel, kernel);
  static const char *const layouts[] = {"", "", "", "", ".contiguous(memory_format=torch.channels_last)"};
  char more[100];
  snprintf(more, sizeof more, "%s", PICK(w, layouts));
  int weight = tensor_attribute(w, PICK(w, makers), sizes, ""), bias = pick(w, 2) ? vector(w, channels, false) : -1;
  if (*more) strbuf_printf(&w->attributes, "        self.a%d = self.a%d%s\n", weight, weight, more);
  strbuf_printf(out, "%s(%s, s.a%d, ", pick(w, 2) ? "F.conv2d" : "torch.conv2d", of, weight);
  if (bias < 0)
    strbuf_puts(out, "None");
  else
    strbuf_printf(out, "s.a%d", bias);
  strbuf_printf(out, ", [%d, %d], [%d, %d], [1, 1], %d)", stride, stride, padding, padding,
                depthwise ? in.channels : 1);
  return (Image){channels, (in.height + 2 * padding - kernel) / stride + 1,
                 (in.width + 2 * padding - kernel) / stride + 1};
}

static const char *name_of(char *buffer, int at) {
  snprintf(buffer, 16, "v%d", at);
  return buffer;
}

/* A convolution, perhaps normalized, perhaps summed up, perhaps activated. */
static void add_convolution(Writer *w, int at) {
  char name[16];
  StrBuf text = {0}, more = {0};
  Image result = conv_text(w, name_of(name, at), *image_at(w, at), &text);
  if (one_in(w, 3)) {
    norm_text(w, text.data, result.channels, &more);
    StrBuf swap = text;
    text = more, more = swap;
  }
  int other = one_in(w, 3) ? twin(w, result, -1) : -1;
  if (other >= 0) {
    strbuf_clear(&more);
    strbuf_printf(&more, w->is_quiet || pick(w, 2) ? "(%s + v%d)" : "(%s).add_(v%d)", text.data, other);
    StrBuf swap = text;
    text = more, more = swap;
  }
  begin(w);
  put_activated(w, text.data, true);
  end(w, result);
  strbuf_dispose(&text);
  strbuf_dispose(&more);
}

/* Convolutions of one image, joined. */
static void add_branches(Writer *w, int at) {
  int count = 2 + pick(w, 3), channels = 0;
  Image in = *image_at(w, at);
  StrBuf text = {0};
  char name[16];
  begin(w);
  strbuf_puts(&w->body, "torch.cat([");
  for (int i = 0; i < count; i++) {
    strbuf_clear(&text);
    Image one = conv_text(w, name_of(name, at), in, &text);
    if (i) strbuf_puts(&w->body, ", ");
    if (one.height != in.height || one.width != in.width || (i && one_in(w, 5))) {
      strbuf_puts(&w->body, name);
      channels += in.channels;
      continue;
    }
    put_activated(w, text.data, true);
    channels += one.channels;
  }
  strbuf_puts(&w->body, "], 1)");
  end(w, (Image){channels, in.height, in.width});
  strbuf_dispose(&text);
}

static void add_gate(Writer *w, int at) {
  Image in = *image_at(w, at);
  char sizes[64];
  snprintf(sizes, sizeof sizes, "[%d, %d, 1, 1]", in.channels, in.channels);
  int first = tensor_attribute(w, "randn", sizes, ""), second = tensor_attribute(w, "randn", sizes, "");
  int gate = w->value_count;
  begin(w);
  strbuf_printf(&w->body, "torch.sigmoid(F.conv2d(F.relu(F.conv2d(F.adaptive_avg_pool2d(v%d, 1), s.a%d)), s.a%d))", at,
                first, second);
  end(w, (Image){in.channels, 1, 1});
  bool gate_first = pick(w, 2);
  begin(w);
  strbuf_printf(&w->body, "v%d * v%d", gate_first ? gate : at, gate_first ? at : gate);
  end(w, in);
}

static void add_norm(Writer *w, int at) {
  char name[16];
  StrBuf text = {0};
  Image in = *image_at(w, at);
  norm_text(w, name_of(name, at), in.channels, &text);
  if (one_in(w, 4)) {
    statement(w, text.data); /* for its writes alone */
  } else {
    begin(w);
    put_activated(w, text.data, true);
    end(w, in);
  }
  strbuf_dispose(&text);
}

static void add_instance_norm(Writer *w, int at) {
  Image in = *image_at(w, at);
  if (w->is_quiet || in.height * in.width < 2) return;
  int mean = vector(w, in.channels, false), var = vector(w, in.channels, true);
  char text[160];
  snprintf(text, sizeof text, "torch.instance_norm(v%d, None, None, s.a%d, s.a%d, %s, 0.1, 1e-5, False)", at, mean, var,
           pick(w, 2) ? "True" : "s.training");
  if (one_in(w, 2)) {
    statement(w, text);
    return;
  }
  begin(w);
  strbuf_puts(&w->body, text);
  end(w, in);
}

/* Same sizes as before. %s is the value. */
static const char *const same_sizes[] = {"%s + 0.0",
                                         "%s - 0.0",
                                         "%s + 0",
                                         "%s * 1",
                                         "%s / 1",
                                         "%s * 1.0",
                                         "%s + s.k",
                                         "s.k * %s",
                                         "-%s",
                                         "%s.clone()",
                                         "%s.contiguous()",
                                         "%s.contiguous(memory_format=torch.channels_last)",
                                         "%s.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)",
                                         "%s.transpose(2, 3).contiguous().transpose(2, 3)",
                                         "%s.detach()",
                                         "%s[:]",
                                         "F.softmax(%s, 1)",
                                         "F.softmax(%s, -1)",
                                         "%s.expand_as(%s)",
                                         "%s * %s.mean([2, 3], True)",
                                         "%s - %s.mean(1, True)",
                                         "%s * torch.rsqrt((%s * %s).mean(1, True) + 1e-5)",
                                         "F.dropout(%s, 0.5, False)",
                                         "F.layer_norm(%s, [%s.size(3)])",
                                         "torch.where(%s > 0, %s, s.k * %s)",
                                         "torch.clamp(%s, -1.0, 1.0)",
                                         "F.avg_pool2d(%s, 1)",
                                         "F.max_pool2d(%s, 1)",
                                         "%s.double().float()",
                                         "torch.stack([%s, %s]).sum(0)"};

static void put_pattern(Writer *w, const char *pattern, const char *name) {
  for (const char *at = pattern; *at; at++) {
    if (at[0] == '%' && at[1] == 's') {
      strbuf_puts(&w->body, name);
      at++;
    } else {
      strbuf_char(&w->body, *at);
    }
  }
}

static const char *const random_ones[] = {"F.dropout(%s, 0.5, s.training)", "%s + torch.rand_like(%s)"};

static void add_same(Writer *w, int at) {
  char name[16];
  begin(w);
  put_pattern(w, !w->is_quiet && one_in(w, 12) ? PICK(w, random_ones) : PICK(w, same_sizes), name_of(name, at));
  end(w, w->values[at]);
}

static void add_pointwise(Writer *w, int at) {
  char name[16];
  begin(w);
  put_activated(w, name_of(name, at), true);
  end(w, w->values[at]);
}

static void add_sum(Writer *w, int at) {
  static const char *const sums[] = {"torch.cat([v%d, v%d], 1)",
                                     "torch.maximum(v%d, v%d)",
                                     "v%d + v%d",
                                     "v%d * v%d",
                                     "v%d - v%d",
                                     "v%d.add_(v%d)",
                                     "v%d.mul_(v%d)"};
  int other = twin(w, w->values[at], -1), which = pick(w, w->is_quiet ? 5 : 7);
  Image result = w->values[at];
  begin(w);
  strbuf_printf(&w->body, sums[which], at, other);
  if (which == 0) result.channels *= 2;
  end(w, result);
}

static void add_pieces(Writer *w, int at) {
  Image in = *image_at(w, at), half = in;
  half.channels /= 2;
  if (in.channels % 2) return;
  if (one_in(w, 3)) {
    int from = pick(w, 2) ? 0 : half.channels;
    begin(w);
    strbuf_printf(&w->body, "v%d[:, %d:%d]", at, from, from + half.channels);
    end(w, half);
    return;
  }
  strbuf_printf(&w->body, "    v%d, v%d = ", w->value_count, w->value_count + 1);
  strbuf_printf(&w->body, pick(w, 2) ? "torch.chunk(v%d, 2, 1)\n" : "torch.split(v%d, %d, 1)\n", at, half.channels);
  w->values[w->value_count++] = half;
  w->values[w->value_count++] = half;
}

static void add_pool(Writer *w, int at) {
  Image in = *image_at(w, at);
  if (in.height % 2 || in.width % 2) return;
  begin(w);
  strbuf_printf(&w->body, pick(w, 2) ? "F.max_pool2d(v%d, 2)" : "F.avg_pool2d(v%d, 2)", at);
  end(w, (Image){in.channels, in.height / 2, in.width / 2});
}

static void add_rows(Writer *w, int at) {
  static const char *const forms[] = {"v%d.flatten(1)", "v%d.reshape(v%d.size(0), -1)", "v%d.view(v%d.size(0), -1)"};
  Image in = *image_at(w, at);
  begin(w);
  strbuf_printf(&w->body, PICK(w, forms), at, at);
  end(w, (Image){in.channels * in.height * in.width, 0, 0});
}

/* ---- layers of rows ---- */

static const int widths[] = {1, 4, 8, 32, 33};

/* A product by a matrix, of rows or of the lines of images, or of matrices with themselves turned. */
static Image product_text(Writer *w, int at, StrBuf *out) {
  static const char *const of_rows[] = {"torch.matmul(v%d, s.a%d)", "v%d.mm(s.a%d)",
                                        "torch.matmul(v%d, s.a%d.t().contiguous().t())"};
  Image in = w->values[at], result = in;
  bool image = is_image(w, at);
  int width = PICK(w, widths), inner = image ? in.width : in.channels;
  char sizes[64];
  snprintf(sizes, sizeof sizes, "[%d, %d]", inner, width);
  if (image && pick(w, 2)) {
    static const char *const squares[] = {"torch.matmul(v%d, v%d.transpose(2, 3))",
                                          "torch.bmm(v%d.flatten(0, 1), v%d.flatten(0, 1).transpose(1, 2))"};
    int which = pick(w, 2);
    strbuf_printf(out, squares[which], at, at);
    if (which) strbuf_printf(out, ".view_as(torch.matmul(v%d, v%d.transpose(2, 3)))", at, at);
    return (Image){in.channels, in.height, in.height};
  }
  int matrix = tensor_attribute(w, "randn", sizes, "");
  if (image) {
    strbuf_printf(out, "torch.matmul(v%d, s.a%d)", at, matrix);
    result.width = width;
    return result;
  }
  if (one_in(w, 3))
    strbuf_printf(out, "torch.addmm(s.a%d, v%d, s.a%d, beta=%d, alpha=0.5)", vector(w, width, false), at, matrix,
                  pick(w, 3));
  else
    strbuf_printf(out, PICK(w, of_rows), at, matrix);
  return (Image){width, 0, 0};
}

/* The text and what stands around it. */
static void put_around(StrBuf *text, const char *before, const char *after) {
  StrBuf whole = {0};
  strbuf_printf(&whole, "%s%s%s", before, text->data, after);
  strbuf_dispose(text);
  *text = whole;
}

/* A product or a layer of rows, perhaps normalized, scaled, summed up with vectors and other values, and activated. */
static void add_product(Writer *w, int at) {
  static const char *const scales[] = {" / 4.0", " * 0.25", " * 2"};
  StrBuf text = {0}, normalized = {0};
  char more[64];
  Image out = product_text(w, at, &text);
  int columns = out.height ? out.width : out.channels, other = one_in(w, 2) ? twin(w, out, -1) : -1;
  if (!out.height && one_in(w, 4)) {
    norm_text(w, text.data, out.channels, &normalized);
    strbuf_dispose(&text);
    text = normalized;
  }
  if (one_in(w, 3)) put_around(&text, "(", PICK(w, scales)), put_around(&text, "", ")");
  if (one_in(w, 5)) put_around(&text, "torch.tanh(", ")");
  if (one_in(w, 3)) {
    snprintf(more, sizeof more, pick(w, 2) ? " + s.a%d)" : " + s.a%d[0])", vector(w, columns, false));
    put_around(&text, "(", more);
  }
  if (other >= 0) {
    snprintf(more, sizeof more, w->is_quiet || pick(w, 2) ? " + v%d)" : ").add_(v%d)", other);
    put_around(&text, "(", more);
  }
  begin(w);
  put_activated(w, text.data, true);
  end(w, out);
  strbuf_dispose(&text);
}

/* Layers of one input, each with an activation. */
static void add_layers(Writer *w, int at) {
  char sizes[64], text[64];
  for (int i = 0, count = 2 + pick(w, 2); i < count; i++) {
    Image out = {PICK(w, widths), 0, 0};
    snprintf(sizes, sizeof sizes, "[%d, %d]", out.channels, w->values[at].channels);
    snprintf(text, sizeof text, "F.linear(v%d, s.a%d)", at, tensor_attribute(w, "randn", sizes, ""));
    begin(w);
    put_activated(w, text, true);
    end(w, out);
  }
}

static void add_linear(Writer *w, int at) {
  char sizes[64], text[120];
  Image in = w->values[at], out = {PICK(w, widths), 0, 0};
  snprintf(sizes, sizeof sizes, "[%d, %d]", out.channels, in.channels);
  int weight = tensor_attribute(w, "randn", sizes, ""), bias = pick(w, 2) ? vector(w, out.channels, false) : -1;
  if (bias < 0)
    snprintf(text, sizeof text, "F.linear(v%d, s.a%d)", at, weight);
  else
    snprintf(text, sizeof text, "F.linear(v%d, s.a%d, s.a%d)", at, weight, bias);
  int other = twin(w, out, -1);
  StrBuf sum = {0};
  if (other >= 0 && pick(w, 2))
    strbuf_printf(&sum, w->is_quiet || pick(w, 2) ? "(%s + v%d)" : "%s.add_(v%d)", text, other);
  else
    strbuf_puts(&sum, text);
  begin(w);
  put_activated(w, sum.data, true);
  end(w, out);
  strbuf_dispose(&sum);
}

static void add_row_operator(Writer *w, int at) {
  static const char *const forms[] = {"%s + 0.0",
                                      "%s * 1",
                                      "F.softmax(%s, -1)",
                                      "F.layer_norm(%s, [%s.size(1)])",
                                      "F.dropout(%s, 0.3, False)",
                                      "%s - %s.mean(0, True)",
                                      "%s.t().contiguous().t()",
                                      "%s * torch.rsqrt((%s * %s).mean(-1, True) + 1e-5)",
                                      "torch.relu(%s)",
                                      "%s.expand_as(%s)"};
  char name[16];
  begin(w);
  put_pattern(w, PICK(w, forms), name_of(name, at));
  end(w, w->values[at]);
}

/* ---- state, and calls that fail ---- */

static const char *const effects[] = {"y.add_(1.0)",
                                      "s.count += 1",
                                      "s.buffer.mul_(0.5)",
                                      "s.buffer.add_(y.sum())",
                                      "s.buffer = s.buffer + 1",
                                      "s.log.append(s.count)",
                                      "torch.rand([2])",
                                      "s.kept = y * 2",
                                      "s.kept = y",
                                      "y[0] = s.buffer[0]",
                                      "s.buffer.zero_()",
                                      "F.dropout(y, 0.5, s.training)"};
/* Some calls can't do these. */
static const char *const attempts[] = {"%s.view(-1)",
                                       "%s + y.expand([s.limit])[0]",
                                       "%s + s.log[s.limit]",
                                       "%s * (4 // (s.limit - 2))",
                                       "%s + s.wide[:s.limit].view([2])[0]",
                                       "%s.reshape([-1, s.limit])",
                                       "torch.mm(s.square[:s.limit], s.square).sum() + %s",
                                       "checked(%s, s.limit)",
                                       "%s.to(torch.float64) if s.limit > 2 else %s.to(torch.float32)"};

static void add_effect(Writer *w) {
  statement(w, PICK(w, effects));
}
static void add_attempt(Writer *w, int at) {
  char name[16];
  const char *pattern = PICK(w, attempts);
  strbuf_printf(&w->body, "    extra.append(");
  put_pattern(w, pattern, name_of(name, at));
  strbuf_puts(&w->body, ")\n");
}

static void add_written(Writer *w, int at) {
  static const char *const writes[] = {"%s.add_(0.5)",      "%s.mul_(%s)",         "%s[0] = 0.25",         "%s.relu_()",
                                       "%s[:, 0].fill_(1)", "%s.sigmoid_()",       "s.kept.copy_(s.kept)", "%s.neg_()",
                                       "%s.div_(2)",        "%s.clamp_(-1.0, 1.0)"};
  char name[16];
  strbuf_puts(&w->body, "    ");
  put_pattern(w, PICK(w, writes), name_of(name, at));
  strbuf_puts(&w->body, "\n");
}

static void add_statement(Writer *w) {
  int kind = pick(w, w->is_quiet ? 25 : 29), at = choose(w, kind < 18);
  if (kind >= 26) {
    add_effect(w);
  } else if (kind == 25) {
    add_written(w, pick(w, w->value_count));
  } else if (kind == 24) {
    add_attempt(w, pick(w, w->value_count));
  } else if (kind == 23) {
    add_product(w, pick(w, w->value_count));
  } else if (at < 0) {
    add_rows(w, choose(w, true));
  } else if (kind == 22) {
    add_product(w, at);
  } else if (kind == 21) {
    add_layers(w, at);
  } else if (kind == 20) {
    add_row_operator(w, at);
  } else if (kind >= 18) {
    add_linear(w, at);
  } else {
    static void (*const layers[])(Writer *, int) = {
        add_convolution, add_convolution, add_convolution, add_branches, add_branches, add_same,
        add_same,        add_same,        add_pointwise,   add_sum,      add_sum,      add_pieces,
        add_pool,        add_rows,        add_norm,        add_norm,     add_gate,     add_instance_norm};
    layers[kind](w, at);
  }
}

/* ---- the program ---- */

static const char *const layouts[] = {"%s",
                                      "%s.contiguous(memory_format=torch.channels_last)",
                                      "torch.cat([%s, %s], 1)[:, :%s.size(1)]",
                                      "torch.cat([%s, %s], 3)[:, :, :, :%s.size(3)]",
                                      "%s.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)",
                                      "%s[:1].expand_as(%s)",
                                      "%s.transpose(2, 3).contiguous().transpose(2, 3)"};
static const char *const changes[] = {
    "s.training = k >= 4",          "s.training = k % 2 == 1",         "s.k = 0.25 * k",
    "s.k = 0.0 if k > 3 else -0.0", "s.limit = 3 if k == 5 else 2",    "s.limit = k % 3 + 1",
    "s.limit = 2 if k < 6 else 9",  "s.buffer = torch.zeros([2]) + k", "s.buffer.add_(1.0)",
    "s.kept = torch.zeros([2])"};

static void put_changes(Writer *w, StrBuf *out) {
  int count = 2 + pick(w, 3);
  for (int i = 0; i < count; i++) strbuf_printf(out, "    %s\n", PICK(w, changes));
  if (w->attribute_count == 0) return;
  int at = pick(w, w->attribute_count);
  static const char *const of_attributes[] = {"s.a%d.mul_(0.5)", "s.a%d = s.a%d.clone()", "s.a%d.requires_grad_(True)",
                                              "s.a%d = s.a%d.detach() * 1.5", "s.a%d = s.a%d.detach().double()"};
  int which = pick(w, 5);
  strbuf_printf(out, "    if k == %d:\n        with torch.no_grad():\n            ", 2 + pick(w, 6));
  strbuf_printf(out, of_attributes[which], at, at);
  strbuf_puts(out, "\n");
}

static void put_args(Writer *w, Image in, StrBuf *out) {
  int batch = 1 + pick(w, 3), other = one_in(w, 2) ? batch : 1 + pick(w, 3), when = 3 + pick(w, 5);
  StrBuf saved = w->body;
  w->body = (StrBuf){0};
  strbuf_printf(out,
                "def args(k: int) -> Tuple[Tensor, Tensor]:\n    torch.manual_seed(k + 7)\n"
                "    x = torch.randn([%d if k != %d else %d, %d, %d, %d])\n",
                batch, when, other, in.channels, in.height, in.width);
  put_pattern(w, PICK(w, layouts), "x");
  strbuf_printf(out, "    x = %s\n", w->body.data);
  strbuf_clear(&w->body);
  put_pattern(w, PICK(w, layouts), "x");
  strbuf_printf(out, "    if k == %d:\n        x = %s\n", 2 + pick(w, 7), w->body.data);
  if (one_in(w, 2)) strbuf_printf(out, "    x.requires_grad_(k == %d)\n", 3 + 5 * pick(w, 2));
  if (one_in(w, 6)) strbuf_printf(out, "    if k == %d:\n        x = x.detach().double()\n", 2 + pick(w, 6));
  strbuf_puts(out, "    return (x, torch.randn([1]))\n");
  strbuf_dispose(&w->body);
  w->body = saved;
}

bool network_text(uint64_t seed, StrBuf *out) {
  static const int sides[] = {1, 1, 2, 4, 5, 8};
  Writer w = {.state = seed};
  w.is_quiet = one_in(&w, 3);
  Image in = {PICK(&w, channel_counts), PICK(&w, sides), PICK(&w, sides)};
  w.values[w.value_count++] = in;
  int count = 3 + pick(&w, 9);
  for (int i = 0; i < count && w.value_count < MAX_VALUES - 4; i++) add_statement(&w);
  strbuf_printf(out,
                "class S(object):\n    def __init__(self):\n        torch.manual_seed(%d)\n"
                "        self.training = False\n        self.k = 0.5\n        self.count = 0\n        self.limit = 2\n"
                "        self.log = [1, 2, 3]\n        self.buffer = torch.ones([2])\n"
                "        self.kept = torch.ones([2])\n        self.wide = torch.ones([4])\n"
                "        self.square = torch.ones([2, 2])\n",
                (int)(seed % 9973));
  if (w.attributes.length) strbuf_str(out, strbuf_view(&w.attributes));
  strbuf_puts(out,
              "def make() -> S:\n    return S()\n"
              "def checked(x: Tensor, limit: int) -> Tensor:\n    assert limit < 3, 'too far'\n    return x * 2\n"
              "def change(s: S, k: int) -> None:\n");
  put_changes(&w, out);
  put_args(&w, in, out);
  strbuf_puts(out, "def f(s: S, x: Tensor, y: Tensor) -> List[Tensor]:\n    v0 = x\n    extra: List[Tensor] = []\n");
  if (w.body.length) strbuf_str(out, strbuf_view(&w.body));
  strbuf_puts(out, "    return [");
  for (int i = 0; i < w.value_count; i++) strbuf_printf(out, "v%d, ", i);
  strbuf_puts(out, "y] + extra\n");
  strbuf_dispose(&w.body);
  strbuf_dispose(&w.attributes);
  return !w.is_quiet;
}
