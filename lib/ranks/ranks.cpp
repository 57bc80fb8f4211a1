#include "ranks/ranks.hpp"

#include <algorithm>

namespace cudaopt {

namespace {

// An exchange of variables gathers at most this number of bytes from all ranks together, unless one variable per rank
// needs more.
constexpr int64_t most_receive = int64_t{1} << 20;

} // namespace

Ranks::Ranks(const Part &part)
    : part_(part), packets_(part.rank, part.ranks), parts_(static_cast<std::size_t>(part.ranks)),
      places_(static_cast<std::size_t>(std::max<int64_t>(most_segments, part.ranks))) {
    packets_.reserve(sizeof(SetUp));
}

void Ranks::begin_anew() {
    packets_.begin_anew();
    code_ = 0;
    wish_ = no_wish;
    stopped_by_ = slowest_ = not_finite_on_ = -1;
    measured_ = false;
}

void Ranks::fail(int code, const char *sentence) {
    if (failed()) return;
    code_ = code;
    failure_.set("%s", sentence);
}

void Ranks::close(const Settings &settings, Wish wish, double seconds) {
    settings_ = hash_of_shared_settings(settings);
    seconds_ = seconds;
    packets_.close(settings_, seconds, wish, code_, failure_);
}

void Ranks::request_set_up(const Settings &settings, int m, int bits, int64_t pairs, Sweeps &own_sweeps) {
    packets_.open(Exchange::set_up, 0, sizeof(SetUp));
    const Segments segments(part_.of);
    const bool empty = part_.n == 0, is_cut = segments.at(part_.first) >= 0 && segments.at(part_.end()) >= 0;
    const bool by_segments = empty || (own_sweeps.subtree_sums() && is_cut);
    f_part_ = settings.f_part;
    SetUp &own = *packets_.payload<SetUp>() = {
        part_, m, bits, pairs, f_part_, by_segments, empty || own_sweeps.forms_free_changes(), {}};
    list_shared_settings(settings, own.settings);
    close(settings, no_wish, 0);
}

void Ranks::request_end(int code, const Settings &settings, double seconds) {
    packets_.open(Exchange::end, 0, 0);
    *packets_.payload<int64_t>() = code;
    close(settings, no_wish, seconds);
}

void Ranks::allocate(int m) {
    const int columns = panel::columns(m);
    const ProductsLayout layout(columns, true);
    if (!joined_) joined_ = HostArray<double>(layout.size);
    if (!entries_) {
        found_.allocate();
        entries_ = HostArray<double>(int64_t{crossed_capacity} * columns);
    }
    const int64_t variable = doubles_of_variable(columns);
    const int64_t variables = std::min(most_receive / part_.ranks, bytes_of(1 + crossed_capacity * variable));
    packets_.reserve(
        std::max({bytes_of(1 + most_subtrees_ * (layout.size + trailing_numbers)), bytes_of(1 + variable), variables}));
}

// Returns the number of leaves of the summation tree. If the parts of all ranks consist of whole segments (ranges of
// variables, sweeps/segments.hpp), a leaf is a segment; otherwise it is a rank.
int64_t Ranks::places() const { return by_segments_ ? Segments(part_.of).count() : part_.ranks; }

int Ranks::subtrees_of(int rank, Subtree *subtrees) const {
    const Part &part = parts_[rank];
    if (part.n == 0) return 0;
    if (!by_segments_) {
        subtrees[0] = {rank, rank + 1};
        return 1;
    }
    const Segments segments(part_.of);
    return cut_into_subtrees(segments.at(part.first), segments.at(part.end()), segments.count(), subtrees);
}

int Ranks::origin(int code, int64_t index) const {
    switch (code) {
    case CUDA_OPT_STOPPED: return stopped_by_;
    case CUDA_OPT_TIME_LIMIT: return slowest_;
    case CUDA_OPT_NOT_FINITE: return not_finite_on_;
    case CUDA_OPT_IMPROPER_INPUT:
    case CUDA_OPT_BAD_DIAGONAL:
        for (int rank = 0; rank < part_.ranks; rank++)
            if (parts_[rank].holds(index)) return rank;
        return -1;
    default: return -1;
    }
}

Ranks::Joined Ranks::join(Reply &reply) {
    Joined joined;
    joined.of = packets_.current_exchange();
    joined.code = packets_.check(sentence_);
    if (joined.code == 0 && joined.of == Exchange::set_up)
        joined.code = compare_set_ups(packets_, part_.ranks, sentence_);
    if (joined.code < 0) return joined;

    wish_ = no_wish;
    reply.seconds = 0;
    for (int rank = 0; rank < part_.ranks; rank++) {
        const PacketHeader &header = packets_.header(rank);
        if (header.seconds > reply.seconds) reply.seconds = header.seconds, slowest_ = rank;
        if ((header.wish == stop || header.wish == give_up_stopped) && stopped_by_ < 0) stopped_by_ = rank;
        joined.wish = static_cast<Wish>(std::max<int32_t>(joined.wish, header.wish));
    }
    // If a rank stopped waiting for its device, it has sent no contribution, and the contributions of the ranks cannot
    // be added.
    if (joined.wish >= give_up_stopped) return joined;

    if (joined.of == Exchange::set_up) {
        by_segments_ = form_free_changes_ = true;
        for (int rank = 0; rank < part_.ranks; rank++) {
            const SetUp &other = *packets_.payload_of<SetUp>(rank);
            parts_[rank] = other;
            by_segments_ = by_segments_ && other.by_segments;
            form_free_changes_ = form_free_changes_ && other.form_free_changes;
        }
        most_subtrees_ = 1;
        each_subtree([&](int, int k, int64_t) { most_subtrees_ = std::max(most_subtrees_, k + 1); });
        return joined;
    }
    if (joined.of == Exchange::end) {
        for (int rank = 1; rank < part_.ranks; rank++)
            if (*packets_.payload_of<int64_t>(rank) != *packets_.payload_of<int64_t>(0)) {
                sentence_.set(
                    "the solve ends with code %lld on rank %d and %lld on rank 0: their calls were not the same",
                    shown(*packets_.payload_of<int64_t>(rank)), rank, shown(*packets_.payload_of<int64_t>(0)));
                joined.code = CUDA_OPT_MISUSE;
            }
        return joined;
    }
    if (joined.of == Exchange::variables) {
        joined.again = join_variables(reply);
        return joined;
    }
    switch (request_.verb) {
    case Verb::check_start: join_start(reply); break;
    case Verb::inner_products:
        join_products(reply);
        joined.in_double = by_segments_ && panel_.single && !panel_.in_metric() && panel_.pairs > 0 &&
                           !products_.fit_single_precision(static_cast<double>(part_.of));
        break;
    case Verb::norm: reply.number = joined_norm(); break;
    case Verb::truncation:
    case Verb::largest_step: {
        Min least;
        for (int rank = 0; rank < part_.ranks; rank++) least.add(*packets_.payload_of<double>(rank));
        reply.number = least.v;
        break;
    }
    case Verb::check_diagonal:
        reply.index = part_.of;
        for (int rank = 0; rank < part_.ranks; rank++)
            reply.index = std::min(reply.index, *packets_.payload_of<int64_t>(rank));
        break;
    case Verb::read_variable:
        for (int rank = 0; rank < part_.ranks; rank++)
            if (parts_[rank].holds(request_.index)) reply.variable = *packets_.payload_of<Variable>(rank);
        break;
    case Verb::crossed: joined.again = join_count(reply); break;
    default: break;
    }
    return joined;
}

} // namespace cudaopt
