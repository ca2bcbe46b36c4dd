// Shapes on a tree of joints as Python sees them.
#pragma once

#include <cstring>

#include "py_kernel.hpp"

namespace knuckle {

// Shapes on a tree of joints, owned.
struct PyCollider {
  std::vector<double> fixed, multiplier, offset, place, sphere, box, size, points;
  std::vector<int> parent, kind, q_index, joint, core, pair;
  std::vector<long long> start_;
  std::vector<long> start;
  Collider c;

  // joints: None where poses are given from outside, else (fixed, parent, kind, q_index, multiplier, offset)
  PyCollider(nb::object joints, int count, int nq, nb::handle joint_, nb::handle place_, nb::handle sphere_,
             nb::handle box_, nb::handle core_, nb::handle size_, nb::handle starts_, nb::handle points_,
             nb::handle pair_) {
    std::memset(&c, 0, sizeof c);
    c.tree.n = count;
    c.tree.nq = nq;
    if (!joints.is_none()) {
      nb::tuple parts = nb::cast<nb::tuple>(joints);
      fixed = copied<double>(parts[0], "fixed", 12L * count);
      parent = copied<int>(parts[1], "parent", count);
      kind = copied<int>(parts[2], "kind", count);
      q_index = copied<int>(parts[3], "q_index", count);
      multiplier = copied<double>(parts[4], "multiplier", count);
      offset = copied<double>(parts[5], "offset", count);
      for (int i = 0; i < count; ++i)
        if (parent[i] >= i || parent[i] < -1 || kind[i] < 0 || kind[i] > kPlanar || q_index[i] < 0 ||
            q_index[i] + (kind[i] == kFree ? 7 : kind[i] > kFree ? 4 : 1) > nq)
          throw nb::value_error("parent must come before its joint and q_index lie within nq");
      fixed.push_back(0);  // so that a tree without joints is not taken for one whose poses are given
      c.tree.fixed = fixed.data();
      c.tree.parent = parent.data();
      c.tree.kind = kind.data();
      c.tree.q_index = q_index.data();
      c.tree.multiplier = multiplier.data();
      c.tree.offset = offset.data();
    }
    const long shapes = Span<int>(core_, "core").size();
    c.shapes = (int)shapes;
    joint = copied<int>(joint_, "joint", shapes);
    core = copied<int>(core_, "core", shapes);
    place = copied<double>(place_, "place", 12 * shapes);
    sphere = copied<double>(sphere_, "sphere", 4 * shapes);
    box = copied<double>(box_, "box", 15 * shapes);
    size = copied<double>(size_, "size", 5 * shapes);
    start_ = copied<long long>(starts_, "start", shapes + 1);
    start.assign(start_.begin(), start_.end());
    points = copied<double>(points_, "points", 3 * start[shapes]);
    pair = copied<int>(pair_, "pair", Span<int>(pair_, "pair").size() / 2 * 2);
    for (long i = 0; i < shapes; ++i) {
      if (joint[i] < -1 || joint[i] >= count) throw nb::value_error("joint must be -1 or a joint of the tree");
      if (core[i] < kPoints || core[i] > kForeign) throw nb::value_error("core must be one of 0 to 5");
      if (start[i + 1] < start[i] || (start[i + 1] - start[i]) % 8 || (core[i] == kPoints && start[i + 1] == start[i]))
        throw nb::value_error("every hull needs points, in multiples of 8");
    }
    for (int i : pair)
      if (i < 0 || i >= shapes) throw nb::value_error("pair must hold numbers of shapes");
    c.shapes = (int)shapes;
    c.joint = joint.data();
    c.place = place.data();
    c.sphere = sphere.data();
    c.box = box.data();
    c.core = core.data();
    c.size = size.data();
    c.start = start.data();
    c.points = points.data();
    c.pairs = (int)(pair.size() / 2);
    c.pair = pair.data();
  }
  PyCollider(const PyCollider &) = delete;

  // numbers a configuration has: nq, or 12 a joint
  long row() const { return c.tree.fixed ? c.tree.nq : 12L * c.tree.n; }

  // One configuration: a Contact.
  int touching(nb::handle q_, double margin) const {
    Span<double> q(q_, "q");
    q.require(row(), "q");
    Scratch room(active->collision_room(c));
    signed char out = 0;
    active->touching(c, q.data(), 1, margin, room.at, &out, nullptr);
    return out;
  }

  // q (N, row) -> out (N) int8, a Contact each.
  void touching_batch(nb::handle q_, double margin, nb::handle out_, int threads) const {
    Span<double> q(q_, "q");
    Span<signed char> out(out_, "out", true);
    const long count = out.size(), width = row();
    q.require(count * width, "q");
    const Kernel *kernel = active;
    nb::gil_scoped_release release;
    std::atomic<long> next{0};
    const long chunk = 512;
    auto work = [&] {
      Scratch room(kernel->collision_room(c));
      for (long a; (a = next.fetch_add(chunk)) < count;)
        kernel->touching(c, q.data() + a * width, a + chunk < count ? chunk : count - a, margin, room.at,
                         out.data() + a, nullptr);
    };
    side_by_side(threads, (count + chunk - 1) / chunk, work);
  }

  // One configuration: a Contact of every pair, (pairs) int8.
  void contacts(nb::handle q_, double margin, nb::handle out_) const {
    Span<double> q(q_, "q");
    Span<signed char> out(out_, "out", true);
    q.require(row(), "q");
    out.require(c.pairs, "out");
    Scratch room(active->collision_room(c));
    signed char any = 0;
    active->touching(c, q.data(), 1, margin, room.at, &any, out.data());
  }

  // q (N, row), margins (N, pairs) -> out (N) int8: a Contact each; with `verdicts` (N, pairs) int8 also of every pair.
  void approaching(nb::handle q_, nb::handle margins_, nb::handle out_, nb::object verdicts_) const {
    Span<double> q(q_, "q"), margins(margins_, "margins");
    Span<signed char> out(out_, "out", true);
    const long count = out.size();
    q.require(count * row(), "q");
    margins.require(count * c.pairs, "margins");
    signed char *verdicts = nullptr;
    if (!verdicts_.is_none()) {
      Span<signed char> all(verdicts_, "verdicts", true);
      all.require(count * c.pairs, "verdicts");
      verdicts = all.data();
    }
    const Kernel *kernel = active;
    Scratch room(kernel->collision_room(c));
    kernel->approaching(c, q.data(), count, margins.data(), room.at, out.data(), verdicts);
  }

  // q (N, row): (configuration, pair, distance, x1 .. z2) of the nearest pair of all that is apart for certain and not
  // farther than limit, configuration -1 if none; `open` (N) int8: 1 where some pair may be nearer or overlaps.
  nb::tuple least(nb::handle q_, double limit, nb::handle open_) const {
    Span<double> q(q_, "q");
    Span<signed char> open(open_, "open", true);
    const long count = open.size();
    q.require(count * row(), "q");
    std::vector<signed char> undecided(c.pairs);
    knuckle::Nearest best{};
    best.distance = limit;
    long at = -1;
    {
      const Kernel *kernel = active;
      nb::gil_scoped_release release;
      Scratch room(kernel->collision_room(c));
      for (long i = 0; i < count; ++i) {
        knuckle::Nearest n{};
        kernel->nearest(c, q.data() + i * row(), best.distance, room.at, n, undecided.data());
        open.data()[i] = 0;
        for (signed char verdict : undecided) open.data()[i] |= verdict == knuckle::kUndecided;
        if (n.pair < 0) continue;
        best = n;
        at = i;
      }
    }
    return nb::make_tuple(at, at < 0 ? -1 : best.pair, best.distance, best.on_first[0], best.on_first[1],
                          best.on_first[2], best.on_second[0], best.on_second[1], best.on_second[2]);
  }

  // One configuration: (pair, distance, x1, y1, z1, x2, y2, z2) of the nearest pair that is apart for certain and not
  // farther than limit, pair -1 if none; `undecided` (pairs) int8: kUndecided where a pair may be nearer or overlaps.
  nb::tuple nearest(nb::handle q_, double limit, nb::handle undecided_) const {
    Span<double> q(q_, "q");
    Span<signed char> undecided(undecided_, "undecided", true);
    q.require(row(), "q");
    undecided.require(c.pairs, "undecided");
    Scratch room(active->collision_room(c));
    Nearest n{};
    active->nearest(c, q.data(), limit, room.at, n, undecided.data());
    return nb::make_tuple(n.pair, n.distance, n.on_first[0], n.on_first[1], n.on_first[2], n.on_second[0],
                          n.on_second[1], n.on_second[2]);
  }
};

inline void bind_collider(nb::module_ &m) {
  nb::class_<PyCollider>(m, "Collider")
      .def(nb::init<nb::object, int, int, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                    nb::handle, nb::handle, nb::handle>(),
           nb::arg("joints").none(), nb::arg("joint_count"), nb::arg("nq"), nb::arg("joint"), nb::arg("place"),
           nb::arg("sphere"), nb::arg("box"), nb::arg("core"), nb::arg("size"), nb::arg("start"), nb::arg("points"),
           nb::arg("pair"))
      .def("touching", &PyCollider::touching, nb::arg("q"), nb::arg("margin"))
      .def("touching_batch", &PyCollider::touching_batch, nb::arg("q"), nb::arg("margin"), nb::arg("out"),
           nb::arg("threads") = 1)
      .def("contacts", &PyCollider::contacts, nb::arg("q"), nb::arg("margin"), nb::arg("out"))
      .def("approaching", &PyCollider::approaching, nb::arg("q"), nb::arg("margins"), nb::arg("out"),
           nb::arg("verdicts").none())
      .def("least", &PyCollider::least, nb::arg("q"), nb::arg("limit"), nb::arg("open"))
      .def("nearest", &PyCollider::nearest, nb::arg("q"), nb::arg("limit"), nb::arg("undecided"));
}

}  // namespace knuckle
