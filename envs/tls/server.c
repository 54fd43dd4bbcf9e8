/* Serves a folder by TLS 1.3 over TCP: `GET <path> [<first-byte>]`, answered by a length and the bytes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contract/environment.h"
#include "secure.h"

enum { BACKLOG = 128, LARGEST_EARLY_DATA = 1 << 14 };

static SSL_CTX *context;
static int root;

/* One connection's requests, as far as they have come. */
struct requests {
    char text[LONGEST_REQUEST];
    size_t length;
};

struct object {
    const char *bytes;
    size_t size;
    bool mapped;
};

static bool open_object(const char *path, struct object *object) {
    if (strcmp(path, PRIME_PATH) == 0) {
        *object = (struct object){PRIME_BODY, strlen(PRIME_BODY), false};
        return true;
    }
    /* Nothing outside of the folder, not even by a link that leads out. */
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    int file = (int)syscall(SYS_openat2, root, path + 1, &how, sizeof how);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (file >= 0) {
            close(file);
        }
        return false;
    }
    *object = (struct object){"", (size_t)status.st_size, status.st_size > 0};
    if (object->mapped) {
        object->bytes = mmap(NULL, object->size, PROT_READ, MAP_SHARED, file, 0);
    }
    close(file);
    return object->bytes != MAP_FAILED;
}

/* What answers early data leaves before the client's Finished has come, by a function of its own. */
static bool send_some(SSL *ssl, const void *bytes, size_t length, size_t *sent) {
    if (SSL_is_init_finished(ssl)) {
        return SSL_write_ex(ssl, bytes, length, sent) == 1;
    }
    return SSL_write_early_data(ssl, bytes, length, sent) == 1;
}

static bool send_all(SSL *ssl, const char *bytes, size_t length) {
    while (length > 0) {
        size_t sent = 0;
        if (!send_some(ssl, bytes, length < CHUNK ? length : CHUNK, &sent)) {
            return false;
        }
        bytes += sent;
        length -= sent;
    }
    return BIO_flush(SSL_get_wbio(ssl)) == 1;
}

/* The head waits in the gathering buffer for the first bytes of the body. */
static bool send_head(SSL *ssl, uint64_t length) {
    unsigned char head[LENGTH_BYTES];
    for (int index = 0; index < LENGTH_BYTES; index++) {
        head[index] = (unsigned char)(length >> (8 * (LENGTH_BYTES - 1 - index)));
    }
    size_t sent = 0;
    return send_some(ssl, head, sizeof head, &sent) && sent == sizeof head;
}

static bool refuse(SSL *ssl) {
    return send_head(ssl, NO_SUCH_OBJECT) && BIO_flush(SSL_get_wbio(ssl)) == 1;
}

static bool answer(SSL *ssl, const char *line) {
    char path[LONGEST_PATH];
    uint64_t first = 0;
    struct object object;
    int words = sscanf(line, "GET %4095s %" SCNu64, path, &first);
    if (words < 1 || path[0] != '/' || !open_object(path, &object)) {
        return refuse(ssl);
    }
    bool known = first <= object.size;
    bool sent = known ? send_head(ssl, object.size - first) &&
                            send_all(ssl, object.bytes + first, object.size - first)
                      : refuse(ssl);
    if (object.mapped) {
        munmap((void *)object.bytes, object.size);
    }
    return sent;
}

/* Answers every complete request there is; false when the connection is over. */
static bool answer_all(SSL *ssl, struct requests *requests) {
    char *end;
    while ((end = memchr(requests->text, '\n', requests->length)) != NULL) {
        *end = '\0';
        if (!answer(ssl, requests->text)) {
            return false;
        }
        size_t used = (size_t)(end + 1 - requests->text);
        requests->length -= used;
        memmove(requests->text, end + 1, requests->length);
    }
    return requests->length < sizeof requests->text;
}

/* Takes early data, if there is any, and completes the handshake. */
static bool shake_hands(SSL *ssl, struct requests *requests) {
    if (SSL_get_max_early_data(ssl) == 0) {
        return SSL_accept(ssl) == 1;
    }
    for (;;) {
        size_t taken = 0;
        size_t room = sizeof requests->text - requests->length;
        switch (SSL_read_early_data(ssl, requests->text + requests->length, room, &taken)) {
        case SSL_READ_EARLY_DATA_FINISH:
            return SSL_accept(ssl) == 1;
        case SSL_READ_EARLY_DATA_SUCCESS:
            requests->length += taken;
            if (!answer_all(ssl, requests)) {
                return false;
            }
            break;
        default:
            return false;
        }
    }
}

static void *serve(void *argument) {
    int socket = (int)(intptr_t)argument;
    SSL *ssl = new_ssl(context, socket);
    struct requests *requests = calloc(1, sizeof *requests);
    bool open = requests != NULL && shake_hands(ssl, requests);
    while (open && answer_all(ssl, requests)) {
        size_t taken = 0;
        open = SSL_read_ex(ssl, requests->text + requests->length, sizeof requests->text - requests->length,
                           &taken) == 1;
        requests->length += taken;
    }
    SSL_shutdown(ssl);
    SSL_free(ssl);
    close(socket);
    free(requests);
    return NULL;
}

static void prepare_context(const struct settings *settings) {
    char path[LONGEST_PATH], groups[256];
    snprintf(groups, sizeof groups, "%s:%s", settings->group, "X25519:P-256");
    if (strcmp(settings->group, "X25519") == 0 || strcmp(settings->group, "P-256") == 0) {
        snprintf(groups, sizeof groups, "%s:%s", settings->group,
                 *settings->group == 'X' ? "P-256" : "X25519");
    }
    context = new_context(settings, TLS_server_method(), groups);
    snprintf(path, sizeof path, "%s/cert.pem", settings->told.certs);
    if (SSL_CTX_use_certificate_chain_file(context, path) != 1) {
        fail("CERTS: %s: %s", path, library_reason());
    }
    snprintf(path, sizeof path, "%s/priv.key", settings->told.certs);
    if (SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) != 1) {
        fail("CERTS: %s: %s", path, library_reason());
    }
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"tls", 3);
    if (settings->told.connection == EARLY) {
        SSL_CTX_set_max_early_data(context, LARGEST_EARLY_DATA);
    }
}

static int listening(const struct settings *settings) {
    int on = 1, listener = new_socket(settings);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (const struct sockaddr *)&settings->told.address, sizeof settings->told.address) != 0 ||
        listen(listener, BACKLOG) != 0) {
        fail("ADDRESS, PORT: %s", strerror(errno));
    }
    return listener;
}

static void end(int signal_number) {
    (void)signal_number;
    _exit(EXIT_SUCCESS);
}

int main(int argc, char **argv) {
    (void)argc;
    if (print_version(argv)) {
        return EXIT_SUCCESS;
    }
    struct settings settings = read_settings("tls server", argv);
    const char *www = folder("WWW");
    root = open(www, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) {
        fail("WWW: %s: %s", www, strerror(errno));
    }
    prepare_context(&settings);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, end);
    int listener = listening(&settings);
    for (;;) {
        int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_t thread;
        if (socket >= 0 && pthread_create(&thread, NULL, serve, (void *)(intptr_t)socket) == 0) {
            pthread_detach(thread);
        } else if (socket >= 0) {
            close(socket);
        }
    }
}
