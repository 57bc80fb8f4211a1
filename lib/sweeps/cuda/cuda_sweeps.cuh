// CudaSweeps is the CUDA backend. It executes the sweeps, which are the operations on all n variables
// (sweeps/sweeps.hpp), as kernels on one stream. The host waits once per iteration for the sums of sweep 1 (the inner
// products). Each request has a number, called its ticket. The host polls its memory until all sums have arrived with
// this ticket.
#pragma once

#include <algorithm>
#include <memory>

#include "sweeps/backend.hpp"
#include "sweeps/cuda/support/cut_variables.cuh"
#include "sweeps/cuda/direction/launch_direction.cuh"
#include "sweeps/cuda/inner_products/launch_inner_products.cuh"
#include "sweeps/cuda/support/vector_kernels.hpp"
#include "sweeps/cuda/workspace.cuh"

namespace cudaopt {
template <class Real, class History> class CudaSweeps final : public Sweeps {
  public:
    CudaSweeps(int64_t n, int device) : n_(n), device_(device), cut_(n) {}

    ~CudaSweeps() override {
        // The destructor cannot report errors.
        const OnDevice on(device_, std::nothrow);
        if (workspace_) cudaStreamSynchronize(stream_);
        workspace_.reset();
    }

    void bind(const UserArrays &a) override {
        user_ = a;
        v_.x = x_ = static_cast<Real *>(a.x);
        v_.g = g_ = static_cast<Real *>(a.g);
        v_.own_diagonal = own_diagonal_.get();
        v_.diagonal = v_.own_diagonal ? v_.own_diagonal : static_cast<const Real *>(a.diagonal);
        v_.box = box_of<Real>(a);
        aligned_ = true;
        for (const void *vector :
             {static_cast<const void *>(a.x), static_cast<const void *>(a.g), a.lower, a.upper, a.diagonal})
            aligned_ = aligned_ && reinterpret_cast<std::uintptr_t>(vector) % 16 == 0;
        v_.zero_tiles = {};
        // The pointer workspace_ is NULL until the first call of allocate().
        if (workspace_) workspace_->clock.reset();
    }

    void allocate(int m, const BackendOptions &options) override {
        follow(options.stream, options.cancellation);
        const OnDevice on(device_);
        if (!workspace_) prepare(m);
        if (options.aside && !aside_memory_.get()) {
            aside_memory_.allocate(2 * n_);
            aside_ = {aside_memory_.get(), aside_memory_.get() + n_};
        }
        callers_diagonal_ = options.metric == Metric::callers;
        timed_ = options.timed;
        if (options.metric != Metric::learned) {
            own_diagonal_.release();
        } else if (!own_diagonal_.get()) {
            own_diagonal_.allocate(v_.pitch);
            check(cudaMemsetAsync(own_diagonal_.get(), 0, own_diagonal_.bytes(), stream_), "cudaMemsetAsync");
        }
        // The kernels reset these counters after each use. They are cleared here, because a solve that failed may have
        // ended between sweep 1 and the reset.
        check(cudaMemsetAsync(workspace_->counters.get(), 0, workspace_->counters.bytes(), stream_), "cudaMemsetAsync");
    }

    void follow(void *stream, CancellationToken *cancellation) override {
        stream_ = static_cast<cudaStream_t>(stream);
        cancellation_ = cancellation;
    }

    int64_t workspace_bytes() const override {
        return workspace_ ? workspace_->bytes() + aside_memory_.bytes() + own_diagonal_.bytes() : 0;
    }

    HistoryVectors history() override {
        v_.zero_tiles.forget(stream_);
        return {v_.first, v_.pitch, v_.m};
    }

    StartReport check_start() override {
        const OnDevice on(device_);
        return report_of<Real>(reduce_vector<StartRecord>(CheckStart<Real>{x_, v_.box}), n_);
    }
    void move_into_box() override { write({MoveIntoBox<Real>{x_, v_.box}}, "the projection of the start"); }

    const PanelProducts &inner_products(const ProductsRequest &request) override {
        const OnDevice on(device_);
        form_inner_products(request);
        look_for_zeros(request);
        if (!(is_bfloat16 && may_multiply_bfloat16(request))) return sums_;
        // With several ranks, lib/ranks decides from the sums of all ranks whether to request the products again in
        // double precision.
        const bool others_decide = cut_.by_segments();
        if (others_decide || sums_.fit_single_precision(static_cast<double>(n_))) return sums_;
        ProductsRequest in_double = request;
        in_double.single = false;
        form_inner_products(in_double);
        return sums_;
    }

    void direction(const DirectionRequest &requested) override {
        const OnDevice on(device_);
        const DirectionRequest request = with_stored_y(requested);
        const int slot = request.spare_slot;
        const bool fresh = request.panel.fresh && request.panel.pairs > 0;
        const TrialArrays<Real, History> to{x_, v_.g_base(slot), v_.x_base(), v_.s(slot),
                                            fresh ? v_.y(request.panel.newest_slot) : nullptr};
        DirectionRecord *const records = workspace_->directions.get();
        const LaunchPlace at = launch_place();
        direction_blocks_ = [&] {
            if constexpr (!std::is_same_v<Real, History>) {
                if (v_.zero_tiles.tracked())
                    return launch_zero_tiles(v_, request, coefficients_of(request), to, records, at);
                if (serves_by_pair_groups<Real, History>(request.panel.pairs, at))
                    return launch_pair_groups(v_, request, to, records, at);
            }
            return launch_direction(v_, request, coefficients_of(request), to, records, at);
        }();
    }

    // The sums of the direction (DirectionSums) are transferred to the host together with the next inner products.
    DirectionSums direction_sums() override { return cut_.direction(0); }
    bool direction_sums_at_hand() const override { return false; }

    double truncation(const DirectionRequest &requested) override {
        const OnDevice on(device_);
        const DirectionRequest request = with_stored_y(requested);
        const double alpha = reduce<Min>(FindTruncation<Real, History>{v_, request, coefficients_of(request)}).v;
        return std::max(0.0, std::min(1.0, alpha));
    }

    CrossedWindow crossed(const PanelRequest &request, double lo, double hi) override {
        const int64_t sent =
            workspace_->sent.covers(request, hi) ? workspace_->sent.count() : find_variables(request, lo, hi);
        const bool fits = sent <= crossed_capacity;
        if (fits) workspace_->sent.between(lo, hi, sent, panel::columns(request.pairs), workspace_->found);
        const int64_t count = fits ? workspace_->found.count() : sent;
        workspace_->sent.expect(lo, hi, count);
        return workspace_->found.window(count);
    }

    void step(int slot, double step) override {
        write_pair({TakeStep<Real, History>{x_, v_.x_base(), v_.s(slot), v_.box, step}}, "the launch of a step");
    }

    double largest_step(int slot) override {
        const OnDevice on(device_);
        return reduce<Min>(FindLargestStep<Real, History>{v_.x_base(), v_.s(slot), v_.box}).v;
    }

    void restore(int slot, double f) override {
        write({{}, Restore<Real>{x_, g_, v_.x_base(), v_.g_base(slot), user_.f, f}}, "the launch of a restore");
    }

    void save_best(int slot) override {
        write({{}, Restore<Real>{aside_.x, aside_.g, v_.x_base(), v_.g_base(slot)}}, "the launch of a copy");
    }
    void save_trial() override { write({{}, Restore<Real>{aside_.x, aside_.g, x_, g_}}, "the launch of a copy"); }

    void restore_best(double f) override {
        write({{}, Restore<Real>{x_, g_, aside_.x, aside_.g, user_.f, f}}, "the launch of a restore");
    }

    void finish_pair(int slot) override {
        v_.zero_tiles.forget(stream_);
        write_pair({{}, FinishPair<Real, History>{v_.y(slot), g_, v_.g_base(slot)}}, "the launch that finishes a pair");
    }

    void fetch(const HeldVector &which, void *to_host) override {
        const HeldPlace place = place_of_held(which);
        copy(to_host, place.at, place.bytes, cudaMemcpyDeviceToHost);
    }
    void store(const HeldVector &which, const void *from_host) override {
        y_stored_ = -1;
        v_.zero_tiles.forget(stream_);
        const HeldPlace place = place_of_held(which);
        copy(place.at, from_host, place.bytes, cudaMemcpyHostToDevice);
    }
    int64_t bytes_of(const HeldVector &which) const override { return place_of_held(which).bytes; }

    double norm(const NormRequest &request) override {
        const OnDevice on(device_);
        using Measure = MeasureNorm<Real, const History *>;
        const Measure rule{request, x_, g_, v_.box, v_.y(request.slot), v_.g_base(request.slot)};
        if (!cut_.by_segments()) return reduce<ScaledSquares>(rule).norm();
        static_assert(most_segments * most_pieces * sizeof(ScaledSquares) <= map_reduce_scratch_bytes<StartRecord>());
        auto *const records = reinterpret_cast<ScaledSquares *>(workspace_->scratch.get() + arrivals_bytes);
        check(launch(map_pieces_kernel<ScaledSquares, most_resident, 1, Measure>, cut_.pieces().count(), block_threads,
                     0, stream_, cut_.pieces(), n_, rule, records),
              "the launch of a reduction");
        copy(cut_.squares(), records, int64_t{cut_.pieces().count()} * static_cast<int64_t>(sizeof(ScaledSquares)),
             cudaMemcpyDeviceToHost);
        return cut_.join_squares().norm();
    }

    void remove_infinite_slopes() override {
        write({{}, {}, RemoveInfiniteSlope<Real>{x_, g_, v_.box}}, "the launch that removes infinite slopes");
    }

    int64_t bad_diagonal() override {
        const OnDevice on(device_);
        return std::min(n_, reduce_vector<FirstIndex>(FindBadDiagonal<Real>{v_.diagonal}).v);
    }

    void read(const void *vector, int64_t begin, int count, double *to) override {
        const OnDevice on(device_);
        auto &buffer = workspace_->from_device[0].elements;
        constexpr int capacity = sizeof buffer / sizeof(Real);
        for (int done = 0; done < count; done += capacity) {
            const int now = std::min(count - done, capacity);
            check(cudaMemcpyAsync(buffer, static_cast<const Real *>(vector) + begin + done, now * sizeof(Real),
                                  cudaMemcpyDeviceToHost, stream_),
                  "a copy for the log");
            wait_for_stream(stream_, *cancellation_, "a copy for the log");
            for (int i = 0; i < now; i++) to[done + i] = buffer[i];
        }
    }

    SubtreeSums *subtree_sums() override { return &cut_; }

    void begin_call() override {
        if (!workspace_ || !timed_) return;
        const OnDevice on(device_, std::nothrow);
        workspace_->clock.begin(stream_);
    }

    void end_call() override {
        if (!workspace_ || !workspace_->clock.begun()) return;
        const OnDevice on(device_, std::nothrow);
        workspace_->clock.end(stream_);
    }

    double seconds() override {
        if (!workspace_) return 0;
        const OnDevice on(device_, std::nothrow);
        return workspace_->clock.seconds();
    }

  private:
    static constexpr bool is_bfloat16 = std::is_same_v<History, bfloat16>;

    // Applies a rule to all variables.
    void write(const WriteVector<Real> &rule, const char *what) {
        const OnDevice on(device_);
        check(VectorKernels<Real>::map(n_, rule, stream_), what);
    }
    void write_pair(const PairRule<Real, History> &rule, const char *what) {
        const OnDevice on(device_);
        check(map_cuda(n_, rule, stream_), what);
    }

    void form_inner_products(const ProductsRequest &request) {
        const ProductsLayout layout(panel::columns(request.pairs), request.older_steps);
        workspace_->sent.invalidate();
        y_stored_ = v_.apart && request.fresh && request.pairs > 0 ? request.newest_slot : -1;
        // A Cauchy search can follow only if the threshold is 0. If the caller supplies a diagonal, the products must
        // also be weighted by it. Unweighted products are those of a trial point: if the point is accepted, weighted
        // products are requested before the Cauchy search.
        const bool searched = request.threshold == 0 && (request.weighted || !callers_diagonal_);
        const auto ahead = [&] {
            return workspace_->sent.ahead(searched && over_free_variables(kind_of(request)), variables_sent());
        };
        const int partials = ProductsLaunch(v_, request, layout, workspace_->partials.get(), launch_place(), ahead)();
        launch_reduction(layout, partials);
        int there = 0;
        const int count = numbers_to_come(layout);
        const Posted *const posted = workspace_->posted.get();
        double *const numbers = workspace_->numbers.data();
        wait_until(stream_, *cancellation_, [&] {
            while (there < count && posted[there].arrived(ticket_, numbers[there])) there++;
            return there == count;
        });
        // If the rank has several subtrees of the summation tree (sweeps/segments.hpp), these are the sums of its first
        // subtree.
        sums_ = layout.products(numbers);
        const double *const behind = cut_.look_at(numbers, layout);
        sums_.f = behind[0];
        workspace_->sent.record(request, static_cast<int64_t>(behind[1]));
    }

    // Starts or stops the tracking of zero tiles, which are tiles of a column that contain only zeros. If vectors are
    // not aligned, sweep 2 processes one variable per thread and cannot track them.
    void look_for_zeros(const ProductsRequest &request) {
        if (!aligned_ || !request.free_gram || request.threshold != 0 || v_.m > ZeroTiles::most_pairs) return;
        if (v_.apart && !serves_zero_tiles(v_, request, launch_place())) return;
        const bool before = v_.zero_tiles.tracked();
        if (before == ZeroTiles::worth_tracking(before, cut_.count_of_free(), static_cast<double>(n_))) return;
        v_.zero_tiles =
            before ? ZeroTiles() : ZeroTiles(workspace_->zero_tiles.get(), workspace_->zero_tiles.bytes(), v_.m);
        v_.zero_tiles.forget(stream_);
    }

    int numbers_to_come(const ProductsLayout &layout) const { return posted_numbers(layout, cut_.subtrees().count); }

    HeldPlace place_of_held(const HeldVector &which) const {
        return place_of(which, n_, user_, static_cast<const WorkVectors<Real, History> &>(v_), aside_,
                        const_cast<Real *>(v_.diagonal));
    }

    void copy(void *to, const void *from, int64_t bytes, cudaMemcpyKind kind) {
        const OnDevice on(device_);
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream_), "a copy of a checkpoint");
        wait_for_stream(stream_, *cancellation_, "a copy of a checkpoint");
    }

    void prepare(int m) {
        check_size<Real>(m, n_);
        if (n_ >= most_device_variables)
            throw BackendFailure(
                CUDA_OPT_OUT_OF_MEMORY,
                "out of memory: a vector of 2^36 variables has 2^38 bytes or more, which no GPU holds");
        columns_ = panel::columns(m);
        early_launches_ = device_attribute(cudaDevAttrComputeCapabilityMajor, device_) >= 9 &&
                          has_grid_dependency_sync(kernel_of<Real, History, 0>());
        // These are the numbers of bytes of dynamic shared memory that the kernels may use. They are the limits of the
        // device less the static shared memory of the kernels and the memory that the system reserves per block.
        block_shared_ = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device_) - 1024;
        processor_shared_ = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device_) - 4096;
        load_kernels<Real, History>(columns_, block_shared_);
        v_.n = n_;
        v_.m = m;
        v_.pitch = (n_ + 63) / 64 * 64; // a multiple of the tile size of sweep 1
        const int records = cut_.by_segments() ? cut_.pieces().count() : multiprocessors * direction_resident;
        workspace_ = std::make_unique<CudaWorkspace<Real, History>>(
            v_.pitch, m, columns_, most_partials(), records, numbers_to_come(ProductsLayout(columns_, true)), stream_);
        v_.first = reinterpret_cast<Real *>(workspace_->vectors.get());
    }

    // Launches the kernel that sends the variables with breakpoints in (lo, hi] to the host. Waits for it and returns
    // their number.
    int64_t find_variables(const PanelRequest &request, double lo, double hi) {
        const OnDevice on(device_);
        const int columns = panel::columns(request.pairs);
        PrefetchedVariables &sent = workspace_->sent;
        // The kernel overwrites the variables that sweep 1 has sent to host memory.
        sent.invalidate();
        FromDevice<Real> *const found = workspace_->from_device.get();
        check(launch(find_crossed<Real, History>, blocks_for(n_), products_threads, 0, stream_, v_, request, lo, hi,
                     columns, sent.place(variables_sent()), arrivals(), &found->crossed, &found->flag, ++ticket_),
              "the launch of the search for crossed variables");
        const volatile unsigned *flag = &found->flag;
        wait_until(stream_, *cancellation_, [&] { return *flag == ticket_; });
        return static_cast<int64_t>(found->crossed);
    }

    unsigned *arrivals() const { return reinterpret_cast<unsigned *>(workspace_->counters.get()); }
    unsigned long long *variables_sent() const { return workspace_->counters.get() + 1; }
    // Returns the largest number of partial sums that sweep 1 stores in a solve, which is the number of sums times the
    // number of blocks. Panels with fewer columns must be considered too, because their kernels have more blocks, and a
    // solve begins with few pairs.
    int64_t most_partials() const {
        const bool cut = cut_.by_segments();
        const int64_t blocks = cut ? cut_.pieces().count() : most_products_blocks;
        int64_t most = ProductsLayout(std::min(columns_, 5 * column_block), true).size * blocks;
        for (int columns = panel::leading; columns <= columns_; columns += 2) {
            const int one_of = is_bfloat16
                                   ? std::max(tile_kernel_variables(columns), rectangle_kernel_variables(columns))
                                   : tile_kernel_variables(columns);
            const int64_t wide_blocks = cut ? cut_.pieces().segments() : one_of;
            most = std::max(most, ProductsLayout(columns, true).size * wide_blocks);
        }
        return most;
    }
    // Launches the kernel that joins the partial sums. Its blocks may be scheduled while sweep 1 still runs, and
    // grid_dependency_sync() makes them wait for the end of sweep 1.
    void launch_reduction(const ProductsLayout &layout, int partials) {
        const NumbersOfBlocks from{workspace_->partials.get(), workspace_->directions.get(), user_.f, partials,
                                   direction_blocks_};
        const NumbersPosted to{variables_sent(), workspace_->posted.get(), ++ticket_};
        if (!cut_.by_segments()) return post_numbers_of_blocks(layout, from, to, launch_place());
        post_numbers_of_pieces(layout, cut_.subtrees(), cut_.pieces().segments(), cut_.f_of_segments(), from, to,
                               launch_place());
    }

    LaunchPlace launch_place() const {
        return {block_shared_, processor_shared_, early_launches_, aligned_, stream_, cut_.pieces()};
    }

    // Ensures that y = g - g_base of the newest pair is stored if g_base, the gradient before the step, has its own
    // vector. Usually sweep 1 has stored y. In a solve that continues from a checkpoint it has not, and this function
    // stores it.
    DirectionRequest with_stored_y(DirectionRequest request) {
        if (!v_.apart || !request.panel.fresh || request.panel.pairs == 0) return request;
        if (y_stored_ != request.panel.newest_slot) finish_pair(request.panel.newest_slot);
        // Sweep 2 overwrites g_base and reads the stored y, so y is no longer computed from g_base.
        y_stored_ = -1;
        request.panel.fresh = false;
        return request;
    }

    Coefficients coefficients_of(const DirectionRequest &request) {
        const int columns = panel::columns(request.panel.pairs);
        Coefficients q{};
        if (columns <= Coefficients::capacity) {
            std::copy(request.coefficients, request.coefficients + columns, q.by_value);
            return q;
        }
        std::copy(request.coefficients, request.coefficients + columns, workspace_->staged_coefficients.get());
        check(cudaMemcpyAsync(workspace_->coefficients.get(), workspace_->staged_coefficients.get(),
                              columns * sizeof(double), cudaMemcpyHostToDevice, stream_),
              "the copy of the coefficients");
        q.in_memory = workspace_->coefficients.get();
        return q;
    }

    // Runs a reduction over all variables and waits for its result. The function launch(record, scratch) launches the
    // kernel, which writes the result to `record` in host memory. Such reductions are rare, so the wait is acceptable.
    template <class Record, class Launch> Record reduced_by(const Launch &launch) {
        static_assert(sizeof(Record) <= sizeof(StartRecord), "the scratch and the host's copy are made for this size");
        auto *to = reinterpret_cast<Record *>(workspace_->from_device[0].record);
        check(launch(to, workspace_->scratch.get()), "the launch of a reduction");
        wait_for_stream(stream_, *cancellation_, "a reduction");
        return *to;
    }
    template <class Record, class Rule> Record reduce(const Rule &rule) {
        return reduced_by<Record>([&](Record *to, void *scratch) {
            return map_reduce_cuda<Record>(n_, rule, StoreRecord<Record>{to}, scratch, stream_);
        });
    }
    template <class Record, class Rule> Record reduce_vector(const Rule &rule) {
        return reduced_by<Record>(
            [&](Record *to, void *scratch) { return VectorKernels<Real>::reduce(n_, rule, to, scratch, stream_); });
    }

    const int64_t n_;
    const int device_;
    CutVariables cut_;
    int columns_ = 0;
    int block_shared_ = 0, processor_shared_ = 0; // bytes of shared memory per block and per multiprocessor
    bool early_launches_ = false;                 // whether device and kernels support programmatic dependent launch
    bool callers_diagonal_ = false;               // whether the caller supplies the diagonal of the initial Hessian
    bool timed_ = true;                           // whether calls are timed on the stream
    bool aligned_ = false;                        // whether all of the caller's vectors are aligned to 16 bytes
    cudaStream_t stream_ = nullptr;
    CancellationToken *cancellation_ = nullptr; // the caller owns this object
    DeviceVectors<Real, History> v_{};
    Real *x_ = nullptr, *g_ = nullptr;
    std::unique_ptr<CudaWorkspace<Real, History>> workspace_; // the first call of allocate() creates this object
    CudaArray<Real, Lives::on_device> aside_memory_, own_diagonal_;
    AsideVectors<Real> aside_{};
    UserArrays user_{};
    int direction_blocks_ = 0; // the number of records of sums that the latest sweep 2 stores
    int y_stored_ = -1;        // the slot of the newest pair if sweep 1 has stored its y, otherwise -1
    PanelProducts sums_{};
    unsigned ticket_ = 0;
};

template <class Real, class History> std::unique_ptr<Sweeps> make_cuda_sweeps(int64_t n, int device) {
    return std::make_unique<CudaSweeps<Real, History>>(n, device);
}

} // namespace cudaopt
