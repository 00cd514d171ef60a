// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/solver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "frontend/attributes.h"
#include "frontend/caffe/net.h"
#include "frontend/caffe/solver_data.h"
#include "frontend/caffe/upgrade.h"
#include "frontend/protobuf/text.h"

namespace mxc::caffe {
namespace {

namespace fs = std::filesystem;

// By the numbers of solver_type.
constexpr Text kTypes[] = {"SGD",     "Nesterov", "AdaGrad",
                           "RMSProp", "AdaDelta", "Adam"};

// In decimal as in the file: 0.9, not the double nearest to its float.
std::string Named(const char* name, float value) {
  return fmt::format("{}={}", name, NumberText(value));
}

class Command {
 public:
  explicit Command(const Solver& solver) : p_(solver.solver), at_(solver) {}

  Result<SolverCommand> Make() {
    MXC_ASSIGN(command_.net, NetPath());
    AddStates();
    MXC_RETURN_IF_ERROR(AddData());
    MXC_RETURN_IF_ERROR(AddOptimizer());
    MXC_RETURN_IF_ERROR(AddSchedule());
    MXC_RETURN_IF_ERROR(AddLength());
    AddFiles();
    NoteRest();
    return std::move(command_);
  }

 private:
  template <class... Args>
  Diagnostic Wrong(fmt::format_string<Args...> format, Args&&... args) const {
    return Error(SourceLoc{at_.source, 1, 1, 1, {}}, "{}",
                 fmt::format(format, std::forward<Args>(args)...));
  }
  void Say(std::string option, std::string value = "") {
    command_.options.push_back({std::move(option), std::move(value)});
  }
  void SayOpt(const char* name, float value) {
    Say("--opt", Named(name, value));
  }
  template <class... Args>
  void Note(fmt::format_string<Args...> format, Args&&... args) {
    command_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // Where a path of the solver lies; as it stands where it lies nowhere.
  std::string Find(Text text) const {
    std::error_code ignored;
    const fs::path path(text);
    if (path.empty() || path.is_absolute() || fs::exists(path, ignored)) {
      return path.string();
    }
    const fs::path folder = fs::path(at_.source->path).parent_path();
    fs::path above = folder.empty() ? fs::path(".") : folder;
    for (int i = 0; i < 8 && !above.empty(); ++i) {
      if (fs::exists(above / path, ignored)) return (above / path).string();
      const fs::path next = above.parent_path();
      if (next == above) break;
      above = next;
    }
    const fs::path beside = folder / path.filename();
    return fs::exists(beside, ignored) ? beside.string() : path.string();
  }

  Result<std::string> NetPath() const {
    if (p_.net_param != nullptr || p_.train_net_param != nullptr) {
      return Wrong(
          "the net stands in the solver itself, expected its file: 'net'");
    }
    const Text path = p_.train_net.empty() ? p_.net : p_.train_net;
    if (path.empty()) {
      return Wrong("the solver names no net: expected 'net' or 'train_net'");
    }
    return Find(path);
  }

  NetworkState StateOf(bool training) const {
    NetworkState state;
    state.training = training;
    const One<NetState> none;
    const NetState& said = training                ? OrDefault(p_.train_state)
                           : p_.test_state.empty() ? OrDefault(none)
                                                   : p_.test_state.front();
    state.level = said.level;
    for (const Text stage : said.stage) state.stages.emplace_back(stage);
    return state;
  }

  void AddStates() {
    const NetworkState state = StateOf(true);
    for (const std::string& stage : state.stages) Say("--stage", stage);
    if (state.level != 0) Say("--level", std::to_string(state.level));
    if (p_.test_net.size() + p_.test_net_param.size() > 1 ||
        p_.test_state.size() > 1 || p_.test_iter.size() > 1) {
      Note("of several nets to test the samples of the first are scored");
    }
  }

  bool Tests() const {
    return p_.test_interval > 0 && !p_.test_iter.empty() &&
           p_.test_iter.front() > 0;
  }

  static Result<std::shared_ptr<const Net>> OpenNet(const std::string& path) {
    MXC_ASSIGN(const auto file, NetworkSource::Open(path));
    return ReadNet(*file);
  }
  Result<std::optional<NetData>> DataIn(const Net& net, bool training) const {
    return DataOf(net, StateOf(training),
                  [this](Text text) { return Find(text); });
  }

  Status AddData() {
    MXC_ASSIGN(const auto net, OpenNet(command_.net));
    MXC_ASSIGN(const auto trained, DataIn(*net, true));
    if (trained) AddSamples(*trained);
    if (!Tests()) {
      Note("nothing is scored between: test_interval or test_iter is 0");
      return Done{};
    }
    auto other = net;
    if (!p_.test_net.empty()) {
      MXC_ASSIGN(other, OpenNet(Find(p_.test_net.front())));
      Note("of the net to test the samples alone are looked at");
    } else {
      MXC_ASSIGN(const auto alone,
                 TestedAlone(*net, StateOf(true), StateOf(false)));
      if (!alone.empty()) {
        Note(
            "what is scored is the net that trains; layers of TEST alone are "
            "left out: {}",
            fmt::join(alone, ", "));
      }
    }
    MXC_ASSIGN(const auto tested, DataIn(*other, false));
    if (tested) AddScored(*tested, trained ? *trained : NetData());
    return Done{};
  }

  void AddSamples(const NetData& data) {
    command_.notes.insert(command_.notes.end(), data.notes.begin(),
                          data.notes.end());
    if (data.batch > 0) Say("--batch-size", std::to_string(data.batch));
    if (data.source.empty()) return;
    Say("--data", data.source);
    for (const auto* options : {&data.options, &data.drawn}) {
      for (const auto& [name, value] : *options) {
        Say("--data-opt", name + "=" + value);
      }
    }
    if (!data.shuffles) Say("--no-shuffle");
  }

  // What --data's options say holds for --val, too, unless it says otherwise.
  void AddScored(const NetData& data, const NetData& trained) {
    if (data.source.empty()) {
      Note(
          "nothing is scored: the layer '{}' names no source that is read "
          "here; --val does",
          data.layer);
      return;
    }
    Say("--val", data.source);
    std::map<std::string, std::string> said(trained.options.begin(),
                                            trained.options.end());
    for (const auto& [name, value] : data.options) {
      if (said[name] != value) Say("--val-opt", name + "=" + value);
      said.erase(name);
    }
    for (const auto& [name, value] : said) {
      if (value.empty()) continue;
      Say("--val-opt", name + "=" + DefaultOf(name));
    }
    Say("--val-opt", "epoch_batches=0");
    if (data.batch > 0) {
      Say("--val-opt",
          fmt::format("first={}", data.batch * p_.test_iter.front()));
    }
    if (std::ranges::find(data.drawn, AttrText{"rand_mirror", "1"}) !=
        data.drawn.end()) {
      Note("what is scored is not mirrored, which Caffe does by chance");
    }
  }

  static std::string DefaultOf(const std::string& name) {
    if (name == "scale") return "1";
    return name == "mean_img" || name == "root" || name == "stretch" ? "" : "0";
  }

  Status AddOptimizer() {
    const Text type = p_.type;
    if (std::ranges::find(kTypes, type) == std::end(kTypes)) {
      return Wrong(
          "type '{}', expected SGD, Nesterov, AdaGrad, RMSProp, AdaDelta or "
          "Adam",
          type);
    }
    Say("--lr", NumberText(p_.base_lr));
    if (p_.weight_decay != 0) SayOpt("wd", p_.weight_decay);
    if (p_.regularization_type != "L2" && p_.regularization_type != "L1") {
      return Wrong("regularization_type '{}', expected L1 or L2",
                   p_.regularization_type);
    }
    const bool plain = p_.regularization_type == "L2" && p_.clip_gradients < 0;
    if (plain && (type == "SGD" || type == "Adam")) {
      AddPlain();
    } else {
      AddCaffes();
    }
    return Done{};
  }

  // MXNet's, which do the same.
  void AddPlain() {
    const bool adam = p_.type == "Adam";
    Say("--optimizer", adam ? "adam" : "sgd");
    SayOpt(adam ? "beta1" : "momentum", p_.momentum);
    if (!adam) return;
    SayOpt("beta2", p_.momentum2);
    SayOpt("epsilon", p_.delta);
  }

  void AddCaffes() {
    const Text type = p_.type;
    Say("--optimizer", "caffe");
    Say("--opt", fmt::format("type={}", type));
    if (p_.regularization_type == "L1") Say("--opt", "regularization=L1");
    if (p_.clip_gradients >= 0) SayOpt("clip_gradients", p_.clip_gradients);
    if (type != "AdaGrad" && type != "RMSProp") {
      SayOpt("momentum", p_.momentum);
    }
    if (type == "Adam") SayOpt("momentum2", p_.momentum2);
    if (type == "RMSProp") SayOpt("rms_decay", p_.rms_decay);
    if (type != "SGD" && type != "Nesterov") SayOpt("delta", p_.delta);
  }

  Status AddSchedule() {
    const Text policy = p_.lr_policy;
    const std::string gamma = NumberText(p_.gamma);
    const auto say = [&](const std::string& text) {
      Say("--lr-schedule", text);
    };
    if (policy == "step") {
      say(fmt::format("factor:step={}:factor={}:stop_factor_lr=0", p_.stepsize,
                      gamma));
    } else if (policy == "exp") {
      say("exp:gamma=" + gamma);
    } else if (policy == "inv") {
      say(fmt::format("inv:gamma={}:power={}", gamma, NumberText(p_.power)));
    } else if (policy == "multistep") {
      say(fmt::format("multifactor:step={}:factor={}",
                      fmt::join(p_.stepvalue, ","), gamma));
    } else if (policy == "poly") {
      say(fmt::format("poly:max_update={}:pwr={}:first=0", p_.max_iter,
                      NumberText(p_.power)));
    } else if (policy == "sigmoid") {
      say(fmt::format("sigmoid:gamma={}:step={}", gamma, p_.stepsize));
    } else if (policy != "fixed") {
      return Wrong(
          "lr_policy '{}', expected fixed, step, exp, inv, multistep, poly or "
          "sigmoid",
          policy);
    }
    return Done{};
  }

  // An epoch is what lies between two tests.
  Status AddLength() {
    if (p_.max_iter < 1) {
      return Wrong("max_iter is {}, expected the number of updates",
                   p_.max_iter);
    }
    if (p_.iter_size < 1) {
      return Wrong("iter_size is {}, expected 1 or more", p_.iter_size);
    }
    Say("--steps", std::to_string(p_.max_iter));
    int64_t epochs = p_.max_iter;
    if (Tests()) {
      const int64_t interval = p_.test_interval;
      epochs = (p_.max_iter + interval - 1) / interval;
      Say("--data-opt",
          fmt::format("epoch_batches={}", interval * p_.iter_size));
      if (p_.test_initialization) {
        Note("nothing is scored before the first update");
      }
    }
    Say("--epochs", std::to_string(epochs));
    if (p_.iter_size > 1) Say("--accumulate", std::to_string(p_.iter_size));
    if (p_.display > 0) Say("--report-every", std::to_string(p_.display));
    if (p_.random_seed >= 0) Say("--seed", std::to_string(p_.random_seed));
    return Done{};
  }

  // Beside the solver where the folder that it names is nowhere.
  std::string Prefix() const {
    const fs::path prefix(p_.snapshot_prefix);
    const fs::path folder = prefix.parent_path();
    const fs::path beside = fs::path(at_.source->path).parent_path();
    if (prefix.empty()) {
      return (beside / fs::path(at_.source->path).stem()).string();
    }
    if (folder.empty()) return prefix.string();
    const std::string found = Find(folder.string());
    std::error_code ignored;
    if (fs::is_directory(found, ignored)) {
      return (fs::path(found) / prefix.filename()).string();
    }
    return (beside / prefix.filename()).string();
  }

  void AddFiles() {
    if (p_.snapshot > 0 || p_.snapshot_after_train) {
      Say("--save", Prefix());
      Say("--save-caffe");
      Say("--keep-epochs", "1");
    }
    if (p_.snapshot > 0) {
      Say("--save-every", std::to_string(p_.snapshot));
      Say("--keep", std::to_string(p_.max_iter / p_.snapshot + 1));
      if (!p_.snapshot_after_train) {
        Note("the end is saved, too, whatever snapshot_after_train says");
      }
    }
    if (p_.weights.empty()) return;
    Say("--params", Find(p_.weights.front()));
    if (p_.weights.size() > 1 || p_.weights.front().find(',') != Text::npos) {
      Note("of several files of weights the first is read");
    }
  }

  // Fields that change nothing of what is learned.
  void NoteRest() {
    if (p_.solver_mode == SolverMode::kGPU) {
      Note("solver_mode GPU is for --device to say: cuda:{}", p_.device_id);
    }
    if (p_.snapshot_format == SnapshotFormat::kHDF5) {
      Note("snapshot_format HDF5: snapshots are .caffemodel and .solverstate");
    }
    if (p_.snapshot_diff) Note("snapshot_diff: no gradients are saved");
    if (p_.average_loss > 1) {
      Note("average_loss {}: what is told is the mean since it was told last",
           p_.average_loss);
    }
    if (p_.debug_info) Note("debug_info: see --log-dir and --log-norms");
    if (p_.test_compute_loss) Note("test_compute_loss: it always is");
    if (!p_.layer_wise_reduce) {
      Note("layer_wise_reduce: --exchange says when gradients of a job leave");
    }
  }

  const SolverParameter& p_;
  const Solver& at_;
  SolverCommand command_;
};

// The word for what `solver_type` says.
Status UpgradeType(Solver& solver) {
  SolverParameter& p = solver.solver;
  if (!p.solver_type) {
    if (p.type.empty()) p.type = "SGD";
    return Done{};
  }
  if (!p.type.empty()) {
    return Error(protobuf::LocateIn(solver.source, p),
                 "the solver has 'type' and 'solver_type', expected one");
  }
  const auto type = static_cast<size_t>(*p.solver_type);
  if (type >= std::size(kTypes)) {
    return Error(protobuf::LocateIn(solver.source, p), "unknown solver_type {}",
                 type);
  }
  p.type = kTypes[type];
  return Done{};
}

}  // namespace

bool IsSolver(const NetworkSource& source) {
  return !IsNetText(source) && IsSolverText(source);
}

Result<std::shared_ptr<const Solver>> ReadSolver(
    std::shared_ptr<const SourceFile> source) {
  auto solver = std::make_shared<Solver>();
  solver->source = std::move(source);
  MXC_RETURN_IF_ERROR(protobuf::ParseText(
      solver->source, SolverParameter::Type(), solver->solver, solver->storage,
      {.messages = kMostMessages}));
  MXC_RETURN_IF_ERROR(UpgradeType(*solver));
  return std::shared_ptr<const Solver>(std::move(solver));
}

Result<SolverCommand> CommandOf(const NetworkSource& source) {
  MXC_ASSIGN(const auto solver, ReadSolver(source.text()));
  return Command(*solver).Make();
}

}  // namespace mxc::caffe
