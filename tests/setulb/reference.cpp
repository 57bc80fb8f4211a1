#include <dlfcn.h>

#include "run.hpp"

namespace cudaopt_test {

Setulb reference_setulb() {
    // RTLD_LOCAL prevents a conflict of its symbol setulb_ with ours.
    static void *const library = dlopen("liblbfgsb.so.0", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Setulb>(dlsym(library, "setulb_")) : nullptr;
}

} // namespace cudaopt_test
