/* talk PORT: a rank sends its launcher two short messages and polls for the answer, 20 times. Prints how often it found none. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TURNS = 20 };

int main(int argc, char **argv) {
    struct sockaddr_in launcher = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    launcher.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 0));
    int line = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(line, (struct sockaddr *)&launcher, sizeof launcher) != 0) return perror("connect"), 1;
    unsigned long in_vain = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        char letter = 'a';
        if (write(line, &letter, 1) != 1 || write(line, &letter, 1) != 1) return perror("write"), 1;
        struct pollfd answer = {.fd = line, .events = POLLIN};
        while (poll(&answer, 1, 0) == 0) in_vain++;
        if (read(line, &letter, 1) != 1) return perror("read"), 1;
    }
    printf("%lu\n", in_vain);
    return 0;
}
