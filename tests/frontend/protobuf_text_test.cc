// SPDX-License-Identifier: Apache-2.0
// The text format of Protocol Buffers: what it says, against the wire format's
// bytes of the same message, and what is wrong with it, by place.
#include "frontend/protobuf/text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "frontend/protobuf/wire.h"

namespace mxc::protobuf {

namespace {
enum class Season : int32_t { kSpring = 0, kAutumn = 7 };
}  // namespace

template <>
struct EnumOf<Season> {
  static const EnumType& Type() {
    static const EnumType type = {"Season", {{"SPRING", 0}, {"AUTUMN", 7}}};
    return type;
  }
};

namespace {

struct Leaf : Message {
  Text name;
  std::vector<int32_t> sizes;
  static const MessageType& Type() {
    static const MessageType type = TypeOf(
        "Leaf",
        {FieldOf<&Leaf::name>(1, "name"), FieldOf<&Leaf::sizes>(2, "sizes")});
    return type;
  }
};

struct Tree : Message {
  std::optional<int32_t> age;
  uint64_t rings = 0;
  bool old = false;
  float height = 0;
  std::vector<double> widths;
  Season season = Season::kSpring;
  std::vector<Leaf> leaf;
  std::unique_ptr<Tree> child;
  static const MessageType& Type() {
    static const MessageType type = TypeOf(
        "Tree",
        {FieldOf<&Tree::age>(1, "age"), FieldOf<&Tree::rings>(2, "rings"),
         FieldOf<&Tree::old>(3, "old"), FieldOf<&Tree::height>(4, "height"),
         FieldOf<&Tree::widths>(5, "widths"),
         FieldOf<&Tree::season>(6, "season"), FieldOf<&Tree::leaf>(7, "leaf"),
         FieldOf<&Tree::child>(8, "child")});
    return type;
  }
};

// A text and what it says.
struct Reading {
  Tree tree;
  Storage storage;
  std::shared_ptr<const SourceFile> source;
  Status status = Done{};

  explicit Reading(const std::string& text, const TextLimits& limits = {}) {
    source = std::make_shared<const SourceFile>(SourceFile{"tree.txt", text});
    status = ParseText(source, Tree::Type(), tree, storage, limits);
  }
  // "2:5 sentence" of the first error.
  std::string Wrong() const {
    if (status.ok()) return "";
    const Diagnostic& error = status.errors()[0];
    return fmt::format("{}:{} {}", error.loc.line, error.loc.column,
                       error.message);
  }
};

std::string WrongWith(const std::string& text) { return Reading(text).Wrong(); }

bool Same(const Tree& a, const Tree& b) {
  const auto leaves = [](const Leaf& x, const Leaf& y) {
    return x.name == y.name && x.sizes == y.sizes;
  };
  return a.age == b.age && a.rings == b.rings && a.old == b.old &&
         a.height == b.height && a.widths == b.widths && a.season == b.season &&
         std::ranges::equal(a.leaf, b.leaf, leaves) &&
         (a.child == nullptr) == (b.child == nullptr) &&
         (a.child == nullptr || Same(*a.child, *b.child));
}

TEST_CASE("protobuf text: both forms of a message are the same message") {
  const Reading text(R"(
      age: -2  # years
      rings: 300, old: true; height: 1.5
      widths: [0.25, -4]
      season: AUTUMN
      leaf { name: "ab" sizes: 1 sizes: 2 }
      leaf: < name: 'c' >
      child { age: 150 })");
  REQUIRE_MESSAGE(text.status.ok(), text.Wrong());
  // By hand, after protobuf.dev/programming-guides/encoding.
  constexpr char kBytes[] =
      "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "\x10\xac\x02"
      "\x18\x01"
      "\x25\x00\x00\xc0\x3f"
      "\x2a\x10\x00\x00\x00\x00\x00\x00\xd0\x3f\x00\x00\x00\x00\x00\x00\x10\xc0"
      "\x30\x07"
      "\x3a\x08\x0a\x02"
      "ab"
      "\x10\x01\x10\x02"
      "\x3a\x03\x0a\x01"
      "c"
      "\x42\x03\x08\x96\x01";
  Tree tree;
  const auto error = ParseWire(
      std::as_bytes(std::span(kBytes, sizeof(kBytes) - 1)), Tree::Type(), tree);
  REQUIRE_MESSAGE(!error, error.value_or(""));
  CHECK(Same(tree, text.tree));
  CHECK(text.tree.age == -2);
  CHECK(text.tree.leaf[0].sizes == std::vector<int32_t>{1, 2});
}

TEST_CASE("protobuf text: numbers in every notation") {
  const Reading text(
      "age: -0x10 rings: 0xFFFFFFFFFFFFFFFF old: 1 height: -inf "
      "widths: [1e3, .5, 2.f, 010, nan, infinity, 1e-999] season: 7 "
      "leaf { sizes: [017, -2147483648, 0x7fffffff] }");
  REQUIRE_MESSAGE(text.status.ok(), text.Wrong());
  CHECK(text.tree.age == -16);
  CHECK(text.tree.rings == ~uint64_t{0});
  CHECK(text.tree.old);
  CHECK(text.tree.height == -INFINITY);
  const auto& widths = text.tree.widths;
  CHECK(widths[0] == 1000);
  CHECK(widths[1] == 0.5);
  CHECK(widths[2] == 2);
  CHECK(widths[3] == 10);
  CHECK(std::isnan(widths[4]));
  CHECK(std::isinf(widths[5]));
  CHECK(widths[6] == 0);
  CHECK(text.tree.season == Season::kAutumn);
  CHECK(text.tree.leaf[0].sizes == std::vector<int32_t>{15, INT_MIN, INT_MAX});
}

TEST_CASE("protobuf text: strings are joined, their escapes are meant") {
  const Reading text(
      "leaf { name: \"a\\tb\\\"\\101\\x4a\" 'c\"'\n \"\\u00e9\" }"
      "leaf { name: 'it''s' } leaf { name: 'plain # text' }");
  REQUIRE_MESSAGE(text.status.ok(), text.Wrong());
  CHECK(text.tree.leaf[0].name == "a\tb\"AJc\"\xc3\xa9");
  CHECK(text.tree.leaf[1].name == "its");
  CHECK(text.tree.leaf[2].name == "plain # text");
  // The last one needs no memory of its own.
  const char* begin = text.source->text.data();
  CHECK(text.tree.leaf[2].name.data() > begin);
  CHECK(text.tree.leaf[2].name.data() < begin + text.source->text.size());
}

TEST_CASE("protobuf text: messages know where they stand") {
  const Reading text("age: 1\n  leaf { }\nchild { leaf {} }");
  REQUIRE(text.status.ok());
  CHECK(text.tree.leaf[0].line == 2);
  CHECK(text.tree.leaf[0].column == 3);
  CHECK(text.tree.child->leaf[0].column == 9);
  const SourceLoc loc = LocateIn(text.source, *text.tree.child);
  CHECK(loc.known());
  CHECK(loc.line == 3);
}

TEST_CASE("protobuf text: what is wrong is told with place and nearest name") {
  CHECK(WrongWith("age: 1\n agee: { x < y: 'z' 'w' > } old: t")
            .starts_with("2:2 Tree has no field 'agee'; nearest: age"));
  CHECK(WrongWith("age: 1.5") ==
        "1:6 field 'age' is '1.5', expected a whole number");
  CHECK(WrongWith("rings: -1") ==
        "1:9 field 'rings' is '-1', expected a whole number of at least 0");
  CHECK(WrongWith("age: 2147483648") ==
        "1:6 field 'age' is '2147483648', expected a whole number");
  CHECK(WrongWith("season: AUTUM") ==
        "1:9 field 'season' is 'AUTUM', expected one of SPRING, AUTUMN; "
        "nearest: AUTUMN");
  CHECK(WrongWith("season: 3").starts_with("1:9 field 'season' is '3'"));
  CHECK(WrongWith("leaf { name: x }") ==
        "1:14 field 'name' is 'x', expected a quoted string");
  CHECK(WrongWith("leaf: 5") == "1:7 field 'leaf' is '5', expected '{'");
  CHECK(WrongWith("age: 1 age: 2") ==
        "1:8 field 'age' is there twice, Tree has one");
  CHECK(WrongWith("age: [1]") == "1:6 'age' has one value, not a list");
  CHECK(WrongWith("leaf { name: \"a\n }") ==
        "1:14 the string does not end on its line");
  CHECK(WrongWith("leaf { name: '\\q' }") ==
        "1:14 the string has an escape that there is not");
  CHECK(WrongWith("age 1") == "1:5 found '1', expected ':' after 'age'");
  CHECK(WrongWith("leaf {") == "1:7 the text ends, expected a field or '}'");
  CHECK(WrongWith("age: 1 }") == "1:8 found '}', expected a field");
  CHECK(WrongWith("widths: [1, 2").starts_with("1:14 the text ends"));
}

TEST_CASE("protobuf text: all that is wrong is told at once") {
  const Reading text("age: x\nfoo: 1\nleaf { bar {} sizes: 'a' }\nold: 2");
  REQUIRE_FALSE(text.status.ok());
  CHECK(text.status.errors().size() == 5);
}

TEST_CASE("protobuf text: a text may make us do so much and no more") {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "child {";
  CHECK(WrongWith(deep).find("more than 100 deep") != std::string::npos);
  std::string unknown;
  for (int i = 0; i < 200; ++i) unknown += "foo {";
  CHECK_FALSE(Reading(unknown).status.ok());
  TextLimits limits;
  limits.messages = 2;
  CHECK(Reading("leaf {} leaf {}", limits).status.ok());
  CHECK_FALSE(Reading("leaf {} leaf {} leaf {}", limits).status.ok());
  limits.bytes = 3;
  CHECK_FALSE(Reading("age: 1", limits).status.ok());
}

TEST_CASE("protobuf text: a text is told by its first field") {
  CHECK(LooksLike("# a tree\nage: 1", Tree::Type()));
  CHECK(LooksLike("leaf {", Tree::Type()));
  CHECK_FALSE(LooksLike("leaf", Tree::Type()));
  CHECK_FALSE(LooksLike("{\"age\": 1}", Tree::Type()));
  CHECK_FALSE(LooksLike("age = 1", Tree::Type()));
  CHECK_FALSE(LooksLike("", Tree::Type()));
}

}  // namespace
}  // namespace mxc::protobuf
