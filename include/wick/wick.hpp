/* wick for C++17: the same library with handles that release themselves, errors as exceptions, spans for arrays. Only
 * this header: what it calls is the C API, whose headers say what the functions do, and both may be mixed (get(),
 * Value::adopt).
 *
 *   wick::Module model = wick::load("model.pt");
 *   wick::Tensor image = wick::Tensor::of<float>(pixels, {1, 3, 224, 224});
 *   wick::Tensor scores = model(image);
 *   for (float score : scores.data<float>()) ...
 *
 * Every class is a counted handle: a copy is the same module, tensor or list, and costs one atomic addition. A handle
 * that was moved from, or made without a value, is empty; only assigning to it, bool and get() are allowed then. What
 * fails throws wick::Error. */
#ifndef WICK_WICK_HPP
#define WICK_WICK_HPP

#include <array>
#include <complex>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wick/wick.h"

namespace wick {

/* ---- errors ---- */

class Error : public std::runtime_error {
 public:
  Error(wick_status status, const std::string &message, std::string exception = "", std::string trace = "")
      : std::runtime_error(message), status_(status), exception_(std::move(exception)), trace_(std::move(trace)) {}
  wick_status status() const noexcept { return status_; }              /* WICK_... */
  const std::string &exception() const noexcept { return exception_; } /* Python's class name: "RuntimeError" */
  const std::string &trace() const noexcept { return trace_; }         /* the TorchScript stack trace, or "" */

 private:
  wick_status status_;
  std::string exception_, trace_;
};

namespace detail {

[[noreturn]] inline void raise(wick_status status, wick_error *error) {
  std::unique_ptr<wick_error, void (*)(wick_error *)> owned(error, wick_error_free);
  if (!error) throw Error(status, "out of memory");
  throw Error(status, wick_error_message(error), wick_error_exception(error), wick_error_trace(error));
}

/* A function of the C API with its last argument, the error, added; throws what it answers. */
template <typename Function, typename... Arguments>
void call(Function *function, Arguments... arguments) {
  wick_error *error = nullptr;
  wick_status status = function(arguments..., &error);
  if (status != WICK_OK) raise(status, error);
}

template <typename T>
T *made(T *handle) {
  if (!handle) throw std::bad_alloc();
  return handle;
}

/* Text that the C API gives. */
inline std::string text(char *given) {
  std::unique_ptr<char, void (*)(char *)> owned(given, wick_text_free);
  return given ? std::string(given) : std::string();
}

/* What callbacks answer for the exception that is being handled. */
inline wick_status answer(wick_error **error) noexcept {
  wick_status status = WICK_RUNTIME;
  const char *message = "an exception that is no std::exception";
  try {
    throw;
  } catch (const Error &failure) {
    *error = wick_error_new(status = failure.status(), failure.what());
  } catch (const std::bad_alloc &) {
    *error = wick_error_new(status = WICK_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &failure) {
    *error = wick_error_new(status, failure.what());
  } catch (...) {
    *error = wick_error_new(status, message);
  }
  return status;
}

/* What a walk of the C API shows its callback, which no exception may leave. */
template <typename T>
class Gathered {
 public:
  template <typename Make>
  int add(Make make) noexcept { /* nonzero: the walk ends */
    try {
      items_.emplace_back(make());
    } catch (...) {
      thrown_ = std::current_exception();
    }
    return thrown_ != nullptr;
  }
  std::vector<T> take() {
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(items_);
  }

 private:
  std::vector<T> items_;
  std::exception_ptr thrown_;
};

/* Owns one count of a C handle. */
template <typename T, void (*Release)(T *)>
class Owned {
 public:
  Owned() noexcept = default;
  Owned(Owned &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    Owned moved(std::move(other));
    std::swap(pointer_, moved.pointer_);
    return *this;
  }
  ~Owned() {
    if (pointer_) Release(pointer_);
  }
  T *get() const noexcept { return pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  /* Gives the count to the caller, for functions of the C API that take it. */
  T *release() noexcept { return std::exchange(pointer_, nullptr); }

 protected:
  explicit Owned(T *owned) noexcept : pointer_(owned) {}
  /* For out-parameters of an empty handle. */
  T **out() noexcept { return &pointer_; }

 private:
  T *pointer_ = nullptr;
};

/* The same for handles that can be shared: a copy has a count of its own. */
template <typename T, void (*Release)(T *), T *(*Retain)(T *)>
class Shared : public Owned<T, Release> {
 public:
  Shared() noexcept = default;
  Shared(Shared &&) noexcept = default;
  Shared(const Shared &other) : Owned<T, Release>(other ? Retain(other.get()) : nullptr) {}
  Shared &operator=(Shared &&) noexcept = default;
  Shared &operator=(const Shared &other) { return *this = Shared(other); }

 protected:
  using Owned<T, Release>::Owned;
};

}  // namespace detail

/* ---- spans ---- */

/* Elements that somebody else holds, as std::span; of constants, also a braced list: for the length of a call. */
template <typename T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T *data, size_t size) noexcept : data_(data), size_(size) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  template <typename Container, typename = decltype(static_cast<T *>(std::declval<Container &>().data()))>
  constexpr Span(Container &&container) noexcept : data_(container.data()), size_(container.size()) {}
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<std::remove_const_t<U>> list) noexcept : size_(list.size()) {
    data_ = list.begin(); /* as an initializer gcc takes it for one that should prolong the list's life */
  }
  constexpr T *data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T &operator[](size_t index) const { return data_[index]; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }

 private:
  T *data_ = nullptr;
  size_t size_ = 0;
};

using Sizes = Span<const int64_t>;

/* ---- options: the C API's, with their size set ---- */

template <typename T>
struct Sized : T {
  Sized() noexcept : T() { this->size = sizeof(T); }
};
using RuntimeOptions = Sized<wick_runtime_options>;
using ExecutorOptions = Sized<wick_executor_options>;
using LoadOptions = Sized<wick_load_options>;
using CompileOptions = Sized<wick_compile_options>;
using RunOptions = Sized<wick_run_options>;
using OptimizerOptions = Sized<wick_optimizer_options>;
using FileKind = Sized<wick_file_kind>;

class Runtime : public detail::Owned<wick_runtime, wick_runtime_release> {
 public:
  Runtime() noexcept = default; /* the process's default */
  explicit Runtime(const RuntimeOptions &options) { detail::call(wick_runtime_new, &options, out()); }
  Runtime(Runtime &&) noexcept = default;
  Runtime &operator=(Runtime &&) noexcept = default;
  void set_executor(const ExecutorOptions &options) { detail::call(wick_runtime_set_executor, get(), &options); }
};

/* ---- values ---- */

class Tensor;

class Value : public detail::Shared<wick_value, wick_value_release, wick_value_retain> {
 public:
  Value() noexcept = default;                                             /* empty, which is not None */
  static Value adopt(wick_value *owned) noexcept { return Value(owned); } /* takes over one count */
  static Value share(const wick_value *borrowed) {
    return Value(wick_value_retain(const_cast<wick_value *>(borrowed)));
  }

  static Value none() { return Value(detail::made(wick_value_none())); }
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0> /* no pointer becomes a bool */
  Value(T b) : Shared(detail::made(wick_value_bool(b))) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, long> = 0>
  Value(T i) : Shared(detail::made(wick_value_int(static_cast<int64_t>(i)))) {}
  Value(double f) : Shared(detail::made(wick_value_double(f))) {}
  Value(std::complex<double> z) : Shared(detail::made(wick_value_complex(z.real(), z.imag()))) {}
  Value(std::string_view text) : Shared(detail::made(wick_value_string(text.data(), text.size()))) {}
  Value(const char *text) : Value(std::string_view(text)) {}
  Value(const std::string &text) : Value(std::string_view(text)) {}
  static Value device(const char *name) {
    Value value;
    detail::call(wick_value_device, name, value.out());
    return value;
  }
  static Value list(Span<const Value> items) { return gather(wick_value_list, items); }
  static Value tuple(Span<const Value> items) { return gather(wick_value_tuple, items); }
  static Value dict(Span<const std::pair<Value, Value>> entries) {
    std::vector<const wick_value *> keys, values;
    for (const auto &entry : entries) keys.push_back(entry.first.get()), values.push_back(entry.second.get());
    Value value;
    detail::call(wick_value_dict, keys.data(), values.data(), entries.size(), value.out());
    return value;
  }

  uint32_t kind() const noexcept { return wick_value_kind(get()); } /* WICK_NONE ... */
  bool is_none() const noexcept { return kind() == WICK_NONE; }
  /* Numbers convert between int, double and bool; a value of another kind is an error. */
  int64_t to_int() const { return need(is_number(), "a number"), wick_value_to_int(get()); }
  double to_double() const { return need(is_number(), "a number"), wick_value_to_double(get()); }
  bool to_bool() const { return need(is_number(), "a number"), wick_value_to_bool(get()) != 0; }
  std::complex<double> to_complex() const {
    double real, imaginary;
    need(is_number() || kind() == WICK_COMPLEX, "a number");
    wick_value_to_complex(get(), &real, &imaginary);
    return {real, imaginary};
  }
  std::string to_string() const { /* the text of a string; print() shows any value */
    size_t length;
    need(kind() == WICK_STRING, "a string");
    const char *text = wick_value_to_string(get(), &length);
    return {text, length};
  }
  inline Tensor tensor() const;

  /* Lists and tuples by index, dicts by key, objects by name. What is not there is an error. */
  size_t size() const noexcept { return wick_value_length(get()); }
  Value operator[](size_t index) const { return found(wick_value_item(get(), index), "index"); }
  Value key(size_t index) const { return found(wick_value_key(get(), index), "index"); } /* of a dict, as inserted */
  Value at(const Value &key) const { return found(wick_value_get(get(), key.get()), "key"); }
  Value at(const char *name) const { return found(wick_value_get_text(get(), name), "name"); }
  bool contains(const Value &key) const noexcept { return bool(adopt(wick_value_get(get(), key.get()))); }
  void append(const Value &item) { detail::call(wick_list_append, get(), item.get()); }
  void set(size_t index, const Value &item) { detail::call(wick_list_set, get(), index, item.get()); }
  void set(const Value &key, const Value &value) { detail::call(wick_dict_set, get(), key.get(), value.get()); }
  void set_attribute(const char *name, const Value &value) { detail::call(wick_object_set, get(), name, value.get()); }

  std::string print() const { return texts(wick_value_print); }       /* as print() shows it */
  std::string type_name() const { return texts(wick_value_type); }    /* "List[int]" */
  std::string describe() const { return texts(wick_value_describe); } /* "a state dict of 12 tensors" */
  /* Every tensor in it, with its dotted name as a module's parameters are called, in order. */
  inline std::vector<std::pair<std::string, Tensor>> tensors() const;
  Value copy() const { /* sharing nothing */
    Value value;
    detail::call(wick_value_copy, get(), value.out());
    return value;
  }

 protected:
  explicit Value(wick_value *owned) noexcept : Shared(owned) {}
  void need(bool fits, const char *what) const {
    if (!fits) throw Error(WICK_INVALID_ARGUMENT, std::string("expected ") + what + ", got " + type_name());
  }

 private:
  friend class Function;
  friend class Future;
  friend class Graph;
  friend class Module;
  friend class Tensor;
  template <typename Make>
  static Value gather(Make *make, Span<const Value> items) {
    std::vector<wick_value *> pointers;
    for (const Value &item : items) pointers.push_back(item.get());
    Value value;
    detail::call(make, pointers.data(), pointers.size(), value.out());
    return value;
  }
  static Value found(wick_value *item, const char *what) {
    if (!item) throw Error(WICK_NOT_FOUND, std::string("no such ") + what);
    return adopt(item);
  }
  template <typename Print>
  std::string texts(Print *print) const {
    char *given = nullptr;
    detail::call(print, get(), &given);
    return detail::text(given);
  }
  bool is_number() const noexcept { return kind() == WICK_INT || kind() == WICK_DOUBLE || kind() == WICK_BOOL; }
};

inline std::ostream &operator<<(std::ostream &to, const Value &value) {
  return to << value.print();
}

/* ---- tensors ---- */

/* The dtype of elements of a type of C++. */
template <typename T>
constexpr uint32_t dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return WICK_BOOL8;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1 ? WICK_INT8 : sizeof(T) == 2 ? WICK_INT16 : sizeof(T) == 4 ? WICK_INT32 : WICK_INT64;
  else if constexpr (std::is_same_v<T, unsigned char>)
    return WICK_UINT8;
  else if constexpr (std::is_same_v<T, float>)
    return WICK_FLOAT32;
  else if constexpr (std::is_same_v<T, double>)
    return WICK_FLOAT64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return WICK_COMPLEX64;
  else {
    static_assert(std::is_same_v<T, std::complex<double>>, "no tensor has elements of this type");
    return WICK_COMPLEX128;
  }
}

class Tensor : public Value {
 public:
  Tensor() noexcept = default;
  /* Fails for what is no tensor. */
  Tensor(Value value) : Value(std::move(value)) {
    if (*this) need(kind() == WICK_TENSOR, "Tensor");
  }
  static Tensor empty(Sizes sizes, uint32_t dtype = WICK_FLOAT32) { /* not filled */
    Tensor tensor;
    detail::call(wick_tensor_new, dtype, static_cast<int32_t>(sizes.size()), sizes.data(), tensor.out());
    return tensor;
  }
  /* Of a copy of the elements, row-major. */
  template <typename T>
  static Tensor of(Span<const T> elements, Sizes sizes) {
    Tensor tensor = empty(sizes, dtype_of<T>());
    detail::call(wick_tensor_copy_from, tensor.get(), elements.data(), elements.size() * sizeof(T));
    return tensor;
  }
  /* Over the caller's memory, which must stay as long as tensors show it. Strides in elements; none: row-major. */
  template <typename T>
  static Tensor borrow(T *data, Sizes sizes, Sizes strides = {}) {
    return over(data, sizes, strides, nullptr, nullptr);
  }
  /* Over the vector's memory, which the tensor then owns. */
  template <typename T>
  static Tensor take(std::vector<T> &&elements, Sizes sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      if (size < 0 || __builtin_mul_overflow(count, size, &count)) count = -1;
    if (count < 0 || static_cast<uint64_t>(count) != elements.size())
      throw Error(WICK_INVALID_ARGUMENT,
                  "the vector has " + std::to_string(elements.size()) + " elements, not as many as the sizes say");
    auto owned = std::make_unique<std::vector<T>>(std::move(elements));
    Tensor tensor = over(
        owned->data(), sizes, {}, [](void *user) { delete static_cast<std::vector<T> *>(user); }, owned.get());
    owned.release();
    return tensor;
  }

  uint32_t dtype() const { return view().dtype; }
  /* These hold as long as the tensor does and nobody resizes it. */
  Sizes sizes() const { return sized(view(), &wick_tensor_view::sizes); }
  Sizes strides() const { return sized(view(), &wick_tensor_view::strides); }
  int64_t count() const noexcept { return wick_tensor_count(get()); }
  wick_tensor_view view() const {
    Sized<wick_tensor_view> view;
    detail::call(wick_tensor_view_of, get(), &view);
    return view;
  }
  /* The elements where they lie; fails unless they are of that type and row-major (contiguous() makes them so). */
  template <typename T>
  Span<T> data() const {
    need_dtype<std::remove_const_t<T>>();
    T *data;
    if constexpr (std::is_const_v<T>)
      data = static_cast<T *>(wick_tensor_data(get()));
    else
      data = static_cast<T *>(wick_tensor_mutable_data(get()));
    if (!data && count())
      throw Error(WICK_INVALID_ARGUMENT,
                  "the elements do not lie row-major in memory that may be written: contiguous() or clone() gives such "
                  "a tensor, data<const T>() reads any that is row-major");
    return {data, static_cast<size_t>(count())};
  }
  template <typename T>
  std::vector<T> to_vector() const { /* a copy, row-major */
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no bytes: to_vector of unsigned char after to(...)");
    need_dtype<T>();
    std::vector<T> elements(static_cast<size_t>(count()));
    detail::call(wick_tensor_copy_to, get(), static_cast<void *>(elements.data()), elements.size() * sizeof(T));
    return elements;
  }
  /* Writes all elements, row-major. */
  template <typename T>
  void copy_from(Span<const T> elements) {
    need_dtype<T>();
    detail::call(wick_tensor_copy_from, get(), elements.data(), elements.size() * sizeof(T));
  }
  Tensor contiguous() const {
    Tensor tensor;
    detail::call(wick_tensor_contiguous, get(), tensor.out());
    return tensor;
  }

  /* ---- gradients ---- */
  Tensor &requires_grad(bool wanted = true) {
    detail::call(wick_tensor_set_requires_grad, get(), int(wanted));
    return *this;
  }
  Tensor grad() const { /* empty when backward left none */
    Tensor tensor;
    detail::call(wick_tensor_grad, get(), tensor.out());
    return tensor;
  }
  void clear_grad() { detail::call(wick_tensor_clear_grad, get()); }
  void backward(uint32_t flags = 0) const { /* of one element; WICK_RETAIN_GRAPH ... */
    const wick_value *output = get();
    detail::call(wick_backward, nullptr, &output, nullptr, size_t(1), flags);
  }

 private:
  template <typename T>
  static Tensor over(T *data, Sizes sizes, Sizes strides, void (*drop)(void *), void *user) {
    if (!strides.empty() && strides.size() != sizes.size())
      throw Error(WICK_INVALID_ARGUMENT, "there are not as many strides as sizes");
    Tensor tensor;
    detail::call(wick_tensor_borrow, static_cast<void *>(const_cast<std::remove_const_t<T> *>(data)),
                 dtype_of<std::remove_const_t<T>>(), static_cast<int32_t>(sizes.size()), sizes.data(),
                 strides.empty() ? nullptr : strides.data(), drop, user, tensor.out());
    return tensor;
  }
  static Sizes sized(const wick_tensor_view &view, const int64_t *wick_tensor_view::*member) {
    return {view.*member, static_cast<size_t>(view.ndim)};
  }
  template <typename T>
  void need_dtype() const {
    uint32_t dtype = view().dtype;
    if (dtype != dtype_of<T>())
      throw Error(WICK_INVALID_ARGUMENT, std::string("expected elements of ") + wick_dtype_name(dtype_of<T>()) +
                                             ", got " + wick_dtype_name(dtype));
  }
};

inline Tensor Value::tensor() const {
  return Tensor(*this);
}

inline std::vector<std::pair<std::string, Tensor>> Value::tensors() const {
  detail::Gathered<std::pair<std::string, Tensor>> found;
  wick_tensor_visit *visit = [](void *user, const char *name, const wick_value *tensor) {
    return static_cast<decltype(found) *>(user)->add([&] { return std::make_pair(name, Tensor(share(tensor))); });
  };
  detail::call(wick_value_each_tensor, get(), visit, static_cast<void *>(&found));
  return found.take();
}

/* ---- calls ---- */

/* A keyword argument: model(x, wick::named("scale", 2.0)). They stand after the others. */
struct Named {
  const char *name;
  Value value;
};
inline Named named(const char *name, Value value) {
  return {name, std::move(value)};
}

namespace detail {

/* The arguments of one call, as the C API takes them. */
template <size_t Count>
class Arguments {
 public:
  template <typename... Given>
  explicit Arguments(const Given &...given) {
    (add(given), ...);
  }
  const wick_value *const *values() const { return pointers_.data(); }
  const char *const *names() const { return names_.data(); }
  size_t named_count() const { return named_; }

 private:
  void add(Value value) {
    if (named_) throw Error(WICK_INVALID_ARGUMENT, "an argument without a name stands after one with a name");
    push(std::move(value));
  }
  void add(const Named &given) {
    names_[named_++] = given.name;
    push(given.value);
  }
  void push(Value value) {
    pointers_[count_] = value.get();
    held_[count_++] = std::move(value);
  }
  static constexpr size_t places = Count ? Count : 1;
  std::array<Value, places> held_;
  std::array<const wick_value *, places> pointers_{};
  std::array<const char *, places> names_{};
  size_t count_ = 0, named_ = 0;
};

}  // namespace detail

/* A method of a module or a function of a compiled text, looked up once. Called from any thread. */
class Function : public detail::Shared<wick_function, wick_function_release, wick_function_retain> {
 public:
  Function() noexcept = default;
  std::string name() const { return wick_function_name(get()); }
  std::string schema() const {
    char *given = nullptr;
    detail::call(wick_function_schema, get(), &given);
    return detail::text(given);
  }
  std::string qualified_name() const { return wick_function_qualified_name(get()); } /* "__torch__.Net.forward" */
  /* As a graph, code, instructions, plans, kernels: WICK_PRINT_... */
  std::string print(uint32_t what = WICK_PRINT_GRAPH) const {
    char *given = nullptr;
    detail::call(wick_function_print, get(), what, &given);
    return detail::text(given);
  }
  template <typename... Given>
  Value operator()(const Given &...given) const {
    return call(nullptr, given...);
  }
  /* With limits, gradients, threads: function.with(options, x). */
  template <typename... Given>
  Value with(const RunOptions &options, const Given &...given) const {
    return call(&options, given...);
  }
  /* The results are written into tensors of the caller. */
  template <typename... Given>
  void into(Span<const Tensor> outputs, const Given &...given) const {
    detail::Arguments<sizeof...(Given)> a(given...);
    std::vector<wick_value *> pointers;
    for (const Tensor &output : outputs) pointers.push_back(output.get());
    detail::call(wick_function_run_into, get(), a.values(), sizeof...(Given), a.names(), a.named_count(), nullptr,
                 pointers.data(), pointers.size());
  }

 private:
  friend class Module;
  template <typename... Given>
  Value call(const wick_run_options *options, const Given &...given) const {
    detail::Arguments<sizeof...(Given)> a(given...);
    Value result;
    detail::call(wick_function_run, get(), a.values(), sizeof...(Given), a.names(), a.named_count(), options,
                 result.out());
    return result;
  }
};

/* A call that goes on in wick's threads. */
class Future : public detail::Owned<wick_future, wick_future_release> {
 public:
  Future() noexcept = default;
  Future(Future &&) noexcept = default;
  Future &operator=(Future &&) noexcept = default;
  bool done() const noexcept { return wick_future_done(get()) != 0; }
  /* Blocks until the call has ended, for timeout_ns at most (0: for ever); throws its error, each time it is asked. */
  Value wait(uint64_t timeout_ns = 0) const {
    Value result;
    detail::call(wick_future_wait, get(), timeout_ns, result.out());
    return result;
  }

 private:
  friend class Module;
};

/* ---- modules ---- */

/* An operator that a program uses. */
struct OperatorUse {
  std::string name;
  size_t calls;  /* how often the code has it */
  bool is_known; /* false: neither wick nor a library that is there has it */
};

namespace detail {

template <typename Walk, typename... Arguments>
std::vector<OperatorUse> operators(Walk *walk, Arguments... arguments) {
  Gathered<OperatorUse> found;
  wick_operator_visit *visit = [](void *user, const char *name, size_t calls, int is_known) {
    return static_cast<Gathered<OperatorUse> *>(user)->add([&] { return OperatorUse{name, calls, is_known != 0}; });
  };
  call(walk, arguments..., visit, static_cast<void *>(&found));
  return found.take();
}

}  // namespace detail

class Module : public detail::Shared<wick_module, wick_module_release, wick_module_retain> {
 public:
  Module() noexcept = default;
  static Module adopt(wick_module *owned) noexcept { return Module(owned); }
  static Module load(const std::string &path, const LoadOptions *options = nullptr, const Runtime &runtime = {}) {
    Module module;
    detail::call(wick_load, runtime.get(), path.c_str(), options, module.out());
    return module;
  }
  static Module load_memory(const void *data, size_t length, const LoadOptions *options = nullptr,
                            const Runtime &runtime = {}) {
    Module module;
    detail::call(wick_load_memory, runtime.get(), data, length, options, module.out());
    return module;
  }
  static Module compile(std::string_view text, const CompileOptions *options = nullptr, const Runtime &runtime = {}) {
    Module module;
    detail::call(wick_compile_with, runtime.get(), text.data(), text.size(), options, module.out());
    return module;
  }
  void define(std::string_view text, const CompileOptions *options = nullptr) {
    detail::call(wick_module_define, get(), nullptr, text.data(), text.size(), options);
  }
  void save(const std::string &path, const char *entry = nullptr) const {
    detail::call(wick_module_save, get(), nullptr, path.c_str(), entry);
  }

  /* ---- what it has ---- */
  std::vector<std::string> methods() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < wick_module_method_count(get()); i++) names.emplace_back(wick_module_method_name(get(), i));
    return names;
  }
  std::string schema(const char *method) const {
    char *given = nullptr;
    detail::call(wick_module_schema, get(), method, &given);
    return detail::text(given);
  }
  std::string class_name() const { return wick_module_class_name(get()); }
  std::vector<OperatorUse> operators() const { return detail::operators(wick_module_each_operator, get()); }
  Value object() const { return Value::adopt(wick_module_object(get())); }
  Value get_attribute(const char *path) const { /* "layer1.0.weight" */
    Value value;
    detail::call(wick_module_get, get(), path, value.out());
    return value;
  }
  void set_attribute(const char *path, const Value &value) { detail::call(wick_module_set, get(), path, value.get()); }
  Value state_dict() const { return value_of(wick_module_state_dict); }
  void load_state(const Value &state) { detail::call(wick_module_load_state, get(), state.get()); }
  Value parameters() const { return value_of(wick_module_parameters); } /* a list, of those that require grad */
  void zero_grad() const { detail::call(wick_module_zero_grad, get()); }

  /* ---- calls ---- */
  Function function(const char *name) const {
    Function function;
    detail::call(wick_function_of, get(), name, function.out());
    return function;
  }
  /* As Python calls a module: forward, with hooks. */
  template <typename... Given>
  Value operator()(const Given &...given) const {
    return with(RunOptions(), given...);
  }
  template <typename... Given>
  Value with(const RunOptions &options, const Given &...given) const {
    detail::Arguments<sizeof...(Given)> a(given...);
    Value result;
    detail::call(wick_module_call, get(), a.values(), sizeof...(Given), a.names(), a.named_count(), &options,
                 result.out());
    return result;
  }
  template <typename... Given>
  Value run(const char *method, const Given &...given) const {
    detail::Arguments<sizeof...(Given)> a(given...);
    Value result;
    detail::call(wick_run, get(), method, a.values(), sizeof...(Given), a.names(), a.named_count(), nullptr,
                 result.out());
    return result;
  }
  template <typename... Given>
  Future run_async(const char *method, const Given &...given) const {
    detail::Arguments<sizeof...(Given)> a(given...);
    Future future;
    detail::call(wick_run_async, get(), method, a.values(), sizeof...(Given), a.names(), a.named_count(), nullptr,
                 future.out());
    return future;
  }
  /* Makes ready what calls with such arguments want. Not while the module runs. */
  template <typename... Given>
  void prepare(const char *method, const Given &...given) {
    detail::Arguments<sizeof...(Given)> a(given...);
    detail::call(wick_prepare, get(), method, a.values(), sizeof...(Given), a.names(), a.named_count(), nullptr);
  }

  /* ---- changing ---- */
  Module &train(bool training = true) {
    detail::call(wick_module_train, get(), int(training));
    return *this;
  }
  Module &eval() { return train(false); }
  Module &to(uint32_t floating_dtype) {
    detail::call(wick_module_to, get(), floating_dtype);
    return *this;
  }
  Module &to(const std::string &device) {
    detail::call(wick_module_to_device, get(), device.c_str());
    return *this;
  }
  Module clone(bool share_tensors) const {
    Module module;
    detail::call(wick_module_clone, get(), nullptr, int(share_tensors), module.out());
    return module;
  }
  Module freeze(Span<const char *const> preserved = {}) const {
    Module module;
    detail::call(wick_module_freeze, get(), nullptr, preserved.data(), preserved.size(), module.out());
    return module;
  }

 private:
  explicit Module(wick_module *owned) noexcept : Shared(owned) {}
  template <typename Read>
  Value value_of(Read *read) const {
    Value value;
    detail::call(read, get(), value.out());
    return value;
  }
};

inline Module load(const std::string &path) {
  return Module::load(path);
}
inline Module compile(std::string_view text) {
  return Module::compile(text);
}
inline Value load_value(const std::string &path, const LoadOptions *options = nullptr) {
  wick_value *value = nullptr;
  detail::call(wick_load_value, nullptr, path.c_str(), options, &value);
  return Value::adopt(value);
}
inline void save_value(const Value &value, const std::string &path) {
  detail::call(wick_save_value, nullptr, value.get(), path.c_str());
}

/* ---- files, of which nothing runs ---- */

/* The records of a TorchScript archive; used by one thread at a time. */
class Archive : public detail::Owned<wick_archive, wick_archive_release> {
 public:
  Archive() noexcept = default;
  explicit Archive(const std::string &path, const LoadOptions *options = nullptr) {
    detail::call(wick_archive_open, path.c_str(), options, out());
  }
  Archive(Archive &&) noexcept = default;
  Archive &operator=(Archive &&) noexcept = default;
  uint64_t bytes() const noexcept { return wick_archive_bytes(get()); } /* of the whole file */
  std::vector<std::string> names() const {                              /* "data.pkl", "code/__torch__.py" */
    std::vector<std::string> names;
    for (size_t i = 0; i < wick_archive_count(get()); i++) names.emplace_back(wick_archive_name(get(), i));
    return names;
  }
  std::string read(const char *name) { /* the whole record, inflated */
    char *data = nullptr;
    size_t length = 0;
    detail::call(wick_archive_read, get(), name, &data, &length);
    std::unique_ptr<char, void (*)(char *)> owned(data, wick_text_free);
    return std::string(data, length);
  }
};

/* What a file is, by its first bytes: WICK_FILE_... in `use`, a name, advice. */
inline FileKind file_kind(const std::string &path, const LoadOptions *options = nullptr) {
  FileKind kind;
  detail::call(wick_file_kind_of, path.c_str(), options, &kind);
  return kind;
}
/* What lies in a file of tensors, or in the data of an archive without its program. */
inline Value file_contents(const std::string &path, const LoadOptions *options = nullptr) {
  wick_value *value = nullptr;
  detail::call(wick_file_contents, path.c_str(), options, &value);
  return Value::adopt(value);
}
/* Every operator of an archive's code, then those that nobody has. `allowed`: names, one a line; code that uses others
 * does not run. */
inline std::vector<OperatorUse> file_operators(const std::string &path, const char *allowed = nullptr) {
  return detail::operators(wick_archive_each_operator, path.c_str(), allowed);
}

/* ---- training ---- */

class Optimizer : public detail::Shared<wick_optimizer, wick_optimizer_release, wick_optimizer_retain> {
 public:
  Optimizer() noexcept = default;
  Optimizer(const Value &parameters, const OptimizerOptions &options) {
    detail::call(wick_optimizer_new, parameters.get(), &options, out());
  }
  void step() { detail::call(wick_optimizer_step, get()); }
  void zero_grad() { detail::call(wick_optimizer_zero_grad, get()); }
  void set_rate(double rate) { detail::call(wick_optimizer_set_rate, get(), rate); }
};

/* ---- operators ---- */

/* wick::op("aten::add", x, y); several results come as a tuple. */
template <typename... Given>
Value op(const char *name, const Given &...given) {
  detail::Arguments<sizeof...(Given)> a(given...);
  wick_value *result = nullptr;
  detail::call(wick_op_call, nullptr, name, nullptr, a.values(), sizeof...(Given), a.names(), a.named_count(), &result);
  return Value::adopt(result);
}

/* One invocation of an operator that register_op added: arguments and results. It ends with the function's return. */
class Call {
 public:
  explicit Call(wick_call *call) noexcept : call_(call) {}
  size_t size() const noexcept { return wick_call_argument_count(call_); }
  Value operator[](size_t index) const { return Value::adopt(detail::made(wick_call_argument(call_, index))); }
  void set_result(const Value &value, size_t index = 0) { wick_call_set_result(call_, index, value.get()); }
  void poll() const { detail::call(wick_call_poll, call_); } /* throws when the call is cancelled or out of time */
  wick_call *get() const noexcept { return call_; }

 private:
  wick_call *call_;
};

/* Programs call a function of the host's as an operator, for the rest of the process: register_op("mine::twice(Tensor x)
 * -> Tensor", [](wick::Call &call) { ... }). Called from any thread; what it throws is the program's error. */
inline void register_op(const char *schema, std::function<void(Call &)> function) {
  auto kept = std::make_unique<std::function<void(Call &)>>(std::move(function));
  wick_kernel *kernel = [](void *user, wick_call *given, wick_error **error) -> wick_status {
    try {
      Call call(given);
      (*static_cast<std::function<void(Call &)> *>(user))(call);
      return WICK_OK;
    } catch (...) {
      return detail::answer(error);
    }
  };
  detail::call(wick_op_register, schema, kernel, static_cast<void *>(kept.get()));
  kept.release(); /* operators stay */
}

/* ---- graphs: text and passes; nodes and values are the C API's ---- */

class Graph : public detail::Owned<wick_graph, wick_graph_release> {
 public:
  Graph() noexcept = default;
  Graph(Graph &&) noexcept = default;
  Graph &operator=(Graph &&) noexcept = default;
  static Graph parse(std::string_view text) {
    Graph graph;
    detail::call(wick_graph_parse, text.data(), text.size(), graph.out());
    return graph;
  }
  static Graph of(const Module &module, const char *method, bool inlined = false) {
    Graph graph;
    detail::call(wick_graph_of_method, module.get(), method, int(inlined), graph.out());
    return graph;
  }
  std::string print() const {
    char *given = nullptr;
    detail::call(wick_graph_print, get(), &given);
    return detail::text(given);
  }
  void check() const { detail::call(wick_graph_check, get()); }
  void run_pass(const char *name) { detail::call(wick_graph_run_pass, get(), name); }
  size_t rewrite(const char *pattern, const char *replacement) { /* how often */
    size_t count = 0;
    detail::call(wick_graph_rewrite, get(), pattern, replacement, &count);
    return count;
  }
};

/* A step of compiling, or a pass of a plan, that an observer is shown; all of it is borrowed. */
struct Step {
  std::string_view function; /* as Function::qualified_name() */
  std::string_view name;
  const wick_graph *graph; /* after it */
  std::string print() const {
    char *given = nullptr;
    detail::call(wick_graph_print, graph, &given);
    return detail::text(given);
  }
};

/* While it lives, its function is shown what the runtime compiles, on the thread that compiles. One for a runtime, which
 * outlives it; it goes when nothing is compiling. What the function throws ends its showing, and rethrow() throws it. */
class Observer {
 public:
  Observer(const Runtime &runtime, std::function<void(const Step &)> function)
      : runtime_(runtime.get()), function_(std::move(function)) {
    wick_runtime_observe(runtime_, show, this);
  }
  ~Observer() { wick_runtime_observe(runtime_, nullptr, nullptr); }
  Observer(const Observer &) = delete;
  Observer &operator=(const Observer &) = delete;
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  static void show(void *user, const char *function, const char *step, const wick_graph *graph) noexcept {
    Observer *self = static_cast<Observer *>(user);
    try {
      if (!self->thrown_) self->function_({function, step, graph});
    } catch (...) {
      self->thrown_ = std::current_exception();
    }
  }
  wick_runtime *runtime_;
  std::function<void(const Step &)> function_;
  std::exception_ptr thrown_;
};

}  // namespace wick

#endif
