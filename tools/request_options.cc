// SPDX-License-Identifier: Apache-2.0
#include "tools/request_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "passes/pass.h"
#include "tools/driver/cache_folder.h"
#include "tools/driver/lengths.h"
#include "tools/driver/precision.h"
#include "tools/driver/stages.h"
#include "tools/dump.h"
#include "tools/lettered_shapes.h"
#include "tools/usage/functions_option.h"
#include "tools/usage/usage.h"
#include "tools/usage/values.h"
#include "tools/user_call.h"

namespace mxc {
namespace {

std::string CheckPassName(const std::string& name) {
  std::string known;
  for (const PassDescription& pass : AllPasses()) {
    if (pass.name == name) return "";
    known += (known.empty() ? "" : ", ") + std::string(pass.name);
  }
  return fmt::format("pass '{}' is unknown; known: {}", name, known);
}

std::string CheckDisabled(const std::string& name) {
  for (const PassDescription& pass : AllPasses()) {
    if (pass.name == name && pass.required) {
      return fmt::format("pass '{}' is required", name);
    }
  }
  return CheckPassName(name);
}

// "momentum=0.9" of --opt, or "conv0_weight=2" of a multiplier.
AttrText SplitAssignment(const std::string& text) {
  const size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// "x86-64-v4", "aarch64@x86-64-v4".
CLI::Validator IsTarget() {
  CLI::Validator known = OneOf(TargetNames());
  return CLI::Validator(
      [known](std::string& text) {
        std::string first = text.substr(0, text.find(kOrderMark));
        if (std::string unknown = known(first);
            !unknown.empty() || first.size() == text.size()) {
          return unknown;
        }
        const auto target = ResolveTarget(text);
        return target.ok() ? std::string() : target.errors().front().message;
      },
      known.get_description());
}

std::string CheckAssignment(const std::string& text) {
  const size_t equals = text.find('=');
  const bool good = equals != text.npos && equals > 0;
  return good ? "" : fmt::format("'{}' is not NAME=VALUE", text);
}

std::string CheckMultiplier(const std::string& text) {
  double value = 0;
  if (const std::string wrong = CheckAssignment(text); !wrong.empty()) {
    return wrong;
  }
  return CLI::detail::lexical_cast(SplitAssignment(text).second, value)
             ? ""
             : fmt::format("'{}' ends with no number", text);
}

void AddMultipliers(CLI::App& app, const std::string& name, const char* what,
                    std::map<std::string, double>& multipliers) {
  app.add_option_function<std::vector<std::string>>(
         name,
         [&multipliers](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto [parameter, value] = SplitAssignment(text);
             CLI::detail::lexical_cast(value, multipliers[parameter]);
           }
         },
         what)
      ->check(CheckMultiplier)
      ->allow_extra_args(false)
      ->type_name("PARAMETER=X");
}

// The lengths that get entries.
Result<std::vector<Lengths>> LengthsOf(const RequestOptions& options) {
  if (!options.lengths.empty()) {
    return LengthsUpTo(options.lengths, options.bucket_lengths);
  }
  std::vector<Lengths> lengths;
  for (const int64_t length : options.bucket_lengths) {
    lengths.push_back({{"", length}});
  }
  return lengths;
}

// --precision, --weights, what they leave as it is, --winograd, --strassen.
void AddAlgorithmOptions(CLI::App& app, CompileRequest& request) {
  app.add_option_function<std::string>(
         "--precision",
         [&request](const std::string& name) { SetPrecision(name, request); },
         "bf16: what is kept between layers, and weights where that is faster, "
         "have 8 bits of precision; sums, parameters, inputs and outputs stay "
         "f32. f16: 11 bits, and the loss is scaled where it trains. tf32: a "
         "GPU rounds what it multiplies to 11 bits")
      ->check(OneOf({"f32", "tf32", "bf16", "f16"}))
      ->default_str("f32");
  app.add_option_function<std::string>(
         "--weights",
         [&request](const std::string& name) {
           SetWeights(name, request.weights);
         },
         "of products with constant weights, which memory bounds where they "
         "have few rows: bf16; int8, with a scale for each output; int4, with "
         "one for each 32 inputs of an output, or as many as is said "
         "(int4:64). "
         "Data and sums stay f32; verify says what each layer is off by")
      ->check([](const std::string& name) {
        WeightStorage weights;
        return SetWeights(name, weights)
                   ? std::string()
                   : fmt::format(
                         "'{}' is unknown; expected {} (--params "
                         "names a file of weights)",
                         name, kWeightKinds);
      })
      ->default_str("f32")
      ->type_name("f32|bf16|int8|int4[:GROUP]");
  app.add_option_function<std::vector<std::string>>(
         "--keep-weight",
         [&request](const std::vector<std::string>& names) {
           request.weights.kept.insert(names.begin(), names.end());
         },
         "a parameter that --weights leaves as it is, or several: 'layer1_*' "
         "(repeatable)")
      ->allow_extra_args(false)
      ->type_name("PARAMETER");
  app.add_option_function<std::vector<std::string>>(
         "--keep-layer",
         [&request](const std::vector<std::string>& names) {
           request.kept_layers.insert(names.begin(), names.end());
         },
         "a layer that reads f32 whatever --precision says, or several: "
         "'stage1_*' (repeatable)")
      ->allow_extra_args(false)
      ->type_name("LAYER");
  app.add_option("--cubin", request.assembler,
                 "NVIDIA's assembler, 'ptxas' of the path or a file: machine "
                 "code for the GPU lies beside the PTX, which drivers assemble "
                 "when they load it (seconds)")
      ->type_name("PTXAS");
  constexpr int kAuto = -1;
  app.add_option_function<int>(
         "--winograd",
         [&request](int tile) {
           request.winograd_tile.reset();
           if (tile != kAuto) request.winograd_tile = tile;
         },
         "tiles that 3x3 to 5x5 convolutions may be computed in: larger ones "
         "multiply less and are less exact; auto: 6, or 4 where the network "
         "trains, and less where a deep network would else be off by more than "
         "1e-5 of the largest value, by estimate")
      ->transform(Named<int>(
          {{"off", 0}, {"2", 2}, {"4", 4}, {"6", 6}, {"auto", kAuto}}))
      ->type_name("off|2|4|6|auto");
  app.add_option("--strassen", request.strassen,
                 "1x1 convolutions by Strassen's algorithm: 7 products of "
                 "quarters instead of 8, a little less exact, weights 7/4 as "
                 "large; auto: constant weights, where it is faster")
      ->transform(Named<bool>({{"off", false}, {"auto", true}}))
      ->default_str("auto")
      ->type_name("off|auto");
}

std::string CheckBound(const std::string& text) {
  int64_t rows = 0;
  if (const std::string wrong = CheckAssignment(text); !wrong.empty()) {
    return wrong;
  }
  const std::string value = SplitAssignment(text).second;
  return CLI::detail::lexical_cast(value, rows) && rows > 0
             ? ""
             : fmt::format("'{}' ends with no number of rows", text);
}

void AddBoundOption(CLI::App& app, std::map<std::string, int64_t>& bounds) {
  app.add_option_function<std::vector<std::string>>(
         "--bound",
         [&bounds](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto [node, rows] = SplitAssignment(text);
             CLI::detail::lexical_cast(rows, bounds[node]);
           }
         },
         "of a node that yields as many rows as data decide, as boolean_mask: "
         "how many there may be (default: as many as there can be). Memory is "
         "planned for these, and a run with more ends with an error "
         "(repeatable)")
      ->check(CheckBound)
      ->allow_extra_args(false)
      ->type_name("NODE=ROWS");
}

}  // namespace

void AddModelOptions(CLI::App& app, RequestOptions& options) {
  AddModelOptions(app, options.request.network, options.inputs);
}

void AddFunctionsOption(CLI::App& app) {
  DeclareFunctions(app);
  InterpretUserCalls();
  UseLibraryOperators();
}

void AddPlanOptions(CLI::App& app, RequestOptions& options) {
  app.option_defaults()->group("Compiling");
  CompileRequest& request = options.request;
  app.add_option("--batch", request.batches,
                 "batch sizes; each gets a plan of its own, weights are shared")
      ->delimiter(',')
      ->check(AtLeast(1))
      ->type_name("N,…");
  app.add_option("--target", request.target, "what to compile for")
      ->check(IsTarget())
      ->capture_default_str();
  app.add_option("-O", request.level,
                 "optimization level: 0 runs required passes only, 3 measures "
                 "kernels instead of estimating them")
      ->check(Between(0, 3))
      ->capture_default_str()
      ->type_name("0..3");
  AddAlgorithmOptions(app, request);
  AddBoundOption(app, request.bounds);
  app.add_option("--tuning-cache", request.tuning.cache,
                 "where measured times are kept; also read below -O3 if named "
                 "(default at -O3: ~/.cache/mxc/tuning.json)")
      ->type_name("FILE");
  app.add_option("--disable-pass", request.disabled,
                 "leave an optional pass out")
      ->check(CheckDisabled)
      ->type_name("PASS");
  app.add_option("--dump-after", options.dump_after,
                 "print the network as a pass, or all, leave it")
      ->check([](const std::string& name) {
        return name == "all" ? "" : CheckPassName(name);
      })
      ->type_name("PASS|all");
  app.add_option("--dump-dir", options.dump_folder,
                 "write the dumps into this folder")
      ->type_name("DIR");
}

void AddKernelOptions(CLI::App& app, CompileRequest& request) {
  app.option_defaults()->group("Kernels");
  request.tuning.measure = true;
  app.add_option("--tuning-seconds", request.tuning.seconds,
                 "how long -O3 may measure what the cache does not know")
      ->check(NotNegative())
      ->capture_default_str()
      ->type_name("S");
  if (const auto folder = CacheFolder(); !folder.empty()) {
    request.objects = std::make_shared<ObjectCache>(folder / "objects");
  }
  app.add_option_function<std::string>(
         "--object-cache",
         [&request](const std::string& folder) {
           request.objects.reset();
           if (folder != "off") {
             request.objects = std::make_shared<ObjectCache>(folder);
           }
         },
         "where compiled kernels are kept, to be found again (default: "
         "~/.cache/mxc/objects)")
      ->check(CLI::Validator(
          [](std::string& folder) {
            std::error_code error;
            const auto kind = std::filesystem::status(folder, error).type();
            const bool file = kind == std::filesystem::file_type::regular;
            return file ? "'" + folder + "' is a file, expected a folder or off"
                        : std::string();
          },
          ""))
      ->type_name("DIR|off");
}

void AddTrainingOptions(CLI::App& app, TrainingOptions& training) {
  app.option_defaults()->group("Optimizer");
  app.add_option("--optimizer", training.optimizer,
                 "how parameters are updated: sgd, adam, … as in MXNet")
      ->capture_default_str();
  app.add_option_function<std::vector<std::string>>(
         "--opt",
         [&training](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             training.optimizer_attrs.push_back(SplitAssignment(text));
           }
         },
         "an attribute of the optimizer (repeatable): momentum=0.9")
      ->check(CheckAssignment)
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--label-smoothing", training.label_smoothing,
                 "labels of SoftmaxOutput are 1-A for their class and A/(C-1) "
                 "for the other C-1 of C, as MXNet's smooth_alpha; the loss of "
                 "training is that of these labels, the loss of --val and "
                 "score that of the labels as they are")
      ->check(ShareBelowOne())
      ->type_name("A");
  app.add_option("--fixed", training.fixed,
                 "a parameter that is not trained, or several: 'stage1_*' "
                 "(repeatable)")
      ->allow_extra_args(false)
      ->type_name("PARAMETER");
  app.add_option("--replicas", training.replicas,
                 "GPUs that train together, each with a batch of its own "
                 "(mxc-run train --device cuda:0,cuda:1)")
      ->check(AtLeast(1))
      ->type_name("N");
  app.add_option("--micro-batches", training.micro_batches,
                 "a batch passes through the step in N equal parts, one after "
                 "the other; their gradients are added up before the update, "
                 "so that activations are kept of a part at a time")
      ->check(AtLeast(1))
      ->type_name("N");
  app.add_option_function<uint64_t>(
         "--memory-budget",
         [&training](const uint64_t& bytes) {
           training.memory_budget = static_cast<int64_t>(bytes);
         },
         "refuse a plan whose peak is larger; training computes activations "
         "again instead of keeping them until they fit")
      ->transform(SizeInBytes())
      ->type_name("512MiB");
  AddMultipliers(app, "--lr-mult", "a parameter's own factor of the rate",
                 training.lr_mult);
  AddMultipliers(app, "--wd-mult", "a parameter's own factor of the decay",
                 training.wd_mult);
}

void AddStageOptions(CLI::App& app, StageRequest& cut) {
  app.option_defaults()->group("Stages");
  app.add_option("--stages", cut.stages,
                 "cut the layers into K stages, a pipeline through which "
                 "micro-batches pass: by --place, else by the groups that the "
                 "network names (__ctx_group__), else where the slowest stage "
                 "takes least. In a job (mxc launch --workers K) each worker "
                 "is a stage; a process that is alone is all of them, on "
                 "threads, and learns the same bytes")
      ->check(Between(1, kMostStages))
      ->type_name("K");
  app.add_option_function<std::vector<std::string>>(
         "--place",
         [&cut](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             cut.places.push_back(*ParseStagePlace(text));
           }
         },
         "nodes whose names begin so are on that stage, counted from 0 "
         "(repeatable; of several that match the first one counts); others "
         "are where their inputs are")
      ->check([](const std::string& text) {
        const auto place = ParseStagePlace(text);
        return place.ok() ? std::string() : place.errors()[0].message;
      })
      ->allow_extra_args(false)
      ->type_name("REGEX=STAGE");
}

void AddLengthOption(CLI::App& app, RequestOptions& options,
                     const std::string& what) {
  app.add_option_function<std::string>(
         "--length",
         [&options](const std::string& text) {
           options.lengths = *ParseLengths(text);
         },
         what)
      ->check([](const std::string& text) {
        const auto lengths = ParseLengths(text);
        return lengths.ok() ? std::string() : lengths.errors()[0].message;
      })
      ->type_name("MOST");
}

void AddEntryOptions(CLI::App& app, RequestOptions& options) {
  app.option_defaults()->group("Entries");
  app.add_option("--entry", options.request.entries,
                 "what the artifact can do; with train or score, parameters "
                 "live in it from run to run")
      ->delimiter(',')
      ->check(OneOf({"infer", "train", "score", "grad", "update"}))
      ->capture_default_str();
  app.add_option(
         "--bucket", options.bucket_lengths,
         "lengths of sequences, each an entry of its own; stand for L in "
         "--input-shape data:NxL")
      ->delimiter(',')
      ->check(AtLeast(1))
      ->type_name("L,…");
  AddLengthOption(
      app, options,
      "sequences of any length up to so many, of axes that inputs leave open "
      "behind the batch (\"T\") or that have an L in --input-shape data:NxL; "
      "an "
      "entry for each of --bucket, or of lengths some 6 % apart, of which a "
      "run "
      "takes the shortest that holds it. Where the network has several: S=512,"
      "T=128, by its own names or the letters of --input-shape");
  app.add_option(
         "--streams", options.request.streams,
         "of a network with 'cache': write so many texts side by side, each "
         "from its own beginning to its own end; the entries are then decode, "
         "a token of each, and prefill, many of one that is given")
      ->check(AtLeast(1))
      ->type_name("S");
  app.add_option("--prefill", options.request.prefill,
                 "tokens of a text that are read at once (default: 64, or as "
                 "many as the network keeps)")
      ->check(AtLeast(1))
      ->type_name("P");
}

void ReferToCompile(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    if (group == "Compiling" || group == "Optimizer" || group == "Kernels") {
      option->group(kAsForCompile);
    }
  }
}

Result<CompileRequest> RequestOf(const RequestOptions& options) {
  CompileRequest request = options.request;
  InputTexts whole = options.inputs;
  const bool open = !options.lengths.empty();
  MXC_ASSIGN(const std::vector<Lengths> all, LengthsOf(options));
  for (const Lengths& lengths : all) {
    auto shapes =
        ParseInputShapes(WithLengths(options.inputs.shapes, open, lengths));
    if (!shapes.ok()) return shapes.errors();
    request.buckets.push_back(
        {lengths, std::move(*shapes), open,
         open ? AxesOfLengths(options.inputs.shapes) : OpenAxes()});
  }
  if (!request.buckets.empty()) whole.shapes.clear();
  MXC_ASSIGN(const Specialization inputs, ParseInputs(whole, 0));
  request.input_shapes = inputs.shapes;
  request.input_types = inputs.types;
  if (!options.dump_after.empty()) {
    request.after_pass = Dump(options.dump_after, options.dump_folder);
  }
  return request;
}

}  // namespace mxc
