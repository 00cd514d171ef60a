// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/cpu.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/abi/abi.h"
#include "runtime/base/status.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#elif defined(__riscv)
#include <sys/auxv.h>
#endif

namespace mxc::runtime {
namespace {

uint64_t MostFeatures() {
  const char* level = std::getenv(kMaxCpuVariable);
  if (level == nullptr || *level == '\0') return ~uint64_t{0};
  return CpuLevelFeatures(level).value_or(0);
}

#if defined(__x86_64__)
struct Registers {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers Cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

// The register files that the system saves (XCR0).
uint64_t SavedState() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr bool HasAll(uint64_t value, uint64_t bits) {
  return (value & bits) == bits;
}

constexpr uint32_t kAvx512 =
    bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
constexpr uint64_t kSavedYmm = 0x6, kSavedZmm = 0xe6, kSavedTiles = 0x60000;
// CPUID leaf 7, subleaf 0, ecx and edx, and subleaf 1, eax.
constexpr uint32_t kAvx512Vnni = 1u << 11;
constexpr uint32_t kAmxBf16 = 1u << 22, kAmxTile = 1u << 24,
                   kAmxInt8 = 1u << 25;
constexpr uint32_t kAvxVnni = 1u << 4, kAvx512Bf16 = 1u << 5;

uint64_t ProcessorFeatures() {
  const Registers base = Cpuid(1), more = Cpuid(7),
                  extended = Cpuid(0x80000001);
  uint64_t features = 0;
  if (HasAll(base.c, bit_SSE4_2 | bit_POPCNT | bit_SSSE3)) {
    features |= MXC_CPU_SSE42;
  }
  const uint64_t saved = base.c & bit_OSXSAVE ? SavedState() : 0;
  const bool avx2 = HasAll(base.c, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) &&
                    HasAll(more.b, bit_AVX2 | bit_BMI | bit_BMI2) &&
                    HasAll(extended.c, bit_ABM) && HasAll(saved, kSavedYmm);
  if (avx2) features |= MXC_CPU_AVX2;
  if (avx2 && HasAll(more.b, kAvx512) && HasAll(saved, kSavedZmm)) {
    features |= MXC_CPU_AVX512;
  }
  const auto add = [&](uint64_t needs, bool is_there, uint64_t feature) {
    if ((features & needs) != 0 && is_there) features |= feature;
  };
  const uint32_t later = Cpuid(7, 1).a;
  add(MXC_CPU_AVX2, HasAll(later, kAvxVnni), MXC_CPU_AVX_VNNI);
  add(MXC_CPU_AVX512, HasAll(later, kAvx512Bf16), MXC_CPU_AVX512_BF16);
  add(MXC_CPU_AVX512, HasAll(more.c, kAvx512Vnni), MXC_CPU_AVX512_VNNI);
  const bool tiles = HasAll(more.d, kAmxTile) && HasAll(saved, kSavedTiles);
  add(MXC_CPU_AVX512_BF16, tiles && HasAll(more.d, kAmxBf16), MXC_CPU_AMX_BF16);
  add(MXC_CPU_AVX512_VNNI, tiles && HasAll(more.d, kAmxInt8), MXC_CPU_AMX_INT8);
  return features;
}
#elif defined(__aarch64__)
// Linux, Documentation/arch/arm64/elf_hwcaps.rst: HWCAP_ASIMD, _ASIMDDP, _SVE, and
// HWCAP2_I8MM, _BF16; sve.rst: PR_SVE_GET_VL, the bytes of a vector.
uint64_t ProcessorFeatures() {
  constexpr unsigned long kAsimd = 1ul << 1, kDots = 1ul << 20,
                          kSve = 1ul << 22;
  constexpr unsigned long kI8mm = 1ul << 13, kBf16 = 1ul << 14;
  constexpr int kSveGetVectors = 51, kSveBytes = 0xffff;
  const unsigned long base = getauxval(AT_HWCAP), more = getauxval(AT_HWCAP2);
  if ((base & kAsimd) == 0) return 0;
  uint64_t features = MXC_CPU_NEON;
  if ((base & kDots) != 0 && (more & kI8mm) != 0) features |= MXC_CPU_I8MM;
  if ((more & kBf16) != 0) features |= MXC_CPU_BF16;
  if ((base & kSve) != 0) {
    const int vectors = prctl(kSveGetVectors);
    if (vectors > 0 && (vectors & kSveBytes) == 32) features |= MXC_CPU_SVE256;
  }
  return features;
}
#elif defined(__riscv)
// Linux, Documentation/arch/riscv/uabi.rst: a bit for each letter of the base
// instructions; V means registers of 16 bytes at least.
uint64_t ProcessorFeatures() {
  constexpr unsigned long kVectors = 1ul << ('v' - 'a');
  return (getauxval(AT_HWCAP) & kVectors) != 0 ? MXC_CPU_RVV128 : 0;
}
#else
uint64_t ProcessorFeatures() { return 0; }
#endif

}  // namespace

Status AllowFeatures(uint64_t features) {
  if ((features & (MXC_CPU_AMX_BF16 | MXC_CPU_AMX_INT8)) == 0) return {};
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  // Linux, Documentation/arch/x86/xstate.rst.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0) return {};
  return Fail(StatusCode::kUnsupported,
              "the system does not let this process use AMX: %s",
              std::strerror(errno));
#else
  return Fail(StatusCode::kUnsupported, "there is no AMX on this machine");
#endif
}

uint64_t CpuFeatures() { return ProcessorFeatures() & MostFeatures(); }

std::optional<uint64_t> CpuLevelFeatures(std::string_view level) {
#define MXC_LEVEL(name, bits, ...) \
  if (level == name) return bits;
#include "runtime/abi/levels.def"
#undef MXC_LEVEL
  return std::nullopt;
}

std::string_view CpuLevel(uint64_t features) {
  std::string_view last;
#define MXC_LEVEL(name, bits, ...) \
  if ((features & (bits)) == (bits)) last = name;
#include "runtime/abi/levels.def"
#undef MXC_LEVEL
  return last;
}

std::string CpuFeatureNames(uint64_t features) {
  static constexpr struct {
    uint64_t bit;
    const char* name;
  } kNames[] = {{MXC_CPU_SSE42, "SSE4.2"},
                {MXC_CPU_AVX2, "AVX2 with FMA"},
                {MXC_CPU_AVX512, "AVX-512"},
                {MXC_CPU_AVX512_BF16, "AVX-512 with bf16"},
                {MXC_CPU_AVX_VNNI, "AVX-VNNI"},
                {MXC_CPU_AVX512_VNNI, "AVX512-VNNI"},
                {MXC_CPU_AMX_BF16, "AMX with bf16"},
                {MXC_CPU_AMX_INT8, "AMX with int8"},
                {MXC_CPU_NEON, "NEON"},
                {MXC_CPU_I8MM, "8-bit dot products (i8mm)"},
                {MXC_CPU_BF16, "bf16"},
                {MXC_CPU_SVE256, "SVE of 32 bytes"},
                {MXC_CPU_RVV128, "RISC-V vectors"},
                {MXC_CPU_SIMD128, "WebAssembly with SIMD"},
                {MXC_CPU_RELAXED_SIMD, "relaxed SIMD"}};
  std::string names;
  auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
  };
  for (const auto& [bit, name] : kNames) {
    if (features & bit) add(name);
    features &= ~bit;
  }
  if (features != 0) {
    add(Format("feature bits %#llx that this version does not know",
               static_cast<unsigned long long>(features)));
  }
  return names;
}

}  // namespace mxc::runtime
