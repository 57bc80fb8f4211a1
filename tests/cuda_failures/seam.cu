#include "seam.hpp"

#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

namespace seam {

namespace {

int64_t counted, failing;
Fails mode;
const char *first = "", *latest = "";
cudaError_t remembered = cudaSuccess; // the latest simulated error, which the runtime would store if it were real

bool fails(const char *name) {
    const bool asked_again = std::strcmp(name, "cudaStreamQuery") == 0 && std::strcmp(name, latest) == 0;
    latest = name;
    if (!asked_again) counted++;
    const bool now = mode == Fails::once ? !asked_again && counted == failing : failing > 0 && counted >= failing;
    if (now && !*first) first = name;
    return now;
}
cudaError_t remember(cudaError_t error) { return remembered = error; }

} // namespace

void arm(int64_t number, Fails how) {
    counted = 0;
    failing = number;
    mode = how;
    first = latest = "";
    remembered = cudaSuccess;
}
int64_t calls() { return counted; }
bool fired() { return *first; }
const char *first_to_fail() { return first; }

std::vector<std::string> &names() {
    static std::vector<std::string> all;
    return all;
}

} // namespace seam

// Adds a name to names() before main() is called.
#define NAMED(name) static const bool named_##name = (seam::names().push_back(#name), true)

// Defines a call that fails without doing its work.
#define REFUSED(error, name, parameters, arguments)                                                                    \
    NAMED(name);                                                                                                       \
    extern "C" cudaError_t __real_##name parameters;                                                                   \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        return seam::fails(#name) ? seam::remember(error) : __real_##name arguments;                                   \
    }
// Defines a call that does its work and then returns an error, like that of earlier asynchronous work. It is used for
// calls that free memory or wait. A leak, or memory that is freed while it is in use, is then a fault of the library.
#define DONE_THEN_FAILED(name, parameters, arguments)                                                                  \
    NAMED(name);                                                                                                       \
    extern "C" cudaError_t __real_##name parameters;                                                                   \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        const cudaError_t error = __real_##name arguments;                                                             \
        return seam::fails(#name) ? seam::remember(cudaErrorUnknown) : error;                                          \
    }

REFUSED(cudaErrorMemoryAllocation, cudaMalloc, (void **memory, std::size_t bytes), (memory, bytes))
REFUSED(cudaErrorMemoryAllocation, cudaHostAlloc, (void **memory, std::size_t bytes, unsigned flags),
        (memory, bytes, flags))
REFUSED(cudaErrorMemoryAllocation, cudaMallocAsync, (void **memory, std::size_t bytes, cudaStream_t stream),
        (memory, bytes, stream))
REFUSED(cudaErrorUnknown, cudaMemGetInfo, (std::size_t * free, std::size_t *whole), (free, whole))
REFUSED(cudaErrorUnknown, cudaGetDeviceCount, (int *count), (count))
REFUSED(cudaErrorUnknown, cudaGetDevice, (int *device), (device))
REFUSED(cudaErrorUnknown, cudaSetDevice, (int device), (device))
REFUSED(cudaErrorUnknown, cudaDeviceGetAttribute, (int *value, cudaDeviceAttr attribute, int device),
        (value, attribute, device))
REFUSED(cudaErrorUnknown, cudaPointerGetAttributes, (cudaPointerAttributes * attributes, const void *pointer),
        (attributes, pointer))
REFUSED(cudaErrorUnknown, cudaGetDriverEntryPointByVersion,
        (const char *symbol, void **entry, unsigned version, unsigned long long flags,
         cudaDriverEntryPointQueryResult *found),
        (symbol, entry, version, flags, found))
REFUSED(cudaErrorUnknown, cudaFuncGetAttributes, (cudaFuncAttributes * attributes, const void *kernel),
        (attributes, kernel))
REFUSED(cudaErrorUnknown, cudaFuncSetAttribute, (const void *kernel, cudaFuncAttribute attribute, int value),
        (kernel, attribute, value))
REFUSED(cudaErrorUnknown, cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments),
        (config, kernel, arguments))
REFUSED(cudaErrorUnknown, cudaLaunchKernel,
        (const void *kernel, dim3 blocks, dim3 threads, void **arguments, std::size_t shared, cudaStream_t stream),
        (kernel, blocks, threads, arguments, shared, stream))
REFUSED(cudaErrorUnknown, __cudaLaunchKernel, // the compiler replaces <<<>>> by this call
        (cudaKernel_t kernel, dim3 blocks, dim3 threads, void **arguments, std::size_t shared, cudaStream_t stream),
        (kernel, blocks, threads, arguments, shared, stream))
REFUSED(cudaErrorUnknown, cudaMemcpy, (void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind),
        (to, from, bytes, kind))
REFUSED(cudaErrorUnknown, cudaMemcpyAsync,
        (void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
        (to, from, bytes, kind, stream))
REFUSED(cudaErrorUnknown, cudaMemsetAsync, (void *to, int value, std::size_t bytes, cudaStream_t stream),
        (to, value, bytes, stream))
REFUSED(cudaErrorUnknown, cudaStreamQuery, (cudaStream_t stream), (stream))
REFUSED(cudaErrorUnknown, cudaEventCreate, (cudaEvent_t * event), (event))
REFUSED(cudaErrorUnknown, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
REFUSED(cudaErrorUnknown, cudaEventElapsedTime, (float *milliseconds, cudaEvent_t begin, cudaEvent_t end),
        (milliseconds, begin, end))
DONE_THEN_FAILED(cudaFree, (void *memory), (memory))
DONE_THEN_FAILED(cudaFreeHost, (void *memory), (memory))
DONE_THEN_FAILED(cudaFreeAsync, (void *memory, cudaStream_t stream), (memory, stream))
DONE_THEN_FAILED(cudaEventDestroy, (cudaEvent_t event), (event))
DONE_THEN_FAILED(cudaEventSynchronize, (cudaEvent_t event), (event))
DONE_THEN_FAILED(cudaStreamSynchronize, (cudaStream_t stream), (stream))

// These two calls return the latest error. For a launch by <<<>>> they are the only way to find an error.
extern "C" cudaError_t __real_cudaGetLastError();
extern "C" cudaError_t __real_cudaPeekAtLastError();
extern "C" cudaError_t __wrap_cudaGetLastError() {
    const cudaError_t error = __real_cudaGetLastError(), of_seam = std::exchange(seam::remembered, cudaSuccess);
    return of_seam != cudaSuccess ? of_seam : error;
}
extern "C" cudaError_t __wrap_cudaPeekAtLastError() {
    return seam::remembered != cudaSuccess ? seam::remembered : __real_cudaPeekAtLastError();
}

namespace seam {

int devices() {
    int count = 0;
    return __real_cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
void use(int device) { __real_cudaSetDevice(device); }
void leave_behind_an_error() { __real_cudaSetDevice(-1); }
void *allocate(std::size_t bytes) {
    void *memory = nullptr;
    return __real_cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
}
void release(void *memory) { __real_cudaFree(memory); }
void copy(void *to, const void *from, std::size_t bytes) { __real_cudaMemcpy(to, from, bytes, cudaMemcpyDefault); }

} // namespace seam
