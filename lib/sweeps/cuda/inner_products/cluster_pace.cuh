// ClusterPace keeps the two blocks of a cluster, which process the same variables, within two steps of each other. What
// one block reads from global memory is then still in the L2 cache when the other block reads it. Without this, the
// blocks drift apart, and each column is read from memory twice.
#pragma once

namespace cudaopt {

class ClusterPace {
  public:
    __device__ explicit ClusterPace(bool clustered) : clustered_(clustered) {}

    // Waits until all threads of both blocks have called this function for the previous step. All threads call it once
    // per step, and finally end().
    __device__ void step() {
        end();
#if __CUDA_ARCH__ >= 900
        if (clustered_) asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
        waits_ = clustered_;
    }
    __device__ void end() {
#if __CUDA_ARCH__ >= 900
        if (waits_) asm volatile("barrier.cluster.wait;" ::: "memory");
#endif
        waits_ = false;
    }

  private:
    const bool clustered_;
    bool waits_ = false;
};

} // namespace cudaopt
