// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/reduction_emitter.h"

#include <algorithm>
#include <bit>

#include "codegen/llvm/arithmetic.h"

namespace mxc {
namespace {

using llvm::Value;

// Loops of few rounds are written out.
constexpr int64_t kUnrolledTrips = 4;
constexpr int kUnrolledNodes = 400;
// Each has sums in registers.
constexpr size_t kMostTogether = 4;
// Of a sum that each lane adds in the order of vectors, written out as often.
constexpr int kMostNodes = 400;

}  // namespace

Value* ReductionEmitter::Emit(const Expr& reduce) {
  reduces_ = {reduce};
  ranges_ = reduce->ranges;
  if (!emitter_.Varies(reduce)) {
    AddSiblings(false);
    return Finish(EmitUniform());
  }
  for (const Range& range : ranges_) {
    if (emitter_.Varies(range.begin) || emitter_.Varies(range.end)) {
      return emitter_.EmitEachLane(reduce);
    }
  }
  AddSiblings(true);
  return Finish(IsAddedInLanes(reduce) ? EmitVaryingInLanes() : EmitVarying());
}

// What the sweep will ask for next and can be known here.
void ReductionEmitter::AddSiblings(bool varies) {
  if (emitter_.mask_.value != nullptr && !emitter_.mask_.tail) return;
  const std::vector<Expr>& all = emitter_.reductions_;
  const auto is_first = [&](const Expr& e) { return Equal(e, reduces_[0]); };
  if (std::ranges::none_of(all, is_first)) return;
  for (const Expr& other : all) {
    if (reduces_.size() == kMostTogether) return;
    const auto same = [&](const Expr& e) { return Equal(e, other); };
    if (std::ranges::any_of(reduces_, same) || !SameRanges(other)) continue;
    if (emitter_.Remembered(other) != nullptr) continue;
    if (emitter_.Varies(other) != varies) continue;
    const bool in_lanes = IsAddedInLanes(reduces_[0]);
    if (varies && IsAddedInLanes(other) != in_lanes) continue;
    if (emitter_.Known(other, {})) reduces_.push_back(other);
  }
}

bool ReductionEmitter::SameRanges(const Expr& other) const {
  return std::ranges::equal(
      other->ranges, ranges_, [](const Range& a, const Range& b) {
        return a.var == b.var && Equal(a.begin, b.begin) && Equal(a.end, b.end);
      });
}

Value* ReductionEmitter::Finish(const Values& values) {
  for (size_t i = 1; i < reduces_.size(); ++i) {
    emitter_.scopes_.back().emplace(reduces_[i], values[i]);
  }
  return values[0];
}

ReductionEmitter::Values ReductionEmitter::Combined(const Values& sums,
                                                    const Values& more) {
  Values combined;
  for (size_t i = 0; i < reduces_.size(); ++i) {
    combined.push_back(EmitCombine(kernel_, reduces_[i]->reduce,
                                   reduces_[i]->dtype, sums[i], more[i]));
  }
  return combined;
}

ReductionEmitter::Values ReductionEmitter::Bodies(int lanes) {
  Values values;
  for (const Expr& reduce : reduces_) {
    values.push_back(Splat(kernel_, emitter_.EmitForm(reduce->args[0]), lanes));
    for (const KeptTerms& kept : emitter_.kept_) {
      if (!Equal(kept.reduce, reduce)) continue;
      emitter_.StoreAt(kept.output, kept.offset, values.back(),
                       reduce->args[0]->dtype);
    }
  }
  return values;
}

ReductionEmitter::Values ReductionEmitter::Identities(int lanes) {
  Values values;
  for (const Expr& reduce : reduces_) {
    const Expr identity = IdentityOf(reduce->reduce, reduce->dtype);
    // −0 + x is x for every x, so that no addition is left of it.
    const bool sum = reduce->reduce == ReduceOp::kSum && IsFloat(reduce->dtype);
    const Element number = sum ? Element{-0.0} : identity->number;
    values.push_back(
        Splat(kernel_, EmitConstant(kernel_, number, identity->dtype), lanes));
  }
  return values;
}

void ReductionEmitter::HoistBodies() {
  for (const Expr& reduce : reduces_) emitter_.Hoist(reduce->args[0]);
}

int ReductionEmitter::Nodes() {
  int nodes = 0;
  for (const Expr& reduce : reduces_) {
    nodes += emitter_.free_.Of(reduce->args[0]).nodes;
  }
  return nodes;
}

// Independent sums hide the latency of an addition. A power of 2; as many whatever
// is reduced beside, so that a sum is the same in each step that computes it.
int ReductionEmitter::Accumulators() const {
  const int latency = kernel_.target().machine.multiply_add_latency;
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(latency)));
}

// Of vectors that run along the range.
int ReductionEmitter::AccumulatorsOf(std::optional<int64_t> trips,
                                     int lanes) const {
  const bool many = !trips || *trips >= int64_t{2} * Accumulators() * lanes;
  return many ? Accumulators() : 1;
}

// Each lane reduces for itself.
ReductionEmitter::Values ReductionEmitter::EmitVarying() {
  HoistBodies();
  return OverRange(0, {Identities(emitter_.lanes_), {}}).main;
}

// Returns whether lanes would share the work if the value were the same in all of
// them, and the order matters: a sum of f32 along one range. (Wider sums hide it.)
bool ReductionEmitter::IsAddedInLanes(const Expr& reduce) const {
  const int lanes = emitter_.sum_lanes_;
  if (lanes == 1 || reduce->reduce != ReduceOp::kSum) return false;
  if (reduce->dtype != DType::kF32 || ranges_.size() != 1) return false;
  const auto trips = Trips(ranges_[0]);
  if (!trips || *trips < lanes / 2) return false;
  int64_t loads = 0, hidden = 0;
  VisitLoads(reduce->args[0], [&](const ExprNode& load) {
    const Affine offset = ToAffine(load.args[0], emitter_.range_of_);
    hidden += offset.HidesVar(ranges_[0].var);
    loads += offset.CoefficientOf(ranges_[0].var) != 0;
  });
  return loads > hidden &&
         emitter_.free_.Of(reduce->args[0]).nodes < kMostNodes;
}

// Each lane adds in the order in which EmitUniform does: in what layout the
// operands are does not change a sum.
ReductionEmitter::Values ReductionEmitter::EmitVaryingInLanes() {
  HoistBodies();
  auto& builder = kernel_.b();
  const Range& range = ranges_[0];
  const int lanes = emitter_.sum_lanes_;
  const int64_t trips = *Trips(range), whole = trips / lanes * lanes;
  const int accumulators = AccumulatorsOf(trips, lanes);
  const bool scalar_tail = !emitter_.HasMaskedTails(lanes);
  const Step body = [&](Value* i, const Values& sums) {
    const ExprEmitter::Scope scope(emitter_);
    Bind(range, i, IntervalOfRange(range));
    HoistBodies();
    return Combined(sums, Bodies(emitter_.lanes_));
  };
  Value* const from = emitter_.EmitForm(range.begin);
  const auto at = [&](int64_t i) {
    return builder.CreateAdd(from, kernel_.Int(i));
  };
  // What was added in lanes is rounded before.
  const auto add = [&](Values& sums, const Values& more) {
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = builder.CreateFAdd(sums[i], more[i]);
    }
  };
  std::vector<Values> sums;  // of the elements at one place of all vectors
  for (int64_t lane = 0; lane < std::min<int64_t>(lanes, trips); ++lane) {
    Values sum = Identities(emitter_.lanes_);
    if (whole > 0) {
      sum =
          OverStrip(at(lane), at(whole + lane), lanes, accumulators, sum, body);
    }
    if (!scalar_tail && whole + lane < trips) sum = body(at(whole + lane), sum);
    sums.push_back(std::move(sum));
  }
  sums.resize(static_cast<size_t>(lanes), Identities(emitter_.lanes_));
  for (auto half = static_cast<size_t>(lanes) / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) {
      add(sums[i], sums[i + half]);
    }
  }
  if (scalar_tail && whole < trips) {
    const Values tail = kernel_.Loop(at(whole), at(trips), 1,
                                     Identities(emitter_.lanes_), body);
    add(sums[0], tail);
  }
  emitter_.values_.erase(range.var);
  emitter_.ranges_.erase(range.var);
  return sums[0];
}

// The value is the same in all lanes, so that the lanes can share the work.
ReductionEmitter::Values ReductionEmitter::EmitUniform() {
  const ExprEmitter::Mask outer_mask = emitter_.mask_;
  const bool safe = std::ranges::all_of(
      reduces_, [&](const Expr& reduce) { return emitter_.IsSafe(reduce); });
  if (outer_mask.value != nullptr && !safe) {
    reduces_.resize(1);
    Value* any = outer_mask.value->getType()->isVectorTy()
                     ? kernel_.b().CreateOrReduce(outer_mask.value)
                     : outer_mask.value;
    return {kernel_.Choose(
        any,
        [&] {
          const ExprEmitter::Scope scope(emitter_);
          emitter_.mask_ = {};
          Value* value = EmitUniform()[0];
          emitter_.mask_ = outer_mask;
          return value;
        },
        [&] { return Identities(1)[0]; })};
  }
  emitter_.mask_ = {};
  HoistBodies();
  const int outer_var = emitter_.lane_var_;
  Value* outer_base = emitter_.lane_base_;
  const int outer_lanes = emitter_.lanes_;
  emitter_.lane_var_ = -1;
  emitter_.lane_base_ = nullptr;
  emitter_.lanes_ = std::max(emitter_.nest_lanes_, emitter_.sum_lanes_);
  Values result;
  if (const auto k = emitter_.lanes_ > 1 ? VectorRange() : std::nullopt) {
    const auto at = ranges_.begin() + static_cast<std::ptrdiff_t>(*k);
    std::rotate(at, at + 1, ranges_.end());
    vectorized_ = true;
    const bool scalar_tail = !emitter_.HasMaskedTails(emitter_.lanes_);
    const Sums sums = OverRange(0, {Identities(emitter_.lanes_),
                                    scalar_tail ? Identities(1) : Values()});
    for (size_t i = 0; i < reduces_.size(); ++i) {
      result.push_back(EmitHorizontal(kernel_, reduces_[i]->reduce,
                                      reduces_[i]->dtype, sums.main[i]));
    }
    if (scalar_tail) result = Combined(result, sums.tail);
  } else {
    emitter_.lanes_ = 1;
    result = OverRange(0, {Identities(1), {}}).main;
  }
  emitter_.lane_var_ = outer_var;
  emitter_.lane_base_ = outer_base;
  emitter_.lanes_ = outer_lanes;
  emitter_.mask_ = outer_mask;
  return result;
}

// The range that runs through memory element by element in more loads than it
// jumps in, if it is long enough. One alone, too, where it jumps equally far each
// time: in which order a softmax adds is then the same in each layout of its
// scores, and so in each program that computes it.
std::optional<size_t> ReductionEmitter::VectorRange() {
  std::optional<size_t> best;
  int best_score = 0;
  for (size_t k = 0; k < ranges_.size(); ++k) {
    const auto trips = Trips(ranges_[k]);
    if (trips && *trips < emitter_.lanes_ / 2) continue;
    int score = 0;
    const auto count = [&](const ExprNode& load) {
      const Affine offset = ToAffine(load.args[0], emitter_.range_of_);
      const int64_t stride = offset.CoefficientOf(ranges_[k].var);
      const bool hidden = offset.HidesVar(ranges_[k].var);
      const bool runs = stride == 1 || (stride != 0 && ranges_.size() == 1);
      if (hidden || (stride != 0 && !runs)) --score;
      if (!hidden && runs) ++score;
    };
    for (const Expr& reduce : reduces_) VisitLoads(reduce->args[0], count);
    if (score > 0 && score >= best_score) {
      best = k;
      best_score = score;
    }
  }
  return best;
}

std::optional<int64_t> ReductionEmitter::Trips(const Range& range) const {
  const Affine trips = ToAffine(range.end - range.begin, emitter_.range_of_);
  if (!trips.is_constant()) return std::nullopt;
  return std::max<int64_t>(0, trips.constant);
}

Interval ReductionEmitter::IntervalOfRange(const Range& range) {
  const auto low = mxc::Bounds(range.begin, emitter_.range_of_);
  const auto high = mxc::Bounds(range.end, emitter_.range_of_);
  constexpr int64_t kFar = int64_t{1} << 60;
  return {low ? low->low : -kFar, high ? high->high - 1 : kFar};
}

void ReductionEmitter::Bind(const Range& range, Value* value,
                            Interval interval) {
  emitter_.values_[range.var] = value;
  emitter_.ranges_[range.var] = interval;
}

ReductionEmitter::Sums ReductionEmitter::OverRange(size_t k, Sums sums) {
  if (k == ranges_.size()) {
    const bool vector = sums.main[0]->getType()->isVectorTy();
    return {Combined(sums.main, Bodies(vector ? emitter_.lanes_ : 1)),
            sums.tail};
  }
  const Range& range = ranges_[k];
  if (vectorized_ && k + 1 == ranges_.size()) return OverVectors(sums);
  const auto trips = Trips(range);
  const Interval interval = IntervalOfRange(range);
  const auto body = [&](Value* i, const Sums& inner, Interval known) {
    const ExprEmitter::Scope scope(emitter_);
    Bind(range, i, known);
    HoistBodies();
    return OverRange(k + 1, inner);
  };
  Value* from = emitter_.EmitForm(range.begin);
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(from);
  const int nodes = Nodes();
  if (trips && *trips <= kUnrolledTrips && *trips * nodes < kUnrolledNodes) {
    for (int64_t i = 0; i < *trips; ++i) {
      Interval known = interval;
      if (first) known = {first->getSExtValue() + i, first->getSExtValue() + i};
      sums = body(kernel_.b().CreateAdd(from, kernel_.Int(i)), sums, known);
    }
  } else if (k + 1 == ranges_.size() && sums.tail.empty() && trips &&
             *trips >= 2 * Accumulators() && nodes < 60) {
    Value* to = emitter_.EmitForm(range.end);
    sums.main = OverStrip(from, to, 1, Accumulators(), sums.main,
                          [&](Value* i, const Values& values) {
                            return body(i, {values, {}}, interval).main;
                          });
  } else {
    Value* to = emitter_.EmitForm(range.end);
    const size_t count = reduces_.size();
    Values carried = sums.main;
    carried.insert(carried.end(), sums.tail.begin(), sums.tail.end());
    const auto apart = [&](const Values& in) {
      const auto middle = in.begin() + static_cast<std::ptrdiff_t>(count);
      return Sums{{in.begin(), middle}, {middle, in.end()}};
    };
    carried =
        kernel_.Loop(from, to, 1, carried, [&](Value* i, const Values& in) {
          const Sums out = body(i, apart(in), interval);
          Values next = out.main;
          next.insert(next.end(), out.tail.begin(), out.tail.end());
          return next;
        });
    sums = apart(carried);
  }
  emitter_.values_.erase(range.var);
  emitter_.ranges_.erase(range.var);
  return sums;
}

// `accumulators` sums side by side for each reduction, then the rounds that are
// left over, then all sums in order.
ReductionEmitter::Values ReductionEmitter::OverStrip(Value* from, Value* to,
                                                     int64_t step,
                                                     int accumulators,
                                                     const Values& first,
                                                     const Step& body) {
  auto& builder = kernel_.b();
  const bool vector = first[0]->getType()->isVectorTy();
  const size_t count = reduces_.size();
  Values sums = first;
  while (sums.size() < count * static_cast<size_t>(accumulators)) {
    const Values more = Identities(vector ? emitter_.lanes_ : 1);
    sums.insert(sums.end(), more.begin(), more.end());
  }
  const auto nth = [&](const Values& all, size_t n) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(n * count);
    return Values(at, at + static_cast<std::ptrdiff_t>(count));
  };
  const int64_t stride = step * accumulators;
  Value* rounds =
      builder.CreateSDiv(builder.CreateSub(to, from), kernel_.Int(stride));
  Value* main_end =
      builder.CreateAdd(from, builder.CreateMul(rounds, kernel_.Int(stride)));
  sums = kernel_.Loop(
      from, main_end, stride, sums, [&](Value* i, const Values& in) {
        Values out;
        for (size_t n = 0; n < static_cast<size_t>(accumulators); ++n) {
          Value* at =
              builder.CreateAdd(i, kernel_.Int(step * static_cast<int64_t>(n)));
          const Values next = body(at, nth(in, n));
          out.insert(out.end(), next.begin(), next.end());
        }
        return out;
      });
  std::vector<Values> all;
  for (size_t n = 0; n < static_cast<size_t>(accumulators); ++n) {
    all.push_back(nth(sums, n));
  }
  if (accumulators > 1) {
    all[0] = kernel_.Loop(main_end, to, step, all[0], body);
  }
  while (all.size() > 1) {
    std::vector<Values> pairs;
    for (size_t n = 0; n < all.size(); n += 2) {
      pairs.push_back(Combined(all[n], all[n + 1]));
    }
    all = pairs;
  }
  return all[0];
}

ReductionEmitter::Sums ReductionEmitter::OverVectors(Sums sums) {
  auto& builder = kernel_.b();
  const Range& range = ranges_.back();
  const int lanes = emitter_.lanes_;
  emitter_.ranges_[range.var] = IntervalOfRange(range);
  Value* from = emitter_.EmitForm(range.begin);
  Value* to = emitter_.EmitForm(range.end);
  const auto trips = Trips(range);
  Value* whole = builder.CreateMul(
      builder.CreateSDiv(builder.CreateSub(to, from), kernel_.Int(lanes)),
      kernel_.Int(lanes));
  Value* vectors_end = builder.CreateAdd(from, whole);
  emitter_.lane_var_ = range.var;
  sums.main = OverStrip(from, vectors_end, lanes, AccumulatorsOf(trips, lanes),
                        sums.main, [&](Value* i, const Values& values) {
                          const ExprEmitter::Scope scope(emitter_);
                          emitter_.SetLaneBase(i);
                          return Combined(values, Bodies(lanes));
                        });
  if (!trips || *trips % lanes != 0) sums = OverTail(sums, vectors_end, to);
  emitter_.lane_var_ = -1;
  emitter_.lane_base_ = nullptr;
  emitter_.ranges_.erase(range.var);
  return sums;
}

// Fewer elements than lanes: under a mask, or one by one.
ReductionEmitter::Sums ReductionEmitter::OverTail(Sums sums, Value* from,
                                                  Value* to) {
  auto& builder = kernel_.b();
  if (!sums.tail.empty()) {
    sums.tail =
        kernel_.Loop(from, to, 1, sums.tail, [&](Value* i, const Values& in) {
          emitter_.EnterScalar(i);
          const Values values = Combined(in, Bodies(1));
          emitter_.LeaveScalar();
          return values;
        });
    return sums;
  }
  const ExprEmitter::Scope scope(emitter_);
  emitter_.SetLaneBase(from);
  emitter_.SetTail(emitter_.TailMask(from, to));
  const Values more = Combined(sums.main, Bodies(emitter_.lanes_));
  for (size_t i = 0; i < more.size(); ++i) {
    sums.main[i] =
        builder.CreateSelect(emitter_.mask_.value, more[i], sums.main[i]);
  }
  emitter_.SetTail(nullptr);
  return sums;
}

}  // namespace mxc
