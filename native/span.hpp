// Arrays borrowed from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace knuckle {

namespace nb = nanobind;

// A C-contiguous array of one kind, borrowed from Python for the length of a call. The buffer protocol is a fifth of
// the cost of a full array conversion, which matters where one forward kinematics takes 100 ns.
template <class T>
class Span {
 public:
  Span(nb::handle object, const char *name, bool writable = false) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags)) {
      PyErr_Clear();
      throw nb::type_error((std::string(name) + " must be a C-contiguous " + (writable ? "writable " : "") +
                            "array of " + kind()).c_str());
    }
    if (view_.itemsize != (Py_ssize_t)sizeof(T) || !view_.format || !matches(view_.format)) {
      PyBuffer_Release(&view_);
      throw nb::type_error((std::string(name) + " must hold " + kind()).c_str());
    }
  }
  ~Span() { PyBuffer_Release(&view_); }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;
  T *data() const { return static_cast<T *>(view_.buf); }
  long size() const { return view_.len / (long)sizeof(T); }
  void require(long size, const char *name) const {
    if (this->size() != size)
      throw nb::value_error((std::string(name) + " must hold " + std::to_string(size) + " numbers, got " +
                             std::to_string(this->size())).c_str());
  }

 private:
  static const char *kind();
  static bool matches(const char *format);
  Py_buffer view_;
};
template <> inline const char *Span<double>::kind() { return "float64"; }
template <> inline bool Span<double>::matches(const char *f) { return f[0] == 'd' && !f[1]; }
template <> inline const char *Span<int>::kind() { return "int32"; }
template <> inline bool Span<int>::matches(const char *f) { return f[0] == 'i' && !f[1]; }
template <> inline const char *Span<long long>::kind() { return "int64"; }
template <> inline bool Span<long long>::matches(const char *f) { return (f[0] == 'l' || f[0] == 'q') && !f[1]; }

template <> inline const char *Span<signed char>::kind() { return "int8"; }
template <> inline bool Span<signed char>::matches(const char *f) { return f[0] == 'b' && !f[1]; }

template <class T>
std::vector<T> copied(nb::handle object, const char *name, long size) {
  Span<T> span(object, name);
  span.require(size, name);
  return std::vector<T>(span.data(), span.data() + size);
}

}  // namespace knuckle
