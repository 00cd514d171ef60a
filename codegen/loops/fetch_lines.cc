// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/fetch_lines.h"

#include <algorithm>

#include "codegen/llvm/llvm.h"
#include "ir/support/division.h"
#include "ir/target/machine.h"

namespace mxc {
namespace {

constexpr int64_t kMostLines = 4;  // of a row
constexpr int64_t kLinesAhead = 48, kMostRowsAhead = 16;
constexpr int kFirstCache = 3, kData = 1;  // operands of llvm.prefetch

}  // namespace

void FetchLines(KernelFunction& kernel, llvm::Value* address, int64_t bytes,
                bool to_write) {
  auto& builder = kernel.b();
  const auto fetch = [&](int64_t offset) {
    builder.CreateIntrinsic(
        builder.getVoidTy(), llvm::Intrinsic::prefetch,
        {kernel.ElementAddress(address, kernel.Int(offset), 1),
         builder.getInt32(to_write ? 1 : 0), builder.getInt32(kFirstCache),
         builder.getInt32(kData)});
  };
  for (int64_t line = 0;
       line < std::min(kMostLines, DivideUp(bytes, kLineBytes)); ++line) {
    fetch(line * kLineBytes);
  }
  // Rows of other sizes begin anywhere within a line.
  const bool begins_lines = bytes % kLineBytes == 0;
  if (!begins_lines && bytes <= kMostLines * kLineBytes) fetch(bytes - 1);
}

int64_t RowsToFetchAhead(int64_t bytes, int64_t operands) {
  const int64_t lines =
      operands * std::min(kMostLines, DivideUp(bytes, kLineBytes));
  return std::clamp<int64_t>(kLinesAhead / std::max<int64_t>(1, lines), 1,
                             kMostRowsAhead);
}

}  // namespace mxc
