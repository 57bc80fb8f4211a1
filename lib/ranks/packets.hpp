// Packets that the ranks exchange. Each rank is a handle that stores a part of the variables of one problem. All
// packets of an exchange have the same size, and the caller gathers them in the order of ranks. A header contains the
// rank, the exchange and the rank's return code. It is followed by the data or, if the rank has failed, by an error
// message.
#pragma once

#include <cstring>

#include "boundary/message.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

// The kinds of exchange: the set-up of each rank, its contribution to the result of a sweep ("reply"), its variables
// whose breakpoints the Cauchy search has requested, and the end of the solve.
enum class Exchange : int32_t { none, set_up, reply, variables, end };

struct PacketHeader {
    char magic[8];
    int32_t version, rank;
    Exchange exchange;
    int32_t verb;      // the kind of request to which the packet contributes
    int64_t number;    // the number of exchanges so far in this solve
    uint64_t settings; // hash of the settings that must agree on all ranks
    uint64_t checksum; // of the whole packet, computed with this field set to 0
    double seconds;    // time since the solve began
    int32_t code;      // the rank's return code; negative: this rank has failed
    int32_t wish;      // a value of Wish
};

// How a rank wishes to end the solve, because its caller requests a stop or its time limit is reached: not at all, at
// the next task, or at once because no result of an exchange will arrive.
enum Wish : int32_t { no_wish = 0, stop = 1, give_up_stopped = 2, give_up_late = 3 };

constexpr int64_t bytes_of(int64_t doubles) { return doubles * static_cast<int64_t>(sizeof(double)); }

class Packets {
  public:
    Packets(int rank, int ranks);
    // Allocates packets for a payload of that many bytes; a buffer never shrinks. Throws BackendFailure.
    void reserve(int64_t payload);
    int64_t capacity() const { return capacity_; }

    Exchange current_exchange() const { return current_exchange_; }
    void begin_anew();
    // Begins an exchange with a payload of that many bytes. The caller of this function then writes the payload, which
    // is initially zero, to payload().
    void open(Exchange exchange, int verb, int64_t payload);
    template <class T> T *payload() { return reinterpret_cast<T *>(send_.get() + sizeof(PacketHeader)); }
    // Completes the packet. If code is negative, the message `failure` replaces the payload.
    void close(uint64_t settings, double seconds, Wish wish, int code, const Message &failure);
    // Buffers for the caller's all-gather.
    void *send() { return send_.get(); }
    void *receive() { return receive_.get(); }
    int64_t bytes() const { return bytes_; }

    // Called after the all-gather. Returns 0, or the return code of an invalid packet or of a failed rank, with a
    // message.
    int check(Message &message);
    const PacketHeader &header(int rank) const {
        return *reinterpret_cast<const PacketHeader *>(receive_.get() + rank * bytes_);
    }
    template <class T> T *payload_of(int rank) {
        return reinterpret_cast<T *>(receive_.get() + rank * bytes_ + sizeof(PacketHeader));
    }

  private:
    uint64_t checksum_of(const unsigned char *packet) const;

    const int rank_, ranks_;
    int64_t capacity_ = 0, bytes_ = 0, number_ = 0;
    Exchange current_exchange_ = Exchange::none;
    Buffer<unsigned char> send_, receive_;
};

} // namespace cudaopt
