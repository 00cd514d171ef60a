// SPDX-License-Identifier: Apache-2.0
// Text: running text in columns, lines in buckets, vocabularies.
#include "tests/data/batches.h"

namespace mxc::data {
namespace {

using Values = std::vector<float>;

TEST_CASE("text: columns go on from batch to batch") {
  const TestFolder folder;
  const std::string spec =
      "text:" + folder.Write("a.txt", "abcdefghijklmnopqrstuvwxyz");
  IteratorOptions options = Options(3, {{"length", "2"}});
  options.shuffle = true;  // running text keeps its order
  const auto iterator = MustOpen(spec, options);
  CHECK(iterator->summary() == spec + ": 12 samples, data 2, 26 symbols");
  const auto batches = Drain(*iterator);
  REQUIRE(batches.size() == 4);
  // 25 symbols have a successor: three columns of 8.
  CHECK(batches[0].data[0] == Values{0, 1, 8, 9, 16, 17});
  CHECK(batches[0].labels[0] == Values{1, 2, 9, 10, 17, 18});
  CHECK(batches[1].data[0] == Values{2, 3, 10, 11, 18, 19});
  CHECK(batches[3].data[0] == Values{6, 7, 14, 15, 22, 23});
  Batch batch;
  REQUIRE(*iterator->Next(batch));
  CHECK_FALSE(batch.continues);
  REQUIRE(*iterator->Next(batch));
  CHECK(batch.continues);
}

TEST_CASE("text: the end is held out, parts are stretches") {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>('a' + i % 26);
  const std::string spec = "text:" + folder.Write("a.txt", text);
  IteratorOptions options = Options(1, {{"length", "3"}, {"held_out", "0.2"}});
  const auto training = Drain(*MustOpen(spec, options));
  CHECK(training.size() == 26);
  options.held_out = true;
  const auto validation = Drain(*MustOpen(spec, options));
  CHECK(validation.size() == 6);
  CHECK(validation[0].data[0][0] == 80 % 26);
  options =
      Options(1, {{"length", "4"}, {"num_parts", "2"}, {"part_index", "1"}});
  CHECK(Drain(*MustOpen(spec, options))[0].data[0][0] == 50 % 26);
  CHECK(Says(Refusal(spec, Options(40, {{"length", "3"}})),
             "100 symbols do not fill 40 rows of length=3"));
}

TEST_CASE("text: characters are UTF-8's, and damaged bytes themselves") {
  const TestFolder folder;
  const std::string spec = "text:" + folder.Write("a.txt", "aé€é\xff\xe2\x82z");
  const auto iterator = MustOpen(spec, Options(1, {{"length", "7"}}));
  CHECK(iterator->label_names() ==
        std::vector<std::string>{"a", "z", "\x82", "é", "\xe2", "€", "\xff"});
  IteratorOptions other = Options(1, {{"length", "2"}});
  other.label_names = {"a", "é"};
  CHECK(Says(Refusal(spec, other), "'€' at byte 3 is not in the vocabulary"));
  other.settings.emplace_back("unknown", "a");
  CHECK(Drain(*MustOpen(spec, other))[0].data[0] == Values{0, 1});
}

TEST_CASE("text: words") {
  const TestFolder folder;
  const std::string spec =
      "text:" + folder.Write("a.txt", "the cat  saw\nthe dog \n");
  const auto iterator =
      MustOpen(spec, Options(1, {{"length", "6"}, {"unit", "word"}}));
  CHECK(iterator->label_names() ==
        std::vector<std::string>{"\n", "cat", "dog", "saw", "the"});
  CHECK(Drain(*iterator)[0].data[0] == Values{4, 1, 3, 0, 4, 2});
}

TEST_CASE("text: the tokens of a vocabulary") {
  const TestFolder folder;
  const std::string vocabulary =
      folder.Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\n##s\n");
  const std::string spec = "text:" + folder.Write("a.txt", "The cats\nthe dog");
  IteratorOptions options =
      Options(1, {{"length", "4"}, {"tokens", vocabulary}});
  const auto iterator = MustOpen(spec, options);
  CHECK(iterator->label_names().empty());  // they are in a file of theirs
  CHECK(Drain(*iterator)[0].data[0] == Values{4, 5, 6, 4});
  CHECK(Drain(*iterator)[0].labels[0] == Values{5, 6, 4, 1});
  options.settings.emplace_back("unit", "word");
  CHECK(Says(Refusal(spec, options),
             "'tokens' stands beside 'unit', expected one of them"));
}

// The same lines as mx.rnn.BucketSentenceIter would hold them.
TEST_CASE("text: lines in buckets, filled up with 0") {
  const TestFolder folder;
  const std::string spec =
      "text:" + folder.Write("a.txt", "ab\nba\r\n\nabcd\nabc\naaaaaaaaa\na\n");
  IteratorOptions options = Options(2, {{"buckets", "5,2"}});
  options.last_batch = LastBatch::kPad;
  const auto iterator = MustOpen(spec, options);
  CHECK(Says(iterator->summary(), "1 lines of more than 5 symbols left out"));
  REQUIRE(iterator->buckets() == 2);
  CHECK(iterator->bucket_key(0) == 2);
  CHECK(iterator->provides().data[0].shape == std::vector<int64_t>{2, 5});
  const auto batches = Drain(*iterator);
  REQUIRE(batches.size() == 3);
  CHECK(batches[0].data[0] == Values{1, 2, 2, 1});
  CHECK(batches[0].labels[0] == Values{2, 0, 1, 0});
  CHECK(batches[1].data[0] == Values{1, 0, 1, 2});
  CHECK(batches[1].pad == 1);
  CHECK(batches[2].bucket == 1);
  CHECK(batches[2].data[0] == Values{1, 2, 3, 4, 0, 1, 2, 3, 0, 0});
  CHECK(batches[2].labels[0] == Values{2, 3, 4, 0, 0, 2, 3, 0, 0, 0});
  options.last_batch = LastBatch::kDiscard;
  CHECK(Drain(*MustOpen(spec, options)).size() == 2);
  CHECK(Refusal("text:" + folder.Write("long.txt", "abc\nabcd\n"),
                Options(1, {{"buckets", "1,2"}}))
            .ends_with(
                "there are no samples; 2 lines of more than 2 symbols left "
                "out"));
}

}  // namespace
}  // namespace mxc::data
