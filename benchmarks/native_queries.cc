// Times queries of morphlm.hpp for benchmarks/native.py: native_queries MODEL IDS REPEATS
//
// IDS are int32, sentences that each end with END. Prints nanoseconds of CPU time for a query, the least of the
// repeats: one by one and in batches, without a cache and with one that has seen the text.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "morphlm.hpp"

namespace {

constexpr std::size_t BATCH = 512;

double cpu_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

std::vector<morphlm::WordId> read_ids(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<morphlm::WordId> ids(content.size() / sizeof(morphlm::WordId));
  std::memcpy(ids.data(), content.data(), ids.size() * sizeof(morphlm::WordId));
  return ids;
}

// States before all words, one after the other.
std::vector<std::int32_t> states_before(const morphlm::Model& model, const std::vector<morphlm::WordId>& ids) {
  morphlm::Cache cache(model, 64.0);
  const std::size_t size = model.state_size();
  std::vector<std::int32_t> states((ids.size() + 1) * size);
  model.write_begin(states.data());
  for (std::size_t k = 0; k < ids.size(); ++k) {
    model.advance(states.data() + k * size, ids[k], states.data() + (k + 1) * size, cache);
    if (ids[k] == morphlm::END) model.write_begin(states.data() + (k + 1) * size);
  }
  return states;
}

double one_by_one(const morphlm::Model& model, const std::vector<morphlm::WordId>& ids, morphlm::Cache& cache) {
  std::vector<std::int32_t> state(model.state_size());
  model.write_begin(state.data());
  double total = 0.0;
  for (const morphlm::WordId word : ids) {
    total += model.advance(state.data(), word, state.data(), cache);
    if (word == morphlm::END) model.write_begin(state.data());
  }
  return total;
}

double in_batches(const morphlm::Model& model, const std::vector<morphlm::WordId>& ids,
                  const std::vector<std::int32_t>& states, morphlm::Cache& cache) {
  std::vector<double> logprobs(ids.size());
  for (std::size_t begin = 0; begin < ids.size(); begin += BATCH) {
    const std::size_t count = std::min(BATCH, ids.size() - begin);
    const std::int32_t* before = states.data() + begin * model.state_size();
    model.advance_many(before, ids.data() + begin, count, logprobs.data() + begin, nullptr, cache);
  }
  double total = 0.0;
  for (const double logprob : logprobs) total += logprob;
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const morphlm::Model model(argv[1]);
  const std::vector<morphlm::WordId> ids = read_ids(argv[2]);
  const std::vector<std::int32_t> states = states_before(model, ids);
  for (const double megabytes : {0.0, 256.0}) {
    morphlm::Cache cache(model, megabytes);
    const std::function<double()> ways[] = {[&] { return one_by_one(model, ids, cache); },
                                            [&] { return in_batches(model, ids, states, cache); }};
    for (const auto& way : ways) {
      double least = 1e300, total = way();
      for (int repeat = std::atoi(argv[3]); repeat > 0; --repeat) {
        const double started = cpu_nanoseconds();
        total = way();
        least = std::min(least, cpu_nanoseconds() - started);
      }
      std::printf("%.3f\t%.6f\n", least / static_cast<double>(ids.size()), total);
    }
  }
  return 0;
}
