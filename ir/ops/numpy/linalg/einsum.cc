// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/linalg/einsum.h"

#include <algorithm>
#include <cctype>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/diag.h"

namespace mxc {
namespace {

using Letters = std::string;

bool Has(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

// The letters for which `keep` holds, each once.
template <class F>
Letters Filtered(std::string_view letters, F keep) {
  Letters found;
  for (const char letter : letters) {
    if (keep(letter) && !Has(found, letter)) found.push_back(letter);
  }
  return found;
}

// Axis k of those that "..." stands for, counted from the last one.
char EllipsisLetter(int k) { return static_cast<char>(1 + k); }

// "a...b" with letters for "...", which stands for `axes` axes.
Letters WithoutEllipsis(std::string_view part, int axes) {
  const size_t at = part.find("...");
  Letters letters(part.substr(0, at));
  if (at == std::string_view::npos) return letters;
  for (int k = axes; k-- > 0;) letters.push_back(EllipsisLetter(k));
  return letters.append(part.substr(at + 3));
}

bool OnlyLetters(std::string_view part) {
  const size_t at = part.find("...");
  Letters rest(part);
  if (at != std::string_view::npos) rest.erase(at, 3);
  return std::ranges::all_of(
      rest, [](unsigned char c) { return c < 0x80 && std::isalpha(c); });
}

std::vector<Letters> Split(std::string_view text, char separator) {
  std::vector<Letters> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// x with one axis for each letter, of which none stands twice.
struct Factor {
  Value x;
  Letters letters;
};

Factor WithoutRepeats(GraphBuilder& b, Factor factor) {
  for (size_t i = 0; i < factor.letters.size(); ++i) {
    const char letter = factor.letters[i];
    for (size_t j; (j = factor.letters.find(letter, i + 1)) != Letters::npos;) {
      factor.x = b.Op<op::Diag>({factor.x}, {.axis1 = static_cast<int64_t>(i),
                                             .axis2 = static_cast<int64_t>(j)});
      factor.letters.erase(j, 1).erase(i, 1);
      factor.letters.push_back(letter);
      i = static_cast<size_t>(-1);  // anew, as the axes have moved
      break;
    }
  }
  return factor;
}

Factor SummedTo(GraphBuilder& b, Factor factor, const Letters& kept) {
  Extents axes;
  for (size_t i = 0; i < factor.letters.size(); ++i) {
    if (!Has(kept, factor.letters[i])) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return factor;
  Extents dims;
  const Letters letters =
      Filtered(factor.letters, [&](char c) { return Has(kept, c); });
  for (size_t i = 0; i < factor.letters.size(); ++i) {
    if (Has(kept, factor.letters[i])) {
      dims.push_back(factor.x.shape()[static_cast<int>(i)]);
    }
  }
  return {b.Reshape(b.Sum(factor.x, axes), Shape(dims)), letters};
}

// With the axes in the order of `letters`.
Value Ordered(GraphBuilder& b, const Factor& factor, const Letters& letters) {
  Extents order;
  for (const char letter : letters) {
    order.push_back(static_cast<int64_t>(factor.letters.find(letter)));
  }
  return Transposed(b, factor.x, order);
}

// With extents of 1 repeated to those of the letters.
Factor Repeated(GraphBuilder& b, const Einsum& einsum, Factor factor) {
  const Shape whole = einsum.ShapeOf(factor.letters);
  if (factor.x.shape() == whole) return factor;
  return {b.BroadcastTo(factor.x, whole), factor.letters};
}

Factor Product(GraphBuilder& b, const Einsum& einsum, const Factor& left,
               const Factor& right, const Letters& needed) {
  const auto in_both = [&](char c) { return Has(right.letters, c); };
  const Letters shared = Filtered(left.letters, in_both);
  const auto is_needed = [&](char c) { return Has(needed, c); };
  const Letters batch = Filtered(shared, is_needed);
  const Letters summed =
      Filtered(shared, [&](char c) { return !is_needed(c); });
  const Letters rows =
      Filtered(left.letters, [&](char c) { return !in_both(c); });
  const Letters columns =
      Filtered(right.letters, [&](char c) { return !Has(left.letters, c); });
  const auto count = [&](const Letters& letters) {
    return einsum.ShapeOf(letters).elements();
  };
  const Value a = b.Reshape(Ordered(b, left, batch + rows + summed),
                            Shape{count(batch), count(rows), count(summed)});
  const Value c = b.Reshape(Ordered(b, right, batch + summed + columns),
                            Shape{count(batch), count(summed), count(columns)});
  const Letters letters = batch + rows + columns;
  return {b.Reshape(b.Op<op::BatchDot>({a, c}), einsum.ShapeOf(letters)),
          letters};
}

}  // namespace

Shape Einsum::ShapeOf(std::string_view letters) const {
  Extents dims;
  for (const char letter : letters) dims.push_back(extents.at(letter));
  return Shape(dims);
}

Result<Einsum> ParseEinsum(std::string_view subscripts,
                           const std::vector<Shape>& inputs) {
  Letters text(subscripts);
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::vector<Letters> parts = Split(text.substr(0, arrow), ',');
  const auto wrong = [&] {
    return Error({},
                 "C1: subscripts '{}', expected letters for each of {} inputs "
                 "and, behind '->', for the output",
                 subscripts, inputs.size());
  };
  if (parts.size() != inputs.size()) return wrong();
  Einsum einsum;
  int ellipsis = 0;
  Letters all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!OnlyLetters(parts[i])) return wrong();
    const bool open = parts[i].find("...") != Letters::npos;
    const int named = static_cast<int>(parts[i].size()) - (open ? 3 : 0);
    const int axes = inputs[i].rank() - named;
    if (axes < 0 || (axes > 0 && !open)) {
      return Error({}, "C2: '{}' names {} axes, input {} has shape {}",
                   parts[i], named, i, ToString(inputs[i]));
    }
    ellipsis = std::max(ellipsis, axes);
    einsum.inputs.push_back(WithoutEllipsis(parts[i], axes));
    for (int axis = 0; axis < inputs[i].rank(); ++axis) {
      const char letter = einsum.inputs[i][axis];
      int64_t& extent = einsum.extents.try_emplace(letter, 1).first->second;
      const int64_t given = inputs[i][axis];
      if (given != extent && given != 1 && extent != 1) {
        return Error({}, "C3: an axis has extent {} in input {}, {} before",
                     given, i, extent);
      }
      extent = std::max(extent, given);
    }
    all += einsum.inputs[i];
  }
  if (arrow == Letters::npos) {
    for (int k = ellipsis; k-- > 0;) einsum.output.push_back(EllipsisLetter(k));
    Letters once = Filtered(all, [&](char c) {
      return std::ranges::count(all, c) == 1 && std::isalpha(c);
    });
    std::ranges::sort(once);
    einsum.output += once;
    return einsum;
  }
  const Letters output = text.substr(arrow + 2);
  if (!OnlyLetters(output)) return wrong();
  einsum.output = WithoutEllipsis(output, ellipsis);
  for (const char letter : einsum.output) {
    if (!Has(all, letter) || std::ranges::count(einsum.output, letter) > 1) {
      return wrong();
    }
  }
  return einsum;
}

Value EinsumOf(GraphBuilder& b, const Einsum& einsum,
               const std::vector<Value>& inputs) {
  std::vector<Letters> later(inputs.size(), einsum.output);
  for (size_t i = inputs.size() - 1; i-- > 0;) {
    later[i] = later[i + 1] + einsum.inputs[i + 1];
  }
  Factor product;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Factor next =
        WithoutRepeats(b, Repeated(b, einsum, {inputs[i], einsum.inputs[i]}));
    const Letters elsewhere = later[i] + product.letters;
    next = SummedTo(b, next, elsewhere);
    if (i == 0) {
      product = next;
      continue;
    }
    product = SummedTo(b, product, later[i] + next.letters);
    product = Product(b, einsum, product, next, later[i]);
  }
  product = SummedTo(b, product, einsum.output);
  return b.Op<op::Copy>({Ordered(b, product, einsum.output)});
}

}  // namespace mxc
