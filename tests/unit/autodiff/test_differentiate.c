/* Graph differentiation: the documents' LSTM cell, split, differentiated and run; what is captured, undefined
 * gradients, gradients of gradients, refusals. */
#include <math.h>

#include "ir_fixture.h"

#include "api/handles.h"
#include "autodiff/differentiate.h"
#include "autodiff/engine.h"
#include "interp/interp.h"
#include "ir/subgraph.h"

static const char lstm[] =
    "graph(%x : Float(*, *),\n"
    "      %hx : Float(*, *),\n"
    "      %cx : Float(*, *),\n"
    "      %w_ih : Float(*, *),\n"
    "      %w_hh : Float(*, *),\n"
    "      %b_ih : Float(*),\n"
    "      %b_hh : Float(*)):\n"
    "  %8 : int = prim::Constant[value=1]()\n"
    "  %9 : Float(*, *) = aten::t(%w_ih)\n"
    "  %10 : Float(*, *) = aten::mm(%x, %9)\n"
    "  %11 : Float(*, *) = aten::t(%w_hh)\n"
    "  %12 : Float(*, *) = aten::mm(%hx, %11)\n"
    "  %13 : Float(*, *) = aten::add(%10, %12, %8)\n"
    "  %14 : Float(*, *) = aten::add(%13, %b_ih, %8)\n"
    "  %gates : Float(*, *) = aten::add(%14, %b_hh, %8)\n"
    "  %31 : Float(*, *), %32 : Float(*, *), %33 : Float(*, *), %34 : Float(*, *) = prim::ConstantChunk[chunks=4, "
    "dim=1](%gates)\n"
    "  %ingate : Float(*, *) = aten::sigmoid(%31)\n"
    "  %forgetgate : Float(*, *) = aten::sigmoid(%32)\n"
    "  %cellgate : Float(*, *) = aten::tanh(%33)\n"
    "  %outgate : Float(*, *) = aten::sigmoid(%34)\n"
    "  %25 : Float(*, *) = aten::mul(%forgetgate, %cx)\n"
    "  %26 : Float(*, *) = aten::mul(%ingate, %cellgate)\n"
    "  %cy : Float(*, *) = aten::add(%25, %26, %8)\n"
    "  %28 : Float(*, *) = aten::tanh(%cy)\n"
    "  %hy : Float(*, *) = aten::mul(%outgate, %28)\n"
    "  %30 : (Float(*, *), Float(*, *)) = prim::TupleConstruct(%hy, %cy)\n"
    "  return (%30)\n";

static const char lstm_forward[] =
    "graph(%cx : Float(*, *),\n"
    "      %b_hh : Float(*),\n"
    "      %b_ih : Float(*),\n"
    "      %hx : Float(*, *),\n"
    "      %w_hh : Float(*, *),\n"
    "      %x : Float(*, *),\n"
    "      %w_ih : Float(*, *)):\n"
    "  %72 : int[] = aten::size(%b_ih)\n"
    "  %68 : int[] = aten::size(%b_hh)\n"
    "  %63 : int[] = aten::size(%cx)\n"
    "  %46 : Float(*, *) = aten::t(%w_ih)\n"
    "  %44 : Float(*, *) = aten::mm(%x, %46)\n"
    "  %74 : int[] = aten::size(%44)\n"
    "  %41 : Float(*, *) = aten::t(%w_hh)\n"
    "  %39 : Float(*, *) = aten::mm(%hx, %41)\n"
    "  %76 : int[] = aten::size(%39)\n"
    "  %7 : int = prim::Constant[value=1]()\n"
    "  %36 : Float(*, *) = aten::add(%44, %39, %7)\n"
    "  %70 : int[] = aten::size(%36)\n"
    "  %77 : int[]? = aten::_size_if_not_equal(%76, %70)\n"
    "  %75 : int[]? = aten::_size_if_not_equal(%74, %70)\n"
    "  %33 : Float(*, *) = aten::add(%36, %b_ih, %7)\n"
    "  %66 : int[] = aten::size(%33)\n"
    "  %73 : int[]? = aten::_size_if_not_equal(%72, %66)\n"
    "  %71 : int[]? = aten::_size_if_not_equal(%70, %66)\n"
    "  %gates : Float(*, *) = aten::add(%33, %b_hh, %7)\n"
    "  %65 : int[] = aten::size(%gates)\n"
    "  %69 : int[]? = aten::_size_if_not_equal(%68, %65)\n"
    "  %67 : int[]? = aten::_size_if_not_equal(%66, %65)\n"
    "  %24 : Float(*, *), %25 : Float(*, *), %26 : Float(*, *), %27 : Float(*, *) = prim::ConstantChunk[chunks=4, "
    "dim=1](%gates)\n"
    "  %ingate : Float(*, *) = aten::sigmoid(%24)\n"
    "  %57 : int[] = aten::size(%ingate)\n"
    "  %forgetgate : Float(*, *) = aten::sigmoid(%25)\n"
    "  %61 : int[] = aten::size(%forgetgate)\n"
    "  %cellgate : Float(*, *) = aten::tanh(%26)\n"
    "  %59 : int[] = aten::size(%cellgate)\n"
    "  %outgate : Float(*, *) = aten::sigmoid(%27)\n"
    "  %47 : int[] = aten::size(%outgate)\n"
    "  %14 : Float(*, *) = aten::mul(%forgetgate, %cx)\n"
    "  %52 : int[] = aten::size(%14)\n"
    "  %64 : int[]? = aten::_size_if_not_equal(%63, %52)\n"
    "  %62 : int[]? = aten::_size_if_not_equal(%61, %52)\n"
    "  %11 : Float(*, *) = aten::mul(%ingate, %cellgate)\n"
    "  %55 : int[] = aten::size(%11)\n"
    "  %60 : int[]? = aten::_size_if_not_equal(%59, %55)\n"
    "  %58 : int[]? = aten::_size_if_not_equal(%57, %55)\n"
    "  %cy : Float(*, *) = aten::add(%14, %11, %7)\n"
    "  %53 : int[] = aten::size(%cy)\n"
    "  %56 : int[]? = aten::_size_if_not_equal(%55, %53)\n"
    "  %54 : int[]? = aten::_size_if_not_equal(%52, %53)\n"
    "  %4 : Float(*, *) = aten::tanh(%cy)\n"
    "  %50 : int[] = aten::size(%4)\n"
    "  %hy : Float(*, *) = aten::mul(%outgate, %4)\n"
    "  %48 : int[] = aten::size(%hy)\n"
    "  %51 : int[]? = aten::_size_if_not_equal(%50, %48)\n"
    "  %49 : int[]? = aten::_size_if_not_equal(%47, %48)\n"
    "  return (%hy, %cy, %46, %41, %77, %75, %73, %71, %65, %69, %67, %ingate, %forgetgate, %cellgate, %outgate, %64, "
    "%62, %60, %58, %56, %54, %4, %51, %49)\n";

static const char lstm_backward[] =
    "graph(%0 : Tensor,\n"
    "      %1 : Tensor,\n"
    "      %151 : Tensor,\n"
    "      %153 : Tensor,\n"
    "      %155 : Tensor,\n"
    "      %157 : Tensor,\n"
    "      %159 : Tensor,\n"
    "      %161 : Tensor,\n"
    "      %163 : Tensor,\n"
    "      %165 : Tensor,\n"
    "      %166 : Tensor,\n"
    "      %167 : Tensor,\n"
    "      %168 : Tensor,\n"
    "      %169 : Tensor,\n"
    "      %170 : int[]?,\n"
    "      %171 : int[]?,\n"
    "      %172 : int[]?,\n"
    "      %173 : int[]?,\n"
    "      %174 : int[],\n"
    "      %175 : int[]?,\n"
    "      %176 : int[]?,\n"
    "      %177 : Tensor,\n"
    "      %178 : Tensor,\n"
    "      %179 : Tensor,\n"
    "      %180 : Tensor,\n"
    "      %181 : int[]?,\n"
    "      %182 : int[]?,\n"
    "      %183 : int[]?,\n"
    "      %184 : int[]?,\n"
    "      %185 : int[]?,\n"
    "      %186 : int[]?,\n"
    "      %187 : Tensor,\n"
    "      %188 : int[]?,\n"
    "      %189 : int[]?):\n"
    "  %15 : Tensor, %16 : Tensor = prim::GradOf[name=\"aten::mul\"](%0)\n"
    "    block0():\n"
    "      %5 : Tensor = aten::mul(%0, %187)\n"
    "      %7 : Tensor = aten::mul(%0, %180)\n"
    "      %12 : Tensor = aten::_grad_sum_to_size(%5, %189)\n"
    "      %14 : Tensor = aten::_grad_sum_to_size(%7, %188)\n"
    "      -> (%12, %14)\n"
    "  %164 : Tensor = prim::AutogradAdd(%163, %16)\n"
    "  %162 : Tensor = prim::AutogradAdd(%161, %15)\n"
    "  %18 : Tensor = prim::GradOf[name=\"aten::tanh\"](%164)\n"
    "    block0():\n"
    "      %17 : Tensor = aten::tanh_backward(%164, %187)\n"
    "      -> (%17)\n"
    "  %19 : Tensor = prim::AutogradAdd(%1, %18)\n"
    "  %32 : Tensor, %33 : Tensor = prim::GradOf[name=\"aten::add\"](%19)\n"
    "    block0():\n"
    "      %29 : Tensor = aten::_grad_sum_to_size(%19, %186)\n"
    "      %31 : Tensor = aten::_grad_sum_to_size(%19, %185)\n"
    "      -> (%29, %31)\n"
    "  %47 : Tensor, %48 : Tensor = prim::GradOf[name=\"aten::mul\"](%33)\n"
    "    block0():\n"
    "      %37 : Tensor = aten::mul(%33, %179)\n"
    "      %39 : Tensor = aten::mul(%33, %177)\n"
    "      %44 : Tensor = aten::_grad_sum_to_size(%37, %184)\n"
    "      %46 : Tensor = aten::_grad_sum_to_size(%39, %183)\n"
    "      -> (%44, %46)\n"
    "  %160 : Tensor = prim::AutogradAdd(%159, %48)\n"
    "  %156 : Tensor = prim::AutogradAdd(%155, %47)\n"
    "  %62 : Tensor, %63 : Tensor = prim::GradOf[name=\"aten::mul\"](%32)\n"
    "    block0():\n"
    "      %52 : Tensor = aten::mul(%32, %165)\n"
    "      %54 : Tensor = aten::mul(%32, %178)\n"
    "      %59 : Tensor = aten::_grad_sum_to_size(%52, %182)\n"
    "      %61 : Tensor = aten::_grad_sum_to_size(%54, %181)\n"
    "      -> (%59, %61)\n"
    "  %158 : Tensor = prim::AutogradAdd(%157, %62)\n"
    "  %65 : Tensor = prim::GradOf[name=\"aten::sigmoid\"](%162)\n"
    "    block0():\n"
    "      %64 : Tensor = aten::sigmoid_backward(%162, %180)\n"
    "      -> (%64)\n"
    "  %67 : Tensor = prim::GradOf[name=\"aten::tanh\"](%160)\n"
    "    block0():\n"
    "      %66 : Tensor = aten::tanh_backward(%160, %179)\n"
    "      -> (%66)\n"
    "  %69 : Tensor = prim::GradOf[name=\"aten::sigmoid\"](%158)\n"
    "    block0():\n"
    "      %68 : Tensor = aten::sigmoid_backward(%158, %178)\n"
    "      -> (%68)\n"
    "  %71 : Tensor = prim::GradOf[name=\"aten::sigmoid\"](%156)\n"
    "    block0():\n"
    "      %70 : Tensor = aten::sigmoid_backward(%156, %177)\n"
    "      -> (%70)\n"
    "  %77 : Tensor = prim::GradOf[name=\"prim::ConstantChunk\"](%71, %69, %67, %65)\n"
    "    block0():\n"
    "      %72 : Tensor[] = prim::ListConstruct(%71, %69, %67, %65)\n"
    "      %73 : int = prim::Constant[value=4]()\n"
    "      %74 : int = prim::Constant[value=1]()\n"
    "      %76 : Tensor = aten::_chunk_backward(%72, %73, %74, %174)\n"
    "      -> (%76)\n"
    "  %89 : Tensor, %90 : Tensor = prim::GradOf[name=\"aten::add\"](%77)\n"
    "    block0():\n"
    "      %86 : Tensor = aten::_grad_sum_to_size(%77, %176)\n"
    "      %88 : Tensor = aten::_grad_sum_to_size(%77, %175)\n"
    "      -> (%86, %88)\n"
    "  %102 : Tensor, %103 : Tensor = prim::GradOf[name=\"aten::add\"](%89)\n"
    "    block0():\n"
    "      %99 : Tensor = aten::_grad_sum_to_size(%89, %173)\n"
    "      %101 : Tensor = aten::_grad_sum_to_size(%89, %172)\n"
    "      -> (%99, %101)\n"
    "  %115 : Tensor, %116 : Tensor = prim::GradOf[name=\"aten::add\"](%102)\n"
    "    block0():\n"
    "      %112 : Tensor = aten::_grad_sum_to_size(%102, %171)\n"
    "      %114 : Tensor = aten::_grad_sum_to_size(%102, %170)\n"
    "      -> (%112, %114)\n"
    "  %128 : Tensor, %129 : Tensor = prim::GradOf[name=\"aten::mm\"](%116)\n"
    "    block0():\n"
    "      %119 : Tensor = aten::t(%169)\n"
    "      %121 : Tensor = aten::mm(%116, %119)\n"
    "      %122 : Tensor = aten::t(%166)\n"
    "      %124 : Tensor = aten::mm(%122, %116)\n"
    "      -> (%121, %124)\n"
    "  %154 : Tensor = prim::AutogradAdd(%153, %129)\n"
    "  %131 : Tensor = prim::GradOf[name=\"aten::t\"](%154)\n"
    "    block0():\n"
    "      %130 : Tensor = aten::t(%154)\n"
    "      -> (%130)\n"
    "  %143 : Tensor, %144 : Tensor = prim::GradOf[name=\"aten::mm\"](%115)\n"
    "    block0():\n"
    "      %134 : Tensor = aten::t(%168)\n"
    "      %136 : Tensor = aten::mm(%115, %134)\n"
    "      %137 : Tensor = aten::t(%167)\n"
    "      %139 : Tensor = aten::mm(%137, %115)\n"
    "      -> (%136, %139)\n"
    "  %152 : Tensor = prim::AutogradAdd(%151, %144)\n"
    "  %146 : Tensor = prim::GradOf[name=\"aten::t\"](%152)\n"
    "    block0():\n"
    "      %145 : Tensor = aten::t(%152)\n"
    "      -> (%145)\n"
    "  return (%63, %90, %103, %128, %131, %143, %146)\n";

static Exec new_exec(void) {
  Exec exec;
  exec_init(&exec, &api_services);
  exec.grad_enabled = true;
  return exec;
}

static Node *find_node(const Graph *graph, Symbol kind) {
  BLOCK_EACH(node, graph->block) if (node->kind == kind) return node;
  return NULL;
}

typedef struct Split {
  IrText *ir;
  Exec *exec;
  Gradient gradient;
  Node *node;
} Split;

static void split_and_differentiate(void *argument) {
  Split *w = argument;
  create_autodiff_subgraphs(w->ir->graph, 2);
  w->node = find_node(w->ir->graph, SYM_prim_DifferentiableGraph);
  if (w->node) differentiate(node_subgraph(w->node), w->exec, &w->gradient);
}

/* The forward graph is the documents' with sizes and captures; the backward graph has their shape: prim::GradOf for
 * each node, gradients of captured temporaries among its inputs. */
static void test_lstm_graphs(void **state) {
  (void)state;
  IrText ir;
  ir_parse(&ir, lstm);
  Exec exec = new_exec();
  Split w = {.ir = &ir, .exec = &exec};
  Status status = arena_protect(&ir.arena, split_and_differentiate, &w);
  if (status) fail_msg("%s", status->message);
  assert_int_equal(w.gradient.real_outputs, 2);
  assert_int_equal(w.gradient.input_vjp_count, 9);
  assert_int_equal(w.gradient.output_vjp_count, 7);
  StrBuf text = {0};
  graph_print(w.gradient.forward, false, &text);
  assert_text(&text, lstm_forward);
  text = (StrBuf){0};
  graph_print(w.gradient.backward, false, &text);
  assert_text(&text, lstm_backward);
  graph_dispose(w.gradient.backward);
  ir_dispose(&ir);
}

/* ---- running ---- */

enum { MAX_VALUES = 8 };

typedef struct Program {
  IrText ir;
  Exec exec;
  Code *code;
  IValue outputs[MAX_VALUES];
  uint32_t output_count;
} Program;

static void split(void *argument) {
  Program *p = argument;
  create_autodiff_subgraphs(p->ir.graph, 1);
  differentiate_subgraphs(p->ir.graph, &p->exec);
}

static void program_init(Program *p, const char *text) {
  *p = (Program){.exec = new_exec()};
  ir_parse(&p->ir, text);
  Status status = arena_protect(&p->ir.arena, split, p);
  if (!status) status = graph_lint(p->ir.graph);
  if (!status) status = code_compile(p->ir.graph, STR("f"), &p->code);
  if (status) fail_msg("%s", status->message);
}

static void program_run(Program *p, uint32_t count, Tensor **tensors) {
  IValue inputs[MAX_VALUES];
  for (uint32_t i = 0; i < count; i++) inputs[i] = ivalue_tensor(tensors[i]);
  p->output_count = graph_output_count(p->ir.graph);
  Status status = interp_run(&p->exec, p->code, inputs, count, p->outputs, p->output_count);
  if (status) fail_msg("%s", status->message);
}

static void program_dispose(Program *p) {
  for (uint32_t i = 0; i < p->output_count; i++) ivalue_release(p->outputs[i]);
  code_free(p->code);
  ir_dispose(&p->ir);
}

static Tensor *leaf(double first, bool requires_grad) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT64, 1, (int64_t[]){3}, &t));
  for (int i = 0; i < 3; i++) ((double *)tensor_data(t))[i] = first + i;
  if (requires_grad) t->flags |= TENSOR_REQUIRES_GRAD;
  return t;
}

static Tensor *gradient(Program *p, Tensor *output, Tensor *input, bool create_graph) {
  static OpRef ones_like = OP_REF("aten::ones_like", "");
  IValue ones = IVALUE_NONE;
  Tensor *grad = NULL;
  assert_null(op_call(&p->exec, &ones_like, 1, (IValue[]){ivalue_tensor(output)}, 1, &ones));
  BackwardOptions options = {.retain_graph = true, .create_graph = create_graph, .allow_unused = true};
  Status status = autograd_grad(&p->exec, 1, &output, &ones.tensor, 1, &input, options, &grad);
  if (status) fail_msg("%s", status->message);
  ivalue_release(ones);
  return grad;
}

static void assert_values(const Tensor *t, double a, double b, double c) {
  const double *x = tensor_data(t), expected[] = {a, b, c};
  assert_int_equal(t->numel, 3);
  for (int i = 0; i < 3; i++)
    if (fabs(x[i] - expected[i]) > 1e-9) fail_msg("%d is %.12g, not %.12g", i, x[i], expected[i]);
}

static const char cubes[] =
    "graph(%x : Tensor, %y : Tensor):\n"
    "  %2 : Tensor = aten::mul(%x, %x)\n"
    "  %3 : Tensor = aten::mul(%2, %x)\n"
    "  %4 : Tensor = aten::mul(%y, %2)\n"
    "  %5 : Tensor = aten::mul(%y, %y)\n"
    "  return (%3, %4, %5)\n";

/* x^3 to the third order: 3 x^2, 6 x, 6. */
static void test_higher_orders(void **state) {
  (void)state;
  Program p;
  program_init(&p, cubes);
  Tensor *x = leaf(1, true), *y = leaf(2, false);
  program_run(&p, 2, (Tensor *[]){x, y});
  Tensor *first = gradient(&p, p.outputs[0].tensor, x, true);
  assert_values(first, 3, 12, 27);
  Tensor *second = gradient(&p, first, x, true);
  assert_values(second, 6, 12, 18);
  Tensor *third = gradient(&p, second, x, false);
  assert_values(third, 6, 6, 6);
  tensor_release(first);
  tensor_release(second);
  tensor_release(third);
  tensor_release(x);
  tensor_release(y);
  program_dispose(&p);
}

/* Only results that depend on what requires grad require it; gradients that never come are zero. */
static void test_parts(void **state) {
  (void)state;
  Program p;
  program_init(&p, cubes);
  Tensor *x = leaf(1, true), *y = leaf(2, false);
  program_run(&p, 2, (Tensor *[]){x, y});
  assert_true(p.outputs[0].tensor->flags & TENSOR_RECORDS);
  assert_true(p.outputs[1].tensor->flags & TENSOR_RECORDS);
  assert_false(p.outputs[2].tensor->flags & TENSOR_RECORDS);
  Tensor *grad = gradient(&p, p.outputs[1].tensor, x, false);
  assert_values(grad, 4, 12, 24);
  tensor_release(grad);
  y->flags |= TENSOR_REQUIRES_GRAD;
  for (uint32_t i = 0; i < p.output_count; i++) ivalue_release(p.outputs[i]);
  program_run(&p, 2, (Tensor *[]){x, y});
  grad = gradient(&p, p.outputs[2].tensor, x, false);
  assert_null(grad);
  grad = gradient(&p, p.outputs[2].tensor, y, false);
  assert_values(grad, 4, 6, 8);
  tensor_release(grad);
  tensor_release(x);
  tensor_release(y);
  program_dispose(&p);
}

/* An input whose type says that it doesn't require grad, but does, is recorded eagerly. */
static void test_unexpected_input(void **state) {
  (void)state;
  Program p;
  program_init(&p,
               "graph(%x : Float(*, requires_grad=0), %y : Tensor):\n"
               "  %2 : Tensor = aten::mul(%x, %x)\n"
               "  %3 : Tensor = aten::mul(%2, %y)\n"
               "  return (%3)\n");
  Tensor *x = leaf(1, true), *y = leaf(2, true);
  program_run(&p, 2, (Tensor *[]){x, y});
  Tensor *grad = gradient(&p, p.outputs[0].tensor, x, false);
  assert_values(grad, 4, 12, 24);
  tensor_release(grad);
  tensor_release(x);
  tensor_release(y);
  program_dispose(&p);
}

static Status backward_of(Program *p, Tensor *output, bool retain) {
  static OpRef ones_like = OP_REF("aten::ones_like", "");
  IValue ones = IVALUE_NONE;
  assert_null(op_call(&p->exec, &ones_like, 1, (IValue[]){ivalue_tensor(output)}, 1, &ones));
  Status status = autograd_backward(&p->exec, 1, &output, &ones.tensor, (BackwardOptions){.retain_graph = retain});
  ivalue_release(ones);
  return status;
}

static void expect_failure(Status status, const char *part) {
  assert_non_null(status);
  if (!strstr(status->message, part)) fail_msg("expected '%s' in '%s'", part, status->message);
  status_free(status);
}

static void test_captures(void **state) {
  (void)state;
  static OpRef add_ = OP_REF("aten::add_", "Scalar");
  Program p;
  program_init(&p, cubes);
  Tensor *x = leaf(1, true), *y = leaf(2, false);
  program_run(&p, 2, (Tensor *[]){x, y});
  assert_null(backward_of(&p, p.outputs[0].tensor, true)); /* retained, then released */
  assert_null(backward_of(&p, p.outputs[0].tensor, false));
  expect_failure(backward_of(&p, p.outputs[0].tensor, false), "backward through the graph a second time");
  for (uint32_t i = 0; i < p.output_count; i++) ivalue_release(p.outputs[i]);

  program_run(&p, 2, (Tensor *[]){x, y}); /* what was captured is written to */
  IValue result = IVALUE_NONE;
  assert_null(op_call(&p.exec, &add_, 2, (IValue[]){ivalue_tensor(y), ivalue_int(1)}, 1, &result));
  ivalue_release(result);
  expect_failure(backward_of(&p, p.outputs[1].tensor, false), "modified by an inplace operation");
  tensor_release(x);
  tensor_release(y);
  program_dispose(&p);
}

/* A view that goes out is taken outside of the part, so that eager gradients know its base. */
static void test_views(void **state) {
  (void)state;
  static OpRef mul_ = OP_REF("aten::mul_", "Scalar");
  Program p;
  program_init(&p,
               "graph(%x : Tensor):\n"
               "  %1 : int = prim::Constant[value=0]()\n"
               "  %2 : int = prim::Constant[value=-1]()\n"
               "  %3 : int[] = prim::ListConstruct(%2)\n"
               "  %4 : Tensor = aten::mul(%x, %x)\n"
               "  %5 : Tensor = aten::view(%4, %3)\n"
               "  %6 : Tensor = aten::tanh(%5)\n"
               "  return (%4, %5, %6)\n");
  Tensor *x = leaf(1, true);
  program_run(&p, 1, (Tensor *[]){x});
  assert_ptr_not_equal(p.outputs[0].tensor, p.outputs[1].tensor);
  IValue result = IVALUE_NONE;
  assert_null(op_call(&p.exec, &mul_, 2, (IValue[]){p.outputs[1], ivalue_int(3)}, 1, &result));
  ivalue_release(result);
  Tensor *grad = gradient(&p, p.outputs[0].tensor, x, false);
  assert_values(grad, 6, 12, 18);
  tensor_release(grad);
  tensor_release(x);
  program_dispose(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lstm_graphs),      cmocka_unit_test(test_higher_orders), cmocka_unit_test(test_parts),
      cmocka_unit_test(test_unexpected_input), cmocka_unit_test(test_captures),      cmocka_unit_test(test_views),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
