// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/compression.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "runtime/formats/convert.h"

namespace mxc::kvstore {
namespace {

using runtime::ElementType;

struct CodecFacts {
  const char* name;
  bool has_threshold;
  uint64_t values, bytes;  // the least unit
};

constexpr CodecFacts kCodecs[] = {{"none", false, 1, 4},
                                  {"f16", false, 1, 2},
                                  {"2bit", true, 16, 4},
                                  {"1bit", true, 32, 4}};

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
              "compression '%s' is unknown; expected none, f16, 2bit or 1bit, "
              "the last two with :threshold=T if it is not 0.5 or 0 (2bit: "
              "above 0)",
              std::string(text).c_str());
}

uint64_t EncodedBytes(Codec codec, uint64_t elements) {
  const CodecFacts& facts = FactsOf(codec);
  return (elements + facts.values - 1) / facts.values * facts.bytes;
}

uint64_t ElementsOf(Codec codec, uint64_t encoded_bytes) {
  const CodecFacts& facts = FactsOf(codec);
  return encoded_bytes / facts.bytes * facts.values;
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
  }
}

}  // namespace mxc::kvstore
