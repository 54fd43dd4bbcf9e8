#include "settings.h"

#include "contract/aes.h"
#include "contract/environment.h"
#include "contract/tls.h"

struct settings read_settings(const char *program, char **argv) {
    static const char *const protocols[] = {"tls", NULL};
    static const char *const connections[] = {CONNECTION_WORDS, NULL};
    static const char *const groups[] = {"X25519", "P-256", "P-384", "X25519MLKEM768", NULL};
    static const char *const ways[] = {"reconnect", NULL};
    struct settings settings;
    name_program(program);
    choose_aes(argv);
    supported("PROTOCOL", NULL, protocols);
    required("CONGESTION_CONTROL"); /* the kernel's */
    read_told(&settings.told, connections);
    settings.suite = read_cipher(NULL);
    settings.group = groups[option_supported("OPTION_GROUP", groups)];
    settings.verify = option_switch("OPTION_VERIFY");
    settings.socket_buffer = (int)option_number("OPTION_SOCKET_BUFFER_BYTES", 0, 1 << 30);
    settings.patience_ms = 1000 * (int)option_number("OPTION_IDLE_TIMEOUT_S", 1, 3600);
    option_supported("OPTION_ON_MOVE", ways);
    check_options();
    return settings;
}
