/* The page over HTTP, for browsers on this machine: GET of one address that nobody can guess, nothing else. Each
 * request is served by a process of its own, which opens the program as it is then: what it reads is bounded, what it
 * may take is limited in time, and what a program does to it ends with it. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/view.h"

enum {
  REQUEST_BYTES = 16384,
  REQUEST_SECONDS = 10,
  PAGE_SECONDS = 300,
  MAX_CLIENTS = 8,
  MAX_INPUTS = 64,
  TOKEN_BYTES = 16
};
typedef struct Server {
  const View *view;
  int socket, port;
  char token[2 * TOKEN_BYTES + 1];
} Server;
typedef struct Request {
  char *target, *host; /* NULL: there is none */
  bool is_get;
} Request;

static volatile sig_atomic_t is_stopped;
static void stop(int signal) {
  (void)signal;
  is_stopped = 1;
}

/* ---- answers ---- */

static void send_all(int client, const char *bytes, size_t length) {
  while (length) {
    ssize_t sent = send(client, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    bytes += sent;
    length -= (size_t)sent;
  }
}
static void answer(int client, const char *status, const char *type, const char *body, size_t length) {
  char head[600];
  int n = snprintf(head, sizeof head,
                   "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n"
                   "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                   "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\r\n",
                   status, type, length);
  send_all(client, head, (size_t)n);
  send_all(client, body, length);
  shutdown(client, SHUT_WR);
}
static void refuse(int client, const char *status) {
  answer(client, status, "text/plain", status, strlen(status));
}

/* ---- requests ---- */

/* Up to the empty line; false: it is too long, or the other side gave up. */
static bool read_request(int client, char *buffer) {
  size_t length = 0;
  assert(client >= 0);
  while (length < REQUEST_BYTES - 1) {
    ssize_t got = recv(client, buffer + length, REQUEST_BYTES - 1 - length, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    length += (size_t)got;
    buffer[length] = 0;
    if (strlen(buffer) < length) return false; /* zero bytes */
    if (strstr(buffer, "\r\n\r\n")) return true;
  }
  return false;
}
/* Cuts the text at the end of its line; NULL: there is no other. */
static char *cut_line(char *text) {
  char *end = strstr(text, "\r\n");
  if (!end) return NULL;
  *end = 0;
  return end + 2;
}
static bool parse_request(char *text, Request *out) {
  *out = (Request){0};
  char *line = cut_line(text), *space = strchr(text, ' ');
  char *last = space ? strchr(space + 1, ' ') : NULL;
  if (!line || !last || strncmp(last, " HTTP/1.", 8) != 0) return false;
  *space = *last = 0;
  out->is_get = !strcmp(text, "GET");
  out->target = space + 1;
  for (char *next; *line; line = next) {
    next = cut_line(line);
    if (!next) break;
    if (strncasecmp(line, "Host:", 5) != 0) continue;
    if (out->host) return false; /* two of them */
    out->host = line + 5 + strspn(line + 5, " \t");
    out->host[strcspn(out->host, " \t")] = 0;
  }
  return true;
}
/* A page from elsewhere whose name leads here has another host. */
static bool is_own_host(const Server *server, const char *host) {
  char own[40];
  static const char *const names[] = {"127.0.0.1", "localhost"};
  for (int i = 0; host && i < 2; i++) {
    snprintf(own, sizeof own, "%s:%d", names[i], server->port);
    if (!strcasecmp(host, own)) return true;
  }
  return false;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}
/* In place: "%20" and "+". false: it is malformed, or has a zero byte. */
static bool decode(char *text) {
  char *to = text;
  for (; *text; text++, to++) {
    *to = *text == '+' ? ' ' : *text;
    if (*text != '%') continue;
    int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);
    if (low < 0 || !(high << 4 | low)) return false;
    *to = (char)(high << 4 | low);
    text += 2;
  }
  *to = 0;
  return true;
}
/* What follows "NAME=", decoded; NULL: the part is no such, or malformed. */
static char *value_of(char *part, const char *name) {
  size_t length = strlen(name);
  bool fine = !strncmp(part, name, length) && part[length] == '=' && decode(part + length + 1);
  return fine ? part + length + 1 : NULL;
}
/* "method=forward&input=3&input=ones(2)" in the place of what the command line says; "none": nothing is run. false:
 * something else. */
static bool take_query(View *view, char *query, char **words) {
  int count = 0;
  for (char *part, *value; (part = strsep(&query, "&"));) {
    if ((value = value_of(part, "method")))
      view->method = value;
    else if ((value = value_of(part, "input")) && count < MAX_INPUTS &&
             strcmp(value, "-") != 0) /* the server's own stdin */
      words[count++] = value;
    else if (!strcmp(part, "none"))
      view->count = -1;
    else
      return false;
  }
  if (!count) return true;
  view->words = words;
  view->count = count;
  return true;
}

static void serve_page(const Server *server, int client, char *query) {
  View view = *server->view;
  char *words[MAX_INPUTS];
  size_t length;
  int failure;
  if (query && *query && !take_query(&view, query, words)) return refuse(client, "400 Bad Request");
  char *page = view_page(&view, &length, &failure);
  if (!page) page = view_failure_page(&view, &length);
  if (page)
    answer(client, "200 OK", "text/html", page, length);
  else
    refuse(client, "500 Internal Server Error");
  free(page);
}
static void serve_client(const Server *server, int client) {
  static char buffer[REQUEST_BYTES];
  Request request;
  alarm(REQUEST_SECONDS);
  if (!read_request(client, buffer) || !parse_request(buffer, &request)) return refuse(client, "400 Bad Request");
  alarm(PAGE_SECONDS);
  if (!is_own_host(server, request.host)) return refuse(client, "421 Misdirected Request");
  if (!request.is_get) return refuse(client, "405 Method Not Allowed");
  char *query = strchr(request.target, '?'), path[TOKEN_BYTES * 2 + 3];
  if (query) *query++ = 0;
  snprintf(path, sizeof path, "/%s/", server->token);
  if (strcmp(request.target, path) != 0) return refuse(client, "404 Not Found");
  serve_page(server, client, query);
}

/* ---- the server ---- */

static bool open_socket(Server *server, long port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  int on = 1;
  server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (server->socket >= 0) setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (server->socket < 0 || bind(server->socket, (struct sockaddr *)&address, size) || listen(server->socket, 16) ||
      getsockname(server->socket, (struct sockaddr *)&address, &size)) {
    complain(NULL, "127.0.0.1, port %ld: %s (--serve PORT takes another)", port, strerror(errno));
    return false;
  }
  server->port = ntohs(address.sin_port);
  return true;
}
static bool make_token(Server *server) {
  unsigned char bytes[TOKEN_BYTES];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    complain(NULL, "no random numbers: %s", strerror(errno));
    return false;
  }
  for (int i = 0; i < TOKEN_BYTES; i++) snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
  return true;
}
static void accept_client(const Server *server, int *clients) {
  int client = accept(server->socket, NULL, NULL);
  if (client < 0) return;
  pid_t child = *clients < MAX_CLIENTS ? fork() : -1;
  if (!child) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    close(server->socket);
    serve_client(server, client);
    _exit(0);
  }
  if (child > 0)
    ++*clients;
  else
    refuse(client, "503 Service Unavailable");
  close(client);
}

int view_serve(const View *view, long port) {
  Server server = {.view = view, .socket = -1};
  struct sigaction action = {.sa_handler = stop};
  int clients = 0;
  bool fine = make_token(&server) && open_socket(&server, port);
  if (fine) {
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    show("http://127.0.0.1:%d/%s/\n", server.port, server.token);
    show("Ctrl-C ends it.\n");
    fine = show_finish();
  }
  while (fine && !is_stopped) {
    struct pollfd ready = {.fd = server.socket, .events = POLLIN};
    if (poll(&ready, 1, 500) > 0) accept_client(&server, &clients);
    while (clients && waitpid(-1, NULL, WNOHANG) > 0) clients--;
  }
  if (server.socket >= 0) close(server.socket);
  return fine ? EXIT_DONE : EXIT_FAILED;
}
