#include "kernel.inc"

namespace knuckle {
extern const Kernel *const kernel_lanes4;
const Kernel *const kernel_lanes4 = &KNAME::table;
}  // namespace knuckle
