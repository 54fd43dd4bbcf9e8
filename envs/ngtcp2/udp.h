/* One UDP socket: opening, batches of datagrams in and out. */
#ifndef UDP_H
#define UDP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

/* A non-blocking socket bound to `local`, with the buffers asked for; quits if it cannot be. */
int udp_open(const struct settings *s, const struct sockaddr_in *local);

/* Send `length` bytes to `to` as datagrams of `segment` bytes (the last may be shorter), waiting where the
   socket is full. A datagram that the network refuses counts as lost, as it would further on. */
void udp_send(int socket, const struct sockaddr_in *to, const uint8_t *bytes, size_t length,
              size_t segment, bool gso);

/* What udp_receive hands over: one datagram and its sender. */
typedef void (*datagram_handler)(void *user, const struct sockaddr_in *from, const uint8_t *bytes,
                                 size_t length);

/* Read one batch of datagrams. Returns how many, 0 when there is none now, -1 when the peer's host says that
   nobody listens there. */
int udp_receive(int socket, datagram_handler handler, void *user);

#endif
