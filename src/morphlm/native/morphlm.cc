// The functions of morphlm.h: exceptions become values that callers in C can see.

#include "morphlm.h"

#include <cmath>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "morphlm.hpp"

struct morphlm_model {
  morphlm::Model model;
};
struct morphlm_cache {
  morphlm::Cache cache;
};

namespace {

std::string& last_error() {
  static thread_local std::string message;
  return message;
}

template <class F, class T>
T guarded(F call, T failure) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    try {
      last_error() = error.what();
    } catch (...) {
    }
  } catch (...) {
  }
  return failure;
}

}  // namespace

const char* morphlm_error(void) { return last_error().c_str(); }

morphlm_model* morphlm_load(const char* path) {
  return guarded([&] { return new morphlm_model{morphlm::Model(std::string(path ? path : ""))}; },
                 static_cast<morphlm_model*>(nullptr));
}
void morphlm_free(morphlm_model* model) { delete model; }

int morphlm_verify(const morphlm_model* model) {
  return guarded([&] { return model->model.verify() ? 1 : 0; }, 0);
}
int morphlm_self_test(const morphlm_model* model) {
  return guarded([&] { return model->model.self_test() ? 1 : 0; }, 0);
}

morphlm_cache* morphlm_new_cache(const morphlm_model* model, double megabytes) {
  return guarded([&] { return new morphlm_cache{morphlm::Cache(model->model, megabytes)}; },
                 static_cast<morphlm_cache*>(nullptr));
}
void morphlm_free_cache(morphlm_cache* cache) { delete cache; }

size_t morphlm_order(const morphlm_model* model) { return model->model.order(); }
size_t morphlm_vocabulary_size(const morphlm_model* model) { return model->model.vocabulary_size(); }
size_t morphlm_words(const morphlm_model* model) { return model->model.words(); }

int32_t morphlm_id(const morphlm_model* model, const char* word, size_t length) {
  return model->model.id(std::string_view(word, length));
}
const char* morphlm_word(const morphlm_model* model, int32_t id) { return model->model.c_string(id); }

size_t morphlm_state_size(const morphlm_model* model) { return model->model.state_size(); }
void morphlm_begin(const morphlm_model* model, int32_t* state) { model->model.write_begin(state); }
void morphlm_null_context(const morphlm_model* model, int32_t* state) { model->model.write_null_context(state); }
void morphlm_state_after(const morphlm_model* model, const int32_t* context, size_t length, int32_t* state) {
  model->model.write_state_after(context, length, state);
}

double morphlm_logprob(const morphlm_model* model, const int32_t* state, int32_t word, int32_t* next,
                       morphlm_cache* cache) {
  return guarded([&] { return model->model.advance(state, word, next, cache->cache); }, std::nan(""));
}

int morphlm_logprobs(const morphlm_model* model, const int32_t* states, const int32_t* words, size_t count,
                     double* logprobs, int32_t* next, morphlm_cache* cache) {
  const auto call = [&] {
    model->model.advance_many(states, words, count, logprobs, next, cache->cache);
    return 0;
  };
  return guarded(call, -1);
}

double morphlm_logprob_after(const morphlm_model* model, const int32_t* context, size_t length, int32_t word,
                             morphlm_cache* cache) {
  return guarded([&] { return model->model.logprob_after(context, length, word, cache->cache); }, std::nan(""));
}

int morphlm_distribution(const morphlm_model* model, const int32_t* state, double* probabilities,
                         morphlm_cache* cache) {
  const auto call = [&] {
    model->model.write_distribution(state, probabilities, cache->cache);
    return 0;
  };
  return guarded(call, -1);
}
