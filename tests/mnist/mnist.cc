// SPDX-License-Identifier: Apache-2.0
// Classifies the 10000 test pictures of MNIST with an artifact of batch 100
// and compares the number of right ones with what the real MXNet gets.
//
//   mnist OUT.mxa DIR EXPECTED
//
// DIR holds t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz. Exits with
// 77 ("skipped") where it does not.
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/mxc.h"

namespace {

constexpr int kSkipped = 77;
constexpr size_t kPixels = 28 * 28;
constexpr size_t kPictures = 10000;

// The bytes after an idx file's header.
std::vector<unsigned char> ReadIdx(const std::string& path, size_t header,
                                   size_t size) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  std::vector<unsigned char> bytes(header + size);
  const int read =
      gzread(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  if (read != static_cast<int>(bytes.size())) return {};
  bytes.erase(bytes.begin(),
              bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return bytes;
}

void Require(mxc_status* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "error: %s\n", mxc_status_message(status));
  std::exit(1);
}

class Classifier {
 public:
  explicit Classifier(const char* path) {
    Require(mxc_model_open(path, nullptr, &model_));
    mxc_tensor input;
    Require(mxc_model_input(model_, 0, 0, &input));
    batch_ = static_cast<size_t>(input.dims[0]);
    Require(mxc_bind(model_, nullptr, &executor_));
  }
  ~Classifier() {
    mxc_executor_close(executor_);
    mxc_model_close(model_);
  }
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  size_t batch() const { return batch_; }

  // How many of a batch get the label that they have.
  size_t CountRight(const unsigned char* pictures,
                    const unsigned char* labels) {
    void* input = nullptr;
    size_t input_size = 0;
    Require(mxc_map_input(executor_, nullptr, &input, &input_size));
    for (size_t i = 0; i < batch_ * kPixels; ++i) {
      static_cast<float*>(input)[i] = static_cast<float>(pictures[i]) / 255.0f;
    }
    Require(mxc_unmap(executor_, input));
    Require(mxc_run(executor_));
    const void* memory = nullptr;
    size_t size = 0;
    Require(mxc_map_output(executor_, 0, &memory, &size));
    const auto* scores = static_cast<const float*>(memory);
    size_t right = 0;
    for (size_t i = 0; i < batch_; ++i) {
      int best = 0;
      for (int c = 1; c < 10; ++c) {
        if (scores[i * 10 + c] > scores[i * 10 + best]) best = c;
      }
      right += best == labels[i];
    }
    Require(mxc_unmap(executor_, memory));
    return right;
  }

 private:
  mxc_model* model_ = nullptr;
  mxc_executor* executor_ = nullptr;
  size_t batch_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: mnist OUT.mxa DIR EXPECTED\n");
    return 2;
  }
  const std::string folder = argv[2];
  const auto pictures =
      ReadIdx(folder + "/t10k-images-idx3-ubyte.gz", 16, kPictures * kPixels);
  const auto labels =
      ReadIdx(folder + "/t10k-labels-idx1-ubyte.gz", 8, kPictures);
  if (pictures.empty() || labels.empty()) return kSkipped;
  Classifier classifier(argv[1]);
  size_t right = 0;
  for (size_t i = 0; i + classifier.batch() <= kPictures;
       i += classifier.batch()) {
    right += classifier.CountRight(&pictures[i * kPixels], &labels[i]);
  }
  std::printf("%zu of %zu right, MXNet %s\n", right, kPictures, argv[3]);
  return right == static_cast<size_t>(std::atoi(argv[3])) ? 0 : 1;
}
