#include "moves.h"

#include <stdlib.h>
#include <unistd.h>

void moves_check(struct load *load) {
  const struct page *page = load->page;
  if (load->moving || page->complete == page->count) return;
  struct progress progress = page_progress(page);
  progress.moves = load->settings->asked.moves;
  progress.begun = load->moves_begun;
  if (!move_is_due(&progress)) return;
  load->moves_begun++;
  load->moving = true;
  gate_ask_to_move();
}

static void migrate(struct load *load, struct in_addr address) {
  struct connection *c = load->connection;
  const ngtcp2_transport_params *server = ngtcp2_conn_get_remote_transport_params(c->quic);
  if (server && server->disable_active_migration)
    quit(EXIT_FAILURE, "the server forbids migration (disable_active_migration)");
  close(load->socket);
  load->socket = c->socket = load_socket(load, address);
  c->local = load->local;
  ngtcp2_path path = {.local = {(ngtcp2_sockaddr *)&c->local, sizeof c->local},
                      .remote = {(ngtcp2_sockaddr *)&c->remote, sizeof c->remote}};
  /* The old address is gone: waiting for the new path to be validated would only lose time. */
  int error = ngtcp2_conn_initiate_immediate_migration(c->quic, &path, now_ns());
  if (error) quit(EXIT_FAILURE, "migration refused: %s", ngtcp2_strerror(error));
}

static void reconnect(struct load *load, struct in_addr address, bool resume) {
  struct page *page = load->page;
  page_end_received(page);
  if (page->complete == page->count) return;
  load_disconnect(load);
  for (int i = 0; i < page->count; i++) {
    struct object *o = &page->objects[i];
    if (o->complete) continue;
    o->requested = false;
    o->resumed_at = o->bytes;
  }
  load_connect(load, address, resume, resume);
}

void moves_go(struct load *load) {
  struct in_addr address = gate_moved();
  load->moving = false;
  if (load->settings->on_move == MIGRATE) migrate(load, address);
  else reconnect(load, address, load->settings->on_move == RESUME);
}
