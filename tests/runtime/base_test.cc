// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <pthread.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/abi/abi.h"
#include "runtime/base/bytes.h"
#include "runtime/base/checksum.h"
#include "runtime/base/clock.h"
#include "runtime/base/cpu.h"
#include "runtime/base/memory.h"
#include "runtime/base/number_text.h"
#include "runtime/base/start_thread.h"
#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"

namespace mxc::runtime {
namespace {

// MXC_MAX_CPU as a test sets it, and as it was afterwards.
class MaxCpu {
 public:
  explicit MaxCpu(const char* level) {
    if (const char* held = std::getenv(kMaxCpuVariable)) held_ = held;
    setenv(kMaxCpuVariable, level, /*overwrite=*/1);
  }
  ~MaxCpu() { setenv(kMaxCpuVariable, held_.c_str(), 1); }

 private:
  std::string held_;
};

TEST_CASE("numbers: as many digits as tell them apart") {
  CHECK(runtime::ShortestText(0.1) == "0.1");
  CHECK(runtime::ShortestText(0.1 + 0.2) == "0.30000000000000004");
  CHECK(runtime::ShortestText(1e6) == "1000000");
  CHECK(runtime::ShortestText(0.1f) == "0.1");
  CHECK(runtime::ShortestText(16777217.0) == "16777217");
  CHECK(runtime::ShortestText(0.76640075f) == "0.76640075");
}

TEST_CASE("texts: shortened by characters, not by bytes") {
  CHECK(runtime::Shortened("abc", 3) == "abc");
  CHECK(runtime::Shortened("abcd", 3) == "ab…");
  CHECK(runtime::Shortened("grün", 3) == "gr…");
  CHECK(runtime::Shortened("日本語", 2) == "日…");
  CHECK(runtime::Shortened("abcd", 1) == "…");
}

TEST_CASE("texts: a character that lacks its rest is told from broken ones") {
  const std::string euro = "€";  // three bytes
  CHECK(runtime::UnfinishedBytes("") == 0);
  CHECK(runtime::UnfinishedBytes("a") == 0);
  CHECK(runtime::UnfinishedBytes("a" + euro) == 0);
  CHECK(runtime::UnfinishedBytes("a" + euro.substr(0, 1)) == 1);
  CHECK(runtime::UnfinishedBytes("a" + euro.substr(0, 2)) == 2);
  CHECK(runtime::UnfinishedBytes("\xf0\x9f\x99") == 3);
  CHECK(runtime::UnfinishedBytes("\xf0\x9f\x99\x82") == 0);
  // Nothing that follows makes a character of these.
  CHECK(runtime::UnfinishedBytes("a\x82\x82") == 0);
  CHECK(runtime::UnfinishedBytes("\x82\x82\x82\x82") == 0);
  CHECK(runtime::UnfinishedBytes("\xff") == 0);
  CHECK(runtime::UnfinishedBytes("\xc1") == 0);
}

TEST_CASE("clock: seconds have the digits of their nanoseconds") {
  for (const int64_t ns : {432090, 248181, 309714, 1, 999999999}) {
    const std::string text = runtime::ShortestText(runtime::SecondsOf(ns));
    CHECK_MESSAGE(text.size() <= 11, text);
    CHECK(std::stod(text) * 1e9 == doctest::Approx(ns).epsilon(1e-12));
  }
  CHECK(runtime::Measured(2618.901591182008) == 2618.9);
}

}  // namespace

TEST_CASE("spans are not left, whatever offsets say") {
  alignas(8) const std::byte bytes[24] = {};
  const Bytes span(bytes);
  CHECK(Slice(span, 24, 0).has_value());
  CHECK_FALSE(Slice(span, 25, 0).has_value());
  CHECK_FALSE(Slice(span, 8, ~uint64_t{0}).has_value());
  CHECK_FALSE(Slice(span, ~uint64_t{0}, 1).has_value());
  CHECK(ArrayAt<uint64_t>(span, 8, 2).has_value());
  CHECK_FALSE(ArrayAt<uint64_t>(span, 8, 3).has_value());
  CHECK_FALSE(ArrayAt<uint64_t>(span, 4, 1).has_value());  // not aligned
  CHECK_FALSE(ArrayAt<uint64_t>(span, 8, uint64_t{1} << 61).has_value());
}

TEST_CASE("a thread that cannot be started says what it was for") {
  pthread_attr_t usual, large;
  REQUIRE(pthread_getattr_default_np(&usual) == 0);
  large = usual;
  // No machine has so much for a stack.
  REQUIRE(pthread_attr_setstacksize(&large, size_t{1} << 60) == 0);
  REQUIRE(pthread_setattr_default_np(&large) == 0);
  std::string said;
  try {
    StartThread("reads samples", [] {}).join();
  } catch (const std::system_error& error) {
    said = error.what();
  }
  REQUIRE(pthread_setattr_default_np(&usual) == 0);
  CHECK(said ==
        "cannot start a thread that reads samples: Resource temporarily "
        "unavailable");
  StartThread("reads samples", [] {}).join();
}

TEST_CASE("checksums are XXH3's") {
  // What xxhsum -H3 prints for an empty file.
  CHECK(Checksum({}) == 0x2d06800538d394c2ull);
}

#if defined(__x86_64__)
TEST_CASE("a processor is held down to a level") {
  const uint64_t had = CpuFeatures();
  for (const auto& [level, most] :
       {std::pair<const char*, uint64_t>{"x86-64-v2", MXC_CPU_SSE42},
        {"x86-64-v3", MXC_CPU_SSE42 | MXC_CPU_AVX2},
        {"x86-64-v5", 0}}) {
    const MaxCpu held(level);
    CHECK((CpuFeatures() & ~most) == 0);
    CHECK((had & most & ~CpuFeatures()) == 0);
  }
  CHECK(CpuFeatures() == had);
}

TEST_CASE("processor features agree with the compiler's run time") {
  const MaxCpu any("");
  __builtin_cpu_init();
  const uint64_t features = CpuFeatures();
  CHECK(((features & MXC_CPU_SSE42) != 0) ==
        (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")));
  CHECK(((features & MXC_CPU_AVX2) != 0) ==
        (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
  CHECK(((features & MXC_CPU_AVX512) != 0) ==
        (__builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq")));
}
#endif

TEST_CASE("regions are zeroed, aligned and refuse the impossible") {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{9} << 20}) {
    StatusOr<Region> region = Region::Allocate(bytes, "test");
    REQUIRE(region.ok());
    CHECK(reinterpret_cast<uintptr_t>(region->data()) % MXC_PAGE == 0);
    CHECK(region->data()[0] == std::byte{0});
    CHECK(region->data()[bytes - 1] == std::byte{0});
  }
  CHECK_FALSE(Region::Allocate(~uint64_t{0}, "test").ok());
}

TEST_CASE("names are cut at their fronts, between characters") {
  CHECK(CutFront("stage1_conv1", 12) == "stage1_conv1");
  CHECK(CutFront("stage1_conv1", 11) == "...e1_conv1");
  CHECK(CutFront("süß重み", 5) == "süß重み");
  CHECK(CutFront("süß重み", 4) == "...み");
  CHECK(CutFront("", 4) == "");
}

TEST_CASE("what a terminal would obey is made visible") {
  CHECK(Visible("plain, süß, 重み, \xf0\x9f\x98\x80") ==
        "plain, süß, 重み, \xf0\x9f\x98\x80");
  CHECK(Visible("\x1b[31mred\x7f\n\t") ==
        "\\u001b[31mred\\u007f\\u000a\\u0009");
  CHECK(Visible(std::string_view("a\0b", 3)) == "a\\u0000b");
  // C1, marks of direction, a separator of lines, a noncharacter
  CHECK(Visible("\xc2\x9b"
                "2J") == "\\u009b2J");
  CHECK(Visible("\u202eabc\u2066\u2028\uffff\u061c\u200f") ==
        "\\u202eabc\\u2066\\u2028\\uffff\\u061c\\u200f");
  // no UTF-8: a byte alone, overlong, a surrogate, cut off, beyond U+10FFFF
  CHECK(Visible("\x9b"
                "2J") == "\\x9b2J");
  CHECK(Visible("\xc0\xaf") == "\\xc0\\xaf");
  CHECK(Visible("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(Visible("\xe2\x82") == "\\xe2\\x82");
  CHECK(Visible("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(VisibleLines("two\n\tlines\x1b") == "two\n\tlines\\u001b");
}

TEST_CASE("a JSON string holds no control character") {
  CHECK(JsonQuoted("a\"\\\n\r\t\x1b\x7f\u202e\xff") ==
        R"("a\"\\\n\r\t\u001b\u007f\u202e\ufffd")");
}

}  // namespace mxc::runtime
