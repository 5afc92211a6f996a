/* The classes of wick/wick.hpp: what they give, what they throw, and that they count handles right (run under a leak
 * checker in sanitized builds). */
#include <wick/wick.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

static int failures;
#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                          \
    }                                                                      \
  } while (0)

/* The error that the action throws; of status WICK_OK when it throws none. */
template <typename Action>
static wick::Error thrown(Action action) {
  try {
    action();
  } catch (const wick::Error &error) {
    return error;
  }
  return wick::Error(WICK_OK, "");
}

static bool holds(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

static void test_values() {
  CHECK(wick::Value(3).to_int() == 3 && wick::Value(3).kind() == WICK_INT);
  CHECK(wick::Value(true).kind() == WICK_BOOL && wick::Value(2.5f).to_double() == 2.5);
  CHECK(wick::Value("text").to_string() == "text" && wick::Value(std::string("a\0b", 3)).to_string().size() == 3);
  CHECK(wick::Value(std::complex<double>(1, -2)).to_complex() == std::complex<double>(1, -2));
  CHECK(wick::Value::none().is_none() && wick::Value::device("cuda:1").print() == "cuda:1");
  CHECK(thrown([] { wick::Value("x").to_int(); }).status() == WICK_INVALID_ARGUMENT);
  CHECK(holds(thrown([] { wick::Value(1).to_string(); }).what(), "expected a string, got int"));

  wick::Value list = wick::Value::list({1, 2, 3});
  list.append(4);
  list.set(size_t(0), 10);
  CHECK(list.size() == 4 && list[0].to_int() == 10 && list.type_name() == "List[int]");
  CHECK(thrown([&] { list[4]; }).status() == WICK_NOT_FOUND);
  CHECK(thrown([&] { list.append("text"); }).status() == WICK_INVALID_ARGUMENT);
  wick::Value same = list, copy = list.copy(), moved = std::move(list);
  CHECK(!list && same.get() == moved.get() && copy.get() != moved.get());

  wick::Value dict = wick::Value::dict({{"a", 1}, {"b", 2}});
  dict.set("c", 3);
  CHECK(dict.at("c").to_int() == 3 && dict.contains("b") && !dict.contains("d") && dict.key(1).to_string() == "b");
  CHECK(thrown([&] { dict.at("d"); }).status() == WICK_NOT_FOUND);
  CHECK(wick::Value::tuple({1, "two"}).print() == "(1, two)");
}

static void test_tensors() {
  wick::Tensor x = wick::Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(x.count() == 6 && x.dtype() == WICK_FLOAT32 && x.sizes().size() == 2 && x.sizes()[1] == 3 &&
        x.strides()[0] == 3);
  float sum = 0;
  for (float number : x.data<float>()) sum += number;
  CHECK(sum == 21);
  CHECK(holds(thrown([&] { x.data<double>(); }).what(), "expected elements of float64, got float32"));
  CHECK(thrown([] { wick::Tensor::of<float>({1, 2}, {3}); }).status() == WICK_INVALID_ARGUMENT);

  wick::Tensor turned = wick::op("aten::t", x);
  CHECK(thrown([&] { turned.data<float>(); }).status() == WICK_INVALID_ARGUMENT);
  CHECK(turned.contiguous().data<float>()[1] == 4 && turned.to_vector<float>()[2] == 2);

  double numbers[] = {1, 2, 3};
  wick::Tensor borrowed = wick::Tensor::borrow(numbers, {3});
  wick::op("aten::mul_", borrowed, 2);
  CHECK(numbers[2] == 6);
  wick::Tensor taken = wick::Tensor::take(std::vector<int64_t>{1, 2, 3, 4}, {2, 2});
  CHECK(wick::Tensor(wick::op("aten::sum", taken)).data<int64_t>()[0] == 10);
  CHECK(thrown([] { wick::Tensor::take(std::vector<int64_t>(3), {2, 2}); }).status() == WICK_INVALID_ARGUMENT);
  CHECK(thrown([] { wick::Tensor tensor = wick::Value(1); }).status() == WICK_INVALID_ARGUMENT);
  CHECK(!wick::Tensor(wick::Value()));
}

static void test_programs() {
  wick::Module program = wick::compile(
      "def scaled(x, by: float = 2.0):\n    return x * by\n"
      "def fails(x):\n    raise ValueError('no')\n"
      "def loops(n: int):\n    i = 0\n    while i < n:\n        i += 1\n    return i\n");
  CHECK(program.methods().size() == 3 && holds(program.schema("scaled"), "float by=2."));
  wick::Tensor x = wick::Tensor::of<float>({1, 2}, {2});
  wick::Function scaled = program.function("scaled");
  CHECK(wick::Tensor(scaled(x)).data<float>()[1] == 4);
  CHECK(wick::Tensor(scaled(x, wick::named("by", 3.0))).data<float>()[1] == 6);
  CHECK(thrown([&] { scaled(wick::named("by", 3.0), x); }).status() == WICK_INVALID_ARGUMENT);
  CHECK(scaled.name() == "scaled" && wick::Tensor(program.run("scaled", x)).count() == 2);
  wick::Tensor result = wick::Tensor::empty({2});
  scaled.into({&result, 1}, x);
  CHECK(result.data<float>()[0] == 2);

  wick::Error error = thrown([&] { program.run("fails", x); });
  CHECK(error.status() == WICK_RAISED && error.exception() == "ValueError" && holds(error.trace(), "raise ValueError"));
  CHECK(thrown([] { wick::compile("def f(x):\n  return y"); }).status() == WICK_COMPILE);
  wick::RunOptions options;
  options.max_steps = 100;
  CHECK(thrown([&] { program.function("loops").with(options, 1000); }).status() == WICK_BUDGET);

  wick::Future future = program.run_async("scaled", x);
  CHECK(wick::Tensor(future.wait()).data<float>()[0] == 2 && future.done());
  std::vector<std::thread> threads;
  std::array<float, 4> answers{};
  for (size_t i = 0; i < answers.size(); i++)
    threads.emplace_back([&, i] { answers[i] = wick::Tensor(scaled(x, double(i))).data<float>()[1]; });
  for (std::thread &thread : threads) thread.join();
  CHECK(answers[3] == 6);
}

static void test_modules(const char *path) {
  wick::Module model = wick::load(path);
  wick::Tensor x = wick::Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  wick::Tensor before = model.eval()(x);
  wick::Value state = model.state_dict();
  CHECK(state.size() > 0 && holds(model.class_name(), "__torch__") && model.object().kind() == WICK_OBJECT);
  wick::Module own = model.clone(false);
  wick::Tensor weight = own.get_attribute(state.key(0).to_string().c_str());
  weight.copy_from<float>(std::vector<float>(size_t(weight.count())));
  CHECK(wick::Tensor(model(x)).to_vector<float>() == before.to_vector<float>());
  CHECK(wick::Tensor(own(x)).to_vector<float>() != before.to_vector<float>());
  own.load_state(state);
  own.prepare("forward", x);
  CHECK(wick::Tensor(own(x)).to_vector<float>() == before.to_vector<float>());
  CHECK(wick::Tensor(model.freeze()(x)).to_vector<float>() == before.to_vector<float>());
  own.define("def twice(self, x):\n    return self.forward(x) * 2\n");
  CHECK(wick::Tensor(own.run("twice", x)).data<float>()[0] == 2 * before.data<float>()[0]);
  CHECK(thrown([] { wick::load("/nowhere/model.pt"); }).status() == WICK_IO);

  own.save("saved.pt");
  wick::save_value(x, "x.pt");
  CHECK(wick::Tensor(wick::load("saved.pt")(wick::load_value("x.pt"))).to_vector<float>() == before.to_vector<float>());
}

static void test_training() {
  wick::Tensor weight = wick::Tensor::of<float>({3}, {1});
  weight.requires_grad();
  wick::OptimizerOptions options;
  options.algorithm = WICK_SGD;
  options.rate = 0.25;
  wick::Optimizer optimizer(wick::Value::list({weight}), options);
  wick::RunOptions recording;
  recording.grad = WICK_GRAD_ON;
  wick::Function loss = wick::compile("def loss(w):\n    return (w * w).sum()\n").function("loss");
  for (int i = 0; i < 20; i++) {
    optimizer.zero_grad();
    wick::Tensor(loss.with(recording, weight)).backward();
    if (i == 0) CHECK(weight.grad().data<float>()[0] == 6);
    optimizer.step();
  }
  CHECK(std::abs(weight.data<float>()[0]) < 1e-3f);
}

static void test_operators_of_the_host() {
  int calls = 0;
  wick::register_op("host::count(int by) -> int", [&calls](wick::Call &call) {
    if (call[0].to_int() < 0) throw std::out_of_range("by is negative");
    call.set_result(calls += int(call[0].to_int()));
  });
  wick::Module program = wick::compile("def f(n: int):\n    return torch.ops.host.count(n) + 100\n");
  CHECK(program.run("f", 5).to_int() == 105 && calls == 5);
  CHECK(holds(thrown([&] { program.run("f", -1); }).what(), "by is negative"));
  CHECK(thrown([] { wick::register_op("not a schema", [](wick::Call &) {}); }).status() != WICK_OK);
}

static void test_graphs() {
  wick::Graph graph = wick::Graph::parse(
      "graph(%x : Tensor):\n  %two : int = prim::Constant[value=2]()\n  %unused : Tensor = aten::neg(%x)\n"
      "  %y : Tensor = aten::mul(%x, %two)\n  return (%y)\n");
  graph.run_pass("dead_code_elimination");
  CHECK(!holds(graph.print(), "aten::neg"));
  CHECK(holds(wick::Graph::of(wick::compile("def f(x):\n    return x * 2\n"), "f").print(), "aten::mul"));
  size_t count = graph.rewrite("graph(%x, %two):\n  %y = aten::mul(%x, %two)\n  return (%y)\n",
                               "graph(%x, %two):\n  %y = aten::div(%x, %two)\n  return (%y)\n");
  CHECK(count == 1 && holds(graph.print(), "aten::div"));
  graph.check();
  CHECK(wick::Graph::parse(graph.print()).print() == graph.print());
}

static void test_runtimes() {
  static std::string printed;
  wick::RuntimeOptions options;
  options.print = [](void *, const char *text, size_t length) { printed.append(text, length); };
  wick::Runtime runtime(options);
  wick::Module::compile("def f():\n    print('said')\n", nullptr, runtime).run("f");
  CHECK(printed == "said\n");
  wick::Runtime other = std::move(runtime);
  CHECK(!runtime && other);
}

static void test_archives(const char *path) {
  wick::Archive archive(path);
  std::vector<std::string> names = archive.names();
  CHECK(archive.bytes() > 0 && std::find(names.begin(), names.end(), "data.pkl") != names.end());
  CHECK(archive.read("data.pkl").size() > 2 && archive.read("data.pkl")[0] == '\x80');
  CHECK(thrown([&] { archive.read("no/such/record"); }).status() == WICK_NOT_FOUND);
  wick::Archive moved = std::move(archive);
  CHECK(!archive && moved.names() == names);
  CHECK(thrown([] { wick::Archive("/nowhere/model.pt"); }).status() == WICK_IO);

  wick::FileKind kind = wick::file_kind(path);
  CHECK(kind.use == WICK_FILE_PROGRAM);
  wick::Value contents = wick::file_contents(path);
  std::vector<std::pair<std::string, wick::Tensor>> tensors = contents.tensors();
  CHECK(!tensors.empty() && tensors[0].second.count() > 0 && !tensors[0].first.empty());
  CHECK(!contents.describe().empty());
  wick::Value pair = wick::Value::dict({{"a", tensors[0].second}, {"b", wick::Value::list({tensors[0].second})}});
  CHECK(pair.tensors().size() == 2 && pair.tensors()[1].first == "b.0" && holds(pair.describe(), "a dict"));
  CHECK(wick::Value(3).tensors().empty());

  std::vector<wick::OperatorUse> uses = wick::file_operators(path), loaded = wick::load(path).operators();
  CHECK(!uses.empty() && uses[0].calls > 0 && uses[0].is_known && !loaded.empty());
  wick::Module program = wick::compile("def f(x):\n    return torch.relu(x) + torch.relu(x * 2)\n");
  bool found = false;
  for (const wick::OperatorUse &use : program.operators())
    if (use.name == "aten::relu") found = use.calls == 2 && use.is_known;
  CHECK(found);
}

static void test_functions_as_text() {
  wick::Module program = wick::compile("def f(x):\n    return (x * 2).relu()\n");
  wick::Function f = program.function("f");
  CHECK(f.qualified_name() == "f" && holds(f.print(), "graph(%x") && holds(f.print(), "aten::relu"));
  CHECK(holds(f.print(WICK_PRINT_CODE), "def f(x: Tensor)") && !f.print(WICK_PRINT_BYTECODE).empty());
  CHECK(thrown([&] { f.print(1000); }).status() == WICK_INVALID_ARGUMENT);
}

static void test_observers() {
  wick::Runtime runtime{wick::RuntimeOptions()};
  const char *text = "def f(x):\n    return x * 2\n";
  std::vector<std::string> steps;
  bool has_graph = false;
  {
    wick::Observer observer(runtime, [&](const wick::Step &step) {
      steps.emplace_back(step.name);
      has_graph |= step.function == "f" && holds(step.print(), "aten::mul");
    });
    wick::Module::compile(text, nullptr, runtime);
    observer.rethrow();
  }
  size_t count = steps.size();
  CHECK(count > 2 && steps[0] == "emit" && has_graph);
  wick::Module::compile(text, nullptr, runtime);
  CHECK(steps.size() == count);
  int shown = 0;
  wick::Observer failing(runtime, [&](const wick::Step &) {
    shown++;
    throw wick::Error(WICK_RUNTIME, "enough");
  });
  wick::Module::compile(text, nullptr, runtime);
  CHECK(shown == 1 && holds(thrown([&] { failing.rethrow(); }).what(), "enough"));
  CHECK(thrown([&] { failing.rethrow(); }).status() == WICK_OK);
}

int main(int count, char **words) {
  if (count != 2) return std::fprintf(stderr, "usage: test_wick_hpp MODEL\n"), 2;
  test_values();
  test_tensors();
  test_programs();
  test_modules(words[1]);
  test_training();
  test_operators_of_the_host();
  test_graphs();
  test_runtimes();
  test_archives(words[1]);
  test_functions_as_text();
  test_observers();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
