// SPDX-License-Identifier: Apache-2.0
// Pictures: folders, RecordIO with damage, decoding, augmentation.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/data/picture/picture.h"
#include "runtime/data/settings.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/recordio.h"
#include "tests/data/batches.h"
#include "tests/support/shared.h"

// jpeglib.h needs FILE.
#include <jpeglib.h>

namespace mxc::data {
namespace {

using runtime::ImageRecord;
using runtime::RecordWriter;

runtime::Bytes BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string JpegOf(int width, int height, J_COLOR_SPACE space, int components,
                   uint8_t value) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr error{};
  encoder.err = jpeg_std_error(&error);
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = static_cast<JDIMENSION>(width);
  encoder.image_height = static_cast<JDIMENSION>(height);
  encoder.in_color_space = space;
  encoder.input_components = components;
  jpeg_set_defaults(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(width * components), value);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&encoder, rows, 1);
  }
  jpeg_finish_compress(&encoder);
  std::string file(reinterpret_cast<char*>(memory), size);
  jpeg_destroy_compress(&encoder);
  free(memory);
  return file;
}

// Records 0 … count-1 with their number as label; the offset of each.
std::vector<uint64_t> WriteRecords(const std::string& path, int count) {
  RecordWriter writer(path);
  std::vector<uint64_t> offsets;
  for (int i = 0; i < count; ++i) {
    const std::string png = PngOf(8, 6, 3, i);
    const auto payload = runtime::PackImageRecord(
        {{static_cast<float>(i)}, static_cast<uint64_t>(i), 0, BytesOf(png)});
    const auto offset = writer.Append(payload);
    REQUIRE(offset.ok());
    offsets.push_back(*offset);
  }
  REQUIRE(writer.Commit().ok());
  return offsets;
}

Settings Shape(const char* shape, Settings more = {}) {
  more.emplace_back("data_shape", shape);
  return more;
}

TEST_CASE("rec: damage is counted, named and skipped, or refused") {
  const TestFolder folder;
  const std::string path = folder.path("a.rec"), spec = "rec:" + path;
  const auto offsets = WriteRecords(path, 8);
  std::string file = ReadText(path);
  file[offsets[2] + 5] ^= 0x10;                  // its length
  file[file.find("IDAT", offsets[5]) + 8] ^= 1;  // its picture
  folder.Write("a.rec", file);
  const IteratorOptions options = Options(7, Shape("3,6,8"));
  const auto iterator = MustOpen(spec, options);
  CHECK(iterator->samples() == 7);
  const auto batches = Drain(*iterator);
  CHECK(batches[0].labels[0] == std::vector<float>{0, 1, 3, 4, 6, 6, 7});
  const BadRecords& bad = iterator->bad_records();
  REQUIRE(bad.count == 2);
  CHECK(bad.sentences[0] == spec + ": bytes " + std::to_string(offsets[2]) +
                                " to " + std::to_string(offsets[3]) +
                                " hold no whole record");
  CHECK(Says(bad.sentences[1],
             ": record 4 at byte " + std::to_string(offsets[5]) + ": "));
  IteratorOptions stop = options;
  stop.on_bad_record = OnBadRecord::kStop;
  CHECK(Says(Refusal(spec, stop), "hold no whole record"));
  folder.Write("a.rec", file.substr(offsets[3]));
  const auto stopping = MustOpen(spec, stop);
  Batch batch;
  const auto refused = stopping->Next(batch);
  REQUIRE_FALSE(refused.ok());
  CHECK(Says(refused.status().message(), "record 2 at byte"));
  folder.Write("a.rec", "nothing that helps");
  CHECK(Says(Refusal(spec, options), "holds no whole record"));
}

TEST_CASE("rec: parts by bytes cover every record once") {
  const TestFolder folder;
  const std::string path = folder.path("a.rec");
  WriteRecords(path, 23);
  std::vector<float> labels;
  for (int part = 0; part < 5; ++part) {
    IteratorOptions options = Options(
        3, Shape("1,6,8",
                 {{"num_parts", "5"}, {"part_index", std::to_string(part)}}));
    options.last_batch = LastBatch::kPad;
    for (const Seen& batch : Drain(*MustOpen("rec:" + path, options))) {
      labels.insert(labels.end(), batch.labels[0].begin(),
                    batch.labels[0].end() - batch.pad);
    }
  }
  REQUIRE(labels.size() == 23);
  for (size_t i = 0; i < 23; ++i) CHECK(labels[i] == static_cast<float>(i));
}

TEST_CASE("rec: labels from a list, and several of them") {
  const TestFolder folder;
  const std::string path = folder.path("a.rec");
  WriteRecords(path, 4);
  const std::string list =
      folder.Write("a.lst", "2\t5.0\t6\tc.png\n0\t1\t2\ta.png\n3\t7\t8\tx\n");
  const auto iterator = MustOpen(
      "rec:" + path, Options(3, Shape("3,6,8", {{"path_imglist", list},
                                                {"label_width", "2"}})));
  const auto batches = Drain(*iterator);
  CHECK(batches[0].labels[0] == std::vector<float>{1, 2, 5, 6, 5, 6});
  CHECK(Says(iterator->bad_records().sentences[0], "id 1 is not in"));
  const auto missing = MustOpen(
      "rec:" + path, Options(1, Shape("3,6,8", {{"label_width", "2"}})));
  Batch batch;
  CHECK(Says(missing->Next(batch).status().message(),
             "1 labels, expected label_width=2"));
  folder.Write("a.lst", "2\t5.0\n");
  CHECK(Says(Refusal("rec:" + path,
                     Options(1, Shape("3,6,8", {{"path_imglist", list},
                                                {"label_width", "2"}}))),
             "line 1: expected an id, 2 labels"));
}

TEST_CASE("folder: classes by name, nested pictures, what is none") {
  const TestFolder folder;
  folder.Write("dogs/2.png", PngOf(8, 6, 3, 1));
  folder.Write("dogs/deep/1.PNG", PngOf(8, 6, 3, 2));
  folder.Write("cats/1.jpg", JpegOf(8, 6, JCS_RGB, 3, 100));
  folder.Write("cats/notes.txt", "x");
  folder.Write("empty/notes.txt", "x");
  folder.Write("__MACOSX/dogs/._2.png", "x");
  folder.Write("dogs/4.webp", "x");
  folder.Write("empty/deep/5.GIF", "x");
  folder.Write("dogs/3.jpeg", "no picture");
  folder.Write("loose.png", PngOf(8, 6, 3, 1));
  const std::string spec = "folder:" + folder.path();
  const auto iterator = MustOpen(spec, Options(4, Shape("3,6,8")));
  CHECK(iterator->label_names() == std::vector<std::string>{"cats", "dogs"});
  CHECK(iterator->remark() ==
        spec +
            ": '__MACOSX', 'empty' have no pictures and are no classes; 2 "
            "files are neither JPEG nor PNG: dogs/4.webp, empty/deep/5.GIF; "
            "1 picture is in no subfolder, which would be the class: "
            "loose.png");
  const auto batches = Drain(*iterator);
  CHECK(batches[0].labels[0] == std::vector<float>{0, 1, 1, 1});
  CHECK(std::abs(batches[0].data[0][0] - 100) <= 2);
  CHECK(iterator->bad_records().sentences[0] ==
        spec + ": dogs/3.jpeg: neither JPEG nor PNG");
  IteratorOptions trained = Options(4, Shape("3,6,8"));
  trained.label_names = {"birds", "dogs", "cats"};
  CHECK(Drain(*MustOpen(spec, trained))[0].labels[0] ==
        std::vector<float>{2, 1, 1, 1});
  trained.label_names = {"dogs"};
  CHECK(Says(Refusal(spec, trained), "not trained on a class 'cats'"));
  CHECK(Says(Refusal("folder:/nowhere", Options(4, Shape("3,6,8"))),
             "cannot list"));
  CHECK(Says(Refusal(spec, Options(4)), "neither the network nor data_shape"));
}

TEST_CASE("folder: a link to nothing is a picture that cannot be read") {
  const TestFolder folder;
  folder.Write("a/1.png", PngOf(8, 6, 3, 1));
  std::filesystem::create_symlink("/nowhere.png", folder.path("a/2.png"));
  const auto iterator =
      MustOpen("folder:" + folder.path(), Options(2, Shape("3,6,8")));
  Drain(*iterator);
  REQUIRE_FALSE(iterator->bad_records().sentences.empty());
  CHECK(Says(iterator->bad_records().sentences[0], "2.png"));
}

TEST_CASE("folder: without subfolders there are no classes") {
  const TestFolder folder;
  folder.Write("1.png", PngOf(8, 6, 3, 1));
  const std::string spec = "folder:" + folder.path();
  CHECK(Says(Refusal(spec, Options(1, Shape("3,6,8"))),
             "its pictures are in no subfolder"));
  folder.Write("cats/notes.txt", "x");
  CHECK(Says(Refusal(spec, Options(1, Shape("3,6,8"))), "no JPEG or PNG"));
}

TEST_CASE("folder: pictures become as large as the network takes them") {
  const TestFolder folder;
  folder.Write("a/1.png", PngOf(8, 6, 3, 1));
  const std::string spec = "folder:" + folder.path();
  const auto shape_of = [&](const IteratorOptions& options) {
    return MustOpen(spec, options)->provides().data[0].shape;
  };
  IteratorOptions options = Options(2);
  CHECK(Says(Refusal(spec, options),
             "neither the network nor data_shape says how large pictures are; "
             "expected channels"));
  options.takes = {{"data", ElementType::kF32, {2, 3, 5, 7}}};
  CHECK(shape_of(options) == Extents{2, 3, 5, 7});
  options.settings = Shape("1,6,8");  // wins
  CHECK(shape_of(options) == Extents{2, 1, 6, 8});
  options.settings = {};
  options.takes[0].shape = {2, 5, 7, 3};
  CHECK(Says(Refusal(spec, options), "pictures of shape 5,7,3; expected"));
  // Of two inputs the one that the data are for.
  options.takes = {{"mask", ElementType::kF32, {2, 3, 9, 9}},
                   {"data", ElementType::kF32, {2, 3, 5, 7}}};
  CHECK(shape_of(options) == Extents{2, 3, 5, 7});
  options.takes[1].name = "image";
  CHECK(Says(Refusal(spec, options), "neither the network nor data_shape"));
}

TEST_CASE("decode: grey, CMYK, sizes that lie, files that end early") {
  Picture picture;
  REQUIRE(
      DecodePicture(BytesOf(JpegOf(9, 7, JCS_GRAYSCALE, 1, 77)), 3, &picture)
          .ok());
  CHECK(picture.channels == 3);
  CHECK(picture.pixels.size() == 9 * 7 * 3);
  CHECK(std::abs(picture.pixels[5] - 77) <= 1);
  // All four inks at value/255 of the light, inverted as Adobe has it.
  REQUIRE(
      DecodePicture(BytesOf(JpegOf(8, 8, JCS_CMYK, 4, 200)), 3, &picture).ok());
  CHECK(std::abs(picture.pixels[0] - 200 * 200 / 255) <= 2);
  const std::string jpeg = JpegOf(64, 64, JCS_RGB, 3, 50);
  CHECK(
      Says(DecodePicture(BytesOf(jpeg.substr(0, jpeg.size() / 2)), 3, &picture)
               .message(),
           "JPEG"));
  std::string huge = jpeg;
  const size_t frame = huge.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  huge.replace(frame + 5, 4, std::string("\xff\x00\xff\x00", 4));
  CHECK(Says(DecodePicture(BytesOf(huge), 3, &picture).message(),
             "is too large"));
}

TEST_CASE("jpeg: a camera that was held sideways") {
  const std::string jpeg = JpegOf(16, 8, JCS_GRAYSCALE, 1, 77);
  const std::string segment(
      "\xff\xe1\0\x22"
      "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"
      "\x06\0\0\0\0\0\0",
      36);
  const std::string turned = jpeg.substr(0, 2) + segment + jpeg.substr(2);
  Picture picture;
  REQUIRE(DecodePicture(BytesOf(turned), 1, &picture).ok());
  CHECK(picture.width == 8);
  CHECK(picture.height == 16);
  REQUIRE(
      DecodePicture(BytesOf(turned), 1, &picture, Orientation::kStored).ok());
  CHECK(picture.width == 16);
  const TestFolder folder;
  folder.Write("a/1.jpg", turned);
  const auto shape = [&](Settings settings) {
    return MustOpen("folder:" + folder.path(),
                    Options(1, Shape("1,16,8", std::move(settings))))
        ->preprocessing();
  };
  CHECK_FALSE(Says(shape({}), "orientation"));
  CHECK(Says(shape({{"orientation", "stored"}}), "orientation=stored"));
}

TEST_CASE("resize: bilinear between pixel centres") {
  const Picture in{2, 2, 1, {0, 100, 200, 40}};
  const Picture out = ResizeBilinear(in, 4, 2);
  CHECK(out.pixels == std::vector<uint8_t>{0, 25, 75, 100, 200, 160, 80, 40});
  CHECK(ResizeBilinear(in, 1, 1).pixels == std::vector<uint8_t>{85});
}

TEST_CASE("transform: every option that changes the tensor") {
  const TestFolder folder;
  const std::string path = folder.path("a.rec"), spec = "rec:" + path;
  WriteRecords(path, 3);
  const auto read = [&](Settings more) {
    return Drain(*MustOpen(spec, Options(3, Shape("3,4,4", std::move(more)))));
  };
  const auto plain = read({});
  const auto mirrored = read({{"mirror", "1"}});
  CHECK(plain[0].data[0][0] == mirrored[0].data[0][3]);
  for (const Settings& random :
       {Settings{{"rand_crop", "1"}}, Settings{{"rand_mirror", "1"}},
        Settings{{"random_resized_crop", "1"}, {"min_random_area", "0.2"}},
        Settings{{"max_random_contrast", "0.5"}},
        Settings{{"max_random_illumination", "9"}}}) {
    CHECK(read(random) == read(random));
    const auto iterator = MustOpen(spec, Options(3, Shape("3,4,4", random)));
    const auto first = Drain(*iterator);
    bool changes = false;
    for (int epoch = 0; epoch < 5; ++epoch) {
      changes = changes || Drain(*iterator)[0].data != first[0].data;
    }
    CHECK(changes);
  }
  const auto bytes = read({{"dtype", "int8"}, {"mean_r", "100"}});
  CHECK(bytes[0].data[0][0] ==
        std::clamp(plain[0].data[0][0] - 100, -128.0f, 127.0f));
  auto mean = Array::Allocate(ElementType::kF32, {3, 4, 4});
  for (size_t i = 0; i < 48; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(mean->storage.get() + 4 * i, &value, 4);
  }
  const NamedArray named[] = {{"mean_img", *mean}};
  REQUIRE(runtime::WriteNdarrayList(folder.path("mean.nd"), named).ok());
  const auto centred =
      read({{"mean_img", folder.path("mean.nd")}, {"scale", "0.5"}});
  CHECK(centred[0].data[0][47] == (plain[0].data[0][47] - 47) / 2);
  CHECK(Says(
      Refusal(spec, Options(3, Shape("3,4,5",
                                     {{"mean_img", folder.path("mean.nd")}}))),
      "must hold one float32 array"));
  for (const Settings& wrong :
       {Settings{{"data_shape", "2,4,4"}}, Settings{{"data_shape", "3,4"}},
        Settings{{"data_shape", "3,4,99999"}},
        Settings{{"data_shape", "3,4,4"}, {"std_g", "0"}},
        Settings{{"data_shape", "3,4,4"}, {"resize", "0"}},
        Settings{{"data_shape", "3,4,4"}, {"min_aspect_ratio", "2"}}}) {
    CHECK_FALSE(Refusal(spec, Options(3, wrong)).empty());
  }
}

// As of --data for --val: the pictures are treated alike, but not varied.
TEST_CASE(
    "pictures: options that vary them are not offered to another source") {
  const TestFolder folder;
  folder.Write("a/1.png", PngOf(24, 24, 3, 5));
  const std::string spec = "folder:" + folder.path();
  const auto read = [&](const Settings& settings, const Settings& offered) {
    IteratorOptions options = Options(1, settings);
    options.offered = offered;
    const auto iterator = MustOpen(spec, options);
    std::vector<std::vector<float>> pictures;
    for (int epoch = 0; epoch < 3; ++epoch) {
      pictures.push_back(Drain(*iterator)[0].data[0]);
    }
    return pictures;
  };
  const Settings plain = {{"data_shape", "3,16,16"}, {"mean_r", "7"}};
  Settings varied = plain;
  for (const char* name : {"rand_crop", "rand_mirror", "brightness",
                           "random_erasing", "max_random_contrast"}) {
    varied.emplace_back(name, "1");
  }
  const auto still = read(plain, {});
  CHECK(still[0] == still[1]);
  CHECK(read({}, varied) == still);
  const auto trained = read(varied, {});
  CHECK(trained[0] != trained[1]);
}

}  // namespace
}  // namespace mxc::data
