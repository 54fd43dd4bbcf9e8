#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char reason[512];
static SSL_SESSION **newest;

const char *why_broken(void) { return reason; }

double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    SSL_SESSION_free(*newest);
    *newest = session;
    return 1;
}

SSL_CTX *client_context(const struct settings *settings, SSL_SESSION **session) {
    char path[LONGEST_PATH];
    SSL_CTX *context = new_context(settings, TLS_client_method(), settings->group);
    snprintf(path, sizeof path, "%s/ca.pem", settings->told.certs);
    if (SSL_CTX_load_verify_locations(context, path, NULL) != 1) {
        fail("CERTS: %s: %s", path, library_reason());
    }
    SSL_CTX_set_verify(context, settings->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    newest = session;
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    return context;
}

static void explain(struct link *link, int error) {
    long verdict = SSL_get_verify_result(link->ssl);
    if (verdict != X509_V_OK && link->settings->verify) {
        snprintf(reason, sizeof reason, "the certificate is not one of CERTS/ca.pem for HOST %s: %s",
                 link->settings->told.host, X509_verify_cert_error_string(verdict));
    } else if (error == SSL_ERROR_ZERO_RETURN) {
        snprintf(reason, sizeof reason, "the server closed the connection");
    } else {
        snprintf(reason, sizeof reason, "%s", library_reason());
    }
}

/* Waits until the call that ended with `result` may be repeated. */
static enum taken wait_for(struct link *link, int result) {
    int error = SSL_get_error(link->ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        explain(link, error);
        return BROKEN;
    }
    struct pollfd waits[2] = {
        {.fd = link->socket, .events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT},
        {.fd = link->watched, .events = POLLIN},
    };
    int ready = poll(waits, 2, link->settings->patience_ms);
    if (ready == 0) {
        snprintf(reason, sizeof reason, "stalled: nothing from the server for %d s",
                 link->settings->patience_ms / 1000);
        return BROKEN;
    }
    return waits[1].revents != 0 ? INTERRUPTED : BYTES;
}

static bool connect_socket(struct link *link, const struct in_addr *local) {
    const struct settings *settings = link->settings;
    struct sockaddr_in from = {.sin_family = AF_INET};
    if (local != NULL) {
        from.sin_addr = *local;
    }
    link->socket = new_socket(settings);
    /* The deadline of a blocking connect() is that of sending. */
    struct timeval patience = {.tv_sec = settings->patience_ms / 1000};
    setsockopt(link->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if ((local != NULL && bind(link->socket, (struct sockaddr *)&from, sizeof from) != 0) ||
        connect(link->socket, (const struct sockaddr *)&settings->told.address, sizeof settings->told.address) != 0) {
        snprintf(reason, sizeof reason, "connect: %s",
                 errno == EINPROGRESS ? "no answer" : strerror(errno));
        return false;
    }
    return fcntl(link->socket, F_SETFL, O_NONBLOCK) == 0;
}

static bool flush(struct link *link) {
    while (BIO_flush(SSL_get_wbio(link->ssl)) != 1) {
        struct pollfd wait = {.fd = link->socket, .events = POLLOUT};
        if (!BIO_should_retry(SSL_get_wbio(link->ssl)) || poll(&wait, 1, link->settings->patience_ms) != 1) {
            snprintf(reason, sizeof reason, "nothing more can be sent");
            return false;
        }
    }
    return true;
}

static bool send_early(struct link *link, const char *early) {
    size_t sent = 0;
    int result;
    while ((result = SSL_write_early_data(link->ssl, early, strlen(early), &sent)) != 1) {
        if (wait_for(link, result) == BROKEN) {
            return false;
        }
    }
    return flush(link);
}

static bool shake_hands(struct link *link) {
    int result;
    while ((result = SSL_connect(link->ssl)) != 1) {
        if (wait_for(link, result) == BROKEN) {
            return false;
        }
    }
    return flush(link);
}

struct link *open_link(const struct settings *settings, SSL_CTX *context, SSL_SESSION *session,
                       const struct in_addr *local, const char *early) {
    double begun = now_s();
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        fail("out of memory");
    }
    link->settings = settings;
    link->watched = -1;
    if (!connect_socket(link, local)) {
        close_link(link, false);
        return NULL;
    }
    link->ssl = new_ssl(context, link->socket);
    SSL_set_tlsext_host_name(link->ssl, settings->told.host);
    SSL_set1_host(link->ssl, settings->told.host);
    if (session != NULL) {
        SSL_set_session(link->ssl, session);
    }
    if ((early != NULL && !send_early(link, early)) || !shake_hands(link)) {
        close_link(link, false);
        return NULL;
    }
    link->handshake_s = now_s() - begun;
    return link;
}

bool send_text(struct link *link, const char *text) {
    size_t sent = 0;
    int result;
    while ((result = SSL_write_ex(link->ssl, text, strlen(text), &sent)) != 1) {
        if (wait_for(link, result) == BROKEN) {
            return false;
        }
    }
    return flush(link);
}

enum taken take(struct link *link, void *into, size_t room, size_t *taken) {
    int result;
    while ((result = SSL_read_ex(link->ssl, into, room, taken)) != 1) {
        enum taken outcome = wait_for(link, result);
        if (outcome != BYTES) {
            return outcome;
        }
    }
    return BYTES;
}

void close_link(struct link *link, bool tell) {
    if (tell) {
        SSL_shutdown(link->ssl);
        flush(link);
    }
    SSL_free(link->ssl);
    close(link->socket);
    free(link);
}
