// SPDX-License-Identifier: Apache-2.0
// rec:FILE: pictures in RecordIO, as im2rec packs them and MXNet 1.9.1's
// ImageRecordIter reads them (src/io/iter_image_recordio_2.cc).
//   data   [data_shape] of dtype     label   f32, or f32[label_width]
#include <algorithm>
#include <charconv>

#include "runtime/data/files/lines.h"
#include "runtime/data/files/watched_file.h"
#include "runtime/data/picture/transform.h"
#include "runtime/data/source.h"
#include "runtime/formats/recordio.h"

namespace mxc::data {
namespace {

struct RecOptions {
  PictureOptions picture;
  int64_t label_width = 1;
  std::string path_imglist;

  template <class Fields>
  void Describe(Fields& f) {
    picture.Describe(f);
    f("label_width", label_width, "labels of a picture", Range{1, 1 << 20});
    f("path_imglist", path_imglist,
      "list (.lst) with the labels, by id, instead of those in the records");
  }
};

// Labels by the record's id.
struct LabelList {
  std::vector<std::pair<uint64_t, size_t>> places;  // sorted; into `labels`
  std::vector<float> labels;

  const float* Find(uint64_t id) const {
    const auto found = std::lower_bound(places.begin(), places.end(),
                                        std::pair<uint64_t, size_t>(id, 0));
    if (found == places.end() || found->first != id) return nullptr;
    return &labels[found->second];
  }
};

// Lines "id \t label … \t path".
StatusOr<LabelList> ReadLabelList(const std::string& path, size_t width) {
  const auto lines = Lines::Read(path, 0);
  if (!lines.ok()) return lines.status();
  LabelList list;
  for (int64_t i = 0; i < lines->size(); ++i) {
    std::string_view line = lines->line(i);
    int64_t id = 0;
    bool sound = TakeIndex(&line, &id);
    list.places.emplace_back(static_cast<uint64_t>(id), list.labels.size());
    for (size_t k = 0; k < width && sound; ++k) {
      sound = TakeNumber(&line, &list.labels.emplace_back());
    }
    if (!sound) {
      return runtime::Fail(StatusCode::kCorrupt,
                           "'%s': line %lld: expected an id, %zu labels and a "
                           "path",
                           path.c_str(),
                           static_cast<long long>(lines->number(i)), width);
    }
  }
  std::sort(list.places.begin(), list.places.end());
  return list;
}

// The offsets of an .idx file, "key \t offset" in each line, sorted; nothing where
// they are none of a file of that size.
std::optional<std::vector<uint64_t>> ReadOffsets(const std::string& path,
                                                 uint64_t size) {
  const auto lines = Lines::Read(path, 0);
  if (!lines.ok() || lines->size() == 0) return std::nullopt;
  std::vector<uint64_t> offsets;
  for (int64_t i = 0; i < lines->size(); ++i) {
    std::string_view line = lines->line(i);
    int64_t key = 0, offset = 0;
    if (!TakeIndex(&line, &key) || !TakeIndex(&line, &offset) ||
        !line.empty() || offset < 0 || offset % 4 != 0 ||
        static_cast<uint64_t>(offset) >= size) {
      return std::nullopt;
    }
    offsets.push_back(static_cast<uint64_t>(offset));
  }
  std::ranges::sort(offsets);
  const bool twice = std::ranges::adjacent_find(offsets) != offsets.end();
  if (offsets[0] != 0 || twice) return std::nullopt;
  return offsets;
}

struct FoundRecords {
  runtime::RecordIndex index;
  bool told = false;  // by an .idx: nobody has looked at the records
};

// Where the records begin. Of an object that is not there yet, as an .idx beside it
// says; without one all of it is awaited.
StatusOr<FoundRecords> FindRecords(const std::string& path,
                                   const WatchedFile& file) {
  if (!file.arriving().complete() && path.ends_with(".rec")) {
    auto offsets = ReadOffsets(path.substr(0, path.size() - 3) + "idx",
                               file.bytes().size());
    if (offsets) return FoundRecords{{std::move(*offsets), {}}, true};
  }
  MXC_RT_RETURN_IF_ERROR(file.arriving().Await(file.bytes()));
  return FoundRecords{runtime::IndexRecords(file.bytes()), false};
}

class Rec : public Source {
 public:
  Rec(const SourceRequest& request, const RecOptions& options,
      PictureTransform transform, WatchedFile file, FoundRecords records,
      std::optional<LabelList> list)
      : transform_(std::move(transform)),
        file_(std::move(file)),
        index_(std::move(records.index)),
        told_(records.told),
        list_(std::move(list)),
        label_width_(static_cast<size_t>(options.label_width)),
        names_{request.common.data_name, request.common.label_name} {}

  int64_t size() const override {
    return static_cast<int64_t>(index_.offsets.size());
  }
  uint64_t WillRead(int64_t sample) const override {
    return file_.arriving().WillRead(BytesOf(sample));
  }
  bool complete() const override { return file_.arriving().complete(); }
  Preprocessing preprocessing() const override {
    return transform_.preprocessing();
  }
  Provides sample_fields(int) const override {
    std::vector<int64_t> shape;
    if (label_width_ > 1) shape = {static_cast<int64_t>(label_width_)};
    return {{transform_.field(names_[0])}, {FloatField(names_[1], shape)}};
  }
  std::string SampleName(int64_t sample) const override {
    return "record " + std::to_string(sample) + " at byte " +
           std::to_string(index_.offsets[static_cast<size_t>(sample)]);
  }
  BadRecords damage() const override {
    BadRecords bad;
    for (const runtime::DamagedBytes& bytes : index_.damage) {
      ++bad.count;
      if (bad.sentences.size() == BadRecords::kMostSentences) continue;
      bad.sentences.push_back("bytes " + std::to_string(bytes.begin) + " to " +
                              std::to_string(bytes.end) +
                              " hold no whole record");
    }
    return bad;
  }

  // The records that begin in that part of the bytes, as dmlc-core's
  // InputSplit.
  std::pair<int64_t, int64_t> Part(int64_t index,
                                   int64_t parts) const override {
    const auto size = static_cast<__int128>(file_.bytes().size());
    const __int128 step = ((size + parts - 1) / parts + 3) / 4 * 4;
    const auto first_at = [&](__int128 offset) {
      const auto& offsets = index_.offsets;
      return std::lower_bound(offsets.begin(), offsets.end(),
                              static_cast<uint64_t>(std::min(offset, size))) -
             offsets.begin();
    };
    return {first_at(step * index), first_at(step * (index + 1))};
  }

  Status Read(const SampleRequest& request) const override {
    std::vector<std::byte> joined;
    const auto record = Record(request.sample, &joined);
    if (!record.ok()) return record.status();
    MXC_RT_RETURN_IF_ERROR(
        ReadLabels(*record, request.Floats(1, label_width_)));
    Picture picture;
    MXC_RT_RETURN_IF_ERROR(transform_.Decode(record->content, &picture));
    return transform_.Apply(std::move(picture), Draws(request.random),
                            request.rows[0]);
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    std::vector<std::byte> joined;
    const auto record = Record(sample, &joined);
    if (!record.ok()) return record.status();
    float label = 0;
    MXC_RT_RETURN_IF_ERROR(ReadLabels(*record, {&label, 1}));
    return label;
  }

 private:
  uint64_t EndOf(int64_t sample) const {
    const auto next = static_cast<size_t>(sample) + 1;
    return next < index_.offsets.size() ? index_.offsets[next]
                                        : file_.bytes().size();
  }
  // And the beginning of the next one, which says that it is whole.
  runtime::Bytes BytesOf(int64_t sample) const {
    constexpr uint64_t kHeaderBytes = 8;
    const runtime::Bytes bytes = file_.bytes();
    const uint64_t begin = index_.offsets[static_cast<size_t>(sample)];
    const uint64_t end =
        std::min<uint64_t>(bytes.size(), EndOf(sample) + kHeaderBytes);
    return bytes.subspan(begin, end - begin);
  }
  // What was not indexed by looking at it must be what it is said to be: other
  // records than the file's would be other epochs than the file's.
  Status AwaitRecord(int64_t sample) const {
    MXC_RT_RETURN_IF_ERROR(file_.arriving().Await(BytesOf(sample)));
    const uint64_t begin = index_.offsets[static_cast<size_t>(sample)];
    if (runtime::EndOfRecord(file_.bytes(), begin) == EndOf(sample)) return {};
    return runtime::Fail(
        StatusCode::kUnsupported,
        "bytes %llu to %llu are no whole record, as the .idx beside the file "
        "says; without it the file is read as it is",
        static_cast<unsigned long long>(begin),
        static_cast<unsigned long long>(EndOf(sample)));
  }
  // In the file, or in `joined` (ReadRecord).
  StatusOr<runtime::ImageRecord> Record(int64_t sample,
                                        std::vector<std::byte>* joined) const {
    if (told_) MXC_RT_RETURN_IF_ERROR(AwaitRecord(sample));
    const auto payload = runtime::ReadRecord(
        file_.bytes(), index_.offsets[static_cast<size_t>(sample)], joined);
    if (!payload.ok()) return payload.status();
    return runtime::ParseImageRecord(*payload);
  }
  Status ReadLabels(const runtime::ImageRecord& record,
                    std::span<float> to) const {
    if (list_) {
      const float* labels = list_->Find(record.id);
      if (labels == nullptr) {
        return BadRecord("id " + std::to_string(record.id) +
                         " is not in path_imglist");
      }
      std::copy_n(labels, to.size(), to.begin());
      return {};
    }
    if (record.labels.size() != to.size()) {
      return BadRecord(
          std::to_string(record.labels.size()) +
          " labels, expected label_width=" + std::to_string(to.size()));
    }
    std::copy(record.labels.begin(), record.labels.end(), to.begin());
    return {};
  }

  const PictureTransform transform_;
  const WatchedFile file_;
  const runtime::RecordIndex index_;
  const bool told_;  // as FoundRecords has it
  const std::optional<LabelList> list_;
  const size_t label_width_;
  const std::string names_[2];
};

StatusOr<std::unique_ptr<Source>> OpenRec(const SourceRequest& request) {
  RecOptions options;
  if (request.trained != nullptr) options.picture.Take(*request.trained);
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("rec", &options));
  if (options.picture.data_shape.empty()) {
    options.picture.data_shape = request.TakenShape();
  }
  auto file = WatchedFile::OpenInParts(request.path);
  if (!file.ok()) return file.status();
  auto transform = PictureTransform::Make(options.picture, "rec");
  if (!transform.ok()) return transform.status();
  std::optional<LabelList> list;
  if (!options.path_imglist.empty()) {
    auto read = ReadLabelList(options.path_imglist,
                              static_cast<size_t>(options.label_width));
    if (!read.ok()) return read.status();
    list = std::move(*read);
  }
  MXC_RT_ASSIGN(auto records, FindRecords(request.path, *file));
  auto source = std::make_unique<Rec>(request, options, std::move(*transform),
                                      std::move(*file), std::move(records),
                                      std::move(list));
  if (source->size() == 0) {
    return BadRecord("the file holds no whole record");
  }
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace

extern const SourceKind kRec;
const SourceKind kRec = {"rec",
                         "rec:FILE",
                         "JPEG and PNG pictures in MXNet's RecordIO",
                         true,
                         DescribeOptions<RecOptions>,
                         OpenRec};

}  // namespace mxc::data
