#include "callbacks.h"

#include <stdlib.h>

#define RESULT(failed) ((failed) ? NGTCP2_ERR_CALLBACK_FAILURE : 0)

int connection_begin(struct connection *c) {
  if (c->streams) return 0;
  c->streams = c->protocol->create(c->quic, c->settings, c->handlers, c->user);
  return RESULT(c->protocol->begin(c->streams));
}

static void on_random(uint8_t *memory, size_t length, const ngtcp2_rand_ctx *context) {
  (void)context;
  fill_random(memory, length);
}

static int on_new_connection_id(ngtcp2_conn *quic, ngtcp2_cid *cid,
                                ngtcp2_stateless_reset_token *token, size_t length, void *user) {
  struct connection *c = user;
  (void)quic, (void)length;
  make_cid(cid, c->number);
  /* We never send a stateless reset, so the token need not be found again. */
  fill_random(token->data, sizeof token->data);
  return 0;
}

static int on_handshake(ngtcp2_conn *quic, void *user) {
  struct connection *c = user;
  c->handshake_ns = now_ns();
  if (!c->early || SSL_get_early_data_status(c->ssl) == SSL_EARLY_DATA_ACCEPTED) return 0;
  return RESULT(ngtcp2_conn_tls_early_data_rejected(quic));
}

/* Streams may be opened once the key for application data is there and the peer's limits are in force: for
   the server with the key to send, for the client with the key to receive, which comes after it. */
static int on_key(ngtcp2_conn *quic, ngtcp2_encryption_level level, void *user) {
  (void)quic;
  return level == NGTCP2_ENCRYPTION_LEVEL_1RTT ? connection_begin(user) : 0;
}

static int on_rejected(ngtcp2_conn *quic, void *user) {
  struct connection *c = user;
  (void)quic;
  c->early = false;
  c->early_rejected = true;
  c->protocol->destroy(c->streams);
  c->streams = NULL;
  return 0;
}

static int on_stream_data(ngtcp2_conn *quic, uint32_t flags, int64_t stream, uint64_t offset,
                          const uint8_t *bytes, size_t length, void *user, void *stream_user) {
  struct connection *c = user;
  (void)quic, (void)offset, (void)stream_user;
  if (!c->streams && connection_begin(c)) return NGTCP2_ERR_CALLBACK_FAILURE;
  bool fin = flags & NGTCP2_STREAM_DATA_FLAG_FIN;
  return RESULT(c->protocol->received(c->streams, stream, bytes, length, fin));
}

static int on_acknowledged(ngtcp2_conn *quic, int64_t stream, uint64_t offset, uint64_t length,
                           void *user, void *stream_user) {
  struct connection *c = user;
  (void)quic, (void)offset, (void)stream_user;
  return RESULT(c->streams && c->protocol->acknowledged(c->streams, stream, length));
}

static int on_stream_close(ngtcp2_conn *quic, uint32_t flags, int64_t stream, uint64_t error,
                           void *user, void *stream_user) {
  struct connection *c = user;
  (void)stream_user;
  if (!(flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET)) error = NGHTTP3_H3_NO_ERROR;
  if (ngtcp2_is_bidi_stream(stream) && !ngtcp2_conn_is_local_stream(quic, stream))
    ngtcp2_conn_extend_max_streams_bidi(quic, 1);
  return RESULT(c->streams && c->protocol->closed(c->streams, stream, error));
}

static int on_window(ngtcp2_conn *quic, int64_t stream, uint64_t most, void *user, void *stream_user) {
  struct connection *c = user;
  (void)quic, (void)most, (void)stream_user;
  if (c->streams) c->protocol->unblocked(c->streams, stream);
  return 0;
}

static const ngtcp2_callbacks *prepare(ngtcp2_callbacks *callbacks) {
  callbacks->recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb;
  callbacks->encrypt = ngtcp2_crypto_encrypt_cb;
  callbacks->decrypt = ngtcp2_crypto_decrypt_cb;
  callbacks->hp_mask = ngtcp2_crypto_hp_mask_cb;
  callbacks->update_key = ngtcp2_crypto_update_key_cb;
  callbacks->delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb;
  callbacks->delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb;
  callbacks->get_path_challenge_data2 = ngtcp2_crypto_get_path_challenge_data2_cb;
  callbacks->version_negotiation = ngtcp2_crypto_version_negotiation_cb;
  callbacks->rand = on_random;
  callbacks->get_new_connection_id2 = on_new_connection_id;
  callbacks->handshake_completed = on_handshake;
  callbacks->recv_stream_data = on_stream_data;
  callbacks->acked_stream_data_offset = on_acknowledged;
  callbacks->stream_close = on_stream_close;
  callbacks->extend_max_stream_data = on_window;
  return callbacks;
}

const ngtcp2_callbacks *client_callbacks(void) {
  static ngtcp2_callbacks callbacks = {.client_initial = ngtcp2_crypto_client_initial_cb,
                                       .recv_retry = ngtcp2_crypto_recv_retry_cb,
                                       .recv_rx_key = on_key,
                                       .tls_early_data_rejected = on_rejected};
  return prepare(&callbacks);
}

const ngtcp2_callbacks *server_callbacks(void) {
  static ngtcp2_callbacks callbacks = {.recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
                                       .recv_tx_key = on_key};
  return prepare(&callbacks);
}
