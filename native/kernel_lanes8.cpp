#include "kernel.inc"

namespace knuckle {
extern const Kernel *const kernel_lanes8;
const Kernel *const kernel_lanes8 = &KNAME::table;
}  // namespace knuckle
