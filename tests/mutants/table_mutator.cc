// SPDX-License-Identifier: Apache-2.0
#include "tests/mutants/table_mutator.h"

#include <array>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/artifact/row_fields.h"
#include "tests/support/hurtful_values.h"

namespace mxc::test {
namespace {

using runtime::Field;
using runtime::FieldKind;

template <class T>
T Load(const std::string& bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void Store(std::string& bytes, size_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

enum TableKind { kEntries, kBuffers, kSteps, kOperands, kStates, kImports };

// Where mxc_tables says where a table lies, and what its rows are.
struct TableFacts {
  size_t offset, count;  // fields of the header
  size_t row_size;
  std::span<const Field> fields;  // none: a number
};

constexpr std::array<TableFacts, 6> kTables = {{
    {offsetof(mxc_tables, entries_offset), offsetof(mxc_tables, entry_count),
     sizeof(mxc_entry), runtime::kEntryFields},
    {offsetof(mxc_tables, buffers_offset), offsetof(mxc_tables, buffer_count),
     sizeof(mxc_buffer), runtime::kBufferFields},
    {offsetof(mxc_tables, steps_offset), offsetof(mxc_tables, step_count),
     sizeof(mxc_step), runtime::kStepFields},
    {offsetof(mxc_tables, operands_offset),
     offsetof(mxc_tables, operand_count),
     sizeof(uint32_t),
     {}},
    {offsetof(mxc_tables, states_offset), offsetof(mxc_tables, state_count),
     sizeof(mxc_state), runtime::kStateFields},
    {offsetof(mxc_tables, imports_offset), offsetof(mxc_tables, import_count),
     sizeof(mxc_import), runtime::kImportFields},
}};

bool IsPair(FieldKind kind) {
  return kind == FieldKind::kText || kind == FieldKind::kBuffers ||
         kind == FieldKind::kSteps || kind == FieldKind::kOperands;
}

class Rows {
 public:
  Rows(const std::string& tables, std::mt19937_64& random) : random_(random) {
    header_ = tables.substr(0, sizeof(mxc_tables));
    const auto header = Load<mxc_tables>(tables, 0);
    strings_ = tables.substr(header.strings_offset, header.string_bytes);
    for (size_t t = 0; t < kTables.size(); ++t) {
      rows_[t] = tables.substr(
          Load<uint64_t>(header_, kTables[t].offset),
          Load<uint64_t>(header_, kTables[t].count) * kTables[t].row_size);
    }
  }

  void Change() {
    switch (Below(8)) {
      case 0:
        return Double();
      case 1:
        return Swap();
      case 2:
        return ChangeHeader();
      default:
        return ChangeField();
    }
  }

  std::string Bytes() const {
    std::string bytes = header_;
    const auto append = [&](const std::string& table, size_t offset) {
      bytes.resize((bytes.size() + 7) / 8 * 8);
      Store(bytes, offset, uint64_t{bytes.size()});
      bytes += table;
    };
    for (size_t t = 0; t < kTables.size(); ++t) {
      append(rows_[t], kTables[t].offset);
    }
    append(strings_, offsetof(mxc_tables, strings_offset));
    return bytes;
  }

 private:
  uint64_t Below(uint64_t count) { return random_() % count; }

  size_t CountOf(size_t table) const {
    return rows_[table].size() / kTables[table].row_size;
  }

  // Most rows are of the large tables, where most rules are.
  size_t AnyTable() {
    constexpr TableKind kOften[] = {kSteps,    kSteps,   kBuffers, kBuffers,
                                    kOperands, kEntries, kStates,  kImports};
    for (;;) {
      const size_t table = kOften[Below(std::size(kOften))];
      if (CountOf(table) > 0) return table;
    }
  }

  // 0, 1, the largest, 2^31 and the like, the number beside it, or that of
  // another row.
  uint64_t Other(uint64_t value, uint64_t of_other_row) {
    switch (Below(6)) {
      case 0:
        return value + 1;
      case 1:
        return value - 1;
      case 2:
        return of_other_row;
      case 3:
        return Below(value | 1);
      default:
        return kHurtfulValues[Below(std::size(kHurtfulValues))];
    }
  }

  void ChangeNumber(std::string& bytes, size_t at, size_t other, size_t width) {
    uint64_t value = 0, beside = 0;
    std::memcpy(&value, bytes.data() + at, width);
    std::memcpy(&beside, bytes.data() + other, width);
    value = Other(value, beside);
    std::memcpy(bytes.data() + at, &value, width);
  }

  void ChangeField() {
    const size_t t = AnyTable();
    const TableFacts& table = kTables[t];
    const size_t row = Below(CountOf(t)) * table.row_size;
    const size_t other = Below(CountOf(t)) * table.row_size;
    if (table.fields.empty()) {
      return ChangeNumber(rows_[t], row, other, table.row_size);
    }
    const Field& field = table.fields[Below(table.fields.size())];
    const size_t width = IsPair(field.kind) ? 4 : field.width;
    const size_t at = field.offset + Below(field.size / width) * width;
    ChangeNumber(rows_[t], row + at, other + at, width);
  }

  // Places are made right again by Bytes().
  void ChangeHeader() {
    const Field& field =
        runtime::kHeaderFields[Below(std::size(runtime::kHeaderFields))];
    const size_t width = IsPair(field.kind) ? 4 : field.width;
    const size_t at = field.offset + Below(field.size / width) * width;
    ChangeNumber(header_, at, at, width);
  }

  void Swap() {
    const size_t t = AnyTable(), size = kTables[t].row_size;
    const size_t a = Below(CountOf(t)) * size, b = Below(CountOf(t)) * size;
    const std::string row = rows_[t].substr(a, size);
    rows_[t].replace(a, size, rows_[t].substr(b, size));
    rows_[t].replace(b, size, row);
  }

  // The row's owner has one more, and the ranges behind it begin one later.
  void Double() {
    const size_t t = AnyTable(), size = kTables[t].row_size;
    const size_t row = Below(CountOf(t));
    rows_[t].insert(row * size, rows_[t].substr(row * size, size));
    const size_t count = kTables[t].count;
    Store(header_, count, Load<uint64_t>(header_, count) + 1);
    if (Below(4) == 0) return;
    if (t == kBuffers) Grow(kEntries, FieldKind::kBuffers, row);
    if (t == kSteps) Grow(kEntries, FieldKind::kSteps, row);
    if (t == kOperands) {
      Grow(kEntries, FieldKind::kOperands, row);
      Grow(kSteps, FieldKind::kOperands, row);
    }
  }

  void Grow(TableKind table, FieldKind kind, size_t row) {
    const TableFacts& facts = kTables[table];
    for (const Field& field : facts.fields) {
      if (field.kind != kind) continue;
      for (size_t i = 0; i < CountOf(table); ++i) {
        const size_t at = i * facts.row_size + field.offset;
        auto range = Load<mxc_range>(rows_[table], at);
        if (range.first > row) {
          ++range.first;
        } else if (row - range.first < range.count) {
          ++range.count;
        }
        Store(rows_[table], at, range);
      }
    }
  }

  std::mt19937_64& random_;
  std::string header_, strings_;
  std::array<std::string, kTables.size()> rows_;
};

}  // namespace

std::string MutatedTables(const std::string& tables, std::mt19937_64& random) {
  Rows rows(tables, random);
  for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
    rows.Change();
  }
  return rows.Bytes();
}

}  // namespace mxc::test
