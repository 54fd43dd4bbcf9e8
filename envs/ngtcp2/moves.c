#include "moves.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void moves_check(struct load *load) {
  const struct page *page = load->page;
  const struct settings *s = load->settings;
  if (load->moving || load->moves_begun >= s->moves || page->complete == page->count) return;
  double expected = page_expected(page);
  double share = (double)(load->moves_begun + 1) / (s->moves + 1);
  if (expected == 0 || (double)page->received < share * expected) return;
  load->moves_begun++;
  load->moving = true;
  puts("move");
  fflush(stdout);
}

static struct in_addr read_moved(void) {
  static const char word[] = "moved ";
  char line[64];
  if (!fgets(line, sizeof line, stdin) || strncmp(line, word, sizeof word - 1) != 0)
    quit(EXIT_FAILURE, "expected the line moved ADDRESS on standard input");
  line[strcspn(line, "\n")] = '\0';
  return read_address("moved", line + sizeof word - 1, "0").sin_addr;
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
  struct in_addr address = read_moved();
  load->moving = false;
  if (load->settings->on_move == MIGRATE) migrate(load, address);
  else reconnect(load, address, load->settings->on_move == RESUME);
}
