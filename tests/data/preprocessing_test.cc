// SPDX-License-Identifier: Apache-2.0
// What is done to samples, as sources say it and as they take it from another.
#include "runtime/data/preprocessing.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/data/batches.h"

namespace mxc::data {
namespace {

Settings Pictures() {
  return {{"data_shape", "3,4,4"}, {"resize", "6"},       {"mean_r", "123.68"},
          {"mean_g", "116.779"},   {"mean_b", "103.939"}, {"std_b", "0.3"},
          {"scale", "0.017"}};
}

TEST_CASE("preprocessing: one line says it, exactly") {
  Preprocessing p;
  CHECK(PreprocessingText(p) == "");
  p.data_shape = {3, 224, 224};
  p.fit = "crop";
  p.scale = 1.0 / 255;
  p.mean_img = "my means\\1.params";
  const std::string line = PreprocessingText(p);
  CHECK(line ==
        "data_shape=3,224,224 fit=crop scale=0.00392156862745098 "
        "mean_img=my\\x20means\\x5c1.params");
  const auto parsed = ParsePreprocessing(line);
  REQUIRE(parsed.ok());
  CHECK(*parsed == p);
  CHECK(*ParsePreprocessing("") == Preprocessing());
  CHECK_FALSE(ParsePreprocessing("resize=x").ok());
  CHECK_FALSE(ParsePreprocessing("colour=1").ok());
  CHECK_FALSE(ParsePreprocessing("resize").ok());
}

TEST_CASE("preprocessing: for people") {
  Preprocessing p;
  p.data_shape = {3, 2, 2};
  p.fit = "crop";
  p.order = "rgb";
  CHECK(DescribePreprocessing(p) ==
        "values 0 to 255, centre cut out, not resized");
  p.resize = 256;
  p.mean_r = 123.68;
  p.mean_g = 116.779;
  p.std_r = p.std_g = p.std_b = 58;
  CHECK(DescribePreprocessing(p) ==
        "mean 123.68, 116.779, 0, std 58, shorter side 256, centre cut out");
  CHECK(DescribePreprocessing({}) == "");
}

TEST_CASE("preprocessing: a source says its own, and another takes it") {
  const TestFolder folder;
  for (const char* name : {"f/cat/1.png", "f/dog/2.png"}) {
    folder.Write(name, PngOf(9, 7, 3, name[6]));
  }
  const std::string spec = "folder:" + folder.path("f");
  const auto trained = MustOpen(spec, Options(2, Pictures()));
  CHECK(trained->preprocessing() ==
        "data_shape=3,4,4 fit=crop order=rgb layout=NCHW resize=6 "
        "mean_r=123.68 mean_g=116.779 mean_b=103.939 std_b=0.3 scale=0.017");
  IteratorOptions options = Options(2);
  options.preprocessing = trained->preprocessing();
  const auto scored = MustOpen(spec, options);
  CHECK(Drain(*scored) == Drain(*trained));
  // What is said wins.
  options.settings = {{"scale", "1"}};
  CHECK(MustOpen(spec, options)->preprocessing().find("scale") ==
        std::string::npos);
  // What is drawn at random is not taken over.
  Settings random = Pictures();
  random.emplace_back("rand_mirror", "1");
  CHECK(MustOpen(spec, Options(2, random))->preprocessing() ==
        trained->preprocessing());
  CHECK(MustOpen("digits", Options(2))->preprocessing() ==
        "data_shape=1,28,28 fit=stretch order=grey layout=NCHW "
        "scale=0.00392156862745098");
}

TEST_CASE("loader: a record with a value that is no number is damaged") {
  const TestFolder folder;
  const std::string path =
      folder.Write("x.csv", "1,2,3,0\n4,nan,6,1\n7,8,9,nan\n1,1,1,0\n");
  const std::string spec = "csv:" + path;
  IteratorOptions options = Options(2, {{"label_column", "3"}});
  const auto iterator = MustOpen(spec, options);
  const std::vector<Seen> batches = Drain(*iterator);
  for (const Seen& batch : batches) {
    for (const int64_t sample : batch.index)
      CHECK((sample == 0 || sample == 3));
  }
  REQUIRE(iterator->bad_records().sentences.size() >= 2);
  CHECK(iterator->bad_records().sentences[0] ==
        spec + ": line 2: 'data' holds nan at (1)");
  CHECK(std::ranges::count(iterator->bad_records().sentences,
                           spec + ": line 3: 'softmax_label' holds nan") > 0);
  options.on_bad_record = OnBadRecord::kStop;
  const auto stopping = MustOpen(spec, options);
  Batch batch;
  CHECK(stopping->Next(batch).status().message() ==
        spec + ": line 2: 'data' holds nan at (1)");
}

}  // namespace
}  // namespace mxc::data
