/* What ngtcp2 calls back for: between connection.c and the library. */
#ifndef CALLBACKS_H
#define CALLBACKS_H

#include "connection.h"

const ngtcp2_callbacks *client_callbacks(void);
const ngtcp2_callbacks *server_callbacks(void);

/* Make the streams and open the protocol's own: as soon as data may be sent. Returns 0 or an error. */
int connection_begin(struct connection *c);

/* A connection ID that leads to the connection of this number. */
void make_cid(ngtcp2_cid *cid, uint32_t number);

#endif
