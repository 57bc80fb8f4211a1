// Several handles solve one problem together. Each handle is a rank and stores a part of the variables. The partial
// results of a sweep over the variables are sent to all ranks, and each rank joins (that is, adds) them in the same
// order. All ranks therefore obtain bitwise the same result, the "reply", and run identical state machines. No other
// information is exchanged, except for the headers of the packets.
//
// A segment is a fixed range of consecutive variables with its own partial sum (sweeps/segments.hpp). It differs from a
// segment of the Cauchy path. If each part consists of whole segments, sums are joined along the binary tree over all
// segments. The result is then bitwise that of one handle with all variables. Otherwise the sums of the ranks are
// joined in the order of ranks.
#pragma once

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

    // Records a failure of this rank, which the next exchange reports to all ranks. If there are several failures, only
    // the first is kept.
    void fail(int code, const char *sentence);
    bool failed() const { return code_ < 0; }
    void give_up(bool stop_requested) { wish_ = stop_requested ? give_up_stopped : give_up_late; }

    // A request is an operation that the state machine requires, and its verb states which one (lbfgsb/requests.hpp).
    // Returns whether the reply to a request with this verb depends on the variables of all ranks.
    static bool shares(Verb verb) { return verb <= Verb::check_diagonal; }

    // Each of the following functions whose names begin with `request` begins an exchange of packets between the ranks.
    // `seconds` is the time since the solve began.
    // `own_sweeps` is the backend of this rank, whose abilities the set-up contains.
    void request_set_up(const Settings &settings, int m, int bits, int64_t pairs, Sweeps &own_sweeps);
    // Begins an exchange of replies to a request, which are the results of the sweeps of all ranks over their
    // variables. `own` is the result of this rank's sweep. `own_sums` provides the sums of this sweep over subtrees of
    // segments. It is NULL if one sum per rank is exchanged instead. `f` is the value that this rank's caller has
    // returned, unless the caller returns one value per segment.
    void request_reply(const Request &request, const PanelRequest &panel, const Reply &own, const SubtreeSums *own_sums,
                       double f, const Settings &settings, bool stop_requested, double seconds);
    void request_end(int code, const Settings &settings, double seconds);

    // The result of an exchange between ranks, after all packets have arrived.
    struct Joined {
        // If the code is negative, the solve ends with this code and with the message sentence().
        int code = 0;
        Exchange of;            // The kind of the exchange that has ended.
        bool again = false;     // True if another exchange of variables has begun: they did not fit into one packet.
        bool in_double = false; // True if the inner products must be recomputed in double precision.
        Wish wish = no_wish;    // The largest Wish of all ranks.
    };
    Joined join(Reply &reply);
    const Message &sentence() const { return sentence_; }

    // The next three functions are valid after the set-up exchange. by_segments() returns whether the sums of the
    // segments are added along the binary tree, rather than the sums of the ranks in the order of ranks.
    // form_free_changes() returns whether the backends of all ranks can form the changes of the products over the free
    // variables. allocate() allocates the memory for all further exchanges with m correction pairs, and throws
    // BackendFailure.
    bool by_segments() const { return by_segments_; }
    bool form_free_changes() const { return form_free_changes_; }
    void allocate(int m);

    // Returns the rank that caused the end of the solve, or -1 if no single rank caused it. `code` is the return code
    // of the solve. If it reports an invalid variable, `index` is the index of this variable.
    int origin(int code, int64_t index) const;
    // Returns whether the total f, which is the sum of the values of all ranks, has been computed in this solve.
    bool measured() const { return measured_; }

  private:
    // In a packet, four numbers follow the inner products of each subtree: the sums g'd and d'd for the direction d,
    // the number of projected variables, and f.
    static constexpr int trailing_numbers = 4;
    // In an exchange of variables, a packet has these numbers for each variable: the breakpoint t, the index, the
    // gradient g, the displacement z to the bound, and the elements of the correction pairs.
    static constexpr int64_t doubles_of_variable(int columns) { return 4 + columns; }
    int subtrees_of(int rank, Subtree *subtrees) const;
    int64_t places() const; // Returns the number of leaves of the summation tree.
    // Calls visit(rank, k, leaf) for all subtrees of the summation tree, over all ranks. k is the index of the subtree
    // among those of its rank, and leaf is its first leaf.
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
    bool join_count(Reply &reply);
    bool join_variables(Reply &reply);

    const Part part_;
    Packets packets_;
    std::vector<Part> parts_; // The parts of all ranks, which are known after the set-up exchange.
    bool by_segments_ = false, form_free_changes_ = false;
    int most_subtrees_ = 1; // The largest number of subtrees that a rank has.
    std::vector<double *> places_;

    int code_ = 0;
    Wish wish_ = no_wish;
    Message failure_, sentence_;
    int64_t f_part_ = CUDA_OPT_F_OF_RANK;
    uint64_t settings_ = 0; // The hash of the settings in the current exchange.
    double seconds_ = 0;

    Request request_;          // The request to which the ranks currently reply.
    PanelRequest panel_{};     // The description of the inner products of the current request.
    HostArray<double> joined_; // The inner products of the last exchange, summed over all ranks.
    PanelProducts products_{};
    DirectionSums direction_{};
    CrossedWindow own_variables_{};
    int64_t most_variables_ = 0, variables_in_all_ = 0, variables_sent_ = 0;
    FoundVariables found_;
    HostArray<double> entries_;
    int stopped_by_ = -1, slowest_ = -1, not_finite_on_ = -1;
    bool measured_ = false;
};

} // namespace cudaopt
