// Bodies on a tree as Python sees them: many states in, forces, accelerations, matrices and poses out.
#pragma once

#include "py_kernel.hpp"

namespace knuckle {

// Owns the arrays of a knuckle::Bodies.
struct PyBodies {
  std::vector<double> fixed, multiplier, offset, inertia, armature, damping, coulomb, rotor, viscous, dry;
  std::vector<int> parent, kind, q_index, column_start, axis, turns, v_index, follows;
  Bodies b;

  // joints: (fixed, parent, kind, q_index, multiplier, offset); v_start (n) first entry of each joint in dq
  PyBodies(nb::tuple joints, int nq, int nv, nb::handle v_start_, nb::handle inertia_, nb::handle armature_,
           nb::handle damping_, nb::handle coulomb_, nb::handle rotor_, nb::handle viscous_, nb::handle dry_,
           nb::handle gravity_) {
    const long n = Span<int>(joints[1], "parent").size();
    fixed = copied<double>(joints[0], "fixed", 12 * n);
    parent = copied<int>(joints[1], "parent", n);
    kind = copied<int>(joints[2], "kind", n);
    q_index = copied<int>(joints[3], "q_index", n);
    multiplier = copied<double>(joints[4], "multiplier", n);
    offset = copied<double>(joints[5], "offset", n);
    std::vector<int> v_start = copied<int>(v_start_, "v_start", n);
    lay_columns(v_start);
    const long columns = column_start[n];
    inertia = copied<double>(inertia_, "inertia", 10 * n);
    armature = copied<double>(armature_, "armature", columns);
    damping = copied<double>(damping_, "damping", columns);
    coulomb = copied<double>(coulomb_, "coulomb", columns);
    rotor = copied<double>(rotor_, "rotor", nv);
    viscous = copied<double>(viscous_, "viscous", nv);
    dry = copied<double>(dry_, "dry", nv);
    for (long i = 0; i < n; ++i)
      if (parent[i] >= i || parent[i] < -1 || q_index[i] < 0 || q_index[i] + coordinates(kind[i]) > nq)
        throw nb::value_error("parent must come before its joint and q_index lie within nq");
    for (long i = 0; i < n; ++i) {
      follows.push_back(0);
      for (long k = 0; k < i; ++k) follows[i] |= q_index[k] == q_index[i];
    }
    for (int v : v_index)
      if (v < 0 || v >= nv) throw nb::value_error("v_start must lie within nv");
    b = Bodies{Tree{(int)n, nq, fixed.data(), parent.data(), kind.data(), q_index.data(), multiplier.data(),
                    offset.data()},
               nv, (int)columns, column_start.data(), axis.data(), turns.data(), v_index.data(), follows.data(), inertia.data(),
               armature.data(), damping.data(), coulomb.data(), rotor.data(), viscous.data(), dry.data(), {0, 0, 0}};
    std::vector<double> gravity = copied<double>(gravity_, "gravity", 3);
    for (int k = 0; k < 3; ++k) b.gravity[k] = gravity[k];
  }
  PyBodies(const PyBodies &) = delete;

  static int coordinates(int kind) { return kind == kFree ? 7 : kind > kFree ? 4 : 1; }

  void lay_columns(const std::vector<int> &v_start) {
    column_start.push_back(0);
    for (std::size_t i = 0; i < kind.size(); ++i) {
      if (kind[i] < kTurning || kind[i] > kPlanar) throw nb::value_error("kind must be one of 0 to 4");
      const int size = kind[i] == kFree ? 6 : kind[i] > kFree ? 3 : 1;
      for (int k = 0; k < size; ++k) {
        const bool slides = kind[i] == kSliding || (kind[i] == kFree && k < 3) || (kind[i] == kPlanar && k < 2);
        axis.push_back(size == 1 || kind[i] == kPlanar ? (k < 2 && size == 3 ? k : 2) : k % 3);
        turns.push_back(!slides);
        v_index.push_back(v_start[i] + k);
      }
      column_start.push_back((int)axis.size());
    }
  }

  // count rows of `width`, or one row for all; null if None
  static const double *rows(Span<double> *span, long count, long width, long &stride, const char *name) {
    stride = 0;
    if (!span) return nullptr;
    if (span->size() != width || count == 1) {
      span->require(count * width, name);
      stride = width;
    }
    return span->data();
  }

  struct Given {
    std::vector<Span<double> *> spans;
    ~Given() {
      for (Span<double> *span : spans) delete span;
    }
    Span<double> *get(nb::handle object, const char *name, bool writable = false) {
      if (object.is_none()) return nullptr;
      spans.push_back(new Span<double>(object, name, writable));
      return spans.back();
    }
    double *out(nb::handle object, const char *name, long size) {
      Span<double> *span = get(object, name, true);
      if (!span) return nullptr;
      span->require(size, name);
      return span->data();
    }
  };

  static std::vector<Frame> frames(nb::handle joints_, nb::handle places_, int n) {
    std::vector<int> joints = copied<int>(joints_, "frame_joints", Span<int>(joints_, "frame_joints").size());
    std::vector<double> places = copied<double>(places_, "frame_places", 12 * (long)joints.size());
    std::vector<Frame> found(joints.size());
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (joints[i] < -1 || joints[i] >= n) throw nb::value_error("frame_joints must be -1 or joints of the tree");
      found[i].joint = joints[i];
      for (int k = 0; k < 12; ++k) found[i].place[k] = places[12 * i + k];
    }
    return found;
  }

  // Every array is (count, ...) or None; of the inputs, one row may stand for all. See Query.
  void evaluate(long count, nb::handle q, nb::handle dq, nb::handle ddq, nb::handle tau, nb::handle gravity_,
                bool friction, bool rotors, nb::handle frame_joints, nb::handle frame_places, int reference,
                nb::handle inverse, nb::handle forward, nb::handle mass, nb::handle poses, nb::handle jacobian,
                nb::handle twist, nb::handle bias, int threads) const {
    Given given;
    Query k{};
    k.q = rows(given.get(q, "q"), count, b.tree.nq, k.q_stride, "q");
    k.dq = rows(given.get(dq, "dq"), count, b.nv, k.dq_stride, "dq");
    k.ddq = rows(given.get(ddq, "ddq"), count, b.nv, k.ddq_stride, "ddq");
    k.tau = rows(given.get(tau, "tau"), count, b.nv, k.tau_stride, "tau");
    if (!k.q) throw nb::value_error("q is required");
    for (int i = 0; i < 3; ++i) k.gravity[i] = b.gravity[i];
    if (!gravity_.is_none()) {
      std::vector<double> gravity = copied<double>(gravity_, "gravity", 3);
      for (int i = 0; i < 3; ++i) k.gravity[i] = gravity[i];
    }
    k.friction = friction;
    k.rotors = rotors;
    std::vector<Frame> frame;
    if (!frame_joints.is_none()) frame = frames(frame_joints, frame_places, b.tree.n);
    k.frames = (int)frame.size();
    k.frame = frame.data();
    k.reference = reference;
    k.inverse = given.out(inverse, "inverse", count * b.nv);
    k.forward = given.out(forward, "forward", count * b.nv);
    k.mass = given.out(mass, "mass", count * b.nv * b.nv);
    k.poses = given.out(poses, "poses", count * k.frames * 16);
    k.jacobian = given.out(jacobian, "jacobian", count * 6 * b.nv);
    k.twist = given.out(twist, "twist", count * 6);
    k.bias = given.out(bias, "bias", count * 6);
    if ((k.jacobian || k.twist || k.bias) && frame.empty()) throw nb::value_error("a frame is required");
    if (((k.twist || k.bias) && !k.dq) || (k.forward && (!k.tau || k.inverse)))
      throw nb::value_error("twist and bias need dq; forward needs tau, and inverse in a call of its own");
    const Kernel *kernel = active;
    nb::gil_scoped_release release;
    in_chunks(count, threads, kernel->dynamics_room(b),
              [&](long first, long size, void *room) { kernel->dynamics(b, k, first, size, room); });
  }
};

inline void bind_dynamics(nb::module_ &m) {
  nb::class_<PyBodies>(m, "Bodies")
      .def(nb::init<nb::tuple, int, int, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                    nb::handle, nb::handle, nb::handle>(),
           nb::arg("joints"), nb::arg("nq"), nb::arg("nv"), nb::arg("v_start"), nb::arg("inertia"),
           nb::arg("armature"), nb::arg("damping"), nb::arg("coulomb"), nb::arg("rotor"), nb::arg("viscous"),
           nb::arg("dry"), nb::arg("gravity"))
      .def("evaluate", &PyBodies::evaluate, nb::arg("count"), nb::arg("q"), nb::arg("dq").none() = nb::none(),
           nb::arg("ddq").none() = nb::none(), nb::arg("tau").none() = nb::none(),
           nb::arg("gravity").none() = nb::none(), nb::arg("friction") = false, nb::arg("rotors") = false,
           nb::arg("frame_joints").none() = nb::none(), nb::arg("frame_places").none() = nb::none(),
           nb::arg("reference") = (int)kLocalWorldAligned, nb::arg("inverse").none() = nb::none(),
           nb::arg("forward").none() = nb::none(), nb::arg("mass").none() = nb::none(),
           nb::arg("poses").none() = nb::none(), nb::arg("jacobian").none() = nb::none(),
           nb::arg("twist").none() = nb::none(), nb::arg("bias").none() = nb::none(), nb::arg("threads") = 1);
}

}  // namespace knuckle
