/* morphlm.h: language models of morphlm for C, and for every language that can call C.
 *
 * libmorphlm.so is made from morphlm.cc:
 *
 *   c++ -std=c++17 -O2 -shared -fPIC -fvisibility=hidden -I include morphlm.cc -o libmorphlm.so
 *
 * It reads compiled files (`morphlm export MODEL FILE --format compiled`); morphlm.hpp says what it promises. A model
 * is immutable and may be used by any number of threads, each with a cache of its own. A state is `morphlm_state_size`
 * numbers in memory of the caller's; any numbers are safe. Log-probabilities are natural.
 */

#ifndef MORPHLM_H
#define MORPHLM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MORPHLM_API __attribute__((visibility("default")))
#else
#define MORPHLM_API
#endif

#define MORPHLM_UNKNOWN 0
#define MORPHLM_BEGIN 1
#define MORPHLM_END 2
#define MORPHLM_NOTHING (-1) /* in a context: no word is known here */

typedef struct morphlm_model morphlm_model;
typedef struct morphlm_cache morphlm_cache;

/* What went wrong in this thread's last call that gave NULL, NaN or -1. */
MORPHLM_API const char* morphlm_error(void);

/* A model of a file, NULL if it cannot be read. `morphlm_free` takes NULL too. */
MORPHLM_API morphlm_model* morphlm_load(const char* path);
MORPHLM_API void morphlm_free(morphlm_model* model);

/* 1 if the content of the file has its digest, or its sentences their scores; else 0. */
MORPHLM_API int morphlm_verify(const morphlm_model* model);
MORPHLM_API int morphlm_self_test(const morphlm_model* model);

/* What one thread remembers; NULL if there is no memory. It must not outlive the use of its model. */
MORPHLM_API morphlm_cache* morphlm_new_cache(const morphlm_model* model, double megabytes);
MORPHLM_API void morphlm_free_cache(morphlm_cache* cache);

MORPHLM_API size_t morphlm_order(const morphlm_model* model);
MORPHLM_API size_t morphlm_vocabulary_size(const morphlm_model* model);
MORPHLM_API size_t morphlm_words(const morphlm_model* model); /* with those that are only composed in contexts */

/* The id of `length` bytes in UTF-8, MORPHLM_UNKNOWN if the file does not have the word; the word of an id, "" for
 * none. */
MORPHLM_API int32_t morphlm_id(const morphlm_model* model, const char* word, size_t length);
MORPHLM_API const char* morphlm_word(const morphlm_model* model, int32_t id);

/* States: after <s>; where nothing is known; after some words, the nearest first. */
MORPHLM_API size_t morphlm_state_size(const morphlm_model* model);
MORPHLM_API void morphlm_begin(const morphlm_model* model, int32_t* state);
MORPHLM_API void morphlm_null_context(const morphlm_model* model, int32_t* state);
MORPHLM_API void morphlm_state_after(const morphlm_model* model, const int32_t* context, size_t length, int32_t* state);

/* ln p of a word after a state; `next`, the state after it, may be NULL or the same memory. NaN if the cache is of
 * another model. */
MORPHLM_API double morphlm_logprob(const morphlm_model* model, const int32_t* state, int32_t word, int32_t* next,
                                   morphlm_cache* cache);

/* The same for `count` words, each after its own state, one state after the other. 0, or -1 if something went wrong. */
MORPHLM_API int morphlm_logprobs(const morphlm_model* model, const int32_t* states, const int32_t* words, size_t count,
                                 double* logprobs, int32_t* next, morphlm_cache* cache);

/* ln p of a word after the words before it, the nearest first; MORPHLM_BEGIN stands for all that is before it. */
MORPHLM_API double morphlm_logprob_after(const morphlm_model* model, const int32_t* context, size_t length,
                                         int32_t word, morphlm_cache* cache);

/* p of every word of the vocabulary after a state. 0, or -1 if something went wrong. */
MORPHLM_API int morphlm_distribution(const morphlm_model* model, const int32_t* state, double* probabilities,
                                     morphlm_cache* cache);

#ifdef __cplusplus
}
#endif

#endif /* MORPHLM_H */
