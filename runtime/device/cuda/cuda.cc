// SPDX-License-Identifier: Apache-2.0
// The NVIDIA devices of the machine.
//
// The section DEVICE of its files has PTX, which the driver assembles for the
// device at hand, or code that is ready for it.
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/library_convolution.h"
#include "runtime/device/cuda/library_product.h"
#include "runtime/device/cuda/nccl.h"
#include "runtime/device/cuda/stream.h"
#include "runtime/device/declarations.h"
#include "runtime/device/images.h"

namespace mxc::runtime {
namespace {

// Fillings, and copies to the device, may return before they are done; streams
// of ours do not wait for the one that these go by.
constexpr CudaStreamHandle kUnnamedStream = nullptr;

std::byte* AlignedToPage(uintptr_t address) {
  return reinterpret_cast<std::byte*>((address + MXC_PAGE - 1) / MXC_PAGE *
                                      MXC_PAGE);
}

class CudaMemory : public DeviceMemory {
 public:
  CudaMemory(const CudaDriver& driver, CudaAddress whole)
      : DeviceMemory(AlignedToPage(whole)), driver_(driver), whole_(whole) {}
  ~CudaMemory() override {
    driver_.Enter();
    driver_.release(whole_);
  }

 private:
  const CudaDriver& driver_;
  const CudaAddress whole_;
};

class PinnedMemory : public DeviceMemory {
 public:
  PinnedMemory(const CudaDriver& driver, void* memory)
      : DeviceMemory(static_cast<std::byte*>(memory)), driver_(driver) {}
  ~PinnedMemory() override {
    driver_.Enter();
    driver_.release_host(data());
  }

 private:
  const CudaDriver& driver_;
};

class CudaModule : public DeviceModule {
 public:
  CudaModule(const CudaDriver& driver, CudaModuleHandle module)
      : driver_(driver), module_(module) {}
  ~CudaModule() override {
    driver_.Enter();
    driver_.unload_module(module_);
  }

  const void* Find(const char* kernel) const override {
    driver_.Enter();
    CudaFunction function = nullptr;
    if (driver_.get_function(&function, module_, kernel) != 0) return nullptr;
    return function;
  }

 private:
  const CudaDriver& driver_;
  const CudaModuleHandle module_;
};

// Machine code runs on its own generation alone, PTX on later ones, too.
bool CanRun(const DeviceImage& image, int sm) {
  const int needed = static_cast<int>(image.version & ~MXC_IMAGE_OF_ONE);
  if ((image.version & MXC_IMAGE_OF_ONE) != 0 && needed != sm) return false;
  switch (image.kind) {
    case MXC_IMAGE_PTX:
    case MXC_IMAGE_EMULATED:
      return needed <= sm;
    case MXC_IMAGE_CUBIN:
      return needed <= sm && needed / 10 == sm / 10;
    default:
      return false;
  }
}

// What needs the least work when it is loaded.
const DeviceImage* BestOf(const std::vector<DeviceImage>& images, int sm) {
  const DeviceImage* best = nullptr;
  for (const DeviceImage& image : images) {
    if (!CanRun(image, sm)) continue;
    const bool better =
        best == nullptr || std::pair(image.kind, image.version) >
                               std::pair(best->kind, best->version);
    if (better) best = &image;
  }
  return best;
}

// "sm_80 and later", "sm_90a alone".
std::string DevicesOf(const std::vector<DeviceImage>& images) {
  if (images.empty()) return "no device";
  const uint32_t version = images.front().version;
  const bool alone = (version & MXC_IMAGE_OF_ONE) != 0;
  return "sm_" + std::to_string(version & ~MXC_IMAGE_OF_ONE) +
         (alone ? "a alone" : " and later");
}

// MXC_LIBRARIES: 1, libraries compute what they can; 0, nothing; else what the
// file prefers to have from them.
bool WantsLibrary(bool preferred) {
  const char* wish = std::getenv("MXC_LIBRARIES");
  const std::string_view said = wish == nullptr ? "" : wish;
  return said == "1" || (said != "0" && preferred);
}

// A library, looked for once.
template <class Library>
class Found {
 public:
  // Null where the machine has none. The thread has the device's context.
  const Library* Get() {
    std::call_once(once_, [this] {
      auto opened = Library::Open();
      if (opened.ok()) library_ = std::move(*opened);
    });
    return library_.get();
  }

 private:
  std::once_flag once_;
  std::unique_ptr<const Library> library_;
};

class Cuda : public Device {
 public:
  explicit Cuda(int number) : number_(number) {}

  const char* name() const override { return "cuda"; }
  StatusOr<DeviceFacts> Facts() const override {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (!driver.ok()) return driver.status();
    return DeviceFacts{(*driver)->name(), (*driver)->sm()};
  }
  bool IsHost() const override { return false; }

  StatusOr<std::unique_ptr<DeviceMemory>> Allocate(
      uint64_t bytes, const char* what) const override {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (!driver.ok()) return driver.status();
    const CudaDriver& cuda = **driver;
    cuda.Enter();
    CudaAddress memory = 0;
    const uint64_t whole = bytes + MXC_PAGE;
    CudaResult result = cuda.allocate(&memory, whole);
    if (result != 0) return NoMemory(cuda, result, bytes, what);
    auto owner = std::make_unique<CudaMemory>(cuda, memory);
    result = cuda.fill(memory, 0, whole);
    if (result == 0) result = cuda.synchronize(kUnnamedStream);
    if (result != 0) return cuda.Failure(result, "clear memory");
    return std::unique_ptr<DeviceMemory>(std::move(owner));
  }

  StatusOr<std::unique_ptr<DeviceMemory>> AllocateHost(
      uint64_t bytes, const char* what) const override {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (!driver.ok()) return driver.status();
    const CudaDriver& cuda = **driver;
    cuda.Enter();
    void* memory = nullptr;
    const CudaResult result = cuda.allocate_host(&memory, bytes);
    if (result != 0) return NoMemory(cuda, result, bytes, what);
    std::memset(memory, 0, bytes);
    return std::unique_ptr<DeviceMemory>(
        std::make_unique<PinnedMemory>(cuda, memory));
  }

  void Write(std::byte* to, const void* from, uint64_t bytes) const override {
    if (bytes == 0) return;
    const CudaDriver& cuda = **CudaDriver::Find(number_);
    cuda.Enter();
    CudaResult result =
        cuda.write(reinterpret_cast<CudaAddress>(to), from, bytes);
    if (result == 0) result = cuda.synchronize(kUnnamedStream);
    cuda.NoteCopy(result);
  }
  void Read(void* to, const void* from, uint64_t bytes) const override {
    if (bytes == 0) return;
    const CudaDriver& cuda = **CudaDriver::Find(number_);
    cuda.Enter();
    cuda.NoteCopy(cuda.read(to, reinterpret_cast<CudaAddress>(from), bytes));
  }

  Status TakeFailure() const override {
    const CudaDriver& cuda = **CudaDriver::Find(number_);
    cuda.Enter();
    return cuda.TakeUntold();
  }
  StatusOr<std::shared_ptr<DeviceGroup>> OpenGroup(
      std::span<const Device* const> devices) const override {
    std::vector<int> numbers;
    for (const Device* device : devices) {
      const auto* cuda = dynamic_cast<const Cuda*>(device);
      if (cuda == nullptr) return Device::OpenGroup(devices);
      const StatusOr<const CudaDriver*> driver =
          CudaDriver::Find(cuda->number_);
      if (!driver.ok()) return driver.status();
      numbers.push_back(cuda->number_);
    }
    return CudaGroup::Open(std::move(numbers));
  }

  bool Has(const void* memory) const override {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (!driver.ok()) return false;
    const CudaDriver& cuda = **driver;
    cuda.Enter();
    const auto address = reinterpret_cast<CudaAddress>(memory);
    unsigned type = 0;
    int ordinal = -1;
    return cuda.ask_pointer(&type, kCudaMemoryType, address) == 0 &&
           cuda.ask_pointer(&ordinal, kCudaMemoryOrdinal, address) == 0 &&
           type == kCudaMemoryOfDevice && ordinal == number_;
  }

  StatusOr<std::unique_ptr<DeviceModule>> Load(
      const ModuleSource& source) const override {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (!driver.ok()) return driver.status();
    const CudaDriver& cuda = **driver;
    const auto images = ReadDeviceCode(source.code);
    if (!images.ok()) return images.status();
    const DeviceImage* image = BestOf(*images, cuda.sm());
    if (image == nullptr) {
      return Fail(StatusCode::kUnsupported,
                  "the model has code for %s; this device is sm_%d",
                  DevicesOf(*images).c_str(), cuda.sm());
    }
    cuda.Enter();
    CudaModuleHandle module = nullptr;
    std::array<char, 1024> log = {};
    std::array options = {kCudaErrorLog, kCudaErrorLogBytes};
    std::array<void*, 2> values = {log.data(),
                                   reinterpret_cast<void*>(log.size() - 1)};
    const CudaResult result =
        cuda.load_module(&module, image->bytes.data(), options.size(),
                         options.data(), values.data());
    if (result != 0) return NotLoaded(cuda, result, log.data());
    return std::unique_ptr<DeviceModule>(
        std::make_unique<CudaModule>(cuda, module));
  }

  StatusOr<std::unique_ptr<Stream>> OpenStream(uint32_t beside,
                                               void* given) const override {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (!driver.ok()) return driver.status();
    return OpenCudaStream(**driver, beside,
                          static_cast<CudaStreamHandle>(given));
  }

  std::unique_ptr<LibraryStep> PlanLibrary(
      const char* task, uint64_t workspace_bytes) const override {
    if (!Enter()) return nullptr;
    if (const auto product = ReadMatrixProduct(task)) {
      const CublasLt* library =
          WantsLibrary(product->preferred == 1) ? cublaslt_.Get() : nullptr;
      if (library == nullptr) return nullptr;
      return PlanLibraryProduct(*library, *product, workspace_bytes);
    }
    const auto convolution = ReadConvolution(task);
    const Cudnn* library =
        convolution && WantsLibrary(convolution->preferred == 1) ? cudnn_.Get()
                                                                 : nullptr;
    if (library == nullptr) return nullptr;
    return PlanLibraryConvolution(*library, *convolution, workspace_bytes);
  }
  bool HasLibraries() const override {
    return Enter() && (cublaslt_.Get() != nullptr || cudnn_.Get() != nullptr);
  }

 private:
  // False where there is no device.
  bool Enter() const {
    const StatusOr<const CudaDriver*> driver = CudaDriver::Find(number_);
    if (driver.ok()) (*driver)->Enter();
    return driver.ok();
  }

  // With the first line of what the assembler said.
  static Status NotLoaded(const CudaDriver& cuda, CudaResult result,
                          std::string_view log) {
    Status failure = cuda.Failure(result, "load the model's kernels");
    const std::string_view line = log.substr(0, log.find('\n'));
    if (line.empty()) return failure;
    return Fail(failure.code(), "%s: %s", failure.message().c_str(),
                std::string(line).c_str());
  }
  static Status NoMemory(const CudaDriver& cuda, CudaResult result,
                         uint64_t bytes, const char* what) {
    return cuda.Failure(result, "allocate " + std::to_string(bytes) +
                                    " bytes for " + what + " on the device");
  }

  const int number_;
  mutable Found<CublasLt> cublaslt_;
  mutable Found<Cudnn> cudnn_;
};

}  // namespace

const Device* CudaDevice(int number) {
  static std::mutex mutex;
  static std::array<std::unique_ptr<const Cuda>, kMostCudaDevices> devices;
  if (number < 0 || number >= kMostCudaDevices) return nullptr;
  const std::lock_guard lock(mutex);
  auto& device = devices[static_cast<size_t>(number)];
  if (device == nullptr) device = std::make_unique<Cuda>(number);
  return device.get();
}

}  // namespace mxc::runtime
