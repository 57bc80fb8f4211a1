// The store in which the solves of XLA programs wait between two calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "solves.hpp"

namespace cudaopt::xla {

// Where a program on CUDA has the number of its solve: the execution of the program, the stream, and the address.
using Place = std::tuple<int64_t, const void *, const void *>;

// The result of a solve that has ended, as end() returns it.
struct Result {
    std::vector<int32_t> info;
    std::vector<char> pairs;
};

// The solves between two calls, by their numbers. If a program ends by an error, its solve remains in the store. The
// store therefore has a limit: if it already has `most` solves, a further one replaces the one whose last call is the
// oldest. If its program still runs, the next call of that program returns an error. The store also keeps a few solves
// that have ended, because creating a handle takes longer than a short solve.
class Store {
  public:
    static constexpr std::size_t most = 256, most_ended = 8, most_small = 1000000;
    static constexpr double largest_ended = 1e7; // bytes, on the host

    // Returns a new number, for a solve that its first call puts into the store. It is 0 neither as a whole nor in its
    // lower half. XLA may draw all numbers of a program before the first solve begins.
    int64_t draw() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (static_cast<int32_t>(++last_) == 0) last_++;
        if (drawn_.size() == most_small) drawn_.erase(drawn_.begin());
        drawn_.insert(last_);
        return last_;
    }
    // Stores a solve and returns its new number.
    int64_t add(std::shared_ptr<Solve> solve) {
        const int64_t number = draw();
        const std::lock_guard<std::mutex> lock(mutex_);
        enter(number).solve = std::move(solve);
        return number;
    }
    // Returns the number of the waiting solve that was the last at this place, or 0.
    int64_t number_at(const Place &place) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const auto &[number, one] : waiting_)
            if (std::find(one.places.begin(), one.places.end(), place) != one.places.end()) return number;
        return 0;
    }
    void note_place(int64_t number, const Place &place) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (auto &[other, one] : waiting_)
            one.places.erase(std::remove(one.places.begin(), one.places.end(), place), one.places.end());
        const auto found = waiting_.find(number);
        if (found != waiting_.end()) found->second.places.push_back(place);
    }
    // Lends a solve for the time of a call. `solve` is empty if it has not begun. Returns false if there is no such
    // solve, or if another call has it. It is not deleted during the call.
    bool lend(int64_t number, std::shared_ptr<Solve> &solve) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (drawn_.count(number) > 0) enter(number);
        const auto found = waiting_.find(number);
        if (found == waiting_.end() || std::exchange(found->second.is_lent, true)) return false;
        found->second.used = ++clock_;
        solve = found->second.solve;
        return true;
    }
    void put_back(int64_t number, std::shared_ptr<Solve> solve) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = waiting_.find(number);
        if (found == waiting_.end()) return;
        found->second.solve = std::move(solve);
        found->second.is_lent = false;
    }
    // Waits until no call has the solve, removes it from the store and returns it, or nothing if there is no such
    // solve.
    std::shared_ptr<Solve> take(int64_t number) {
        for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto found = waiting_.find(number);
            if (found == waiting_.end()) return nullptr;
            if (found->second.is_lent) continue;
            std::shared_ptr<Solve> solve = std::move(found->second.solve);
            waiting_.erase(found);
            return solve;
        }
    }
    // Replaces a solve that has ended by its result, which needs little memory. XLA may call end() for all solves of a
    // program after the last of them has ended.
    void put_result(int64_t number, Result result) {
        const std::lock_guard<std::mutex> lock(mutex_);
        waiting_.erase(number);
        if (results_.size() == most_small) results_.erase(results_.begin());
        results_[number] = std::move(result);
    }
    // Takes a result out of the store. Returns false if there is none.
    bool take_result(int64_t number, Result &result) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = results_.find(number);
        if (found == results_.end()) return false;
        result = std::move(found->second);
        results_.erase(found);
        return true;
    }
    void remove(int64_t number) {
        const std::lock_guard<std::mutex> lock(mutex_);
        waiting_.erase(number);
    }
    // Keeps a solve that has ended for take_ended().
    void keep_ended(std::shared_ptr<Owned> solve, const Memory &memory) {
        const double bytes = solve->kind().workspace_bytes();
        if (memory.on_cuda() ? !memory.has_plenty(bytes) : bytes > largest_ended) return;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (ended_.size() == most_ended) ended_.erase(ended_.begin());
        ended_.push_back(std::move(solve));
    }
    // Returns a solve of this kind that has ended, ready to begin again, or nothing.
    std::shared_ptr<Owned> take_ended(const Kind &kind) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (auto one = ended_.begin(); one != ended_.end(); one++)
            if ((*one)->kind() == kind) {
                std::shared_ptr<Owned> solve = std::move(*one);
                ended_.erase(one);
                solve->renew();
                return solve;
            }
        return nullptr;
    }
    void delete_ended() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ended_.clear();
    }
    int64_t size() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return static_cast<int64_t>(waiting_.size() + results_.size());
    }

  private:
    struct Waiting {
        std::shared_ptr<Solve> solve;
        std::vector<Place> places;
        int64_t used = 0;
        bool is_lent = false;
    };

    Waiting &enter(int64_t number) {
        drop_oldest();
        drawn_.erase(number);
        Waiting &entry = waiting_[number];
        entry.used = ++clock_;
        return entry;
    }
    void drop_oldest() {
        if (waiting_.size() < most) return;
        auto oldest = waiting_.end();
        for (auto one = waiting_.begin(); one != waiting_.end(); one++)
            if (!one->second.is_lent && (oldest == waiting_.end() || one->second.used < oldest->second.used))
                oldest = one;
        if (oldest != waiting_.end()) waiting_.erase(oldest);
    }

    std::mutex mutex_;
    std::set<int64_t> drawn_; // of solves that have not begun
    std::map<int64_t, Result> results_;
    std::map<int64_t, Waiting> waiting_;
    std::vector<std::shared_ptr<Owned>> ended_;
    int64_t last_ = 0, clock_ = 0;
};

} // namespace cudaopt::xla
