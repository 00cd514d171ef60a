// SPDX-License-Identifier: Apache-2.0
#include "codegen/cache/object_cache.h"

#include <fmt/format.h>

#include "runtime/base/checksum.h"
#include "tests/fuzz/target.h"
#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {
namespace {

constexpr const char* kKey = "0123456789abcdef";

void RunObjectCache(Bytes input) {
  const auto object = ObjectIn(TextOf(input), kKey);
  if (object) Touch(BytesOf(*object));
}

std::vector<std::string> ObjectCacheSeeds() {
  std::vector<std::string> seeds;
  for (const char* object : {"",
                             "\x7f"
                             "ELF and more"}) {
    const test::TemporaryFolder folder("objects");
    ObjectCache cache(folder.path());
    cache.Keep(kKey, object);
    seeds.push_back(test::TextOf(folder.File(std::string(kKey) + ".mxo")));
  }
  return seeds;
}

void SealObjectCache(std::span<std::byte> input) {
  constexpr size_t kDigits = 16;
  const std::string_view text = TextOf(input);
  const size_t key = text.find('\n');
  if (key == text.npos) return;
  const size_t sum = text.find('\n', key + 1);
  if (sum == text.npos || text.size() < sum + 2 + kDigits) return;
  const std::string digits = fmt::format(
      "{:016x}", runtime::Checksum(Bytes(input).subspan(sum + 2 + kDigits)));
  for (size_t i = 0; i < kDigits; ++i) {
    input[sum + 1 + i] = static_cast<std::byte>(digits[i]);
  }
}

}  // namespace

extern const Target object_cache;
const Target object_cache = {.run = RunObjectCache,
                             .seeds = ObjectCacheSeeds,
                             .most_bytes = 128,
                             .words = {"mxc object 1\n", kKey},
                             .seal = SealObjectCache};

}  // namespace mxc::fuzz
