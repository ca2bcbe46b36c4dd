// Chains as Python sees them, and the damped least squares step.
#pragma once

#include <cmath>
#include <cstring>

#include "py_kernel.hpp"
#include "se3.hpp"

#define KLANES 1
#define KNAME scalar
#include "chain.hpp"
#include "damped.hpp"

namespace knuckle {

// Owns the arrays of a Chain.
struct PyChain {
  std::vector<double> fixed, multiplier, offset;
  std::vector<int> prismatic, q_index, v_index;
  Chain chain;

  PyChain(nb::handle fixed_, nb::handle prismatic_, nb::handle q_index_, nb::handle v_index_, nb::handle multiplier_,
          nb::handle offset_, int nq, int nv) {
    Span<int> kinds(prismatic_, "prismatic");
    const long n = kinds.size();
    fixed = copied<double>(fixed_, "fixed", 12 * (n + 1));
    prismatic = copied<int>(prismatic_, "prismatic", n);
    q_index = copied<int>(q_index_, "q_index", n);
    v_index = copied<int>(v_index_, "v_index", n);
    multiplier = copied<double>(multiplier_, "multiplier", n);
    offset = copied<double>(offset_, "offset", n);
    for (long i = 0; i < n; ++i)
      if (q_index[i] < 0 || q_index[i] >= nq || v_index[i] < 0 || v_index[i] >= nv)
        throw nb::value_error("q_index and v_index must lie within nq and nv");
    chain = Chain{(int)n, nq, nv, fixed.data(), prismatic.data(), q_index.data(), v_index.data(), multiplier.data(),
                  offset.data()};
  }
  PyChain(const PyChain &) = delete;

  void fk(nb::handle q_, nb::handle out_) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    q.require(chain.nq, "q");
    out.require(16, "out");
    scalar::fk_block(chain, q.data(), 1, out.data());
  }

  void fk_batch(nb::handle q_, nb::handle out_, int threads) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    const long count = chain.nq ? q.size() / chain.nq : 0;
    q.require(count * chain.nq, "q");
    out.require(count * 16, "out");
    const Kernel *kernel = active;
    nb::gil_scoped_release release;
    in_chunks(count, threads, 0, [&](long first, long size, void *) {
      kernel->fk(chain, q.data() + first * chain.nq, size, out.data() + first * 16);
    });
  }

  // out is set to zero here: joints outside the chain have zero columns
  void jacobian(nb::handle q_, int reference, nb::handle out_) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    q.require(chain.nq, "q");
    out.require(6L * chain.nv, "out");
    std::memset(out.data(), 0, sizeof(double) * out.size());
    double small[6 * 16];
    std::vector<double> large(chain.n > 16 ? 6 * chain.n : 0);
    scalar::jacobian_block(chain, q.data(), 1, reference, chain.n > 16 ? large.data() : small, out.data());
  }

  void jacobian_batch(nb::handle q_, int reference, nb::handle out_, int threads) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    const long count = chain.nq ? q.size() / chain.nq : 0;
    q.require(count * chain.nq, "q");
    out.require(count * 6 * chain.nv, "out");
    const Kernel *kernel = active;
    nb::gil_scoped_release release;
    in_chunks(count, threads, 6L * chain.n * kernel->lanes * (long)sizeof(double), [&](long first, long size, void *room) {
      double *J = out.data() + first * 6 * chain.nv;
      std::memset(J, 0, sizeof(double) * size * 6 * chain.nv);
      kernel->jacobian(chain, q.data() + first * chain.nq, size, reference, static_cast<double *>(room), J);
    });
  }

  // e (6) and J (6, nv) with de/dq = -J. tcp: e = log6(T^-1 G), J = Jlog6(G^-1 T) J_local.
  // world: e = (p_G - p, log3(R_G R^T)), J = blkdiag(I, Jlog3(R_G R^T)) J_lwa.
  void error_and_jacobian(nb::handle q_, nb::handle target_, bool world, nb::handle e_, nb::handle out_) const {
    Span<double> q(q_, "q"), target(target_, "target"), e(e_, "e", true), out(out_, "J", true);
    q.require(chain.nq, "q");
    target.require(16, "target");
    e.require(6, "e");
    out.require(6L * chain.nv, "J");
    std::memset(out.data(), 0, sizeof(double) * out.size());
    double small[6 * 16], H[16], A[9], B[9] = {0};
    std::vector<double> large(chain.n > 16 ? 6 * chain.n : 0);
    scalar::jacobian_block(chain, q.data(), 1, world ? kLocalWorldAligned : kLocal,
                           chain.n > 16 ? large.data() : small, out.data(), H);
    const double *G = target.data();
    double E[9], p[3];  // rotation and translation of the relative pose
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        E[3 * i + j] = 0;
        for (int k = 0; k < 3; ++k)
          E[3 * i + j] += world ? G[4 * i + k] * H[4 * j + k] : H[4 * k + i] * G[4 * k + j];
      }
      p[i] = G[4 * i + 3] - H[4 * i + 3];
    }
    if (world) {
      std::memcpy(e.data(), p, sizeof p);
      log3(E, e.data() + 3);
      inverse_jacobian3(e.data() + 3, 1.0, A);
    } else {
      double t[3], inverse_R[9], inverse_p[3];
      for (int i = 0; i < 3; ++i) t[i] = H[i] * p[0] + H[4 + i] * p[1] + H[8 + i] * p[2];
      log6(E, t, e.data());
      for (int i = 0; i < 3; ++i) {
        inverse_p[i] = -(E[i] * t[0] + E[3 + i] * t[1] + E[6 + i] * t[2]);
        for (int j = 0; j < 3; ++j) inverse_R[3 * i + j] = E[3 * j + i];
      }
      jlog6(inverse_R, inverse_p, A, B);
    }
    for (int c = 0; c < chain.n; ++c) {
      double *J = out.data() + chain.v_index[c];
      const long s = chain.nv;
      if (!first_column(c)) continue;
      const double v[3] = {J[0], J[s], J[2 * s]}, w[3] = {J[3 * s], J[4 * s], J[5 * s]};
      for (int i = 0; i < 3; ++i) {
        if (!world)
          J[i * s] = A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2] + B[3 * i] * w[0] +
                     B[3 * i + 1] * w[1] + B[3 * i + 2] * w[2];
        J[(3 + i) * s] = A[3 * i] * w[0] + A[3 * i + 1] * w[1] + A[3 * i + 2] * w[2];
      }
    }
  }

  // Joints that follow one another share a column, which must be turned once.
  bool first_column(int c) const {
    for (int k = 0; k < c; ++k)
      if (v_index[k] == v_index[c]) return false;
    return true;
  }
};

// dq = J^T (J J^T + mu I)^-1 e for J (6, n) and e (6); false if mu is too small to tell.
inline bool damped_step(nb::handle jacobian_, nb::handle e_, double mu, nb::handle dq_) {
  Span<double> J(jacobian_, "jacobian"), e(e_, "e"), dq(dq_, "dq", true);
  const long n = dq.size();
  J.require(6 * n, "jacobian");
  e.require(6, "e");
  if (n < 1 || n > kMaxIkJoints) throw nb::value_error("dq must hold 1 to 32 numbers");
  double columns[kMaxIkJoints][6], gradient[kMaxIkJoints];
  for (long i = 0; i < n; ++i) {
    gradient[i] = 0;
    for (int k = 0; k < 6; ++k) {
      columns[i][k] = J.data()[k * n + i];
      gradient[i] += columns[i][k] * e.data()[k];
    }
  }
  scalar::damped_step((int)n, columns, gradient, e.data(), mu, dq.data());
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += fabs(dq.data()[i]);
  return std::isfinite(sum);
}

inline void bind_chain(nb::module_ &m) {
  m.def("damped_step", &damped_step, nb::arg("jacobian"), nb::arg("e"), nb::arg("mu"), nb::arg("dq"));
  nb::class_<PyChain>(m, "Chain")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, int, int>(),
           nb::arg("fixed"), nb::arg("prismatic"), nb::arg("q_index"), nb::arg("v_index"), nb::arg("multiplier"),
           nb::arg("offset"), nb::arg("nq"), nb::arg("nv"))
      .def_prop_ro("joint_count", [](const PyChain &c) { return c.chain.n; })
      .def("fk", &PyChain::fk, nb::arg("q"), nb::arg("out"))
      .def("fk_batch", &PyChain::fk_batch, nb::arg("q"), nb::arg("out"), nb::arg("threads") = 1)
      .def("jacobian", &PyChain::jacobian, nb::arg("q"), nb::arg("reference"), nb::arg("out"))
      .def("jacobian_batch", &PyChain::jacobian_batch, nb::arg("q"), nb::arg("reference"), nb::arg("out"),
           nb::arg("threads") = 1)
      .def("error_and_jacobian", &PyChain::error_and_jacobian, nb::arg("q"), nb::arg("target"), nb::arg("world"),
           nb::arg("e"), nb::arg("jacobian"));
}

}  // namespace knuckle
