// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/driver/emulated_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "tests/cuda/driver/fiber.h"
#include "tests/cuda/driver/warp_products.h"
#include "tests/cuda/driver/warpgroup_products.h"

namespace mxc::runtime {
namespace {

constexpr uint32_t kMostThreads = 1024;
// Stacks that begin at one offset of a page would share sets of the caches.
constexpr size_t kStackBytes = 32 << 10, kStackStep = 448;
constexpr char kUnwritten = static_cast<char>(0xcd);

using WarpFunction = void (*)(const LaneWords&);

}  // namespace

class EmulatedBlock::Lane {
 public:
  mxc_emulated_thread thread = {};  // first: a thread is its lane
  EmulatedBlock* block = nullptr;
  const Launch* launch = nullptr;
  Fiber fiber;
  uint32_t barriers = 0;
  bool at_barrier = false;
  // What it waits for the other lanes with.
  WarpFunction meeting = nullptr;
  uint32_t* words = nullptr;

  static Lane& Of(mxc_emulated_thread* thread) {
    return *reinterpret_cast<Lane*>(thread);
  }

  void Prepare(EmulatedBlock& of, const Launch& with, uint32_t number,
               uint32_t t) {
    block = &of;
    launch = &with;
    barriers = 0;
    at_barrier = false;
    meeting = nullptr;
    copies_.clear();
    open_group_ = 0;
    products_.clear();
    open_products_ = 0;
    fences_ = 0;
    thread = {.thread = t,
              .block = number,
              .shared = of.shared(),
              .access = Touch,
              .barrier = Barrier,
              .shuffle_xor = MeetFor<ShuffleXor>,
              .copy_4 = Copy<4>,
              .copy_8 = Copy<8>,
              .copy_16 = Copy<16>,
              .commit_copies = CommitCopies,
              .wait_for_copies = WaitForCopies,
              .load_matrices = LoadFor<LoadMatrices>,
              .load_turned_matrices = LoadFor<LoadTurnedMatrices>,
              .round_to_tf32 = RoundToTf32,
              .mma_tf32 = MeetFor<MmaTf32>,
              .mma_f32 = MeetFor<MmaF32>,
              .mma_bf16 = MeetFor<MmaBf16>,
              .mma_f16 = MeetFor<MmaF16>,
              .shared_address = SharedAddress,
              .fence_shared = FenceShared,
              .begin_products = BeginProducts,
              .commit_products = CommitProducts,
              .wgmma_bf16_64 = Multiply<kBf16, 64>,
              .wgmma_bf16_128 = Multiply<kBf16, 128>,
              .wgmma_f16_64 = Multiply<kF16, 64>,
              .wgmma_f16_128 = Multiply<kF16, 128>,
              .wait_for_products_64 = WaitForProducts<64>,
              .wait_for_products_128 = WaitForProducts<128>};
  }

  bool Waits() const { return at_barrier || meeting != nullptr; }

 private:
  struct PendingCopy {
    void* to;
    const void* from;
    uint32_t bytes, whole, group;
  };

  static void Touch(mxc_emulated_thread* t, const void* address, uint32_t bytes,
                    uint32_t alignment) {
    const EmulatedBlock& block = *Of(t).block;
    const auto at = reinterpret_cast<uintptr_t>(address);
    const auto begin = reinterpret_cast<uintptr_t>(block.shared());
    const bool shared =
        at >= begin && at + bytes <= begin + Of(t).launch->shared_bytes;
    if (shared && at % alignment == 0) return;
    block.access_(t, address, bytes, alignment);
  }

  static void Barrier(mxc_emulated_thread* t) {
    Lane& lane = Of(t);
    if (++lane.barriers == lane.launch->without_barrier) return;
    lane.at_barrier = true;
    lane.fiber.Stop();
  }

  template <WarpFunction function>
  static void MeetFor(mxc_emulated_thread* t, uint32_t* words) {
    Lane& lane = Of(t);
    lane.meeting = function;
    lane.words = words;
    lane.fiber.Stop();
  }

  template <WarpFunction function>
  static void LoadFor(mxc_emulated_thread* t, uint32_t* words) {
    constexpr uint32_t kBytes = 16;
    const void* row = nullptr;
    std::memcpy(&row, words, sizeof row);
    Touch(t, row, kBytes, kBytes);
    MeetFor<function>(t, words);
  }

  static void RoundToTf32(mxc_emulated_thread*, uint32_t* words) {
    constexpr uint32_t kInfinity = 0x7f800000, kHalf = 0x1000;
    const bool finite = (words[0] & kInfinity) != kInfinity;
    words[0] = (words[0] + (finite ? kHalf : 0)) & ~(2 * kHalf - 1);
  }

  template <uint32_t whole>
  static void Copy(mxc_emulated_thread* t, void* to, const void* from,
                   uint32_t bytes) {
    if (bytes > 0) Touch(t, from, bytes, whole);
    Touch(t, to, whole, whole);
    Of(t).copies_.push_back({to, from, bytes, whole, Of(t).open_group_});
  }
  static void CommitCopies(mxc_emulated_thread* t) { ++Of(t).open_group_; }
  // As late as can be.
  static void WaitForCopies(mxc_emulated_thread* t, uint32_t groups) {
    Lane& lane = Of(t);
    size_t done = 0;
    for (const PendingCopy& copy : lane.copies_) {
      if (copy.group + groups >= lane.open_group_) break;
      std::memset(copy.to, 0, copy.whole);
      std::memcpy(copy.to, copy.from, copy.bytes);
      lane.block->written_.Note(copy.to, copy.whole, lane.thread.thread,
                                lane.fences_);
      ++done;
    }
    lane.copies_.erase(lane.copies_.begin(),
                       lane.copies_.begin() + static_cast<ptrdiff_t>(done));
  }

  static void SharedAddress(mxc_emulated_thread* t, uint32_t* words) {
    const char* address = nullptr;
    std::memcpy(&address, words, sizeof address);
    words[0] = static_cast<uint32_t>(address - Of(t).block->shared());
  }

  // Counted like a barrier: somebody has to notice that it is missing.
  static void FenceShared(mxc_emulated_thread* t) {
    Lane& lane = Of(t);
    if (++lane.barriers == lane.launch->without_barrier) return;
    ++lane.fences_;
  }
  static void BeginProducts(mxc_emulated_thread* t) {
    MeetFor<Together>(t, nullptr);
  }
  static void CommitProducts(mxc_emulated_thread* t) {
    MeetFor<Together>(t, nullptr);
    ++Of(t).open_products_;
  }
  static void Together(const LaneWords&) {}

  struct PendingProduct {
    WarpgroupProduct product;
    std::vector<float> sums;
    uint32_t group;
  };
  template <Element element, uint32_t columns>
  static void Multiply(mxc_emulated_thread* t, uint32_t* words) {
    Lane& lane = Of(t);
    MeetFor<Together>(t, words);
    const auto product = WarpgroupProduct::Read(words, element, columns);
    lane.products_.push_back(
        {product, lane.Sums(product), lane.open_products_});
    std::memmove(words, words + WarpgroupProduct::kWords,
                 columns / 2 * sizeof *words);
  }

  // As late as can be. Elements may be read from when the product is started to
  // when it is waited for: they must be the same.
  template <uint32_t columns>
  static void WaitForProducts(mxc_emulated_thread* t, uint32_t* words) {
    Lane& lane = Of(t);
    MeetFor<Together>(t, words);
    const uint32_t groups = words[0];
    std::memmove(words, words + 1, columns / 2 * sizeof *words);
    size_t done = 0;
    for (const PendingProduct& pending : lane.products_) {
      if (pending.group + groups >= lane.open_products_) break;
      const std::vector<float> late = lane.Sums(pending.product);
      if (std::memcmp(late.data(), pending.sums.data(),
                      late.size() * sizeof(float)) != 0) {
        lane.block->error_ = "what a product reads changes before it ends";
      }
      for (uint32_t i = 0; i < columns / 2; ++i) {
        words[i] = std::bit_cast<uint32_t>(std::bit_cast<float>(words[i]) +
                                           pending.sums[i]);
      }
      ++done;
    }
    lane.products_.erase(lane.products_.begin(),
                         lane.products_.begin() + static_cast<ptrdiff_t>(done));
  }

  std::vector<float> Sums(const WarpgroupProduct& product) {
    return SumsOf(product, thread.thread, [&](uint32_t offset) -> uint16_t {
      const bool inside = offset + 2 <= launch->shared_bytes;
      if (!inside) {
        block->error_ = "a product reads outside of shared memory";
        return 0;
      }
      if (!block->written_.IsFenced(offset, [&](uint32_t other) {
            return block->lanes_[other]->fences_;
          })) {
        block->error_ = "a product reads what was not fenced";
      }
      uint16_t element = 0;
      std::memcpy(&element, block->shared() + offset, sizeof element);
      return element;
    });
  }

  std::vector<PendingCopy> copies_;  // in the order of their groups
  uint32_t open_group_ = 0;
  std::vector<PendingProduct> products_;  // likewise
  uint32_t open_products_ = 0;
  uint32_t fences_ = 0;
};

EmulatedBlock::EmulatedBlock(Access access, void* user)
    : access_(access), user_(user) {}

EmulatedBlock::~EmulatedBlock() {
  if (stacks_ != nullptr) munmap(stacks_, kMostThreads * kStackBytes);
}

void* EmulatedBlock::UserOf(mxc_emulated_thread* thread) {
  return Lane::Of(thread).block->user_;
}

std::string EmulatedBlock::Run(const Launch& launch, uint32_t number) {
  if (launch.threads > kMostThreads) return "a block has too many threads";
  while (lanes_.size() < launch.threads) {
    lanes_.push_back(std::make_unique<Lane>());
  }
  shared_.resize(launch.shared_bytes / sizeof(SharedBytes) + 1);
  std::memset(shared(), kUnwritten, shared_.size() * sizeof(SharedBytes));
  written_.Clear(shared(), launch.shared_bytes);
  error_.clear();
  return launch.kernel->waits != 0 ? RunTogether(launch, number)
                                   : RunEachAlone(launch, number);
}

std::string EmulatedBlock::RunEachAlone(const Launch& launch, uint32_t number) {
  Lane& lane = *lanes_[0];
  lane.Prepare(*this, launch, number, 0);
  for (uint32_t t = 0; t < launch.threads; ++t) {
    lane.thread.thread = t;
    launch.kernel->run(&lane.thread, launch.arguments);
  }
  return error_;
}

std::string EmulatedBlock::RunTogether(const Launch& launch, uint32_t number) {
  if (stacks_ == nullptr) {
    void* memory =
        mmap(nullptr, kMostThreads * kStackBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return "no memory for stacks";
    stacks_ = static_cast<std::byte*>(memory);
  }
  shuffles_ = launch.seed != 0;
  random_.seed(static_cast<uint32_t>(launch.seed * 7919 + number + 1));
  for (uint32_t t = 0; t < launch.threads; ++t) {
    Lane* lane = lanes_[t].get();
    lane->Prepare(*this, launch, number, t);
    lane->fiber.Start(
        stacks_ + t * kStackBytes, kStackBytes - t % 16 * kStackStep, [lane] {
          lane->launch->kernel->run(&lane->thread, lane->launch->arguments);
        });
  }
  const uint32_t warps = (launch.threads + kLanes - 1) / kLanes;
  for (;;) {
    Order(warps_, 0, warps);
    for (const uint32_t w : warps_) {
      const uint32_t end = std::min(launch.threads, (w + 1) * kLanes);
      if (!RunWarp(w * kLanes, end)) return error_;
    }
    if (!error_.empty()) return error_;
    // Threads that end before they come to any barrier are not waited for.
    uint32_t ended = 0, never_waited = 0;
    for (uint32_t t = 0; t < launch.threads; ++t) {
      Lane& lane = *lanes_[t];
      ended += lane.fiber.ended() ? 1 : 0;
      never_waited += lane.fiber.ended() && lane.barriers == 0 ? 1 : 0;
      lane.at_barrier = false;
    }
    if (ended == launch.threads) return "";
    if (ended > never_waited) {
      return std::to_string(ended) + " of " + std::to_string(launch.threads) +
             " threads ended while others wait at a barrier";
    }
  }
}

// Until each lane has ended or waits at a barrier of the block.
bool EmulatedBlock::RunWarp(uint32_t first, uint32_t end) {
  for (;;) {
    Order(lane_order_, first, end);
    for (const uint32_t t : lane_order_) {
      Lane& lane = *lanes_[t];
      if (!lane.fiber.ended() && !lane.Waits()) lane.fiber.Resume();
    }
    const bool meets =
        std::any_of(lane_order_.begin(), lane_order_.end(),
                    [&](uint32_t t) { return lanes_[t]->meeting != nullptr; });
    if (!meets) return true;
    if (!Meet(first, end)) return false;
  }
}

bool EmulatedBlock::Meet(uint32_t first, uint32_t end) {
  const WarpFunction function = lanes_[first]->meeting;
  LaneWords words = {};
  bool all = end - first == kLanes;
  for (uint32_t t = first; t < end; ++t) {
    all = all && lanes_[t]->meeting == function;
    words[t - first] = lanes_[t]->words;
  }
  if (!all) {
    error_ = "lanes of warp " + std::to_string(first / kLanes) +
             " do not come to the same place";
    return false;
  }
  function(words);
  for (uint32_t t = first; t < end; ++t) lanes_[t]->meeting = nullptr;
  return true;
}

void EmulatedBlock::Order(std::vector<uint32_t>& order, uint32_t begin,
                          uint32_t end) {
  order.resize(end - begin);
  std::iota(order.begin(), order.end(), begin);
  if (shuffles_) std::shuffle(order.begin(), order.end(), random_);
}

}  // namespace mxc::runtime
