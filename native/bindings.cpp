// The Python face of the kernel: arrays in, arrays out, the GIL released around long work.
#include "py_chain.hpp"
#include "py_collider.hpp"
#include "py_dynamics.hpp"
#include "py_solver.hpp"
#include "py_step.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // what outlives the interpreter is freed with the process
  m.doc() = "Native kernel: kinematics of chains and damped least squares, in lanes.";
  m.def("isa", &knuckle::isa, "Instruction set in use: avx512, avx2 or baseline.");
  m.def("lanes", [] { return knuckle::active->lanes; }, "Problems solved side by side in one vector.");
  m.def("use_lanes", [](int lanes) { knuckle::active = knuckle::kernel_of(lanes); }, nb::arg("lanes"),
        "Chooses the kernel of that many lanes (2, 4, 8), or the widest the processor has (0).");
  knuckle::bind_chain(m);
  knuckle::bind_collider(m);
  knuckle::bind_solver(m);
  knuckle::bind_dynamics(m);
  knuckle::bind_step(m);
}
