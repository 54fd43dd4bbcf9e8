#include "udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "settings.h"

enum { BATCH = 64, DATAGRAM_BYTES = 65536 };

static void set_buffers(int socket, int bytes) {
  if (!bytes) return;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

int udp_open(const struct settings *s, const struct sockaddr_in *local) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) quit(EXIT_FAILURE, "no UDP socket: %s", strerror(errno));
  set_buffers(fd, s->socket_buffer_bytes);
  /* No router and no end fragments: what is too long is lost. */
  int discover = IP_PMTUDISC_PROBE;
  setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover);
  if (bind(fd, (const struct sockaddr *)local, sizeof *local) != 0)
    quit(EXIT_FAILURE, "ADDRESS and PORT: cannot bind: %s", strerror(errno));
  return fd;
}

static bool full(int fd) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != ENOBUFS) return false;
  struct pollfd writable = {.fd = fd, .events = POLLOUT};
  poll(&writable, 1, 10);
  return true;
}

static void send_segments(int fd, struct msghdr *message, size_t segment) {
  union {
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr aligned;
  } control = {0};
  uint16_t size = (uint16_t)segment;
  message->msg_control = control.bytes;
  message->msg_controllen = sizeof control.bytes;
  struct cmsghdr *header = CMSG_FIRSTHDR(message);
  header->cmsg_level = SOL_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof size);
  memcpy(CMSG_DATA(header), &size, sizeof size);
  while (sendmsg(fd, message, 0) < 0 && full(fd)) continue;
}

static void send_batch(int fd, struct mmsghdr *messages, unsigned count) {
  for (unsigned sent = 0; sent < count;) {
    int done = sendmmsg(fd, messages + sent, count - sent, 0);
    if (done > 0) sent += (unsigned)done;
    else if (!full(fd)) sent++;
  }
}

void udp_send(int fd, const struct sockaddr_in *to, const uint8_t *bytes, size_t length,
              size_t segment, bool gso) {
  struct iovec parts[BATCH];
  struct mmsghdr messages[BATCH];
  struct msghdr whole = {.msg_name = (void *)to, .msg_namelen = sizeof *to};
  while (length) {
    unsigned count = 0;
    size_t taken = 0;
    for (; count < BATCH && taken < length; count++) {
      size_t part = length - taken < segment ? length - taken : segment;
      parts[count] = (struct iovec){(void *)(bytes + taken), part};
      messages[count].msg_hdr = whole;
      messages[count].msg_hdr.msg_iov = &parts[count];
      messages[count].msg_hdr.msg_iovlen = 1;
      taken += part;
    }
    if (gso && count > 1) {
      struct iovec all = {(void *)bytes, taken};
      struct msghdr message = whole;
      message.msg_iov = &all;
      message.msg_iovlen = 1;
      send_segments(fd, &message, segment);
    } else {
      send_batch(fd, messages, count);
    }
    bytes += taken;
    length -= taken;
  }
}

int udp_receive(int fd, datagram_handler handler, void *user) {
  static uint8_t bytes[BATCH][DATAGRAM_BYTES];
  struct sockaddr_in from[BATCH];
  struct iovec parts[BATCH];
  struct mmsghdr messages[BATCH];
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < BATCH; i++) {
    parts[i] = (struct iovec){bytes[i], DATAGRAM_BYTES};
    messages[i].msg_hdr.msg_name = &from[i];
    messages[i].msg_hdr.msg_namelen = sizeof from[i];
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  int count = recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL);
  if (count < 0) return errno == ECONNREFUSED ? -1 : 0;
  for (int i = 0; i < count; i++) handler(user, &from[i], bytes[i], messages[i].msg_len);
  return count;
}
