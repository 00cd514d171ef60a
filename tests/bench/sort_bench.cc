// SPDX-License-Identifier: Apache-2.0
// Microseconds that sort, argsort and topk take on one thread, and
// std::stable_sort on the same rows of random f32: sort_bench MXC [n | rows n]
// compiles each network with the program MXC. The best of many runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/mxc.h"

namespace {

struct Rows {
  int64_t count, length;
};

constexpr double kSeconds = 0.3;  // of each measurement

std::vector<float> RandomValues(Rows rows) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<size_t>(rows.count * rows.length));
  for (float& value : values) {
    value = static_cast<float>(random()) / 1e9F - 2;
  }
  return values;
}

template <class F>
double BestMicroseconds(const F& run) {
  double best = std::numeric_limits<double>::max(), total = 0;
  while (total < kSeconds * 1e6) {
    const int64_t begin = mxc::runtime::Nanoseconds();
    run();
    const double time =
        static_cast<double>(mxc::runtime::Nanoseconds() - begin) / 1e3;
    best = std::min(best, time);
    total += time + 1;
  }
  return best;
}

void Require(mxc_status* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", mxc_status_message(status));
  std::exit(1);
}

// Of one operator with those attributes.
double MeasureOperator(const std::string& mxc, Rows rows,
                       const std::string& op) {
  const std::string base = "/tmp/mxc_sort_bench";
  std::FILE* file = std::fopen((base + ".json").c_str(), "w");
  std::fprintf(file,
               "{\"mxc\": 1, \"inputs\": {\"data\": [%ld, %ld]}, "
               "\"nodes\": [{\"op\": %s}]}",
               static_cast<long>(rows.count), static_cast<long>(rows.length),
               op.c_str());
  std::fclose(file);
  const std::string compile =
      mxc + " compile " + base + ".json -o " + base + ".mxa --quiet";
  if (std::system(compile.c_str()) != 0) std::exit(1);
  mxc_model* model = nullptr;
  mxc_executor* executor = nullptr;
  Require(mxc_model_open((base + ".mxa").c_str(), nullptr, &model));
  mxc_bind_options bind = MXC_BIND_OPTIONS;
  bind.threads = 1;
  Require(mxc_bind(model, &bind, &executor));
  const std::vector<float> values = RandomValues(rows);
  Require(mxc_set_input(executor, "data", values.data(),
                        values.size() * sizeof(float)));
  const double best = BestMicroseconds([&] { Require(mxc_run(executor)); });
  mxc_executor_close(executor);
  mxc_model_close(model);
  return best;
}

double MeasureStableSort(Rows rows) {
  const std::vector<float> values = RandomValues(rows);
  std::vector<float> sorted = values;
  return BestMicroseconds([&] {
    sorted = values;
    for (int64_t row = 0; row < rows.count; ++row) {
      const auto begin = sorted.begin() + row * rows.length;
      std::stable_sort(begin, begin + rows.length);
    }
  });
}

void Measure(const std::string& mxc, Rows rows) {
  const auto op = [&](const char* text) {
    std::printf(" %11.1f", MeasureOperator(mxc, rows, text));
    std::fflush(stdout);
  };
  std::printf("%6ld %8ld", static_cast<long>(rows.count),
              static_cast<long>(rows.length));
  std::printf(" %11.1f", MeasureStableSort(rows));
  op("\"sort\"");
  op("\"argsort\"");
  op("\"topk\", \"k\": 1");
  if (rows.length >= 5) op("\"topk\", \"k\": 5");
  if (rows.length >= 50) op("\"topk\", \"k\": 50, \"ret_typ\": \"mask\"");
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::printf(
      "  rows   length stable_sort        sort     argsort      topk 1"
      "      topk 5 mask of 50\n");
  if (argc > 2) {
    const int64_t count = argc > 3 ? std::atol(argv[2]) : 1;
    Measure(argv[1], {count, std::atol(argv[argc - 1])});
    return 0;
  }
  for (const Rows rows :
       {Rows{1000, 4}, Rows{1000, 10}, Rows{1000, 32}, Rows{1000, 64},
        Rows{100, 100}, Rows{100, 200}, Rows{100, 1000}, Rows{10, 10000},
        Rows{1, 100000}, Rows{1, 1000000}}) {
    Measure(argv[1], rows);
  }
}
