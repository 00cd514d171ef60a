// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mxc {
namespace {

class Search {
 public:
  Search(const MeasuredRequest& request,
         const std::vector<std::optional<double>>& errors,
         const TrialMaker& form, const std::string& what, const TellPhase& tell)
      : budget_(request.accuracy_budget),
        validation_(request.validation),
        form_(form),
        what_(what),
        tell_(tell),
        narrow_(errors.size(), false) {
    for (size_t i = 0; i < errors.size(); ++i) {
      if (errors[i]) order_.push_back(i);
    }
    Sort([&](size_t i) { return *errors[i]; });
  }

  // Whether all of them may have fewer bits.
  Result<bool> TryAll() {
    {
      MXC_ASSIGN(const Trial wide, form_(narrow_));
      MXC_ASSIGN(outcome_.before, validation_.Measure(wide));
    }
    outcome_.narrow = narrow_;
    outcome_.after = outcome_.before;
    return Try(0);
  }

  // What each layer is off by, by which they are compared from now on.
  Result<std::vector<double>> MeasureLayers() {
    std::vector<double> errors;
    for (size_t i = 0; i < narrow_.size(); ++i) {
      std::vector<bool> one = narrow_;
      one[i] = true;
      MXC_ASSIGN(const Trial trial, form_(one));
      MXC_ASSIGN(const Accuracy after, validation_.Measure(trial));
      ++outcome_.trials;
      errors.push_back(after.difference);
      tell_("measure",
            fmt::format("{} of {} {}, alone", i + 1, narrow_.size(), what_));
    }
    Sort([&](size_t i) { return errors[i]; });
    return errors;
  }

  // Twice as many have all their bits again until that is enough; from there
  // back to the least number.
  Result<BudgetOutcome> Narrow(bool enough) {
    size_t too_few = 0, most = 0;
    while (!enough) {
      too_few = most;
      most = std::min(order_.size(), std::max<size_t>(1, 2 * most));
      MXC_ASSIGN(enough, Try(most));
    }
    while (most > too_few + 1) {
      const size_t middle = (too_few + most) / 2;
      MXC_ASSIGN(enough, Try(middle));
      (enough ? most : too_few) = middle;
    }
    return std::move(outcome_);
  }

 private:
  template <class ErrorOf>
  void Sort(ErrorOf error_of) {
    std::ranges::stable_sort(order_, std::greater<>(), error_of);
  }

  // Returns whether the network is good enough where so many layers have all
  // their bits; it is what comes of the search then.
  Result<bool> Try(size_t wide) {
    if (wide == order_.size()) return true;
    std::vector<bool> narrow = narrow_;
    for (size_t i = wide; i < order_.size(); ++i) narrow[order_[i]] = true;
    MXC_ASSIGN(const Trial trial, form_(narrow));
    MXC_ASSIGN(const Accuracy after, validation_.Measure(trial));
    ++outcome_.trials;
    const double worse = after.WorseThan(outcome_.before);
    tell_("try", fmt::format("{} of {} {}: {:.2f} worse", order_.size() - wide,
                             narrow.size(), what_, worse));
    if (!(worse <= budget_)) return false;
    outcome_.narrow = std::move(narrow);
    outcome_.after = after;
    return true;
  }

  const double budget_;
  Validation validation_;
  const TrialMaker& form_;
  const std::string& what_;
  const TellPhase& tell_;
  const std::vector<bool> narrow_;  // of the network with all its bits
  std::vector<size_t> order_;       // layers, the greatest error first
  BudgetOutcome outcome_;
};

}  // namespace

int64_t BudgetOutcome::count() const {
  return std::ranges::count(narrow, true);
}

Result<BudgetOutcome> KeepWithinBudget(
    const MeasuredRequest& request,
    const std::vector<std::optional<double>>& errors, const TrialMaker& form,
    const std::string& what, const TellPhase& tell) {
  Search search(request, errors, form, what, tell);
  MXC_ASSIGN(const bool enough, search.TryAll());
  return search.Narrow(enough);
}

Result<MeasuredLayers> MeasureWithinBudget(const MeasuredRequest& request,
                                           size_t layers,
                                           const TrialMaker& form,
                                           const std::string& what,
                                           const TellPhase& tell) {
  Search search(request, std::vector<std::optional<double>>(layers, 0.0), form,
                what, tell);
  MeasuredLayers measured;
  MXC_ASSIGN(const bool enough, search.TryAll());
  if (!enough) {
    MXC_ASSIGN(measured.errors, search.MeasureLayers());
  }
  MXC_ASSIGN(measured.outcome, search.Narrow(enough));
  return measured;
}

}  // namespace mxc
