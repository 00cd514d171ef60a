// SPDX-License-Identifier: Apache-2.0
// What a trainer notes in a checkpoint of where it is and by which rules it trains,
// as text, and how it reads that again.
#pragma once

#include <string>
#include <vector>

#include "runtime/train/checkpoint.h"
#include "runtime/train/rule_facts.h"
#include "runtime/train/trainer.h"

namespace mxc::train {

// Names of notes that are written in one place and read in another.
inline constexpr const char* kWorkersNote = "workers";
inline constexpr const char* kSamplesNote = "samples";
inline constexpr const char* kRulesNote = "rules";

// Numbers of a note, exactly, and back.
std::string NumbersText(const std::vector<double>& numbers);
std::vector<double> NumbersOf(const std::string& text);
// Empty: there is none.
std::string NoteOf(const Checkpoint& checkpoint, const char* word);

// What the rates depend on.
std::string ScheduleText(const TrainerOptions& options);
// How many workers share the samples; empty: the process is alone.
std::string WorkersText(const TrainerOptions& options);
// A schedule that states its own rate makes one that was given beside it void.
RuleFacts RulesOf(const TrainerOptions& options, const TrainFacts& facts);

}  // namespace mxc::train
