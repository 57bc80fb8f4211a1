// The CUDA executor: the sweeps as kernels on one stream. The host waits once an iteration, for the sums of sweep 1,
// by spinning on the tickets that come with them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "backend/backend.hpp"
#include "backend/cuda_direction.cuh"
#include "backend/cuda_gather.cuh"
#include "backend/cuda_gather_wide.cuh"
#include "backend/cuda_reduce_partials.cuh"
#include "backend/cuda_sent_rows.cuh"
#include "backend/cuda_support.cuh"

namespace cudaopt {

template <class Real> class CudaSweeps final : public Sweeps {
  public:
    explicit CudaSweeps(int64_t n) : n_(n) { check(cudaGetDevice(&device_), "cudaGetDevice"); }

    ~CudaSweeps() override {
        const OnDevice on(device_);
        if (ready_) cudaStreamSynchronize(stream_);
        for (CallEvents &call : calls_) {
            if (call.begin) cudaEventDestroy(call.begin);
            if (call.end) cudaEventDestroy(call.end);
        }
    }

    void bind(const UserArrays &a) override {
        v_.x = x_ = static_cast<Real *>(a.x);
        v_.g = g_ = static_cast<Real *>(a.g);
        v_.diagonal = static_cast<const Real *>(a.diagonal);
        v_.box = {static_cast<const Real *>(a.lower), static_cast<const Real *>(a.upper)};
        f_ = a.f;
        aligned_ = true;
        for (const void *vector :
             {static_cast<const void *>(a.x), static_cast<const void *>(a.g), a.lower, a.upper, a.diagonal})
            aligned_ = aligned_ && reinterpret_cast<std::uintptr_t>(vector) % 16 == 0;
        for (CallEvents &call : calls_) call.recorded = false;
        seconds_ = 0;
    }

    void allocate(int m, const ExecutorOptions &options) override {
        stream_ = static_cast<cudaStream_t>(options.stream);
        if (ready_) return;
        const OnDevice on(device_);
        columns_ = panel::columns(m);
        check(cudaDeviceGetAttribute(&block_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_),
              "cudaDeviceGetAttribute");
        check(cudaDeviceGetAttribute(&processor_shared_, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device_),
              "cudaDeviceGetAttribute");
        block_shared_ -= 1024; // for what kernels ask for by themselves
        int generation = 0;
        check(cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device_),
              "cudaDeviceGetAttribute");
        dependent_launches_ = generation >= 9;
        processor_shared_ -= 4096; // what the system keeps for itself, a block's share of it
        const GatherLayout layout(columns_);
        v_.n = n_;
        v_.m = m;
        v_.pitch = (n_ + 63) / 64 * 64; // whole tiles of sweep 1
        const double wanted = (2.0 * m + 3) * static_cast<double>(n_) * sizeof(Real);
        if (wanted > 9e18)
            throw ExecutorFailure(CUDA_OPT_OUT_OF_MEMORY, "out of memory: a workspace of (2m + 3) n elements has more "
                                                          "than 9e18 bytes");
        vectors_.allocate((2 * static_cast<int64_t>(m) + 3) * v_.pitch);
        // Rows past n are read as part of a tile; they have to be 0.
        check(cudaMemsetAsync(vectors_.get(), 0, vectors_.bytes(), stream_), "cudaMemsetAsync");
        v_.slots = vectors_.get();
        partials_.allocate(most_partials());
        scratch_.allocate(map_reduce_scratch_bytes<StartRecord>());
        check(cudaMemsetAsync(scratch_.get(), 0, scratch_.bytes(), stream_), "cudaMemsetAsync");
        counters_.allocate(4);
        check(cudaMemsetAsync(counters_.get(), 0, counters_.bytes(), stream_), "cudaMemsetAsync");
        if (columns_ > CoefficientsByValue::capacity) {
            coefficients_.allocate(columns_);
            staged_coefficients_.allocate(columns_);
        }
        from_device_.allocate(1);
        std::memset(static_cast<void *>(from_device_.get()), 0, sizeof(FromDevice));
        posted_.allocate(posted_numbers(layout));
        std::memset(static_cast<void *>(posted_.get()), 0, posted_.bytes());
        numbers_.resize(posted_numbers(layout));
        directions_.allocate(multiprocessors * direction_resident);
        sent_.allocate(columns_);
        read_buffer_.allocate(read_capacity);
        sums_.masked.reserve(panel::masked_count(columns_));
        sums_.full.reserve(panel::special * columns_);
        for (CallEvents &call : calls_) {
            check(cudaEventCreate(&call.begin), "cudaEventCreate");
            check(cudaEventCreate(&call.end), "cudaEventCreate");
        }
        ready_ = true;
    }

    int64_t workspace_bytes() const override {
        return vectors_.bytes() + partials_.bytes() + scratch_.bytes() + counters_.bytes() + coefficients_.bytes() +
               directions_.bytes();
    }

    StartReport start() override {
        const OnDevice on(device_);
        const StartRecord r = reduce<StartRecord>(CheckStart<Real>{x_, v_.box});
        const StartReport report{std::min(r.x_nan.v, n_),
                                 std::min(r.bound_nan.v, n_),
                                 std::min(r.crossed.v, n_),
                                 r.projected.v,
                                 r.boxed.v,
                                 r.bounded.v};
        if (report.usable(n_) && r.projected.v > 0)
            check(map_cuda(n_, MoveIntoBox<Real>{x_, v_.box}, stream_), "the projection of the start");
        return report;
    }

    const PanelSums &gather(const GatherRequest &request) override {
        const OnDevice on(device_);
        const GatherLayout layout(panel::columns(request.pairs));
        sent_.none_ahead();
        const int partials = launch_gather(request, layout);
        check(cudaGetLastError(), "the launch of sweep 1");
        launch_reduction(layout, partials);
        int there = 0;
        const int count = posted_numbers(layout);
        wait_until([&] {
            while (there < count && posted_[there].arrived(ticket_, numbers_[there])) there++;
            return there == count;
        });
        layout.unpack(numbers_.data(), sums_);
        sums_.f = numbers_[layout.size];
        const double *direction = numbers_.data() + layout.size + 1;
        direction_sums_ = {direction[0], direction[1], direction[2]};
        sent_.note(request, static_cast<int64_t>(direction[direction_numbers]));
        return sums_;
    }

    void direction(const DirectionRequest &request) override {
        const OnDevice on(device_);
        const int slot = request.spare_slot;
        const bool fresh = request.panel.fresh && request.panel.pairs > 0;
        const TrialArrays<Real> to{x_,         g_,          v_.s(slot),
                                   v_.y(slot), v_.x_base(), fresh ? v_.y(request.panel.newest_slot) : nullptr};
        with_coefficients(request, [&](const auto &q) {
            using Coefficients = std::decay_t<decltype(q)>;
            if (aligned_) launch_direction(TakeDirection<Real, Coefficients, 16 / sizeof(Real)>{v_, request, q, to});
            else launch_direction(TakeDirection<Real, Coefficients, 1>{v_, request, q, to});
        });
    }

    // They came with the numbers of the gather after the direction.
    DirectionSums direction_sums() override { return direction_sums_; }

    double truncation(const DirectionRequest &request) override {
        const OnDevice on(device_);
        double alpha = 1;
        with_coefficients(request, [&](const auto &q) {
            alpha = reduce<Min>(FindTruncation<Real, std::decay_t<decltype(q)>>{v_, request, q}).v;
        });
        return std::max(0.0, std::min(1.0, alpha));
    }

    int64_t crossed(const GatherRequest &request, double lo, double hi, std::vector<CrossedRow> &rows) override {
        if (!sent_.have(request, hi)) return find_rows(request, lo, hi, rows);
        return sent_.between(lo, hi, sent_.count(), panel::columns(request.pairs), rows);
    }

    void step(int slot, double step) override {
        const OnDevice on(device_);
        check(map_cuda(n_, TakeStep<Real>{x_, v_.x_base(), v_.s(slot), v_.box, step}, stream_), "the launch of a step");
    }

    double largest_step(int slot) override {
        const OnDevice on(device_);
        return reduce<Min>(FindLargestStep<Real>{v_.x_base(), v_.s(slot), v_.box}).v;
    }

    void restore(int slot, double f) override {
        const OnDevice on(device_);
        check(map_cuda(n_, Restore<Real>{x_, g_, v_.x_base(), v_.y(slot), f_, f}, stream_), "the launch of a restore");
    }

    int64_t bad_diagonal() override {
        const OnDevice on(device_);
        return std::min(n_, reduce<FirstIndex>(FindBadDiagonal<Real>{v_.diagonal}).v);
    }

    void read(const void *vector, int64_t begin, int count, double *to) override {
        const OnDevice on(device_);
        for (int done = 0; done < count; done += read_capacity) {
            const int now = std::min(count - done, read_capacity);
            check(cudaMemcpyAsync(read_buffer_.get(), static_cast<const Real *>(vector) + begin + done,
                                  now * sizeof(Real), cudaMemcpyDeviceToHost, stream_),
                  "a copy for the log");
            check(cudaStreamSynchronize(stream_), "a copy for the log");
            for (int i = 0; i < now; i++) to[done + i] = read_buffer_[i];
        }
    }

    // Time on the stream between the first and the last command of a call. A call's events are read two calls later,
    // when they are certain to be complete.
    void begin_call() override {
        if (!ready_) return;
        const OnDevice on(device_);
        CallEvents &call = calls_[call_ % 2];
        collect(call);
        cudaEventRecord(call.begin, stream_);
        begun_ = true;
    }

    void end_call() override {
        if (!begun_) return;
        const OnDevice on(device_);
        CallEvents &call = calls_[call_++ % 2];
        call.recorded = cudaEventRecord(call.end, stream_) == cudaSuccess;
        begun_ = false;
    }

    double seconds() override {
        const OnDevice on(device_);
        for (CallEvents &call : calls_) collect(call);
        return seconds_;
    }

  private:
    int64_t find_rows(const GatherRequest &request, double lo, double hi, std::vector<CrossedRow> &rows) {
        const OnDevice on(device_);
        const int columns = panel::columns(request.pairs);
        sent_.none_ahead(); // they are overwritten
        const auto kernel = request.weighted ? find_crossed<Real, true> : find_crossed<Real, false>;
        kernel<<<blocks_for(n_), gather_threads, 0, stream_>>>(
            v_, request, lo, hi, columns, sent_.place(counters_.get() + 1), arrivals(), &from_device_[0].crossed,
            &from_device_[0].flag, ++ticket_);
        check(cudaGetLastError(), "the launch of the search for crossed rows");
        const volatile unsigned *flag = &from_device_[0].flag;
        wait_until([&] { return *flag == ticket_; });
        const int64_t count = static_cast<int64_t>(from_device_[0].crossed);
        sent_.between(lo, hi, std::min<int64_t>(count, crossed_capacity), columns, rows);
        return count;
    }

    static constexpr int read_capacity = 64;
    // Blocks of sweep 2 a multiprocessor: what the registers of 16-byte loads in flight leave.
    static constexpr int direction_resident = 2;

    struct FromDevice { // written by kernels, read by the host
        unsigned flag;
        unsigned long long crossed;
        alignas(8) unsigned char record[sizeof(StartRecord)];
    };
    struct CallEvents {
        cudaEvent_t begin = nullptr, end = nullptr;
        bool recorded = false;
    };

    unsigned *arrivals() const { return reinterpret_cast<unsigned *>(counters_.get()); }
    // A memory of many pairs begins with narrow panels, which have more blocks of partial sums.
    int64_t most_partials() const {
        const int64_t narrow = GatherLayout(std::min(columns_, 5 * column_block)).size * int64_t{most_gather_blocks};
        const int64_t wide = GatherLayout(columns_).size * int64_t{tile_kernel_rows(columns_)};
        return std::max(narrow, wide);
    }
    static int column_blocks(int columns) { return (columns + column_block - 1) / column_block; }
    static int tile_kernel_rows(int columns) {
        const int blocks = column_blocks(columns), tiles = blocks * (blocks + 1) / 2;
        return std::max(1, 4 * most_gather_blocks / tiles);
    }

    void collect(CallEvents &call) {
        float milliseconds = 0;
        if (!call.recorded) return;
        call.recorded = false;
        if (cudaEventSynchronize(call.end) != cudaSuccess) return;
        if (cudaEventElapsedTime(&milliseconds, call.begin, call.end) == cudaSuccess) seconds_ += 1e-3 * milliseconds;
    }

    template <class Rule> void launch_direction(const Rule &rule) {
        const int64_t groups = (n_ + Rule::rows - 1) / Rule::rows;
        direction_blocks_ = blocks_for(groups, direction_resident);
        check(map_blocks_cuda<DirectionRecord, direction_resident>(groups, rule, directions_.get(), stream_),
              "the launch of sweep 2");
    }

    // Its blocks may be placed while sweep 1 still runs; they wait for its end themselves.
    void launch_reduction(const GatherLayout &layout, int partials) {
        cudaLaunchAttribute early{};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = (posted_numbers(layout) + gather_warps - 1) / gather_warps;
        config.blockDim = gather_threads;
        config.stream = stream_;
        config.attrs = &early;
        config.numAttrs = dependent_launches_ ? 1 : 0;
        check(cudaLaunchKernelEx(&config, reduce_partials, layout, static_cast<const double *>(partials_.get()),
                                 partials, static_cast<const double *>(f_),
                                 static_cast<const DirectionRecord *>(directions_.get()), direction_blocks_,
                                 counters_.get() + 1, posted_.get(), ++ticket_),
              "the launch of sweep 1's reduction");
    }

    // Returns how many blocks of partial sums there are.
    int launch_gather(const GatherRequest &request, const GatherLayout &layout) {
        switch (kind_of(request)) {
        case Gather::unbounded: return launch_gather<Gather::unbounded>(request, layout);
        case Gather::bounded: return launch_gather<Gather::bounded>(request, layout);
        case Gather::crossing: return launch_gather<Gather::crossing>(request, layout);
        default: return launch_gather<Gather::weighted>(request, layout);
        }
    }

    template <Gather kind> int launch_gather(const GatherRequest &request, const GatherLayout &layout) {
        switch (column_blocks(multiplied_columns(layout.columns, over_free_rows(kind)))) {
        case 1: return launch_gather<1, kind>(request, layout);
        case 2: return launch_gather<2, kind>(request, layout);
        case 3: return launch_gather<3, kind>(request, layout);
        case 4: return launch_gather<4, kind>(request, layout);
        case 5: return launch_gather<5, kind>(request, layout);
        case 6: return launch_gather<6, kind>(request, layout);
        default: return launch_wide_gather<kind>(request, layout);
        }
    }

    template <Gather kind> int launch_wide_gather(const GatherRequest &request, const GatherLayout &layout) {
        const int blocks = column_blocks(layout.columns), tiles = blocks * (blocks + 1) / 2;
        const int rows = static_cast<int>(std::min<int64_t>(tile_kernel_rows(layout.columns), row_blocks()));
        gather_tile_kernel<Real, kind>
            <<<dim3(tiles, rows), gather_threads, 0, stream_>>>(v_, request, layout, partials_.get());
        return rows;
    }

    template <int blocks, Gather kind> int launch_gather(const GatherRequest &request, const GatherLayout &layout) {
        const int grid = static_cast<int>(std::min<int64_t>(gather_grid * resident_blocks(blocks), row_blocks()));
        const StageLayout place(v_, request);
        const int stages =
            stages_within<Real>(std::min(block_shared_, processor_shared_ / resident_blocks(blocks)), place.vectors);
        const int ring = gather_warps * stages * Stage<Real>::bytes(place.vectors);
        const int meeting =
            gather_warps * LaneProducts<blocks, over_free_rows(kind)>::elements * static_cast<int>(sizeof(double));
        const int shared = std::max(ring, meeting);
        if (shared > block_shared_) return launch_wide_gather<kind>(request, layout); // a small device
        const auto kernel = gather_kernel<Real, blocks, kind>;
        if (reinterpret_cast<const void *>(kernel) != prepared_) { // the same for all handles that share the kernel
            check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, block_shared_),
                  "sweep 1's attributes");
            prepared_ = reinterpret_cast<const void *>(kernel);
        }
        const Sources<Real, most_vectors(blocks, kind)> sources(v_, request, place);
        const SendAhead ahead = sent_.ahead(kind == Gather::bounded, counters_.get() + 1);
        kernel<<<grid, gather_threads, shared, stream_>>>(v_, sources, request, layout, ahead, stages, aligned_,
                                                          partials_.get());
        return grid;
    }

    int64_t row_blocks() const { return (n_ + gather_threads - 1) / gather_threads; }

    template <class Action> void with_coefficients(const DirectionRequest &request, const Action &action) {
        const int columns = panel::columns(request.panel.pairs);
        if (columns <= CoefficientsByValue::capacity) {
            CoefficientsByValue q{};
            std::copy(request.coefficients, request.coefficients + columns, q.q);
            action(q);
            return;
        }
        std::copy(request.coefficients, request.coefficients + columns, staged_coefficients_.get());
        check(cudaMemcpyAsync(coefficients_.get(), staged_coefficients_.get(), columns * sizeof(double),
                              cudaMemcpyHostToDevice, stream_),
              "the copy of the coefficients");
        action(CoefficientsInMemory{coefficients_.get()});
    }

    // A reduction that the host waits for; rare.
    template <class Record, class Rule> Record reduce(const Rule &rule) {
        static_assert(sizeof(Record) <= sizeof(StartRecord), "the scratch and the host's copy are made for this size");
        auto *to = reinterpret_cast<Record *>(from_device_[0].record);
        check(map_reduce_cuda<Record>(n_, rule, StoreRecord<Record>{to}, scratch_.get(), stream_),
              "the launch of a reduction");
        check(cudaStreamSynchronize(stream_), "a reduction");
        return *to;
    }

    // What is waited for never arrives when a kernel fails, the caller's included, so the stream is asked now and then.
    template <class Arrived> void wait_until(const Arrived &arrived) {
        for (unsigned spins = 1; !arrived(); spins++) {
            if (spins % 65536 != 0) continue;
            const cudaError_t state = cudaStreamQuery(stream_);
            if (state != cudaErrorNotReady) {
                check(state, "a kernel on the handle's stream, the caller's evaluation included");
                check(cudaStreamSynchronize(stream_), "a kernel on the handle's stream");
                if (!arrived()) throw ExecutorFailure(CUDA_OPT_CUDA_FAILURE, "CUDA failed: a kernel ended early");
            }
        }
        std::atomic_thread_fence(std::memory_order_acquire);
    }

    const int64_t n_;
    int device_ = 0, columns_ = 0;
    int block_shared_ = 0,
        processor_shared_ = 0; // bytes of shared memory that a block can have, and all of them together
    bool ready_ = false, begun_ = false;
    bool dependent_launches_ = false; // the device can place a kernel's blocks before the one in front of it has ended
    const void *prepared_ = nullptr;  // the kernel of the latest sweep 1
    bool aligned_ = false;            // all of the caller's vectors to 16 bytes
    cudaStream_t stream_ = nullptr;
    DeviceVectors<Real> v_{};
    Real *x_ = nullptr, *g_ = nullptr;
    double *f_ = nullptr;
    CudaArray<Real, Lives::on_device> vectors_;
    CudaArray<double, Lives::on_device> partials_, coefficients_;
    CudaArray<DirectionRecord, Lives::on_device> directions_;
    int direction_blocks_ = 0; // records of the latest direction
    DirectionSums direction_sums_{};
    SentRows sent_;
    CudaArray<unsigned char, Lives::on_device> scratch_;
    CudaArray<unsigned long long, Lives::on_device> counters_;
    CudaArray<FromDevice, Lives::on_host_mapped> from_device_;
    CudaArray<double, Lives::on_host_mapped> staged_coefficients_;
    CudaArray<Posted, Lives::on_host_mapped> posted_;
    std::vector<double> numbers_; // as posted
    CudaArray<Real, Lives::on_host_mapped> read_buffer_;
    PanelSums sums_{};
    unsigned ticket_ = 0;
    CallEvents calls_[2];
    unsigned call_ = 0;
    double seconds_ = 0;
};

template <class Real> std::unique_ptr<Sweeps> make_cuda_sweeps(int64_t n) {
    return std::make_unique<CudaSweeps<Real>>(n);
}

} // namespace cudaopt
