// SPDX-License-Identifier: Apache-2.0
// How far writing a large artifact has come.
#include <doctest/doctest.h>

#include "codegen/codegen.h"
#include "tests/support/temporary_folder.h"

namespace mxc {
namespace {

TEST_CASE("who looks on counts every byte, and changes none") {
  const test::TemporaryFolder folder("write");
  ArtifactSections sections;
  sections.code = "code";
  sections.tables = "tables";
  sections.weights.resize((32 << 20) + 5000, std::byte{7});
  const auto write = [&](const char* name, WorkCount* count) {
    const auto sizes = WriteArtifact(folder.File(name), sections,
                                     {{"key", "value"}}, "{}", count);
    REQUIRE(sizes.ok());
    return test::TextOf(folder.File(name));
  };
  WorkCount count;
  const bool same = write("seen", &count) == write("unseen", nullptr);
  CHECK(same);
  CHECK(count.total ==
        static_cast<int64_t>(sections.weights.size()) + 4 + 6 + 11 + 2);
  CHECK(count.done.load() == count.total.load());
}

}  // namespace
}  // namespace mxc
