// SPDX-License-Identifier: Apache-2.0
// How many classes a source's labels number.
#include "tests/data/batches.h"
#include "tests/data/sorted_sources.h"

namespace mxc::data {
namespace {

TEST_CASE("count classes: every source of samples with a class") {
  const TestFolder folder;
  for (const SortedSource& source : WriteSources(folder)) {
    CAPTURE(source.spec);
    const auto iterator = MustOpen(source.spec, Options(3, source.settings));
    const auto classes = iterator->CountClasses();
    REQUIRE_MESSAGE(classes.ok(), classes.status().message());
    const bool ten =
        source.spec == "digits" || source.spec.starts_with("cifar");
    // The lines of the text are of one symbol, its end and what is unknown.
    const bool text = source.spec.starts_with("text:");
    CHECK(*classes == (ten    ? 10
                       : text ? std::ssize(iterator->label_names())
                              : kClasses));
  }
}

std::string WhyNot(const std::string& lines, const Settings& settings) {
  const TestFolder folder;
  const auto iterator =
      MustOpen("csv:" + folder.Write("a.csv", lines), Options(1, settings));
  const auto classes = iterator->CountClasses();
  REQUIRE_FALSE(classes.ok());
  const std::string& message = classes.status().message();
  return message.substr(message.find(": ") + 2);
}

TEST_CASE("count classes: labels that number none") {
  const Settings labelled = {{"label_column", "0"}};
  CHECK(WhyNot("0,1\n0.5,1\n", labelled) ==
        "line 2 has label 0.5, expected the number of its class");
  CHECK(WhyNot("0,1\n-1,1\n", labelled) ==
        "line 2 has label -1, expected the number of its class");
  CHECK(WhyNot("0,1\n65000,1\n1,1\n", labelled) ==
        "labels up to 65000 of 3 samples do not look like numbers of classes");
  CHECK(WhyNot("0,1\n", {}) == "the samples have no labels");
  CHECK(WhyNot("x,1\ny,2\n", labelled) == "no sample has a label");
}

TEST_CASE("count classes: also those of the samples that are held out") {
  const TestFolder folder;
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += std::to_string(i / 4) + ",1\n";
  const std::string spec = "csv:" + folder.Write("a.csv", lines);
  IteratorOptions options =
      Options(1, {{"label_column", "0"}, {"held_out", "0.5"}});
  for (const bool held_out : {false, true}) {
    options.held_out = held_out;
    CHECK(*MustOpen(spec, options)->CountClasses() == 10);
  }
}

TEST_CASE("count classes: one 1 among zeros is as many as there are numbers") {
  const TestFolder folder;
  const std::string spec = "csv:" + folder.Write("x.csv", "5\n6\n7\n");
  const auto count = [&](const std::string& labels) {
    const auto iterator =
        MustOpen(spec, Options(1, {{"label_csv", folder.Write("y.csv", labels)},
                                   {"label_shape", "4"}}));
    return iterator->CountClasses();
  };
  CHECK(*count("0,1,0,0\n1,0,0,0\n0,0,1,0\n") == 4);
  for (const char* other :
       {"0,1,0,0\n1,0,0,0\n0,1,1,0\n", "0,1,0,0\n1,0,0,0\n0,0,0,0\n",
        "0,1,0,0\n1,0,0,0\n0,.5,.5,0\n"}) {
    CAPTURE(other);
    CHECK(count(other).status().message().find("several labels") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace mxc::data
