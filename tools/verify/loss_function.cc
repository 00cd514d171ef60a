// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/loss_function.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// What the loss reads of them.
Directions ReadAmong(Directions along) {
  std::erase_if(along, [](const Direction* d) { return !d->is_read(); });
  return along;
}

double FirstStep(const Directions& along) {
  const Directions read = ReadAmong(along);
  const bool alone = along.size() == 1 && !read.empty();
  return 1e-4 * (alone ? read[0]->Range() / read[0]->scale : 1);
}

// What double leaves of a difference of such losses.
double NoiseOf(double loss) { return 1e-14 * std::max(1.0, std::abs(loss)); }

}  // namespace

Result<LossState> LossFunction::MoveTo(std::map<std::string, Tensor> inputs) {
  inputs_ = std::move(inputs);
  MXC_ASSIGN(at_rest_, KeptRun::Of(programs_.loss, inputs_, kInDouble));
  MXC_ASSIGN(loss_at_rest_, LossAmong(at_rest_->Outputs()));
  cut_off_ = false;
  if (!std::isfinite(loss_at_rest_)) return LossState::kNotFinite;
  if (!programs_.other_end) return LossState::kSmooth;
  MXC_ASSIGN(const std::vector<Tensor> values,
             Interpret(*programs_.other_end, inputs_,
                       {.arithmetic = kInDouble, .after_step = {}}));
  MXC_ASSIGN(const double other, LossAmong(values));
  cut_off_ = other != loss_at_rest_;
  return cut_off_ ? LossState::kCutOff : LossState::kSmooth;
}

Result<double> LossFunction::SmallStepDerivative(const Directions& along,
                                                 double most) const {
  const Directions read = ReadAmong(along);
  const double step = SmallStep(along, most);
  MXC_ASSIGN(const double above, LossAt(read, step));
  MXC_ASSIGN(const double below, LossAt(read, -step));
  return (above - below) / (2 * step);
}

Result<std::optional<double>> LossFunction::ConvergedDerivative(
    const Directions& along) const {
  const Directions read = ReadAmong(along);
  if (read.empty()) return std::optional<double>(0);
  double step = FirstStep(along);
  std::optional<double> coarse;
  for (int attempt = 0; attempt < 5; ++attempt, step /= 8) {
    MXC_ASSIGN(const double above, LossAt(read, step));
    MXC_ASSIGN(const double below, LossAt(read, -step));
    const double fine = (above - below) / (2 * step);
    const double noise = NoiseOf(above) / step;
    if (coarse &&
        std::abs(fine - *coarse) <= 1e-4 * std::abs(fine) + 10 * noise) {
      return std::optional<double>(fine);
    }
    coarse = fine;
  }
  return std::optional<double>();
}

// Below the first step, and so small that what double leaves of the losses is
// off by no more than `most`, after division by the step; not so small that
// what it leaves of the parameters counts.
double LossFunction::SmallStep(const Directions& along, double most) const {
  const double first = FirstStep(along);
  const double least = 1e-4 * first;
  return most > 0 ? std::clamp(NoiseOf(loss_at_rest_) / most, least, first)
                  : first;
}

Result<double> LossFunction::LossAt(const Directions& along, double by) const {
  std::map<std::string, Tensor> moved;
  for (const Direction* d : along) moved[d->parameter] = d->Moved(by);
  MXC_ASSIGN(const std::vector<Tensor> values, at_rest_->OutputsWith(moved));
  return LossAmong(values);
}

Result<double> LossFunction::LossAmong(std::span<const Tensor> values) const {
  const std::map<std::string, Tensor> outputs =
      OutputsOfRole(TensorRole::kLoss, programs_.loss, values);
  if (outputs.empty()) {
    return UnplacedError("the network's loss heads report no loss");
  }
  return outputs.begin()->second.At(0);
}

}  // namespace mxc
