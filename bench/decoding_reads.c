// Reads a cache in the order of attention of one query, for decoding.py: keys and values of a block of tokens in turn,
// page by page. It only adds the words of whole vectors, and so shows the rate at which memory gives this cache.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 256, PIECE = 4096, MOST_THREADS = 64 };
typedef uint32_t words __attribute__((vector_size(64), aligned(1), may_alias));

// Keys and values lie alike. Without a table, a page has all tokens of a batch.
struct cache {
  const char* of[2];
  const int32_t* table;
  int64_t batches, heads, tokens;
  int64_t page_tokens, page;  // bytes from page to page
  int64_t token, head;        // bytes from token to token and from head to head
  int64_t bytes;              // of a token's head
  int64_t prefetches;
};

// A position in the order in which a part of the heads is read.
struct position {
  int64_t block, of, token, head;
};

// Returns the next piece of at most PIECE bytes, or NULL behind the last one.
static const char* next_piece(const struct cache* c, int64_t batch, int64_t first, int64_t end,
                              struct position* at, int64_t* bytes) {
  if (at->block >= c->tokens) return NULL;
  const int64_t pages = c->tokens / c->page_tokens, token = at->block + at->token;
  const int64_t page = batch * pages + token / c->page_tokens;
  const char* const from = c->of[at->of] + (c->table != NULL ? c->table[page] : page) * c->page +
                           token % c->page_tokens * c->token + (first + at->head) * c->head;
  const int64_t heads = end - first;
  if (c->head == c->bytes) {  // a piece of a token's heads
    const int64_t most = PIECE / c->bytes, some = heads - at->head < most ? heads - at->head : most;
    *bytes = some * c->bytes;
    at->head += some;
    if (at->head < heads) return from;
    at->head = 0;
    if (++at->token < BLOCK) return from;
  } else {  // tokens of a head, page by page
    const int64_t of_page = c->page_tokens < BLOCK ? c->page_tokens : BLOCK;
    const int64_t most = PIECE / c->bytes, left = of_page - token % of_page, some = left < most ? left : most;
    *bytes = some * c->bytes;
    at->token += some;
    if (at->token % of_page != 0) return from;
    at->token -= of_page;
    if (++at->head < heads) return from;
    at->head = 0;
    at->token += of_page;
    if (at->token < BLOCK) return from;
  }
  at->token = 0;
  at->of ^= 1;
  if (at->of == 0) at->block += BLOCK;
  return from;
}

// Adds a piece's words to the lanes of a sum, and prefetches the lines of the next piece, unless `ahead` is NULL.
static words add_piece(const char* from, const char* ahead, int64_t bytes, words sum) {
  words sums[4] = {sum};
  for (int64_t i = 0; i < bytes; i += 256) {
    for (int64_t j = 0; j < 4; ++j) {
      if (ahead != NULL) __builtin_prefetch(ahead + i + j * 64, 0, 2);
      sums[j] += *(const words*)(from + i + j * 64);
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// Returns the sums of a batch's heads from `first` to `end`.
static words read_part(const struct cache* c, int64_t batch, int64_t first, int64_t end) {
  words sum = {0};
  struct position at = {0}, later = {0};
  int64_t bytes, bytes_ahead;
  const char* ahead = next_piece(c, batch, first, end, &later, &bytes_ahead);
  for (;;) {
    const char* const from = next_piece(c, batch, first, end, &at, &bytes);
    if (from == NULL) return sum;
    ahead = next_piece(c, batch, first, end, &later, &bytes_ahead);
    sum = c->prefetches && ahead != NULL ? add_piece(from, ahead, bytes, sum)
                                         : add_piece(from, NULL, bytes, sum);
  }
}

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t begun, ended;
  const struct cache* cache;
  int64_t threads, running, run;
  atomic_llong next;
  words sums[MOST_THREADS];
} pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .begun = PTHREAD_COND_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

// Takes parts: a batch each, or a batch's heads in as many parts as there are threads.
static void read_parts(int64_t thread) {
  const struct cache* const c = pool.cache;
  const int64_t groups = c->batches < pool.threads ? pool.threads : 1;
  words sum = {0};
  for (int64_t i; (i = atomic_fetch_add(&pool.next, 1)) < c->batches * groups;) {
    const int64_t group = i % groups;
    sum += read_part(c, i / groups, c->heads * group / groups, c->heads * (group + 1) / groups);
  }
  pool.sums[thread] = sum;
}

// Reads with the caller of decoding_read whenever there is a new run.
static void* serve(void* number) {
  int64_t seen = 0;
  for (;;) {
    pthread_mutex_lock(&pool.mutex);
    while (pool.run == seen) pthread_cond_wait(&pool.begun, &pool.mutex);
    seen = pool.run;
    pthread_mutex_unlock(&pool.mutex);
    read_parts((int64_t)(intptr_t)number);
    pthread_mutex_lock(&pool.mutex);
    if (--pool.running == 0) pthread_cond_signal(&pool.ended);
    pthread_mutex_unlock(&pool.mutex);
  }
  return NULL;
}

// Starts all threads but the caller's. They wait without polling.
int decoding_start(int64_t threads) {
  if (threads > MOST_THREADS) return 1;
  pool.threads = threads;
  for (int64_t i = 1; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, (void*)(intptr_t)i) != 0) return 1;
  }
  return 0;
}

// Returns the sum of all words of the cache.
uint32_t decoding_read(const struct cache* cache) {
  pthread_mutex_lock(&pool.mutex);
  pool.cache = cache;
  pool.next = 0;
  pool.running = pool.threads - 1;
  ++pool.run;
  pthread_cond_broadcast(&pool.begun);
  pthread_mutex_unlock(&pool.mutex);
  read_parts(0);
  pthread_mutex_lock(&pool.mutex);
  while (pool.running > 0) pthread_cond_wait(&pool.ended, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
  uint32_t sum = 0;
  for (int64_t i = 0; i < pool.threads; ++i) {
    for (int j = 0; j < 16; ++j) sum += pool.sums[i][j];
  }
  return sum;
}
