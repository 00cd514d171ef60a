// SPDX-License-Identifier: Apache-2.0
// Tables that somebody made up: whatever is taken can be read.
#include <doctest/doctest.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "runtime/artifact/tables.h"
#include "tests/runtime/block_artifacts.h"
#include "tests/runtime/read_tables.h"
#include "tests/runtime/test_artifact.h"
#include "tests/support/field_places.h"
#include "tests/support/hurtful_values.h"

namespace mxc::test {
namespace {

using runtime::Field;
using runtime::FieldKind;
using runtime::Tables;

constexpr uint64_t kWeightBytes = 8192;

std::vector<std::string> SoundTables() {
  return {ExampleArtifact().Tables(),  ChainArtifact().Tables(),
          PreparedArtifact().Tables(), TrainArtifact().Tables(),
          ScanArtifact().Tables(),     NestedArtifact().Tables(),
          TravelArtifact().Tables()};
}

// What the reader says; empty: it takes the tables, and all in them is there.
std::string Complaint(const std::string& tables) {
  const auto parsed =
      Tables::Parse(std::as_bytes(std::span(tables)), kWeightBytes);
  if (!parsed.ok()) return parsed.status().message();
  const std::string wrong = ReadAll(*parsed);
  CHECK(wrong == "");
  return "";
}

std::string With(const std::string& tables, size_t at, uint64_t value,
                 size_t width) {
  std::string changed = tables;
  std::memcpy(changed.data() + at, &value, width);
  return changed;
}

bool IsRange(FieldKind kind) { return kind <= FieldKind::kOperands; }

uint64_t Range(uint32_t first, uint64_t count) { return first | count << 32; }

// A value that the field has in no file, and how it is refused.
struct Wrong {
  uint64_t value;
  const char* complaint;
};
Wrong WrongFor(FieldKind kind) {
  switch (kind) {
    case FieldKind::kText:
      return {Range(0x80000000, 0), "is no string"};
    case FieldKind::kBuffers:
    case FieldKind::kSteps:
    case FieldKind::kOperands:
      return {Range(0x80000000, 0), "leaves its table"};
    case FieldKind::kBufferIndex:
      return {0x80000000, "is no buffer of its entry"};
    case FieldKind::kStepIndex:
      return {0x80000000, "is no step of its entry"};
    case FieldKind::kBelow:
      return {0xff, "is unknown"};
    case FieldKind::kAmount:
      return {~uint64_t{0}, "is impossible"};
    case FieldKind::kReserved:
      return {1, "is not zero"};
    case FieldKind::kByKind:
      break;
  }
  return {0, ""};
}

}  // namespace

TEST_CASE("each field of each row is checked, whatever the row is for") {
  for (const std::string& tables : SoundTables()) {
    REQUIRE(Complaint(tables) == "");
    for (const FieldPlace& place : FieldPlaces(tables)) {
      const Field& field = *place.field;
      if (field.kind == FieldKind::kByKind) continue;
      CAPTURE(field.name);
      const auto [value, complaint] = WrongFor(field.kind);
      CHECK(Complaint(With(tables, place.at, value, field.width))
                .ends_with(std::string(": its field '") + field.name + "' " +
                           complaint));
    }
  }
}

TEST_CASE("whatever a field holds, what is taken can be read") {
  for (const std::string& tables : SoundTables()) {
    for (const FieldPlace& place : FieldPlaces(tables)) {
      const Field& field = *place.field;
      CAPTURE(field.name);
      for (const uint64_t value : kHurtfulValues) {
        if (IsRange(field.kind)) {
          for (const uint64_t count : kHurtfulValues) {
            Complaint(With(tables, place.at,
                           Range(static_cast<uint32_t>(value), count), 8));
          }
          continue;
        }
        for (size_t at = 0; at < field.size; at += field.width) {
          Complaint(With(tables, place.at + at, value, field.width));
        }
      }
    }
  }
}

TEST_CASE("amounts that are possible one by one are refused in sum") {
  TestArtifact artifact = ChainArtifact();
  CHECK(ComplaintAbout(artifact) == "");
  for (TestStep& step : artifact.entries[0].steps) {
    step.flops = runtime::kMostAmount / 4;
  }
  CHECK(ComplaintAbout(artifact) ==
        "entry 0, step 4: its field 'flops' is impossible");
}

TEST_CASE("rows of two owners, and rows of none") {
  TestArtifact artifact = ChainArtifact();
  artifact.entries.push_back(artifact.entries.front());
  const std::string tables = artifact.Tables();
  mxc_tables header;
  std::memcpy(&header, tables.data(), sizeof header);
  const size_t second = header.entries_offset + sizeof(mxc_entry);
  mxc_entry first;
  std::memcpy(&first, tables.data() + header.entries_offset, sizeof first);
  const auto with = [&](size_t offset, mxc_range range) {
    return Complaint(With(tables, second + offset,
                          Range(range.first, range.count), sizeof range));
  };
  CHECK(Complaint(tables) == "");
  // There are as many rows as they count.
  CHECK(with(offsetof(mxc_entry, buffers), first.buffers) ==
        "tables: rows with two owners");
  CHECK(with(offsetof(mxc_entry, steps), first.steps) ==
        "tables: rows with two owners");
  CHECK(with(offsetof(mxc_entry, inputs), first.inputs) ==
        "tables: rows with two owners");
  CHECK(with(offsetof(mxc_entry, carries), {0, 0}) == "");
  CHECK(with(offsetof(mxc_entry, outputs), {0, 0}) ==
        "tables: rows without an owner");
}

}  // namespace mxc::test
