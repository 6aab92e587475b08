// chart_state.hpp: a model of morphlm for decoders that join phrases before they know what precedes them, such as cdec.
//
// A word is scored once all n - 1 words before it are known. So a phrase keeps its first n - 1 words, which are scored
// when it becomes part of a longer one, and what its last n - 1 words mean for those that follow. Both are a row of
// numbers of fixed size without pointers, which can be copied, and compared byte by byte: equal rows have the same
// future.
//
//   morphlm::ChartModel chart(model);
//   morphlm::RuleScore rule(chart);           // the target side of a rule, from left to right
//   rule.word(chart.id("the"));
//   rule.phrase(translation_of_a_gap);        // as `finish` wrote it
//   rule.logprob(), rule.estimate();
//   rule.finish(translation_of_the_rule);     // chart.state_bytes() bytes
//
// The log-probabilities of all rules of a derivation and that of `sentence` add up to the score of the sentence.

#ifndef MORPHLM_CHART_STATE_HPP
#define MORPHLM_CHART_STATE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "morphlm.hpp"

namespace morphlm {

// Decoders add and compare scores, so each is finite: a word without probability counts as 1e-100, as in morphlm's
// decoder.
constexpr double LOWEST_LOGPROB = -230.25850929940458;

// A model with a cache and the memory that scoring a rule takes. One for each thread; threads share the model.
class ChartModel {
 public:
  explicit ChartModel(const Model& model, double cache_megabytes = 32.0)
      : model_(model),
        cache_(model, cache_megabytes),
        context_words_(model.order() - 1),
        left_(context_words_),
        state_(model.state_size()) {}

  ChartModel(const ChartModel&) = delete;
  ChartModel& operator=(const ChartModel&) = delete;

  // The size of the state of a phrase.
  std::size_t state_bytes() const { return sizeof(std::int32_t) * (1 + context_words_ + state_.size()); }

  // The id of a word of the text. One that looks like <s> or </s> is no mark there, hence unknown.
  WordId id(std::string_view word) const {
    const WordId found = model_.id(word);
    return found == BEGIN || found == END ? UNKNOWN : found;
  }

  // Whether a word is predicted as <unk>; contexts may still know it, if the file lists it as composed.
  bool is_unknown(WordId word) const {
    return word == UNKNOWN || word < 0 || static_cast<std::size_t>(word) >= model_.vocabulary_size();
  }

  // ln p of what is left to score when a phrase is the whole sentence: its first words after <s>, and </s>.
  double sentence(const void* phrase);

 private:
  friend class RuleScore;

  // ln p of a word after `state_`, which moves on.
  double advance(WordId word) {
    const double logprob = model_.advance(state_.data(), word, state_.data(), cache_);
    return std::isfinite(logprob) ? std::max(logprob, LOWEST_LOGPROB) : LOWEST_LOGPROB;
  }

  const Model& model_;
  Cache cache_;
  const std::size_t context_words_;  // n - 1
  std::vector<WordId> left_;         // of the rule that is being scored: the first words
  std::vector<std::int32_t> state_;  // of the model after the last word
};

// Scores the target side of one rule. A ChartModel can have only one of them at a time.
class RuleScore {
 public:
  explicit RuleScore(ChartModel& chart) : chart_(chart) { chart_.model_.write_null_context(chart_.state_.data()); }

  RuleScore(const RuleScore&) = delete;
  RuleScore& operator=(const RuleScore&) = delete;

  void word(WordId word) {
    const double logprob = chart_.advance(word);
    if (known_ == chart_.context_words_) {
      logprob_ += logprob;
    } else {
      estimate_ += logprob;
      chart_.left_[known_++] = word;
    }
  }

  // A phrase by its state. Its inner words have been scored; where it ends, so does what is known before the next word.
  void phrase(const void* state) {
    const std::size_t words = number_at(state, 0) < 0 ? 0 : static_cast<std::size_t>(number_at(state, 0));
    const std::size_t lefts = std::min(words, chart_.context_words_);
    for (std::size_t k = 0; k < lefts; ++k) word(number_at(state, 1 + k));
    if (lefts && lefts == chart_.context_words_) {
      std::memcpy(chart_.state_.data(), bytes_at(state, 1 + lefts), chart_.state_.size() * sizeof(std::int32_t));
    }
  }

  // ln p of the words whose n - 1 words before are known now: exact, and counted nowhere else.
  double logprob() const { return logprob_; }

  // ln p of the first n - 1 words, given only what is known of the words before them: what they may turn out to cost.
  double estimate() const { return estimate_; }

  // Writes the state of the phrase. Unused numbers are 0, so that equal phrases have equal bytes.
  void finish(void* state) const {
    std::memset(state, 0, chart_.state_bytes());
    const auto lefts = static_cast<std::int32_t>(known_);
    std::memcpy(state, &lefts, sizeof lefts);
    if (known_) std::memcpy(bytes_at(state, 1), chart_.left_.data(), known_ * sizeof(WordId));
    if (known_ == chart_.context_words_) {
      std::memcpy(bytes_at(state, 1 + known_), chart_.state_.data(), chart_.state_.size() * sizeof(std::int32_t));
    }
  }

 private:
  friend class ChartModel;

  // All contexts are known from here. What begins a sentence is no phrase, so there is nothing to finish.
  void begin_sentence() {
    chart_.model_.write_begin(chart_.state_.data());
    known_ = chart_.context_words_;
  }

  // The memory is the decoder's and need not be aligned.
  static const char* bytes_at(const void* state, std::size_t number) {
    return static_cast<const char*>(state) + number * sizeof(std::int32_t);
  }
  static char* bytes_at(void* state, std::size_t number) {
    return static_cast<char*>(state) + number * sizeof(std::int32_t);
  }
  static std::int32_t number_at(const void* state, std::size_t number) {
    std::int32_t value;
    std::memcpy(&value, bytes_at(state, number), sizeof value);
    return value;
  }

  ChartModel& chart_;
  std::size_t known_ = 0;  // words before the next one, up to n - 1
  double logprob_ = 0.0, estimate_ = 0.0;
};

inline double ChartModel::sentence(const void* phrase) {
  RuleScore rule(*this);
  rule.begin_sentence();
  rule.phrase(phrase);
  rule.word(END);
  return rule.logprob();
}

}  // namespace morphlm

#endif  // MORPHLM_CHART_STATE_HPP
