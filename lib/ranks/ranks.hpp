// Many handles, of one solve: each is a rank and holds a part of the variables. What a sweep learns of the part is sent
// to all ranks, and all join what has come in one order: the same reply, with the same bits, for the same state
// machine. No rank is told anything by another but through that reply and the packets' headers.
//
// The sums of parts that are cut at segments (sweeps/segments.hpp) are joined along the segments' tree, to the bits of
// one handle that has all variables. Others are joined in the order of ranks.
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

    // This rank has failed: the next exchange tells all. The first failure stays.
    void fail(int code, const char *sentence);
    bool failed() const { return code_ < 0; }
    void give_up(bool stop_requested) { wish_ = stop_requested ? give_up_stopped : give_up_late; }

    // Whether the reply to this request depends on the variables, and so on all ranks.
    static bool shares(Verb verb);

    // The exchanges; each call but join() begins one. seconds: since the solve began.
    void request_set_up(const Settings &settings, int m, int bits, int64_t pairs, bool by_segments, double seconds);
    // own: this rank's reply. own_sums: the sweeps' where sums are by segments, else NULL; f: the caller's, where it
    // is one number.
    void request_reply(const Request &request, const PanelRequest &panel, const Reply &own, const SubtreeSums *own_sums,
                       double f, const Settings &settings, bool stop_requested, double seconds);
    void request_end(int code, const Settings &settings, double seconds);

    // All packets have come.
    struct Joined {
        int code = 0;           // negative: the solve ends with it and sentence()
        Exchange of;            // the exchange that is done
        bool again = false;     // the reply is not complete: another exchange has begun
        bool in_double = false; // the reply is wanted anew, of products that are all formed in double precision
        Wish wish = no_wish;    // the most urgent of all ranks'
    };
    Joined join(Reply &reply);
    const Message &sentence() const { return sentence_; }

    // After the set-up: whether sums are joined by segments; room for all further exchanges of m pairs. Throws
    // BackendFailure.
    bool by_segments() const { return by_segments_; }
    void allocate(int m);

    // Who it was that led to such an end; -1: not a single rank.
    int origin(int code, int64_t index) const;
    bool measured() const { return measured_; } // f has been joined in this solve

  private:
    struct Numbers { // what stands behind the products of a subtree
        double slope, d_squared, projected, f;
    };
    static constexpr int trailing_numbers = 4;
    static constexpr int64_t doubles_of_variable(int columns) {
        return 4 + columns;
    } // t, index, g, z; the pairs' entries
    int subtrees_of(int rank, Subtree *subtrees) const;
    int64_t places() const; // of the tree that sums are joined in
    // visit(rank, which of its subtrees, the place where that begins)
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
    std::vector<Part> parts_; // of all ranks, after the set-up
    bool by_segments_ = false;
    int most_subtrees_ = 1; // of a rank
    std::vector<double *> places_;

    int code_ = 0;
    Wish wish_ = no_wish;
    Message failure_, sentence_;
    int64_t f_part_ = FPart::rank;
    uint64_t settings_ = 0; // of the exchange under way
    double seconds_ = 0;

    Request request_;       // of the reply under way
    PanelRequest panel_{};  // likewise
    Buffer<double> joined_; // its products
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
