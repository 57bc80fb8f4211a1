// This file defines the packets, the buffers that the ranks exchange. A rank is a handle that stores a part of the
// variables of one problem. In an exchange each rank sends one packet of the same size, and the caller's all-gather
// delivers all packets to all ranks, in the order of ranks. The header of a packet contains the rank's number, the kind
// of exchange and the rank's return code. The header is followed by the data or, if the rank has failed, by an error
// message.
#pragma once

#include <cstring>

#include "boundary/message.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

// The kinds of exchange between ranks. set_up: each rank sends its configuration. reply: each rank sends its
// contribution to the result of a sweep over all variables. variables: each rank sends the data of those of its
// variables whose breakpoints lie in the interval that the Cauchy search examines. end: each rank sends its return code
// at the end of the solve.
enum class Exchange : int32_t { none, set_up, reply, variables, end };

struct PacketHeader {
    char magic[8] = {'c', 'o', '_', 'r', 'a', 'n', 'k', 's'};
    int32_t version = 4, rank = 0;
    Exchange exchange = Exchange::none;
    int32_t verb = 0;      // The verb (kind) of the state machine's request to which the packet contributes.
    int64_t number = 0;    // The number of earlier exchanges in this solve.
    uint64_t settings = 0; // A hash of the settings that must agree on all ranks.
    uint64_t checksum = 0; // The checksum of the whole packet, computed while this field is 0.
    double seconds = 0;    // The time since the solve began, in seconds.
    int32_t code = 0;      // The return code of the rank; a negative code means that this rank has failed.
    int32_t wish = 0;      // a value of Wish
};

// Wish states whether and how a rank ends the solve. no_wish: the solve continues. stop: the caller of this rank has
// requested a stop, or its time limit is reached; the solve ends at the next task. give_up_stopped and give_up_late:
// this rank stopped waiting for its device after a stop request or at the time limit. It has no result, so the solve
// ends at once. The largest value of all ranks takes effect.
enum Wish : int32_t { no_wish = 0, stop = 1, give_up_stopped = 2, give_up_late = 3 };

constexpr int64_t bytes_of(int64_t doubles) { return doubles * static_cast<int64_t>(sizeof(double)); }

class Packets {
  public:
    Packets(int rank, int ranks);
    // Allocates packets for a payload of this number of bytes. A buffer never shrinks. The function throws
    // BackendFailure.
    void reserve(int64_t payload);
    int64_t capacity() const { return capacity_; }

    Exchange current_exchange() const { return current_exchange_; }
    void begin_anew();
    // Begins an exchange with a payload of this number of bytes. The payload is initially 0. The caller of open() then
    // writes its data to payload().
    void open(Exchange exchange, int verb, int64_t payload);
    template <class T> T *payload() { return reinterpret_cast<T *>(send_.get() + sizeof(PacketHeader)); }
    // Completes the packet. If `code` is negative, the message `failure` replaces the payload.
    void close(uint64_t settings, double seconds, Wish wish, int code, const Message &failure);
    // The next functions return the buffers for the caller's all-gather.
    void *send() { return send_.get(); }
    void *receive() { return receive_.get(); }
    int64_t bytes() const { return bytes_; }

    // Checks the packets of all ranks after the all-gather. If a packet is invalid or a rank has failed, the function
    // sets the message and returns a negative code, otherwise it returns 0.
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
    HostArray<unsigned char> send_, receive_;
};

} // namespace cudaopt
