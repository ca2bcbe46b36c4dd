#include "kernel.inc"

namespace knuckle {
extern const Kernel *const kernel_lanes2;
const Kernel *const kernel_lanes2 = &KNAME::table;
}  // namespace knuckle
