// This file packs the contribution of a rank to the result of each request, the "reply". It also joins the
// contributions of all ranks.
#include <algorithm>
#include <cmath>

#include "ranks/ranks.hpp"

namespace cudaopt {

namespace {

// Joins values in a binary tree, and stores the address of the result in place[0]. place[k] is the address of the value
// at leaf k. If a rank has sent one sum for a whole subtree, this sum is at the first leaf of the subtree, and the
// other leaves are NULL.
template <class Join> void join_places(std::vector<double *> &place, int64_t count, const Join &join) {
    join_in_tree(0, count, [&](int64_t to, int64_t from) {
        if (!place[from]) return;
        if (place[to]) join(*place[to], *place[from]);
        else place[to] = place[from];
    });
}

// The indices that a rank without variables does not find.
constexpr int64_t StartReport::*first_indices[] = {&StartReport::x_nan, &StartReport::bound_nan, &StartReport::crossed};
int64_t global_index(int64_t index, const Part &part) { return index == part.n ? part.of : part.first + index; }

} // namespace

void Ranks::request_reply(const Request &request, const PanelRequest &panel, const Reply &own,
                          const SubtreeSums *own_sums, double f, const Settings &settings, bool stop_requested,
                          double seconds) {
    const bool empty = part_.n == 0;
    const auto open = [&](int64_t bytes) {
        packets_.open(Exchange::reply, static_cast<int>(request.verb), bytes);
        return !failed() && wish_ == no_wish;
    };
    request_ = request;
    panel_ = panel;
    switch (request.verb) {
    case Verb::check_start:
        if (open(sizeof(StartReport))) {
            StartReport &report = *packets_.payload<StartReport>() = empty ? StartReport{} : own.start;
            for (const auto index : first_indices) report.*index = global_index(report.*index, part_);
        }
        break;
    case Verb::inner_products: {
        const ProductsLayout layout(cudaopt::panel::columns(panel_.pairs), panel_.older_steps);
        if (open(bytes_of(1 + most_subtrees_ * (layout.size + trailing_numbers)))) pack_products(own, own_sums, f);
        break;
    }
    case Verb::norm:
        if (open(most_subtrees_ * static_cast<int64_t>(sizeof(ScaledSquares)))) pack_squares(own.number, own_sums);
        break;
    case Verb::truncation:
    case Verb::largest_step:
        if (open(sizeof(double)))
            *packets_.payload<double>() = !empty ? own.number : request.verb == Verb::truncation ? 1 : infinity;
        break;
    case Verb::check_diagonal:
        if (open(sizeof(int64_t))) *packets_.payload<int64_t>() = empty ? part_.of : global_index(own.index, part_);
        break;
    case Verb::read_variable:
        if (open(sizeof(Variable))) *packets_.payload<Variable>() = own.variable;
        break;
    case Verb::crossed:
        own_variables_ = empty ? CrossedWindow{} : own.crossed;
        if (open(sizeof(int64_t))) *packets_.payload<int64_t>() = own_variables_.count;
        break;
    default: break;
    }
    close(settings, wish_ != no_wish ? wish_ : stop_requested ? stop : no_wish, seconds);
}

void Ranks::join_start(Reply &reply) {
    StartReport &all = reply.start = *packets_.payload_of<StartReport>(0);
    for (int rank = 1; rank < part_.ranks; rank++) {
        const StartReport &other = *packets_.payload_of<StartReport>(rank);
        for (const auto index : first_indices) all.*index = std::min(all.*index, other.*index);
        for (const auto count : {&StartReport::projected, &StartReport::boxed, &StartReport::bounded})
            all.*count += other.*count;
        // `digits` is the number of binary digits of a component of x: 24 or 53. A rank without variables sends 53,
        // which does not change the minimum.
        all.digits = std::min(all.digits, other.digits);
        all.narrowest = std::min(all.narrowest, other.narrowest);
    }
}

// Writes this rank's contribution to the inner products to the packet. The first number is the f of the whole rank, or
// 0 if f is given per segment. It is followed by one group of numbers for each subtree of the summation tree: the inner
// products, the sums of the search direction, and f.
void Ranks::pack_products(const Reply &own, const SubtreeSums *own_sums, double f) {
    double *next = packets_.payload<double>();
    *next++ = f_part_ == CUDA_OPT_F_OF_SEGMENTS ? 0 : f;
    if (part_.n == 0) return;
    const ProductsLayout layout(cudaopt::panel::columns(panel_.pairs), panel_.older_steps);
    const bool subtrees = by_segments_ && own_sums;
    const OwnSegments segments(part_.first, part_.n, part_.of);
    for (int k = 0; k < (subtrees ? segments.subtree_count() : 1); k++) {
        const DirectionSums direction = subtrees ? own_sums->direction(k) : *own.direction;
        layout.write(subtrees ? own_sums->products(k) : *own.sums, next);
        next += layout.size;
        for (const double number : {direction.slope, direction.d_squared, direction.projected,
                                    f_part_ == CUDA_OPT_F_OF_SEGMENTS ? own_sums->f(k) : 0})
            *next++ = number;
    }
}

void Ranks::join_products(Reply &reply) {
    const ProductsLayout layout(cudaopt::panel::columns(panel_.pairs), panel_.older_steps);
    not_finite_on_ = -1;
    const auto note = [&](int rank, bool finite) {
        if (!finite && not_finite_on_ < 0) not_finite_on_ = rank;
    };
    std::fill(places_.begin(), places_.end(), nullptr);
    each_subtree([&](int rank, int k, int64_t place) {
        double *const sums = packets_.payload_of<double>(rank) + 1 + k * (layout.size + trailing_numbers);
        note(rank, sums[not_finite] == 0 && std::isfinite(sums[layout.size + trailing_numbers - 1]));
        places_[place] = sums;
    });
    join_places(places_, places(), [&](double &to, double &from) {
        cudaopt::join(layout, &to, &from);
        for (int i = 0; i < trailing_numbers; i++) (&to)[layout.size + i] += (&from)[layout.size + i];
    });
    const double *const all = places_[0], *const totals = all + layout.size;
    std::copy(all, totals, joined_.get());
    direction_ = {totals[0], totals[1], totals[2]};
    double f = totals[3];
    if (f_part_ != CUDA_OPT_F_OF_SEGMENTS) {
        std::fill(places_.begin(), places_.end(), nullptr);
        for (int rank = 0; rank < part_.ranks; rank++) {
            places_[rank] = packets_.payload_of<double>(rank);
            note(rank, std::isfinite(*places_[rank]));
        }
        // With CUDA_OPT_F_WHOLE all ranks return the whole f. If f is undefined on a rank, that value is used,
        // otherwise that of the first rank.
        if (f_part_ == CUDA_OPT_F_WHOLE) f = *places_[not_finite_on_ < 0 ? 0 : not_finite_on_];
        else {
            join_places(places_, part_.ranks, [](double &to, double &from) { to += from; });
            f = *places_[0];
        }
    }
    products_ = layout.products(joined_.get());
    products_.f = f;
    reply.sums = &products_;
    reply.direction = &direction_;
    measured_ = true;
}

void Ranks::pack_squares(double norm, const SubtreeSums *own_sums) {
    if (part_.n == 0) return;
    auto *const to = packets_.payload<ScaledSquares>();
    if (!by_segments_ || !own_sums) {
        to->add(norm);
        return;
    }
    const OwnSegments segments(part_.first, part_.n, part_.of);
    for (int k = 0; k < segments.subtree_count(); k++) to[k] = own_sums->squares(k);
}

double Ranks::joined_norm() {
    std::fill(places_.begin(), places_.end(), nullptr);
    each_subtree([&](int rank, int k, int64_t place) {
        places_[place] = packets_.payload_of<double>(rank) + k * sizeof(ScaledSquares) / sizeof(double);
    });
    const auto squares = [](double *at) -> ScaledSquares & { return *reinterpret_cast<ScaledSquares *>(at); };
    join_places(places_, places(), [&](double &to, double &from) { squares(&to).join(squares(&from)); });
    return squares(places_[0]).norm();
}

// Adds the numbers of crossed variables on all ranks. A variable is crossed if its breakpoint lies in the window that
// the Cauchy search has requested. If the total is positive and at most crossed_capacity, the function begins an
// exchange of these variables and returns true.
bool Ranks::join_count(Reply &reply) {
    variables_in_all_ = most_variables_ = variables_sent_ = 0;
    for (int rank = 0; rank < part_.ranks; rank++) {
        const int64_t count = *packets_.payload_of<int64_t>(rank);
        variables_in_all_ += count;
        most_variables_ = std::max(most_variables_, count);
    }
    found_.clear();
    reply.crossed = {nullptr, variables_in_all_};
    if (variables_in_all_ == 0 || variables_in_all_ > crossed_capacity) return false;
    open_variables();
    return true;
}

// Begins an exchange of crossed variables, whose breakpoints lie in the window that the Cauchy search has requested.
// The packet contains the variables that this rank has not sent yet, up to the capacity of a packet. All packets have
// the size that the rank with the most variables needs.
void Ranks::open_variables() {
    const int columns = cudaopt::panel::columns(panel_.pairs);
    const int64_t variable = doubles_of_variable(columns), most = (packets_.capacity() / bytes_of(1) - 1) / variable;
    const int64_t here = std::min(most, most_variables_ - variables_sent_);
    const int64_t own = std::clamp<int64_t>(own_variables_.count - variables_sent_, 0, here);
    packets_.open(Exchange::variables, static_cast<int>(Verb::crossed), bytes_of(1 + here * variable));
    double *next = packets_.payload<double>();
    *next++ = static_cast<double>(own);
    for (int64_t k = 0; k < own; k++) {
        const CrossedVariable &at = own_variables_.variables[variables_sent_ + k];
        for (const double number : {at.t, static_cast<double>(part_.first + at.index), at.g, at.z}) *next++ = number;
        next = std::copy_n(at.w, columns, next);
    }
    packets_.close(settings_, seconds_, no_wish, code_, failure_);
    variables_sent_ += here;
}

bool Ranks::join_variables(Reply &reply) {
    const int columns = cudaopt::panel::columns(panel_.pairs);
    for (int rank = 0; rank < part_.ranks; rank++) {
        const double *next = packets_.payload_of<double>(rank);
        const auto count = static_cast<int64_t>(*next++);
        for (int64_t k = 0; k < count; k++, next += doubles_of_variable(columns)) {
            double *const w = entries_.get() + found_.count() * columns;
            std::copy_n(next + 4, columns, w);
            found_.add({next[0], static_cast<int64_t>(next[1]), next[2], next[3], w});
        }
    }
    if (variables_sent_ < most_variables_) {
        open_variables();
        return true;
    }
    reply.crossed = found_.window(variables_in_all_);
    return false;
}

} // namespace cudaopt
