// Synchronises ranks that are threads: an all-gather for the tests, and a barrier for evaluations by one thread. If a
// rank waits for one that has returned or that waits for another purpose, it throws an exception instead of waiting for
// ever.
#pragma once

#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cuda_opt/ranks.h"

namespace cudaopt_test {

class Meeting {
  public:
    explicit Meeting(int ranks) : ranks_(ranks), sends_(ranks), receives_(ranks) {}

    // A barrier that all ranks enter with the same purpose. The last rank executes work(). Throws if the purposes
    // differ.
    template <class Work> void meet(const std::string &purpose, const Work &work) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (here_ == 0) purpose_ = purpose;
        else if (purpose != purpose_) broken_ = "one rank waits for " + purpose + ", another for " + purpose_;
        const int64_t round = round_;
        here_++;
        if (broken_.empty() && here_ < ranks_ && left_ == 0)
            arrived_.wait(lock, [&] { return round_ != round || !fine(); });
        if (round_ != round) return;
        if (broken_.empty() && left_ > 0) broken_ = "one rank waits for " + purpose_ + ", another has returned";
        if (!broken_.empty()) {
            arrived_.notify_all();
            throw std::runtime_error(broken_);
        }
        work();
        here_ = 0;
        round_++;
        arrived_.notify_all();
    }

    // Executes the exchange that CUDA_OPT_EXCHANGE requests.
    void gather(int rank, cuda_opt *s) {
        void *send, *receive;
        int64_t bytes;
        if (cuda_opt_gather(s, &send, &receive, &bytes) != 0) throw std::runtime_error(cuda_opt_message(s));
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            sends_[rank] = send;
            receives_[rank] = receive;
        }
        meet("an exchange of " + std::to_string(bytes) + " bytes", [&] {
            exchanges_++;
            bytes_ += bytes;
            for (int to = 0; to < ranks_; to++)
                for (int from = 0; from < ranks_; from++)
                    std::memcpy(static_cast<char *>(receives_[to]) + from * bytes, sends_[from],
                                static_cast<std::size_t>(bytes));
        });
    }

    void leave() {
        const std::lock_guard<std::mutex> lock(mutex_);
        left_++;
        arrived_.notify_all();
    }

    int64_t exchanges() const { return exchanges_; }
    int64_t bytes() const { return bytes_; } // sent by one rank

  private:
    bool fine() const { return broken_.empty() && left_ == 0; }

    const int ranks_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<void *> sends_, receives_;
    std::string purpose_, broken_;
    int64_t round_ = 0, exchanges_ = 0, bytes_ = 0;
    int here_ = 0, left_ = 0;
};

// Executes body(rank, meeting) in one thread per rank. An exception in one of these threads is rethrown here.
template <class Body> void run_ranks(int ranks, const Body &body) {
    Meeting meeting(ranks);
    std::vector<std::exception_ptr> thrown(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; rank++)
        threads.emplace_back([&, rank] {
            try {
                body(rank, meeting);
            } catch (...) {
                thrown[rank] = std::current_exception();
            }
            meeting.leave();
        });
    for (std::thread &thread : threads) thread.join();
    for (const std::exception_ptr &e : thrown)
        if (e) std::rethrow_exception(e);
}

} // namespace cudaopt_test
