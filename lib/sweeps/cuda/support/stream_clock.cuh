// StreamClock measures the time on a stream between the first and the last command of each call. The events of a call
// are read two calls later, when they are certainly complete. If the timing of a call fails, or if a wait in the call
// was interrupted, its time is omitted, and the solve continues. An error of the stream's own work is reported by the
// next wait.
#pragma once

#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

class StreamClock {
  public:
    void reset() {
        for (Call &call : calls_) call.recorded = false;
        seconds_ = 0;
    }
    void begin(cudaStream_t stream) {
        Call &call = calls_[count_ % 2];
        collect(call);
        begun_ = cudaEventRecord(call.begin.get(), stream) == cudaSuccess;
    }
    bool begun() const { return begun_; }
    void end(cudaStream_t stream) {
        Call &call = calls_[count_++ % 2];
        call.recorded = cudaEventRecord(call.end.get(), stream) == cudaSuccess;
        begun_ = false;
    }
    double seconds() {
        for (Call &call : calls_) collect(call);
        return seconds_;
    }

  private:
    struct Call {
        CudaEvent begin, end;
        bool recorded = false;
    };

    void collect(Call &call) {
        float milliseconds = 0;
        if (!call.recorded) return;
        call.recorded = false;
        if (cudaEventSynchronize(call.end.get()) != cudaSuccess) return;
        if (cudaEventElapsedTime(&milliseconds, call.begin.get(), call.end.get()) == cudaSuccess)
            seconds_ += 1e-3 * milliseconds;
    }

    Call calls_[2];
    bool begun_ = false; // whether the begin event of the current call is recorded
    unsigned count_ = 0;
    double seconds_ = 0;
};

} // namespace cudaopt
