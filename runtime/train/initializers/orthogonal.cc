// SPDX-License-Identifier: Apache-2.0
// `scale` times a random matrix whose rows or columns, whichever are fewer, are
// orthonormal. MXNet takes the singular vectors of a random matrix; here it is
// the Q of its QR decomposition, which has the same distribution for normal
// numbers (Saxe et al., arXiv 1312.6120, ask for nothing more).
#include <cmath>

#include "runtime/train/initializers/declarations.h"
#include "runtime/train/random.h"

namespace mxc::train {
namespace {

// A matrix with contiguous columns, no fewer rows than columns.
struct Columns {
  size_t rows, count;
  std::vector<double> values;

  std::span<double> From(size_t column, size_t row) {
    return std::span(values).subspan(column * rows + row, rows - row);
  }
};

// In a fixed order that a compiler can still vectorize.
double Dot(std::span<const double> a, std::span<const double> b) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  const size_t whole = a.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] += a[i + k] * b[i + k];
  }
  double sum = 0;
  for (size_t i = whole; i < a.size(); ++i) sum += a[i] * b[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

// column −= 2·v·(v·column), v of length 1
void Reflect(std::span<const double> v, std::span<double> column) {
  const double factor = 2 * Dot(v, column);
  for (size_t i = 0; i < v.size(); ++i) column[i] -= factor * v[i];
}

// Replaces `a` by the Q of its QR decomposition, by Householder's reflections,
// signed so that R has a positive diagonal.
void Orthonormalize(Columns& a) {
  std::vector<double> signs(a.count);
  for (size_t j = 0; j < a.count; ++j) {
    const std::span<double> v = a.From(j, j);
    const double norm = std::sqrt(Dot(v, v));
    signs[j] = v[0] < 0 ? 1 : -1;
    v[0] -= signs[j] * norm;
    const double length = std::sqrt(Dot(v, v));
    for (double& value : v) value = length == 0 ? 0 : value / length;
    for (size_t k = j + 1; k < a.count; ++k) Reflect(v, a.From(k, j));
  }
  // Column j of Q comes from the unit vector j by reflections j … 0; those
  // after j leave it alone. The last columns go first: reflection j is used up
  // once column j has taken its place.
  std::vector<double> reflection;
  for (size_t j = a.count; j-- > 0;) {
    const std::span<double> v = a.From(j, j);
    reflection.assign(v.begin(), v.end());
    for (size_t k = j + 1; k < a.count; ++k) Reflect(reflection, a.From(k, j));
    const std::span<double> column = a.From(j, 0);
    std::fill(column.begin(), column.end(), 0.0);
    column[j] = 1;
    Reflect(reflection, a.From(j, j));
  }
  for (size_t j = 0; j < a.count; ++j) {
    for (double& value : a.From(j, 0)) value *= signs[j];
  }
}

class Orthogonal : public Initializer {
 public:
  explicit Orthogonal(ArgumentReader& arguments) {
    if (!arguments.ReadPositional(scale_)) arguments.Read("scale", scale_);
    arguments.Read("rand_type", {"uniform", "normal"}, distribution_);
  }

  Status Fill(const Target& target) const override {
    if (target.shape.empty() || target.values.empty()) return {};
    const auto out = static_cast<size_t>(target.shape[0]);
    const size_t in = target.values.size() / out;
    const RandomStream random(target.seed, target.name);
    if (distribution_ == 0) {
      random.FillUniform(1, target.values);
    } else {
      random.FillNormal(1, target.values);
    }
    const bool tall = out >= in;
    Columns a{.rows = tall ? out : in, .count = tall ? in : out, .values = {}};
    a.values.resize(target.values.size());
    const auto at = [&](size_t i) {
      return tall ? i % in * a.rows + i / in : i;
    };
    for (size_t i = 0; i < a.values.size(); ++i) {
      a.values[at(i)] = static_cast<double>(target.values[i]);
    }
    Orthonormalize(a);
    for (size_t i = 0; i < a.values.size(); ++i) {
      target.values[i] = static_cast<float>(scale_ * a.values[at(i)]);
    }
    return {};
  }

 private:
  double scale_ = 1.414;
  int distribution_ = 0;  // uniform, normal
};

}  // namespace

InitializerRef MakeInitializer_orthogonal(ArgumentReader& arguments) {
  return std::make_shared<Orthogonal>(arguments);
}

}  // namespace mxc::train
