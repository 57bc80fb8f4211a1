// What the ranks tell each other: from each of them a packet of the same size, gathered by the caller in the order of
// ranks. A header says whose it is, of which exchange, and whether that rank has failed; numbers follow, or the
// failure's sentence.
#pragma once

#include <cstring>

#include "boundary/message.hpp"
#include "sweeps/host/buffer.hpp"

namespace cudaopt {

// The exchanges: what every rank has been set up with, its share of a reply, variables that it has found crossed, the
// end.
enum class Exchange : int32_t { none, set_up, reply, variables, end };

struct PacketHeader {
    char magic[8];
    int32_t version, rank;
    Exchange exchange;
    int32_t verb;      // of the reply
    int64_t number;    // of exchanges in this solve
    uint64_t settings; // a hash of those that have to agree
    uint64_t checksum; // of the whole packet, computed with this field set to 0
    double seconds;    // since the solve began
    int32_t code;      // negative: this rank has failed
    int32_t wish;      // of Wish
};

// What a rank's caller requests, or its time limit: an end at the next task, or an end now because no reply comes.
enum Wish : int32_t { no_wish = 0, stop = 1, give_up_stopped = 2, give_up_late = 3 };

constexpr int64_t bytes_of(int64_t doubles) { return doubles * static_cast<int64_t>(sizeof(double)); }

class Packets {
  public:
    Packets(int rank, int ranks);
    // So that packets of so many bytes behind the header have room; never less than there was. Throws BackendFailure.
    void reserve(int64_t payload);
    int64_t capacity() const { return capacity_; }

    Exchange current_exchange() const { return current_exchange_; }
    void begin_anew();
    // An exchange begins; what is to be sent goes to payload(), all zeros so far.
    void open(Exchange exchange, int verb, int64_t payload);
    template <class T> T *payload() { return reinterpret_cast<T *>(send_.get() + sizeof(PacketHeader)); }
    // The packet is complete. failure: replaces what is in payload() where code is negative.
    void close(uint64_t settings, double seconds, Wish wish, int code, const Message &failure);
    // For the caller.
    void *send() { return send_.get(); }
    void *receive() { return receive_.get(); }
    int64_t bytes() const { return bytes_; }

    // All packets have come. 0, or the code of what is wrong with one of them, or with its rank, and a sentence.
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
