// Steps of controllers as Python sees them: arrays bound once, then a call a step.
#pragma once

#include <memory>

#include "py_dynamics.hpp"

namespace knuckle {

// The ports by the names they have in Python, in the order of Port.
constexpr const char *kPortNames[kPorts] = {
    "joint_q", "joint_qd", "joint_q_des", "joint_qd_des", "joint_qdd", "stiffness", "damping", "damping_ratio",
    "desired_tool_pose_operational", "desired_twist_operational", "desired_acceleration_operational",
    "desired_wrench_world", "measured_wrench_world", "operational_frame_pose_world",
    "linear_selection_frame_operational", "angular_selection_frame_operational", "motion_stiffness", "motion_damping",
    "motion_damping_ratio", "wrench_stiffness", "joint_q_des_null", "joint_qd_des_null", "null_space_stiffness",
    "null_space_damping", "null_space_damping_ratio", "frame", "motion_selection", "wrench_selection",
    "motion_weights", "wrench_weights", "linear_frame", "angular_frame", "base", "torque_limits",
};

// One step for the robots of one model; holds what it reads.
struct PyStep {
  nb::object owner;
  const Bodies &b;
  Step t{};
  std::vector<long long> q_at, qd_at, dof_at, row;
  std::vector<int> v, q, wraps, slot, live;
  std::vector<FreeRoot> roots;
  std::vector<std::unique_ptr<Span<double>>> bound, fixed;
  std::vector<PyObject *> seen;  // of `bound`, which keeps them alive
  std::vector<bool> gains;
  long totals[4];  // entries of a configuration, of a velocity, of the controlled joints; rows
  std::unique_ptr<Span<signed char>> known;
  std::vector<signed char> fault;
  std::vector<double> record_memory;
  double *record = nullptr;

  // places: (q_at, qd_at, dof_at, row); joints: (v, q, wraps); roots: ((q, v), com); tool: (joint, place);
  // flags as in Step, law to scale; known: faults of all rows so far (int8)
  PyStep(nb::object owner_, nb::tuple places, nb::tuple joints, nb::tuple roots_, nb::tuple tool, nb::tuple flags,
         nb::tuple totals_, nb::tuple live_, nb::tuple gains_, nb::tuple fixed_, nb::handle known_)
      : owner(owner_), b(nb::cast<PyBodies &>(owner_).b) {
    int *const into[] = {&t.law, &t.decoupling, &t.gravity, &t.coriolis, &t.bias, &t.exact, &t.projection,
                         &t.feedforward, &t.feedback, &t.scale};
    for (int i = 0; i < 10; ++i) *into[i] = nb::cast<int>(flags[i]);
    for (int i = 0; i < 4; ++i) totals[i] = nb::cast<long>(totals_[i]);
    set_places(places);
    set_joints(joints);
    std::vector<int> at = copied<int>(roots_[0], "roots", Span<int>(roots_[0], "roots").size());
    std::vector<double> com = copied<double>(roots_[1], "com", at.size() / 2 * 3);
    for (std::size_t i = 0; i < at.size() / 2; ++i)
      roots.push_back({at[2 * i], at[2 * i + 1], {com[3 * i], com[3 * i + 1], com[3 * i + 2]}});
    t.roots = (int)roots.size();
    t.root = roots.data();
    t.tool.joint = nb::cast<int>(tool[0]);
    if (t.tool.joint < -1 || t.tool.joint >= b.tree.n) throw nb::value_error("tool must be on a joint of the tree");
    const std::vector<double> place = copied<double>(tool[1], "place", 12);
    for (int i = 0; i < 12; ++i) t.tool.place[i] = place[i];
    for (nb::handle one : live_) live.push_back(nb::cast<int>(one));
    for (nb::handle one : gains_) gains.push_back(nb::cast<bool>(one));
    for (nb::handle pair : fixed_) {
      nb::tuple given = nb::cast<nb::tuple>(pair);
      fixed.push_back(attach(nb::cast<int>(given[0]), given[1]));
    }
    known = std::make_unique<Span<signed char>>(known_, "known", true);
    known->require(totals[3], "known");
    fault.assign(t.robots, 0);
  }
  PyStep(const PyStep &) = delete;

  void set_places(nb::tuple places) {
    t.robots = Span<long long>(places[0], "q_at").size();
    std::vector<long long> *const into[] = {&q_at, &qd_at, &dof_at, &row};
    for (int i = 0; i < 4; ++i) *into[i] = copied<long long>(places[i], "places", t.robots);
    t.q_at = q_at.data();
    t.qd_at = qd_at.data();
    t.dof_at = dof_at.data();
    t.row = row.data();
  }

  void set_joints(nb::tuple joints) {
    t.n = (int)Span<int>(joints[0], "v").size();
    v = copied<int>(joints[0], "v", t.n);
    q = copied<int>(joints[1], "q", t.n);
    wraps = copied<int>(joints[2], "wraps", t.n);
    slot.assign(b.nv, -1);
    for (int i = 0; i < t.n; ++i) {
      if (v[i] < 0 || v[i] >= b.nv || q[i] < 0 || q[i] >= b.tree.nq) throw nb::value_error("no such joint");
      slot[v[i]] = i;
    }
    t.v = v.data();
    t.q = q.data();
    t.wraps = wraps.data();
    t.slot = slot.data();
    const long sizes[] = {b.tree.nq, b.nv, t.n, 1};
    const std::vector<long long> *const of[] = {&q_at, &qd_at, &dof_at, &row};
    for (int k = 0; k < 4; ++k)
      for (long long at : *of[k])
        if (at < 0 || at + sizes[k] > totals[k]) throw nb::value_error("places must lie within the ports");
  }

  std::unique_ptr<Span<double>> attach(int port, nb::handle array) {
    if (port < 0 || port >= kPorts) throw nb::value_error("no such port");
    auto span = std::make_unique<Span<double>>(array, kPortNames[port]);
    const int kind = kPortKind[port];
    span->require(kind < 0 ? totals[-1 - kind] : kind * totals[3], kPortNames[port]);
    t.port[port] = span->data();
    return span;
  }

  // Takes the live ports, in the order given when it was made.
  void bind(nb::tuple values) {
    if (values.size() != live.size()) throw nb::value_error("one array per live port is needed");
    seen.clear();
    bound.clear();
    for (std::size_t i = 0; i < live.size(); ++i) bound.push_back(attach(live[i], values[i]));
    for (nb::handle value : values) seen.push_back(value.ptr());
  }

  bool same(nb::tuple values) const {
    if (seen.size() != live.size() || values.size() != seen.size()) return false;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (PyTuple_GET_ITEM(values.ptr(), (Py_ssize_t)i) != seen[i]) return false;
    return true;
  }

  // No gain is negative, no quaternion zero.
  bool sound() const {
    for (std::size_t i = 0; i < live.size(); ++i) {
      const double *x = bound[i]->data();
      const long size = bound[i]->size();
      const int kind = kPortKind[live[i]];
      if (gains[i])
        for (long k = 0; k < size; ++k)
          if (x[k] < 0.0) return false;
      if (kind != 7 && kind != 4) continue;
      for (const double *h = x + kind - 4; h < x + size; h += kind)
        if (h[0] * h[0] + h[1] * h[1] + h[2] * h[2] + h[3] * h[3] < 1e-24) return false;
    }
    return true;
  }

  // One step into `out` (controlled joints of all robots): how many robots became faulty or sound by it; -1 and nothing
  // done if `values` are not the arrays bound, -2 if one of them holds what it must not.
  long step(nb::tuple values, nb::handle out_, int threads) {
    if (!same(values)) return -1;
    if (!sound()) return -2;
    Span<double> out(out_, "out", true);
    out.require(totals[2], "out");
    const Kernel *kernel = t.robots > 4 ? active : abreast();  // a wider vector only takes longer
    const long padded = (t.robots + kernel->lanes - 1) / kernel->lanes * kernel->lanes;
    if (t.law == kOperationalSpace && (long)record_memory.size() < padded * kRecord + 8) {
      record_memory.resize(padded * kRecord + 8);
      record = record_memory.data();
      while (reinterpret_cast<std::size_t>(record) % 64) ++record;
    }
    const long room = kernel->step_room(b, t);
    if (t.robots <= 512) {
      Scratch scratch(room);
      kernel->step(b, t, 0, t.robots, scratch.at, out.data(), fault.data(), record);
    } else {
      nb::gil_scoped_release release;
      in_chunks(t.robots, threads, room, [&](long first, long size, void *at) {
        kernel->step(b, t, first, size, at, out.data(), fault.data(), record);
      });
    }
    lanes_of_record = kernel->lanes;
    long changes = 0;
    for (long i = 0; i < t.robots; ++i) changes += fault[i] != known->data()[row[i]];
    return changes;
  }

  // Steps `from` to `to` of the trajectories; see Rollout. settings: (from, to, last, every, friction, rotors); tool:
  // (joint, place) on the plant; the arrays of states and records are flat, `failed` (robots) int64.
  void rollout(nb::object plant_, nb::tuple settings, double dt, nb::tuple tool, nb::handle walls_, nb::handle q_,
               nb::handle dq_, nb::handle failed_, nb::handle q_record_, nb::handle dq_record_, nb::handle tau_record_,
               int threads) const {
    const Bodies &plant = nb::cast<PyBodies &>(plant_).b;
    if (plant.tree.nq != b.tree.nq || plant.nv != b.nv) throw nb::value_error("plant must be as large as the robot");
    if (bound.size() != live.size()) throw nb::value_error("bind comes first");
    Span<double> walls(walls_, "walls"), q(q_, "q", true), dq(dq_, "dq", true), q_record(q_record_, "q_record", true),
        dq_record(dq_record_, "dq_record", true), tau_record(tau_record_, "tau_record", true);
    Span<long long> failed(failed_, "failed", true);
    Rollout r{};
    r.from = nb::cast<long>(settings[0]);
    r.to = nb::cast<long>(settings[1]);
    r.last = nb::cast<int>(settings[2]);
    r.every = nb::cast<long>(settings[3]);
    r.friction = nb::cast<int>(settings[4]);
    r.rotors = nb::cast<int>(settings[5]);
    r.dt = dt;
    r.q_total = totals[0];
    r.dq_total = totals[1];
    if (r.every < 1 || r.from < 0 || r.to < r.from) throw nb::value_error("steps must go on, every be positive");
    const long records = r.to / r.every + 1;
    q.require(r.q_total, "q");
    dq.require(r.dq_total, "dq");
    failed.require(t.robots, "failed");
    if (q_record.size() < records * r.q_total || dq_record.size() < records * r.dq_total ||
        tau_record.size() < records * r.dq_total)
      throw nb::value_error("the records must have room for all steps");
    r.walls = (int)(walls.size() / 8);
    walls.require(8L * r.walls, "walls");
    r.wall = walls.data();
    r.tool.joint = nb::cast<int>(tool[0]);
    if (r.tool.joint < -1 || r.tool.joint >= plant.tree.n) throw nb::value_error("tool must be on a joint of the plant");
    const std::vector<double> place = copied<double>(tool[1], "place", 12);
    for (int i = 0; i < 12; ++i) r.tool.place[i] = place[i];
    r.q = q.data();
    r.dq = dq.data();
    r.failed = failed.data();
    r.q_record = q_record.data();
    r.dq_record = dq_record.data();
    r.tau_record = tau_record.data();
    const Kernel *kernel = active;
    const long chunk = (t.robots / (4L * threads) + 8) / 8 * 8;  // a multiple of every width
    nb::gil_scoped_release release;
    in_chunks(t.robots, threads, kernel->rollout_room(plant, b, t), [&](long first, long size, void *at) {
      kernel->rollout(plant, b, t, r, first, size, at);
    }, chunk < 256 ? chunk : 256);
  }

  void faults(nb::handle out_) const {
    Span<signed char> out(out_, "out", true);
    out.require(t.robots, "out");
    for (long i = 0; i < t.robots; ++i) out.data()[i] = fault[i];
  }

  // What the last step went through, (robots, kRecord); false before the first.
  bool last(nb::handle out_) const {
    Span<double> out(out_, "out", true);
    out.require(t.robots * kRecord, "out");
    if (!lanes_of_record || !record) return false;
    for (long i = 0; i < t.robots; ++i)
      for (int k = 0; k < kRecord; ++k)
        out.data()[i * kRecord + k] =
            record[(i / lanes_of_record * kRecord + k) * lanes_of_record + i % lanes_of_record];
    return true;
  }

  int lanes_of_record = 0;
};

inline void bind_step(nb::module_ &m) {
  nb::list names;
  for (const char *name : kPortNames) names.append(name);
  m.attr("PORTS") = nb::tuple(names);
  nb::class_<PyStep>(m, "Step")
      .def(nb::init<nb::object, nb::tuple, nb::tuple, nb::tuple, nb::tuple, nb::tuple, nb::tuple, nb::tuple, nb::tuple,
                    nb::tuple, nb::handle>(),
           nb::arg("bodies"), nb::arg("places"), nb::arg("joints"), nb::arg("roots"), nb::arg("tool"),
           nb::arg("flags"), nb::arg("totals"), nb::arg("live"), nb::arg("gains"), nb::arg("fixed"), nb::arg("known"))
      .def("bind", &PyStep::bind, nb::arg("values"))
      .def("step", &PyStep::step, nb::arg("values"), nb::arg("out"), nb::arg("threads") = 1)
      .def("rollout", &PyStep::rollout, nb::arg("plant"), nb::arg("settings"), nb::arg("dt"), nb::arg("tool"),
           nb::arg("walls"), nb::arg("q"), nb::arg("dq"), nb::arg("failed"), nb::arg("q_record"),
           nb::arg("dq_record"), nb::arg("tau_record"), nb::arg("threads") = 1)
      .def("faults", &PyStep::faults, nb::arg("out"))
      .def("last", &PyStep::last, nb::arg("out"));
}

}  // namespace knuckle
