// SPDX-License-Identifier: Apache-2.0
#include "tools/stage_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "ir/program/memory.h"
#include "ir/program/steps/collective.h"
#include "tools/driver/figures.h"
#include "tools/driver/stages.h"

namespace mxc {
namespace {

int64_t BytesOf(const Program& program, BufferKind kind) {
  int64_t bytes = 0;
  for (const int buffer : program.BuffersOf(kind)) {
    bytes += program.buffers[static_cast<size_t>(buffer)].type.bytes();
  }
  return bytes;
}

// All stages at once, each as far as what it receives has been sent.
class Simulation {
 public:
  explicit Simulation(const std::vector<Plan>& plans) : plans_(plans) {
    for (const Plan& plan : plans) {
      const Program& program = plan.programs.front();
      StageView& view = timeline_.stages.emplace_back();
      view.peak_bytes = MemoryOf(program).peak();
      view.state_bytes = BytesOf(program, BufferKind::kState);
      view.input_bytes = BytesOf(program, BufferKind::kInput);
    }
    now_.assign(plans.size(), 0);
    at_.assign(plans.size(), 0);
  }

  StageTimeline Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t stage = 0; stage < plans_.size(); ++stage) {
        while (Step(stage)) moved = true;
      }
    }
    for (size_t stage = 0; stage < plans_.size(); ++stage) {
      NamePasses(timeline_.stages[stage]);
      timeline_.seconds = std::max(timeline_.seconds, now_[stage]);
    }
    return std::move(timeline_);
  }

 private:
  // False: there is none, or it waits.
  bool Step(size_t stage) {
    const Program& program = plans_[stage].programs.front();
    if (at_[stage] == program.steps.size()) return false;
    const mxc::Step& step = program.steps[at_[stage]];
    const auto* collective = step.body.As<Collective>();
    if (collective == nullptr) {
      Compute(stage, step);
    } else if (!Exchange(stage, program, step, *collective)) {
      return false;
    }
    ++at_[stage];
    return true;
  }

  void Compute(size_t stage, const mxc::Step& step) {
    const Plan& plan = plans_[stage];
    StageView& view = timeline_.stages[stage];
    const double seconds = plan.catalog->Seconds(plan.programs.front(), step);
    const double begin = now_[stage];
    now_[stage] += seconds;
    view.busy_seconds += seconds;
    if (step.part < 0) return;
    if (view.tasks.empty() || view.tasks.back().part != step.part) {
      view.tasks.push_back({.part = step.part, .begin = begin});
    }
    view.tasks.back().end = now_[stage];
  }

  // False: it is not there yet.
  bool Exchange(size_t stage, const Program& program, const mxc::Step& step,
                const Collective& collective) {
    StageView& view = timeline_.stages[stage];
    const auto other = static_cast<size_t>(collective.members);
    const bool sends = collective.operation == "send";
    const int operand = sends ? step.inputs[0] : step.outputs[0];
    const int64_t bytes =
        program.buffers[static_cast<size_t>(operand)].type.bytes();
    auto& wire =
        sent_[sends ? std::pair(stage, other) : std::pair(other, stage)];
    if (!sends) {
      if (wire.empty()) return false;
      now_[stage] = std::max(now_[stage], wire.front());
      wire.pop_front();
    }
    now_[stage] += static_cast<double>(bytes) / kLinkBytesPerSecond;
    if (sends) wire.push_back(now_[stage]);
    (sends ? view.sent_bytes : view.received_bytes) += bytes;
    return true;
  }

  // What a stage does of a part for the first time is forward, and backward what
  // it does last.
  static void NamePasses(StageView& view) {
    std::map<int, size_t> first, last;
    for (size_t i = 0; i < view.tasks.size(); ++i) {
      first.try_emplace(view.tasks[i].part, i);
      last[view.tasks[i].part] = i;
    }
    for (const auto& [part, task] : first) view.tasks[task].forward = true;
    for (const auto& [part, task] : last) view.tasks[task].backward = true;
  }

  const std::vector<Plan>& plans_;
  StageTimeline timeline_;
  std::vector<double> now_;  // by stage
  std::vector<size_t> at_;   // a step
  std::map<std::pair<size_t, size_t>, std::deque<double>> sent_;
};

// "F0", "B0", "FB0".
std::string NameOf(const StageTask& task) {
  return fmt::format("{}{}{}", task.forward ? "F" : "",
                     task.backward  ? "B"
                     : task.forward ? ""
                                    : "_",
                     task.part);
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

StageTimeline TimelineOf(const std::vector<Plan>& plans) {
  return Simulation(plans).Run();
}

void PrintTimeline(const StageTimeline& timeline) {
  PrintOut("{} stages, {} a step by the model\n", timeline.stages.size(),
           FormatSeconds(timeline.seconds));
  for (size_t stage = 0; stage < timeline.stages.size(); ++stage) {
    const StageView& view = timeline.stages[stage];
    PrintOut(
        "stage {}  peak {} ({} B), states {}, inputs {}, sends {}, receives "
        "{}, works {:.0f} % of the time\n",
        stage, FormatBytes(view.peak_bytes), view.peak_bytes,
        FormatBytes(view.state_bytes), FormatBytes(view.input_bytes),
        FormatBytes(view.sent_bytes), FormatBytes(view.received_bytes),
        100 * Share(view.busy_seconds, timeline.seconds));
    std::string line;
    for (const StageTask& task : view.tasks) line += " " + NameOf(task);
    PrintOut(" {}\n", line);
  }
}

Json TimelineToJson(const StageTimeline& timeline) {
  Json json = {{"modelled_seconds", timeline.seconds},
               {"stages", Json::array()}};
  for (const StageView& view : timeline.stages) {
    Json tasks = Json::array();
    for (const StageTask& task : view.tasks) {
      tasks.push_back({{"micro_batch", task.part},
                       {"forward", task.forward},
                       {"backward", task.backward},
                       {"begin_s", task.begin},
                       {"end_s", task.end}});
    }
    json["stages"].push_back({{"peak_bytes", view.peak_bytes},
                              {"state_bytes", view.state_bytes},
                              {"input_bytes", view.input_bytes},
                              {"sent_bytes", view.sent_bytes},
                              {"received_bytes", view.received_bytes},
                              {"busy_s", view.busy_seconds},
                              {"tasks", std::move(tasks)}});
  }
  return json;
}

std::string TimelinePicture(const StageTimeline& timeline) {
  constexpr int kWidth = 1200, kRow = 40, kLeft = 80, kTop = 30;
  const auto count = static_cast<int>(timeline.stages.size());
  const int height = kTop + kRow * count + 10;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<text x=\"4\" y=\"16\">a training step by the model: {}</text>\n",
      kLeft + kWidth + 10, height, FormatSeconds(timeline.seconds));
  const auto x = [&](double seconds) {
    return kLeft + kWidth * Share(seconds, timeline.seconds);
  };
  for (int stage = 0; stage < count; ++stage) {
    const int y = kTop + kRow * stage;
    svg +=
        fmt::format("<text x=\"4\" y=\"{}\">stage {}</text>\n", y + 22, stage);
    for (const StageTask& task :
         timeline.stages[static_cast<size_t>(stage)].tasks) {
      const char* colour = !task.backward ? "#9ecae1"
                           : task.forward ? "#a1d99b"
                                          : "#fdae6b";
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
          "fill=\"{}\" stroke=\"#555\"><title>{} {} to {}</title></rect>\n"
          "<text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
          x(task.begin), y, x(task.end) - x(task.begin), kRow - 8, colour,
          NameOf(task), FormatSeconds(task.begin), FormatSeconds(task.end),
          x(task.begin) + 3, y + 20, NameOf(task));
    }
  }
  return svg + "</svg>\n";
}

}  // namespace mxc
