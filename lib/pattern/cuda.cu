// Implements the pattern search on the current CUDA device, in the handle's stream. Only functions that return a number
// to the host wait for the stream.
#include "sweeps/backend.hpp"
#include "sweeps/cuda/selection.cuh"
#include "exec/map_reduce_cuda.cuh"
#include "pattern/sweeps_on.hpp"

namespace cudaopt {

namespace {

class CudaExecutor {
  public:
    template <class T> using Array = CudaArray<T, Lives::on_device>;

    CudaExecutor() { check(cudaGetDevice(&device_), "cudaGetDevice"); }
    // The destructor waits for the stream before the memory is freed. It cannot report an error.
    ~CudaExecutor() {
        const OnDevice on(device_, std::nothrow);
        if (scratch_.bytes() > 0) cudaStreamSynchronize(stream_);
    }
    void start(int, void *stream, CancellationToken &cancellation) {
        stream_ = static_cast<cudaStream_t>(stream);
        cancellation_ = &cancellation;
    }
    template <class T> void allocate(Array<T> &array, int64_t count) {
        const OnDevice on(device_);
        array.allocate(count);
    }
    // Allocates memory for reductions and selections, and loads all kernels. A kernel loaded later could have to wait
    // until kernels of the caller have ended.
    void reserve(int64_t walks) {
        // summary_ is allocated last. If it exists, everything else here has been done already.
        if (summary_.bytes() > 0) return;
        const OnDevice on(device_);
        load_maps<NotBegun, Draw, JudgeStart, WriteTrials, JudgeTrials, EndIteration, BeginRound, CopyBest>();
        check(load(map_reduce_kernel<SearchSummary, most_resident, Summarise, StoreRecord<SearchSummary>>), loading);
        scratch_.allocate(map_reduce_scratch_bytes<SearchSummary>());
        check(cudaMemsetAsync(scratch_.get(), 0, static_cast<std::size_t>(scratch_.bytes()), stream_),
              "cudaMemsetAsync");
        selection_.reserve(walks, stream_);
        summary_.allocate(1);
    }
    int64_t bytes() const { return scratch_.bytes() + selection_.bytes(); }

    template <class Rule> void map(int64_t count, const Rule &rule) {
        const OnDevice on(device_);
        check(map_cuda(count, rule, stream_), "a kernel of the search");
    }
    template <class Rule> SearchSummary sum(int64_t count, const Rule &rule) {
        const OnDevice on(device_);
        const StoreRecord<SearchSummary> store{summary_.get()};
        check(map_reduce_cuda<SearchSummary>(count, rule, store, scratch_.get(), stream_), "a reduction of the search");
        wait_for_stream(stream_, *cancellation_, "a reduction of the search");
        return summary_[0];
    }
    int64_t select(int64_t walks, const unsigned char *mark, int64_t *list) {
        const OnDevice on(device_);
        return selection_(walks, mark, list, stream_, *cancellation_);
    }
    void copy_in(void *to, const void *from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyHostToDevice); }
    void copy_out(void *to, const void *from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyDeviceToHost); }

  private:
    static constexpr const char *loading = "the loading of a kernel";

    template <class... Rules> static void load_maps() { (check(load(map_kernel<Rules>), loading), ...); }

    // cudaMemcpyAsync from or to pageable memory may itself wait for the stream, without a time limit. Therefore the
    // stream is awaited first, with cancellation.
    void copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
        const OnDevice on(device_);
        wait_for_stream(stream_, *cancellation_, "the work before a copy");
        check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpyAsync");
        wait_for_stream(stream_, *cancellation_, "cudaMemcpyAsync");
    }

    int device_ = 0;
    cudaStream_t stream_ = nullptr;
    CancellationToken *cancellation_ = nullptr;
    Array<unsigned char> scratch_;
    CudaArray<SearchSummary, Lives::on_host_mapped> summary_; // in host memory, to which kernels write
    Selection selection_{"a selection of walks", "a selection of walks"};
};

} // namespace

std::unique_ptr<SearchSweeps> make_cuda_search() { return std::make_unique<SearchSweepsOn<CudaExecutor>>(); }

} // namespace cudaopt
