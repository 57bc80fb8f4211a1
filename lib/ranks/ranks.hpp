// Several handles solve one problem together. Each handle is a rank and stores a part of the variables. The partial
// results of a sweep are sent to all ranks, and each rank joins them in the same order. All ranks therefore obtain
// bitwise the same result ("reply") and run identical state machines. No other information is exchanged, except for the
// packets' headers.
//
// A segment is a fixed range of consecutive variables with its own partial sum (sweeps/segments.hpp); it has nothing to
// do with the segments of the Cauchy path. If each part consists of whole segments, sums are joined along the binary
// tree over all segments, and the result is bitwise that of one handle with all variables. Otherwise the sums of the
// ranks are joined in the order of ranks.
#pragma once

#include <memory>
#include <vector>

#include "ranks/set_up.hpp"
#include "sweeps/found_variables.hpp"
#include "sweeps/products_layout.hpp"
#include "sweeps/segments.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

class Ranks {
  public:
    explicit Ranks(const Part &part);

    const Part &part() const { return part_; }
    Packets &packets() { return packets_; }
    const Packets &packets() const { return packets_; }
    void begin_anew();

    // Records a failure of this rank, which the next exchange reports to all ranks. Only the first failure is kept.
    void fail(int code, const char *sentence);
    bool failed() const { return code_ < 0; }
    void give_up(bool stop_requested) { wish_ = stop_requested ? give_up_stopped : give_up_late; }

    // Returns whether the reply to this request depends on the variables of all ranks.
    static bool shares(Verb verb);

    // Each of the following functions, except join(), begins an exchange. seconds: time since the solve began.
    void request_set_up(const Settings &settings, int m, int bits, int64_t pairs, bool by_segments, double seconds);
    // own: the result of this rank's sweep. own_sums: its sums by segment, or NULL if sums are not joined by segment.
    // f: the value of f that this rank's caller has returned, unless it is given per segment.
    void request_reply(const Request &request, const PanelRequest &panel, const Reply &own, const SubtreeSums *own_sums,
                       double f, const Settings &settings, bool stop_requested, double seconds);
    void request_end(int code, const Settings &settings, double seconds);

    // The result of an exchange, after all packets have arrived.
    struct Joined {
        int code = 0;           // negative: the solve ends with this code and with the sentence in sentence()
        Exchange of;            // the exchange that has ended
        bool again = false;     // the result is incomplete, and another exchange has begun
        bool in_double = false; // the products must be recomputed entirely in double precision
        Wish wish = no_wish;    // the most urgent wish of all ranks to end the solve
    };
    Joined join(Reply &reply);
    const Message &sentence() const { return sentence_; }

    // These functions are valid after the set-up exchange. by_segments() returns whether sums are joined by segment.
    // allocate() allocates memory for all further exchanges with m pairs and throws BackendFailure.
    bool by_segments() const { return by_segments_; }
    void allocate(int m);

    // Returns the rank that caused a termination with this code and variable index, or -1 if no single rank did.
    int origin(int code, int64_t index) const;
    bool measured() const { return measured_; } // whether the total f is known in this solve

  private:
    struct Numbers { // the numbers that follow the inner products of a subtree
        double slope, d_squared, projected, f;
    };
    static constexpr int trailing_numbers = 4;
    static constexpr int64_t doubles_of_variable(int columns) {
        return 4 + columns;
    } // t, index, g, z; the pairs' entries
    int subtrees_of(int rank, Subtree *subtrees) const;
    int64_t places() const; // number of leaves of the summation tree
    // Calls visit(rank, index of the subtree among those of the rank, first leaf of the subtree) for all subtrees of
    // all ranks.
    template <class Visit> void each_subtree(const Visit &visit) const {
        Subtree subtrees[most_subtrees];
        for (int rank = 0; rank < part_.ranks; rank++) {
            const int count = subtrees_of(rank, subtrees);
            for (int k = 0; k < count; k++) visit(rank, k, subtrees[k].begin);
        }
    }
    void close(const Settings &settings, Wish wish, double seconds);
    void pack_products(const Reply &own, const SubtreeSums *own_sums, double f);
    void pack_squares(double norm, const SubtreeSums *own_sums);
    void open_variables();
    void join_start(Reply &reply);
    void join_products(Reply &reply);
    double joined_norm();
    void join_number(Reply &reply);
    void join_index(Reply &reply);
    bool join_count(Reply &reply);
    bool join_variables(Reply &reply);

    const Part part_;
    Packets packets_;
    std::vector<Part> parts_; // the parts of all ranks, known after the set-up exchange
    bool by_segments_ = false;
    int most_subtrees_ = 1; // the largest number of subtrees of any rank
    std::vector<double *> places_;

    int code_ = 0;
    Wish wish_ = no_wish;
    Message failure_, sentence_;
    int64_t f_part_ = FPart::rank;
    uint64_t settings_ = 0; // hash of the settings in the current exchange
    double seconds_ = 0;

    Request request_;       // of the current reply
    PanelRequest panel_{};  // of the current reply
    Buffer<double> joined_; // products of the current reply
    PanelProducts products_{};
    DirectionSums direction_{};
    CrossedWindow own_variables_{};
    int64_t most_variables_ = 0, variables_in_all_ = 0, variables_sent_ = 0;
    FoundVariables found_;
    Buffer<double> entries_;
    int stopped_by_ = -1, slowest_ = -1, not_finite_on_ = -1;
    bool measured_ = false;
};

} // namespace cudaopt
