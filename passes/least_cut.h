// SPDX-License-Identifier: Apache-2.0
// Questions of yes or no whose answers depend on each other: each answer has a
// price, and so has a pair that is answered differently. The answers of the least
// price together are a minimum cut of a graph (Greig, Porteous, Seheult 1989).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mxc {

class LeastCut {
 public:
  // Dearer than all that a program can cost.
  static constexpr double kNever = 1e3;

  // Prices are seconds, not negative. Returns the question's number.
  int AddQuestion();
  void Price(int question, double no, double yes);
  // What it costs if the answers of two of them differ.
  void PriceDifference(int a, int b, double seconds);

  // By question, whether the answer is yes. Where yes costs as much as no it is
  // no. Called once.
  std::vector<bool> Answers();

 private:
  // An edge of the flow and, at the next odd number, the one back.
  struct Edge {
    int to = 0;
    int64_t room = 0;  // picoseconds
  };

  static int64_t Picoseconds(double seconds);
  void Connect(int from, int to, int64_t room, int64_t back);
  bool FindDistances();
  void Fill();
  int AdmissibleEdge(int from);
  void Push(std::vector<int>& path);

  static constexpr int kNo = 0, kYes = 1;  // source and sink
  std::vector<std::vector<int>> edges_of_ = {{}, {}};
  std::vector<Edge> edges_;
  std::vector<int> distance_;  // from the source; -1: none
  std::vector<size_t> next_;   // of edges_of_, to be looked at
};

}  // namespace mxc
