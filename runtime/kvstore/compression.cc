// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/compression.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "runtime/formats/convert.h"
#include "runtime/kvstore/frame.h"

namespace mxc::kvstore {
namespace {

using runtime::ElementType;

struct CodecFacts {
  const char* name;
  bool has_threshold;
  uint64_t values, bytes;  // the least unit
  uint64_t column = 0;     // values that have a Range before them; 0: none have
};

constexpr CodecFacts kCodecs[] = {{"none", false, 1, 4},
                                  {"f16", false, 1, 2},
                                  {"2bit", true, 16, 4},
                                  {"1bit", true, 32, 4},
                                  {"1bit_cntk", false, 32, 4, kColumn}};

// Before the bits of a column.
struct Range {
  float lower, upper;

  float At(bool bit) const {
    return lower + (bit ? 0.75f : 0.25f) * (upper - lower);
  }
};
constexpr size_t kColumnBytes = sizeof(Range) + kColumn / 8;
static_assert(kMaxPayload % kColumnBytes == 0);

const CodecFacts& FactsOf(Codec codec) {
  return kCodecs[static_cast<size_t>(codec)];
}

// Codes of `bits` bits each, the first in the most significant ones.
template <int bits, class CodeOf>
std::vector<std::byte> Pack(Codec codec, size_t elements, CodeOf code_of) {
  constexpr size_t kPerByte = 8 / bits;
  std::vector<std::byte> packed(EncodedBytes(codec, elements));
  for (size_t i = 0; i < elements; ++i) {
    const auto shift = 8 - bits - bits * (i % kPerByte);
    packed[i / kPerByte] |= static_cast<std::byte>(code_of(i) << shift);
  }
  return packed;
}

template <int bits>
unsigned CodeAt(Bytes packed, size_t i) {
  constexpr size_t kPerByte = 8 / bits;
  const auto shift = 8 - bits - bits * (i % kPerByte);
  return unsigned(packed[i / kPerByte]) >> shift & ((1u << bits) - 1);
}

std::vector<std::byte> TwoBits(float threshold, std::span<const float> gradient,
                               std::span<float> residual) {
  return Pack<2>(Codec::kTwoBit, gradient.size(), [&](size_t i) {
    float& rest = residual[i];
    rest += gradient[i];
    if (rest >= threshold) {
      rest -= threshold;
      return 3u;
    }
    if (rest <= -threshold) {
      rest += threshold;
      return 2u;
    }
    return 0u;
  });
}

std::vector<std::byte> OneBit(float threshold, std::span<const float> gradient,
                              std::span<float> residual) {
  return Pack<1>(Codec::kOneBit, gradient.size(), [&](size_t i) {
    float& rest = residual[i];
    rest += gradient[i];
    const bool above = rest > threshold;
    rest += above ? -1 : 1;
    return above ? 1u : 0u;
  });
}

void EncodeColumn(std::span<const float> gradient, std::span<float> residual,
                  std::span<std::byte> encoded) {
  double sum = 0, distance = 0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    residual[i] += gradient[i];
    sum += residual[i];
  }
  const auto count = static_cast<double>(gradient.size());
  const auto mean = static_cast<float>(sum / count);
  for (const float value : residual) distance += std::fabs(value - mean);
  const auto twice = static_cast<float>(2 * distance / count);
  const Range range = {mean - twice, mean + twice};
  std::memcpy(encoded.data(), &range, sizeof range);
  const auto bits = encoded.subspan(sizeof range);
  for (size_t i = 0; i < residual.size(); ++i) {
    const bool above = residual[i] >= mean;
    residual[i] -= range.At(above);
    bits[i / 8] |= static_cast<std::byte>(unsigned{above} << (7 - i % 8));
  }
}

std::vector<std::byte> EncodeColumns(std::span<const float> gradient,
                                     std::span<float> residual) {
  const size_t elements = gradient.size();
  std::vector<std::byte> encoded(EncodedBytes(Codec::kColumns, elements));
  for (size_t i = 0; i < elements; i += kColumn) {
    const size_t count = std::min<size_t>(kColumn, elements - i);
    EncodeColumn(gradient.subspan(i, count), residual.subspan(i, count),
                 std::span(encoded).subspan(i / kColumn * kColumnBytes));
  }
  return encoded;
}

void DecodeColumns(Bytes encoded, std::span<float> gradient) {
  for (size_t i = 0; i < gradient.size(); i += kColumn) {
    const Bytes column = encoded.subspan(i / kColumn * kColumnBytes);
    Range range;
    std::memcpy(&range, column.data(), sizeof range);
    const Bytes bits = column.subspan(sizeof range);
    const size_t count = std::min<size_t>(kColumn, gradient.size() - i);
    for (size_t k = 0; k < count; ++k) {
      gradient[i + k] = range.At(CodeAt<1>(bits, k) != 0);
    }
  }
}

}  // namespace

std::string Compression::text() const {
  const CodecFacts& facts = FactsOf(codec);
  if (!facts.has_threshold) return facts.name;
  return Format("%s:threshold=%.9g", facts.name, double(threshold));
}

StatusOr<Compression> ParseCompression(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  for (size_t i = 0; i < std::size(kCodecs); ++i) {
    if (name != kCodecs[i].name) continue;
    Compression parsed;
    parsed.codec = static_cast<Codec>(i);
    if (parsed.codec == Codec::kOneBit) parsed.threshold = 0;
    if (colon == text.size()) return parsed;
    constexpr std::string_view kThreshold = ":threshold=";
    const std::string number(
        text.substr(std::min(colon + kThreshold.size(), text.size())));
    char* end = nullptr;
    parsed.threshold = std::strtof(number.c_str(), &end);
    const bool legal = kCodecs[i].has_threshold &&
                       text.substr(colon).starts_with(kThreshold) &&
                       !number.empty() && *end == '\0' &&
                       std::isfinite(parsed.threshold) &&
                       (parsed.threshold > 0 || parsed.codec == Codec::kOneBit);
    if (legal) return parsed;
    break;
  }
  return Fail(StatusCode::kInvalidArgument,
              "compression '%s' is unknown; expected none, f16, 2bit, 1bit or "
              "1bit_cntk, 2bit and 1bit with :threshold=T if it is not 0.5 or "
              "0 (2bit: above 0)",
              std::string(text).c_str());
}

uint64_t EncodedBytes(Codec codec, uint64_t elements) {
  const CodecFacts& facts = FactsOf(codec);
  const uint64_t columns =
      facts.column == 0 ? 0 : (elements + facts.column - 1) / facts.column;
  return (elements + facts.values - 1) / facts.values * facts.bytes +
         columns * sizeof(Range);
}

uint64_t ElementsOf(Codec codec, uint64_t encoded_bytes) {
  const CodecFacts& facts = FactsOf(codec);
  const uint64_t columns =
      facts.column == 0 ? 0 : (encoded_bytes + kColumnBytes - 1) / kColumnBytes;
  return (encoded_bytes - columns * sizeof(Range)) / facts.bytes * facts.values;
}

std::vector<std::byte> Encode(const Compression& compression,
                              std::span<const float> gradient,
                              std::span<float> residual) {
  const Bytes bytes = std::as_bytes(gradient);
  switch (compression.codec) {
    case Codec::kNone:
      return {bytes.begin(), bytes.end()};
    case Codec::kF16: {
      std::vector<std::byte> halves(2 * gradient.size());
      runtime::ConvertElements(ElementType::kF32, bytes, ElementType::kF16,
                               halves);
      return halves;
    }
    case Codec::kTwoBit:
      return TwoBits(compression.threshold, gradient, residual);
    case Codec::kOneBit:
      return OneBit(compression.threshold, gradient, residual);
    case Codec::kColumns:
      return EncodeColumns(gradient, residual);
  }
  return {};
}

void Decode(const Compression& compression, Bytes encoded,
            std::span<float> gradient) {
  const float t = compression.threshold;
  const float levels[] = {0, 0, -t, t};
  switch (compression.codec) {
    case Codec::kNone:
      std::memcpy(gradient.data(), encoded.data(), gradient.size_bytes());
      break;
    case Codec::kF16:
      runtime::ConvertElements(ElementType::kF16, encoded, ElementType::kF32,
                               std::as_writable_bytes(gradient));
      break;
    case Codec::kTwoBit:
      for (size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = levels[CodeAt<2>(encoded, i)];
      }
      break;
    case Codec::kOneBit:
      for (size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = CodeAt<1>(encoded, i) != 0 ? 1.0f : -1.0f;
      }
      break;
    case Codec::kColumns:
      DecodeColumns(encoded, gradient);
      break;
  }
}

}  // namespace mxc::kvstore
