// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/number_text.h"
#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"

namespace mxc::train {
namespace {

// Six columns wherever they can say it, so that the epochs' figures stand below
// one another: "0.9990", "12.346", "-0.120", "1234.6".
std::string Figure(double value) {
  constexpr size_t kColumns = 6;
  if (value != 0 && std::abs(value) < 0.0001) return Format("%6.0e", value);
  std::string text;
  for (int decimals = 4; decimals >= 0; --decimals) {
    text = Format("%6.*f", decimals, value);
    if (text.size() <= kColumns) return text;
  }
  return Format("%.1e", value);
}

// "  val loss 0.3400  val accuracy 0.9031"; `of` is "val " or empty.
std::string FiguresText(const char* of, double loss,
                        const MetricValues& metrics) {
  std::string text = Format("  %sloss %s", of, Figure(loss).c_str());
  for (const auto& [name, value] : metrics) {
    text += Format("  %s%s %s", of, runtime::Visible(name).c_str(),
                   Figure(value).c_str());
  }
  return text;
}

class SilentReporter : public Reporter {
 public:
  explicit SilentReporter(std::FILE* out) : out_(out) {}

  bool WantsStep(int64_t) override { return false; }
  void OnStep(const Progress&) override {}
  void OnEpoch(const EpochSummary&) override {}
  void Say(const std::string&) override {}
  void Warn(const std::string& sentence) override {
    std::fprintf(out_, "warning: %s\n", runtime::Visible(sentence).c_str());
    std::fflush(out_);
  }

 private:
  std::FILE* out_;
};

class LineReporter : public Reporter {
 public:
  explicit LineReporter(std::FILE* out) : out_(out) {}

  bool WantsStep(int64_t) override { return false; }
  void OnStep(const Progress&) override {}
  void OnEpoch(const EpochSummary& s) override {
    std::string line =
        Format("epoch %lld/%lld", static_cast<long long>(s.epoch),
               static_cast<long long>(s.epochs)) +
        FiguresText("", s.loss, s.metrics);
    if (s.validation) {
      line += FiguresText("val ", s.validation->loss, s.validation->metrics);
    }
    line += Format("  %.0f samples/s  %s", s.samples_per_s,
                   ClockTime(s.seconds).c_str());
    Print(line);
  }
  void Say(const std::string& sentence) override { Print(sentence); }

 protected:
  virtual void Print(const std::string& line) {
    std::fprintf(out_, "%s\n", runtime::Visible(line).c_str());
    std::fflush(out_);
  }

  std::FILE* out_;
};

// Figures, which two spaces separate, go on below where the line is too narrow;
// sentences are the terminal's to break.
std::vector<std::string> Wrapped(const std::string& line, size_t width) {
  constexpr std::string_view kBetween = "  ";
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(kBetween, begin), line.size());
    if (begin > 0) {
      const size_t more = kBetween.size() + end - begin;
      if (lines.back().size() + more > width) lines.emplace_back();
      lines.back() += kBetween;
    }
    lines.back().append(line, begin, end - begin);
    begin = end + kBetween.size();
  }
  return lines;
}

class BarReporter : public LineReporter {
 public:
  using LineReporter::LineReporter;
  ~BarReporter() override { Clear(); }

  bool WantsStep(int64_t) override {
    constexpr int64_t kBetween = 100'000'000;  // ns
    const int64_t now = runtime::Nanoseconds();
    if (now - drawn_ < kBetween) return false;
    drawn_ = now;
    return true;
  }

  void OnStep(const Progress& p) override {
    const std::string head =
        Format("epoch %lld/%lld ", static_cast<long long>(p.epoch),
               static_cast<long long>(p.epochs));
    const std::string loss =
        Format(" %3.0f%%", 100 * Done(p)) + FiguresText("", p.loss, {});
    const std::string all =
        Format(" %3.0f%%", 100 * Done(p)) + FiguresText("", p.loss, p.metrics);
    const std::string rate = Format("  %.0f/s", p.samples_per_s);
    const std::string left =
        Format("  %s left", ClockTime(p.seconds_left).c_str());
    const size_t width = Width();
    // What is left out first where the line is too narrow.
    std::string tail = all + rate + left;
    if (head.size() + tail.size() > width) tail = all + left;
    if (head.size() + tail.size() > width) tail = loss + left;
    std::string line = head + tail;
    if (line.size() + 8 < width) {
      line = head +
             Bar(Done(p), std::min<size_t>(width - line.size() - 1, 30)) + tail;
    } else if (line.size() > width) {
      line.resize(width);
    }
    std::fprintf(out_, "\r%s\x1b[K", line.c_str());
    std::fflush(out_);
    shown_ = true;
  }

 protected:
  void Print(const std::string& line) override {
    Clear();
    for (const std::string& part : Wrapped(line, Width())) {
      LineReporter::Print(part);
    }
  }

 private:
  static double Done(const Progress& p) {
    return p.batches > 0
               ? static_cast<double>(p.batch) / static_cast<double>(p.batches)
               : 0;
  }

  static std::string Bar(double done, size_t cells) {
    const auto eighths = static_cast<size_t>(std::clamp(done, 0.0, 1.0) * 8 *
                                             static_cast<double>(cells));
    constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    std::string bar;
    for (size_t i = 0; i < eighths / 8; ++i) bar += "█";
    bar += kParts[eighths % 8];
    const size_t used = eighths / 8 + (eighths % 8 != 0);
    for (size_t i = used; i < cells; ++i) bar += "░";
    return bar;
  }

  size_t Width() const {
    const size_t columns = runtime::TerminalColumns(fileno(out_));
    return columns > 20 ? columns : 80;
  }

  void Clear() {
    if (shown_) std::fprintf(out_, "\r\x1b[K");
    shown_ = false;
  }

  int64_t drawn_ = 0;
  bool shown_ = false;
};

class JsonReporter : public Reporter {
 public:
  JsonReporter(int64_t every, std::FILE* out) : every_(every), out_(out) {}
  // Warnings after which no object came have one of their own.
  ~JsonReporter() override {
    if (warnings_.empty()) return;
    const std::string texts = JsonTexts(std::exchange(warnings_, {}));
    Print("{\"warnings\": " + texts);
  }

  bool WantsStep(int64_t step) override {
    return every_ > 0 && step % every_ == 0;
  }

  void OnStep(const Progress& p) override {
    Print(Head(p.step, p.epoch, p.loss, p.metrics, p.samples_per_s,
               p.learning_rate));
  }

  void OnEpoch(const EpochSummary& s) override {
    std::string line =
        Head(s.step, s.epoch, s.loss, s.metrics, s.samples_per_s,
             s.learning_rate) +
        ", \"epoch_end\": true, \"seconds\": " + JsonNumber(s.seconds);
    if (s.validation) {
      line += ", \"validation\": {\"loss\": " + JsonNumber(s.validation->loss) +
              ", \"metrics\": " + JsonMetrics(s.validation->metrics) + "}";
    }
    Print(line);
  }

  void Say(const std::string& sentence) override {
    std::fprintf(stderr, "%s\n", runtime::Visible(sentence).c_str());
  }
  void Warn(const std::string& sentence) override {
    Say("warning: " + sentence);
    warnings_.push_back(sentence);
  }

 private:
  static std::string Head(int64_t step, int64_t epoch, double loss,
                          const MetricValues& metrics, double samples_per_s,
                          double learning_rate) {
    return Format("{\"step\": %lld, \"epoch\": %lld, \"loss\": ",
                  static_cast<long long>(step), static_cast<long long>(epoch)) +
           JsonNumber(loss) + ", \"metrics\": " + JsonMetrics(metrics) +
           ", \"samples_per_s\": " +
           JsonNumber(runtime::Measured(samples_per_s)) +
           ", \"learning_rate\": " + JsonNumber(learning_rate);
  }

  // `object` without its last brace.
  void Print(const std::string& object) {
    std::fprintf(out_, "%s%s}\n", object.c_str(), TakeWarnings().c_str());
    std::fflush(out_);
  }

  std::string TakeWarnings() {
    if (warnings_.empty()) return "";
    std::string text = ", \"warnings\": " + JsonTexts(warnings_);
    warnings_.clear();
    return text;
  }

  std::vector<std::string> warnings_;  // since the last object
  int64_t every_;
  std::FILE* out_;
};

}  // namespace

std::unique_ptr<Reporter> MakeReporter(ReportStyle style, int64_t every,
                                       std::FILE* out) {
  switch (style) {
    case ReportStyle::kBar:
      return std::make_unique<BarReporter>(out);
    case ReportStyle::kLines:
      return std::make_unique<LineReporter>(out);
    case ReportStyle::kJson:
      return std::make_unique<JsonReporter>(every, out);
    case ReportStyle::kSilent:
      break;
  }
  return std::make_unique<SilentReporter>(out);
}

std::string ClockTime(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "?";
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  const auto hours = static_cast<long long>(whole / 3600);
  const int minutes = static_cast<int>(whole / 60 % 60);
  const int rest = static_cast<int>(whole % 60);
  return hours > 0 ? Format("%lld:%02d:%02d", hours, minutes, rest)
                   : Format("%d:%02d", minutes, rest);
}

std::string JsonTexts(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    json += (json.size() > 1 ? ", " : "") + runtime::JsonQuoted(text);
  }
  return json + "]";
}

std::string JsonNumber(double value) {
  return std::isfinite(value) ? runtime::ShortestText(value) : "null";
}

std::string JsonMetrics(const MetricValues& metrics) {
  std::string json = "{";
  for (const auto& [name, value] : metrics) {
    json += (json.size() > 1 ? ", " : "") + runtime::JsonQuoted(name) + ": " +
            JsonNumber(value);
  }
  return json + "}";
}

}  // namespace mxc::train
