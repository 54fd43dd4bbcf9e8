#include "transfer.h"

#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

double monotonic_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The TLS object is valid only while the transfer uses its connection: look as the response begins. */
static void note_session(struct transfer *t) {
  const struct curl_tlssessioninfo *tls = NULL;
  if (curl_easy_getinfo(t->easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || !tls) return;
  if (tls->backend != CURLSSLBACKEND_OPENSSL || !tls->internals) return;
  t->session_known = true;
  t->session_reused = SSL_session_reused((SSL *)tls->internals) == 1;
}

static size_t on_header(char *data, size_t size, size_t count, void *user) {
  struct transfer *t = user;
  (void)data;
  if (t->first_byte_s < 0) {
    t->first_byte_s = monotonic_s() - t->origin;
    note_session(t);
  }
  return size * count;
}

static size_t on_body(char *data, size_t size, size_t count, void *user) {
  struct transfer *t = user;
  if (t->expected < 0) {
    curl_off_t length = -1;
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length >= 0) t->expected = t->resumed_at + length;
  }
  t->bytes += (long long)(size * count);
  if (!t->hash) return size * count;
  return EVP_DigestUpdate(t->hash, data, size * count) == 1 ? size * count : CURL_WRITEFUNC_ERROR;
}

static int on_socket(void *user, curl_socket_t socket, curlsocktype purpose) {
  const struct settings *s = user;
  (void)purpose;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &s->socket_buffer_bytes, sizeof s->socket_buffer_bytes);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &s->socket_buffer_bytes, sizeof s->socket_buffer_bytes);
  return CURL_SOCKOPT_OK;
}

/* One group: a hybrid key share as well would lengthen the handshakes of some programs only. */
static void set_tls(struct transfer *t, const struct settings *s, CURLSH *sessions) {
  curl_easy_setopt(t->easy, CURLOPT_CAINFO, s->ca);
  curl_easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
  curl_easy_setopt(t->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
  curl_easy_setopt(t->easy, CURLOPT_SSL_EC_CURVES, s->group);
  curl_easy_setopt(t->easy, CURLOPT_TLS13_CIPHERS, s->ciphers);
  curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, s->verify ? 1L : 0L);
  curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, s->verify ? 2L : 0L);
  curl_easy_setopt(t->easy, CURLOPT_SSL_SESSIONID_CACHE, s->told.connection == COLD ? 0L : 1L);
  if (sessions) curl_easy_setopt(t->easy, CURLOPT_SHARE, sessions);
  if (s->told.connection == EARLY)
    curl_easy_setopt(t->easy, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_EARLYDATA);
}

/* A set of connections learns addresses from the handles that are added to it, each of them once. */
static void set_address(struct transfer *t, const struct settings *s) {
  static struct curl_slist *resolve;
  if (!resolve) resolve = curl_slist_append(NULL, s->resolve);
  if (!resolve) quit(EXIT_FAILURE, "out of memory");
  curl_easy_setopt(t->easy, CURLOPT_RESOLVE, resolve);
}

void transfer_prepare(struct transfer *t, const struct settings *s, const struct request *request, CURLSH *sessions) {
  memset(t, 0, sizeof *t);
  t->path = request->path;
  t->expected = -1;
  t->easy = curl_easy_init();
  t->hash = s->asked.hashed ? EVP_MD_CTX_new() : NULL;
  if (!t->easy || (s->asked.hashed && EVP_DigestInit_ex(t->hash, EVP_sha256(), NULL) != 1))
    quit(EXIT_FAILURE, "out of memory");

  curl_easy_setopt(t->easy, CURLOPT_URL, request->url);
  curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
  curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(t->easy, CURLOPT_PROXY, "");
  set_address(t, s);
  curl_easy_setopt(t->easy, CURLOPT_IPRESOLVE, (long)CURL_IPRESOLVE_V4);
  curl_easy_setopt(t->easy, CURLOPT_HTTP_VERSION, s->http_version);
  curl_easy_setopt(t->easy, CURLOPT_PIPEWAIT, s->connections == 1 ? 1L : 0L);
  curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "howquick");
  curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t);
  curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
  if (s->socket_buffer_bytes) {
    curl_easy_setopt(t->easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(t->easy, CURLOPT_SOCKOPTDATA, s);
  }
  set_tls(t, s, sessions);
}

void transfer_prioritize(struct transfer *t, const char *priority) {
  if (!priority) return;
  char *line = text_of("priority: %s", priority);
  t->headers = curl_slist_append(NULL, line);
  free(line);
  if (!t->headers) quit(EXIT_FAILURE, "out of memory");
  curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
}

static void add(struct transfer *t, CURLM *multi) {
  CURLMcode code = curl_multi_add_handle(multi, t->easy);
  if (code != CURLM_OK) quit(EXIT_FAILURE, "%s: %s", t->path, curl_multi_strerror(code));
}

void transfer_start(struct transfer *t, CURLM *multi, double origin) {
  t->origin = origin;
  t->start_s = monotonic_s() - origin;
  t->first_byte_s = -1;
  t->started = true;
  add(t, multi);
}

void transfer_resume(struct transfer *t, const struct settings *s, CURLM *multi, const char *interface) {
  set_address(t, s);
  t->broken = false;
  t->resumed_at = t->bytes;
  curl_easy_setopt(t->easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->bytes);
  curl_easy_setopt(t->easy, CURLOPT_INTERFACE, interface);
  curl_easy_setopt(t->easy, CURLOPT_SHARE, NULL);
  curl_easy_setopt(t->easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  add(t, multi);
}

static void finish_hash(struct transfer *t) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(t->hash, digest, &length) != 1) quit(EXIT_FAILURE, "SHA-256 failed");
  for (unsigned int i = 0; i < length; i++) sprintf(t->sha256 + 2 * i, "%02x", digest[i]);
}

void transfer_finish(struct transfer *t, const struct settings *s, CURLcode result) {
  t->end_s = monotonic_s() - t->origin;
  if (result != CURLE_OK) quit(EXIT_FAILURE, "%s: %s", t->path, curl_easy_strerror(result));
  long version = 0, connects = 0;
  curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &t->status);
  curl_easy_getinfo(t->easy, CURLINFO_HTTP_VERSION, &version);
  curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
  t->connects += connects;
  if (version != s->http_version_used)
    quit(EXIT_FAILURE, "%s: the server did not use %s", t->path, s->protocol);
  if (t->status != (t->resumed_at ? 206 : 200))
    quit(EXIT_FAILURE, "%s: status %ld", t->path, t->status);
  t->status = 200;
  t->done = true;
  if (t->hash) finish_hash(t);
}

void transfer_free(struct transfer *t) {
  curl_easy_cleanup(t->easy);
  curl_slist_free_all(t->headers);
  EVP_MD_CTX_free(t->hash);
}
