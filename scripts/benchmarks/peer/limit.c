/* One send() a delivery and nothing else: what no server that writes to each socket on its own can pass.
 *
 *     limit PORT          one blocking send() of a framed event for each subscriber of each message
 *     limit PORT joined   the events of all messages that one epoll_wait brought leave in one send() a subscriber
 *
 * It speaks as much of the live socket's interface as the load needs, on one thread: everybody is in one
 * conversation, nothing is kept, no token is looked at, nothing is checked. Anything it does not expect ends it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_SOCKETS = 16384, INPUT_BYTES = 8192, FRAME_BYTES = 8192, MOST_JOINED = 64 };

struct connection {
    char input[INPUT_BYTES]; /* what has arrived and is not taken yet */
    size_t used;
    size_t body; /* bytes of a request's body that are still to come; nobody reads them */
    int is_websocket;
};

static struct connection *connections[MOST_SOCKETS]; /* by file descriptor */
static int subscribers[MOST_SOCKETS], subscriber_count;
static unsigned long long offset; /* of the newest event */
static int joins;
static char joined[MOST_JOINED * FRAME_BYTES];
static size_t joined_bytes;

static void fail(const char *why) {
    perror(why);
    exit(1);
}

static void put(int fd, const char *data, size_t size) {
    send(fd, data, size, MSG_NOSIGNAL);
}

static size_t frame(char *out, const char *payload, size_t size) {
    size_t head = size < 126 ? 2 : 4;
    out[0] = (char)0x81;
    out[1] = (char)(size < 126 ? size : 126);
    if (head == 4) {
        out[2] = (char)(size >> 8);
        out[3] = (char)size;
    }
    memcpy(out + head, payload, size);
    return head + size;
}

static void publish_joined(void) {
    for (int i = 0; i < subscriber_count && joined_bytes; i++) put(subscribers[i], joined, joined_bytes);
    joined_bytes = 0;
}

/* `"name":` of a JSON object; the client's messages have no such text inside their strings. */
static char *field(char *json, const char *name) {
    char *at = strstr(json, name);
    if (!at) fail(json);
    return at + strlen(name);
}

static void publish(const char *channel, int channel_bytes, const char *content, int content_bytes) {
    char event[FRAME_BYTES - 8], framed[FRAME_BYTES];
    offset++;
    int size = snprintf(event, sizeof event,
                        "{\"type\":\"event\",\"channel\":\"%.*s\",\"epoch\":\"1\",\"offset\":%llu,"
                        "\"event\":\"message_created\",\"data\":{\"id\":\"%024llx\",\"conversationId\":\"%024d\","
                        "\"senderId\":\"%036d\",\"senderName\":\"sender\",\"content\":\"%.*s\",\"mentions\":[],"
                        "\"attachments\":[],\"poll\":null,\"createdAt\":\"2000-01-01T00:00:00.000Z\","
                        "\"createdAtMs\":946684800000,\"source\":\"live\",\"revision\":1,\"clientMessageId\":null,"
                        "\"editedAt\":null,\"deletedAt\":null}}",
                        channel_bytes, channel, offset, offset, 0, 0, content_bytes, content);
    if (size >= (int)sizeof event) fail("a message is too long");
    if (joins) {
        if (joined_bytes + FRAME_BYTES > sizeof joined) publish_joined();
        joined_bytes += frame(joined + joined_bytes, event, (size_t)size);
        return;
    }
    size_t framed_bytes = frame(framed, event, (size_t)size);
    for (int i = 0; i < subscriber_count; i++) put(subscribers[i], framed, framed_bytes);
}

static void obey(int fd, char *json) {
    char reply[512], framed[520];
    unsigned long long id = strtoull(field(json, "\"id\":"), 0, 10);
    char *op = field(json, "\"op\":\""), *channel = field(json, "\"channel\":\"");
    int channel_bytes = (int)strcspn(channel, "\"");
    if (!strncmp(op, "subscribe", 9)) subscribers[subscriber_count++] = fd;
    int size = snprintf(reply, sizeof reply, "{\"type\":\"reply\",\"id\":%llu,\"ok\":true,\"channel\":\"%.*s\",\"offset\":%llu}",
                        id, channel_bytes, channel, offset);
    put(fd, framed, frame(framed, reply, (size_t)size));
    if (!strncmp(op, "send", 4)) {
        char *content = field(json, "\"content\":\"");
        publish(channel, channel_bytes, content, (int)strcspn(content, "\""));
    }
}

/* One head of a request, piece of its body, or frame from the front of the input; returns its bytes, 0 when it is not whole. */
static size_t take(int fd, struct connection *it) {
    if (it->body) {
        size_t skipped = it->body < it->used ? it->body : it->used;
        it->body -= skipped;
        return skipped;
    }
    if (!it->is_websocket) {
        char *end = memmem(it->input, it->used, "\r\n\r\n", 4);
        if (!end) return 0;
        *end = 0;
        char *length = strcasestr(it->input, "content-length:");
        if (length) it->body = strtoul(length + 15, 0, 10);
        static const char switching[] = "HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
        static const char ok[] = "HTTP/1.1 200 x\r\ncontent-length: 14\r\n\r\n{\"id\":\"limit\"}";
        it->is_websocket = strcasestr(it->input, "upgrade: websocket") != 0;
        if (it->is_websocket) put(fd, switching, sizeof switching - 1);
        else put(fd, ok, sizeof ok - 1);
        return (size_t)(end - it->input) + 4;
    }
    unsigned char *data = (unsigned char *)it->input;
    if (it->used < 8) return 0;
    size_t head = 2, size = data[1] & 127;
    if (size == 126) {
        size = (size_t)data[2] << 8 | data[3];
        head = 4;
    }
    if (head + 4 + size >= INPUT_BYTES) fail("a frame is too long");
    if (it->used < head + 4 + size) return 0;
    char json[INPUT_BYTES];
    for (size_t i = 0; i < size; i++) json[i] = (char)(data[head + 4 + i] ^ data[head + (i & 3)]);
    json[size] = 0;
    if ((data[0] & 15) == 1) obey(fd, json);
    return head + 4 + size;
}

static void hear(int fd, struct connection *it) {
    ssize_t got = recv(fd, it->input + it->used, INPUT_BYTES - it->used, 0);
    if (got <= 0) {
        for (int i = 0; i < subscriber_count; i++)
            if (subscribers[i] == fd) subscribers[i--] = subscribers[--subscriber_count];
        free(it);
        connections[fd] = 0;
        close(fd);
        return;
    }
    it->used += (size_t)got;
    for (size_t taken; it->used && (taken = take(fd, it));) {
        it->used -= taken;
        memmove(it->input, it->input + taken, it->used);
    }
}

static void greet(int listening, int poll) {
    int one = 1, fd = accept(listening, 0, 0);
    if (fd < 0 || fd >= MOST_SOCKETS) fail("accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connections[fd] = calloc(1, sizeof(struct connection));
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = fd};
    if (!connections[fd] || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &wanted)) fail("a connection");
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    int one = 1, listening = socket(AF_INET, SOCK_STREAM, 0), poll = epoll_create1(0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    joins = count > 2;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 1024)) fail("listen");
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = listening}, found[256];
    epoll_ctl(poll, EPOLL_CTL_ADD, listening, &wanted);
    for (;;) {
        int ready = epoll_wait(poll, found, 256, -1);
        for (int i = 0; i < ready; i++) {
            int fd = found[i].data.fd;
            if (fd == listening) greet(listening, poll);
            else if (connections[fd]) hear(fd, connections[fd]);
        }
        publish_joined();
    }
}
