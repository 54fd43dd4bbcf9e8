/* OpenSSL as options tell it to be. */
#ifndef CONTRACT_TLS_H
#define CONTRACT_TLS_H

/* OpenSSL's names for OPTION_CIPHER; `otherwise` where that is default. Quits with 127 for another word. */
const char *read_cipher(const char *otherwise);

/* OPTION_GROUP: names of groups, separated by colons. Quits with 127 for one that OpenSSL does not have. */
const char *read_groups(void);

#endif
