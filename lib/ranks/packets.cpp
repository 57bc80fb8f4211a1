#include "ranks/packets.hpp"

#include <algorithm>
#include <cstddef>

#include "boundary/checksum.hpp"

namespace cudaopt {

namespace {

// Each packet has space for at least this number of bytes of payload, so that it can carry an error message.
constexpr int64_t sentence = 256;

static_assert(sizeof(PacketHeader) % sizeof(double) == 0);

} // namespace

Packets::Packets(int rank, int ranks) : rank_(rank), ranks_(ranks) { reserve(sentence); }

void Packets::reserve(int64_t payload) {
    payload = (std::max(payload, sentence) + 7) / 8 * 8;
    if (payload <= capacity_) return;
    const int64_t bytes = static_cast<int64_t>(sizeof(PacketHeader)) + payload;
    HostArray<unsigned char> send(bytes), receive(bytes * ranks_);
    // The buffer is cleared, so that a packet that does not arrive is recognised as invalid.
    std::memset(receive.get(), 0, static_cast<std::size_t>(bytes * ranks_));
    send_ = std::move(send);
    receive_ = std::move(receive);
    capacity_ = payload;
}

void Packets::begin_anew() {
    current_exchange_ = Exchange::none;
    number_ = 0;
}

void Packets::open(Exchange exchange, int verb, int64_t payload) {
    payload = (std::max(payload, sentence) + 7) / 8 * 8;
    bytes_ = static_cast<int64_t>(sizeof(PacketHeader)) + payload;
    std::memset(send_.get(), 0, static_cast<std::size_t>(bytes_));
    PacketHeader header;
    header.rank = rank_;
    header.exchange = current_exchange_ = exchange;
    header.verb = verb;
    header.number = number_++;
    std::memcpy(send_.get(), &header, sizeof header);
}

void Packets::close(uint64_t settings, double seconds, Wish wish, int code, const Message &failure) {
    PacketHeader &header = *reinterpret_cast<PacketHeader *>(send_.get());
    header.settings = settings;
    header.seconds = seconds;
    header.wish = wish;
    header.code = code;
    if (code < 0) std::snprintf(payload<char>(), sentence, "%.*s", static_cast<int>(sentence - 1), failure.text());
    header.checksum = checksum_of(send_.get());
}

uint64_t Packets::checksum_of(const unsigned char *packet) const {
    PacketHeader header;
    std::memcpy(&header, packet, sizeof header);
    header.checksum = 0;
    return checksum(packet + sizeof header, bytes_ - static_cast<int64_t>(sizeof header),
                    checksum(&header, sizeof header));
}

int Packets::check(Message &message) {
    current_exchange_ = Exchange::none;
    const PacketHeader &own = *reinterpret_cast<const PacketHeader *>(send_.get()), expected;
    for (int rank = 0; rank < ranks_; rank++) {
        const PacketHeader &header = this->header(rank);
        if (std::memcmp(&header, &expected, offsetof(PacketHeader, rank)) != 0)
            return message.refuse_call("the bytes received for rank %d are not a packet of this version of the library",
                                       rank);
        if (header.rank != rank)
            return message.refuse_call("the packet of rank %d was received in place %d: packets have to be in the "
                                       "order of ranks, one of each rank",
                                       header.rank, rank);
    }
    if (std::memcmp(receive_.get() + rank_ * bytes_, send_.get(), static_cast<std::size_t>(bytes_)) != 0)
        return message.refuse_call("rank %d did not receive the packet that it sent, but one of exchange %lld instead "
                                   "of %lld: each exchange has to gather the present packets",
                                   rank_, shown(header(rank_).number), shown(own.number));
    for (int rank = 0; rank < ranks_; rank++)
        if (header(rank).checksum != checksum_of(receive_.get() + rank * bytes_)) {
            message.set("the exchange damaged the packet of rank %d: its %lld bytes do not match their checksum", rank,
                        shown(bytes_));
            return CUDA_OPT_EXCHANGE_FAILED;
        }
    for (int rank = 0; rank < ranks_; rank++)
        if (header(rank).code < 0) {
            message.set("rank %d: %.*s", rank, static_cast<int>(sentence - 1), payload_of<char>(rank));
            return header(rank).code;
        }
    const PacketHeader &first = header(0);
    for (int rank = 1; rank < ranks_; rank++) {
        const PacketHeader &other = header(rank);
        if (other.number != first.number || other.exchange != first.exchange || other.verb != first.verb)
            return message.refuse_call("rank %d is at exchange %lld of its solve, rank 0 at exchange %lld, or they "
                                       "request different operations: all ranks have to make the same calls",
                                       rank, shown(other.number), shown(first.number));
        // In the exchange of set-ups (the configurations of the ranks), different settings are no error here. The
        // function compare_set_ups() is called later and reports which setting differs.
        if (other.settings != first.settings && own.exchange != Exchange::set_up)
            return message.refuse_call(
                "the settings of rank %d have been changed during the solve and differ from those of rank 0", rank);
    }
    return 0;
}

} // namespace cudaopt
