/* Loads objects by TLS 1.3 over TCP, one after another on one connection. */
#include <string.h>
#include <time.h>

#include "contract/gate.h"
#include "contract/timing.h"
#include "load.h"

static const char *cipher_name(const SSL *ssl) {
    const char *name = SSL_get_cipher_name(ssl);
    return strstr(name, "CHACHA20") ? "chacha20" : strstr(name, "AES_256") ? "aes256" : "aes128";
}

static const char *group_name(SSL *ssl) {
    const char *name = SSL_get0_group_name(ssl);
    if (name == NULL) {
        return "";
    }
    return strcmp(name, "x25519") == 0      ? "X25519"
           : strcmp(name, "secp256r1") == 0 ? "P-256"
           : strcmp(name, "secp384r1") == 0 ? "P-384"
                                            : name;
}

/* What is told of the first connection, which a change of address may have ended by the time it is written. */
struct facts {
    double handshake_s;
    bool resumed, early;
    const char *cipher, *group;
};

static void write_timing(const struct load *load, double start, const struct facts *facts) {
    struct timing timing = {.protocol = "tls", .start = start, .handshake_s = facts->handshake_s,
                            .resumed = facts->resumed, .early_data = facts->early,
                            .connections = load->connections, .cipher = facts->cipher, .group = facts->group,
                            .moves_followed = load->asked.moves > 0 ? load->moved : UNKNOWN,
                            .count = load->asked.count};
    timing.objects = allocate((size_t)timing.count, sizeof *timing.objects);
    for (int index = 0; index < timing.count; index++) {
        const struct object *object = &load->objects[index];
        timing.objects[index] =
            (struct object_timing){object->path, 200, object->received, load->asked.hashed ? object->hash : NULL,
                                   object->start_s, object->first_byte_s, object->end_s};
    }
    timing_write(load->asked.timing, &timing);
    free(timing.objects);
}

static struct load read_load(const struct settings *settings) {
    struct load load = {.settings = settings};
    read_asked(&load.asked, settings->told.host);
    load.objects = allocate((size_t)load.asked.count, sizeof *load.objects);
    for (int index = 0; index < load.asked.count; index++) {
        load.objects[index].path = load.asked.requests[index].path;
        if (strlen(load.objects[index].path) >= LONGEST_PATH) {
            fail("REQUESTS: a path is longer than %d bytes", LONGEST_PATH - 1);
        }
    }
    load.buffer = allocate(CHUNK, 1);
    return load;
}

/* Fetches /prime on a connection of its own, with which a session ticket comes. */
static void prime(struct load page) {
    struct object object = {.path = PRIME_PATH};
    page.link = open_link(page.settings, page.context, NULL, NULL, NULL);
    if (page.link == NULL) {
        fail("priming connection: %s", why_broken());
    }
    page.objects = &object;
    page.asked = (struct asked){.count = 1};
    fetch_all(&page, false);
    close_link(page.link, true);
}

static struct facts load_page(struct load *load, SSL_SESSION *session, double *start) {
    char request[LONGEST_REQUEST];
    struct timespec clock;
    bool early = load->settings->told.connection == EARLY;
    write_request(request, load->objects[0].path, 0);
    clock_gettime(CLOCK_REALTIME, &clock);
    *start = (double)clock.tv_sec + (double)clock.tv_nsec * 1e-9;
    load->begun = now_s();
    load->link = open_link(load->settings, load->context, session, NULL, early ? request : NULL);
    if (load->link == NULL) {
        fail("%s", why_broken());
    }
    SSL *ssl = load->link->ssl;
    bool accepted = SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED;
    struct facts facts = {load->link->handshake_s, SSL_session_reused(ssl) == 1, accepted, cipher_name(ssl),
                          group_name(ssl)};
    load->connections = 1;
    fetch_all(load, accepted);
    close_link(load->link, true);
    return facts;
}

int main(int argc, char **argv) {
    (void)argc;
    if (print_version(argv)) {
        return EXIT_SUCCESS;
    }
    struct settings settings = read_settings("tls client", argv);
    struct load load = read_load(&settings);
    SSL_SESSION *newest = NULL;
    load.context = client_context(&settings, &newest);
    if (settings.told.connection != COLD) {
        prime(load);
        if (newest == NULL) {
            fail("priming connection: the server gave no session ticket");
        }
    }
    SSL_SESSION *session = newest;
    newest = NULL; /* Tickets that come from now on are of no use. */
    gate_pass();
    double start = 0;
    struct facts facts = load_page(&load, session, &start);
    write_timing(&load, start, &facts);
    return EXIT_SUCCESS;
}
