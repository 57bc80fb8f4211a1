// A barrier for threads that act as ranks. It spins instead of sleeping, because an exchange takes one or two
// microseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "cuda_opt/ranks.h"

namespace cudaopt::bench {

struct Halo;

class Meeting {
  public:
    explicit Meeting(int ranks) : ranks_(ranks), packets_(ranks), edges_(ranks) {}

    void wait() {
        const int round = round_.load();
        if (here_.fetch_add(1) + 1 == ranks_) {
            here_ = 0;
            round_++;
        } else {
            while (round_.load() == round) look();
        }
    }

    // Each rank puts its packet where the others find it, in two places by turns: who comes to the next exchange but
    // one has been through the next, to which all came when they had read this one. So they wait for each other once.
    void gather(int rank, cuda_opt *s) {
        void *send, *receive;
        int64_t bytes;
        if (cuda_opt_gather(s, &send, &receive, &bytes) != 0) throw std::runtime_error(cuda_opt_message(s));
        const auto size = static_cast<std::size_t>(bytes);
        Packet &own = packets_[rank];
        const int64_t turn = own.turn.load(std::memory_order_relaxed) + 1;
        std::vector<char> &to = own.bytes[turn % 2];
        if (to.size() < size) to.resize(size);
        std::memcpy(to.data(), send, size);
        own.turn.store(turn, std::memory_order_release);
        for (int from = 0; from < ranks_; from++) {
            const Packet &packet = packets_[from];
            while (packet.turn.load(std::memory_order_acquire) < turn) look();
            std::memcpy(static_cast<char *>(receive) + from * bytes, packet.bytes[turn % 2].data(), size);
        }
    }

    // What a rank's neighbours have to know of it.
    struct Edges {
        const double *first, *last;    // rows of x
        Halo *from_below, *from_above; // where they put theirs (evaluation.cuh)
        int device;
    };
    Edges &edges(int rank) { return edges_[rank]; }
    void break_up() { broken_ = true; }
    void add_to_hash(uint64_t share) { hash_ += share; }
    uint64_t hash() const { return hash_; }
    bool reachable = true; // each GPU's memory by each other's kernels

  private:
    struct alignas(128) Packet { // of a rank; others' turns are on other lines of the cache
        std::atomic<int64_t> turn{0};
        std::vector<char> bytes[2];
    };
    void look() const {
        if (broken_.load(std::memory_order_relaxed)) throw std::runtime_error("another rank has failed");
    }

    const int ranks_;
    std::vector<Packet> packets_;
    std::vector<Edges> edges_;
    alignas(128) std::atomic<int> here_{0};
    alignas(128) std::atomic<int> round_{0};
    alignas(128) std::atomic<bool> broken_{false};
    std::atomic<uint64_t> hash_{0};
};

} // namespace cudaopt::bench
