/* The page over HTTP, for browsers on this machine: GET of one address that nobody can guess, nothing else. Who has not
 * sent all of a request waits beside others, and whoever has waited longest makes room; what is refused is refused at
 * once. A page is made by a process of its own, which opens the program as it is then: what it may take is limited in
 * time, and what a program does to it ends with it. */
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
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/view.h"
#include "cli/view_page_data.h"

enum {
  REQUEST_BYTES = 16384,
  REQUEST_SECONDS = 10, /* for sending it; and that a client may read nothing of its page */
  PAGE_SECONDS = 300,
  MAX_PAGES = 8, /* that are made at once */
  MAX_CLIENTS = 64,
  MAX_INPUTS = 64,
  TOKEN_BYTES = 16
};
#define NANOSECONDS ((uint64_t)1000000000) /* in a second */
typedef struct Client {
  int socket;
  uint64_t deadline_ns; /* of clock_ns */
  bool is_answered;
  size_t length;
  char request[REQUEST_BYTES]; /* as far as it came, terminated */
} Client;
typedef struct Server {
  const View *view;
  int socket, port;
  char token[2 * TOKEN_BYTES + 1];
  size_t pages, count;
  Client *clients[MAX_CLIENTS]; /* in the order in which they came */
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
  char head[1000];
  int n = snprintf(head, sizeof head,
                   "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n"
                   "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                   "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n"
                   "Content-Security-Policy: %s; frame-ancestors 'none'\r\n\r\n",
                   status, type, length, view_page_policy);
  assert((size_t)n < sizeof head);
  send_all(client, head, (size_t)n);
  send_all(client, body, length);
  shutdown(client, SHUT_WR);
}
static void refuse(int client, const char *status) {
  answer(client, status, "text/plain", status, strlen(status));
}

/* ---- requests ---- */

typedef enum Progress { REQUEST_GOES_ON, REQUEST_WHOLE, REQUEST_BAD } Progress;
/* What is there of it by now, up to the empty line. Bad: it is too long, or the other side gave up. */
static Progress read_request(Client *client) {
  size_t room = REQUEST_BYTES - 1 - client->length;
  ssize_t got = recv(client->socket, client->request + client->length, room, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return REQUEST_GOES_ON;
  if (got <= 0) return REQUEST_BAD;
  client->length += (size_t)got;
  client->request[client->length] = 0;
  if (strlen(client->request) < client->length) return REQUEST_BAD; /* zero bytes */
  if (strstr(client->request, "\r\n\r\n")) return REQUEST_WHOLE;
  return client->length < REQUEST_BYTES - 1 ? REQUEST_GOES_ON : REQUEST_BAD;
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

/* ---- clients ---- */

/* Closes its connection. */
static void drop_client(Server *server, size_t at) {
  assert(at < server->count);
  close(server->clients[at]->socket);
  free(server->clients[at]);
  server->count--;
  memmove(&server->clients[at], &server->clients[at + 1], (server->count - at) * sizeof *server->clients);
}
/* Whoever waits longest makes room, so that those who send nothing keep nobody out. */
static void accept_client(Server *server) {
  int socket = accept(server->socket, NULL, NULL);
  Client *client = socket < 0 ? NULL : malloc(sizeof *client);
  if (!client) {
    if (socket >= 0) close(socket);
    return;
  }
  if (server->count == MAX_CLIENTS) drop_client(server, 0);
  client->socket = socket;
  client->deadline_ns = clock_ns() + REQUEST_SECONDS * NANOSECONDS;
  client->length = 0;
  client->is_answered = false;
  server->clients[server->count++] = client;
}

/* In the process that is the page's own: it ends with it. */
static void make_page(const Server *server, int client, char *query) {
  struct timeval patience = {.tv_sec = REQUEST_SECONDS};
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  alarm(PAGE_SECONDS);
  close(server->socket);
  for (size_t i = 0; i < server->count; i++)
    if (server->clients[i]->socket != client) close(server->clients[i]->socket);
  setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  serve_page(server, client, query);
  _exit(0);
}
/* NULL: a page is made; else why not. */
static const char *refusal_of(Server *server, Client *client) {
  Request request;
  char path[TOKEN_BYTES * 2 + 3];
  if (!parse_request(client->request, &request)) return "400 Bad Request";
  if (!is_own_host(server, request.host)) return "421 Misdirected Request";
  if (!request.is_get) return "405 Method Not Allowed";
  char *query = strchr(request.target, '?');
  if (query) *query++ = 0;
  snprintf(path, sizeof path, "/%s/", server->token);
  if (strcmp(request.target, path) != 0) return "404 Not Found";
  pid_t child = server->pages < MAX_PAGES ? fork() : -1;
  if (!child) make_page(server, client->socket, query);
  if (child < 0) return "503 Service Unavailable";
  server->pages++;
  return NULL;
}
/* What it sends after its answer is read away: a connection that is closed with something unread loses the answer. */
static bool is_over(Client *client) {
  ssize_t got = recv(client->socket, client->request, REQUEST_BYTES, MSG_DONTWAIT);
  return !got || (got < 0 && errno != EINTR && errno != EAGAIN);
}
/* Something came from it, or too long nothing. */
static void look_after(Server *server, size_t at, bool is_ready) {
  Client *client = server->clients[at];
  Progress progress = is_ready && !client->is_answered ? read_request(client) : REQUEST_GOES_ON;
  const char *refusal = progress == REQUEST_WHOLE ? refusal_of(server, client) : "400 Bad Request";
  if (progress != REQUEST_GOES_ON && refusal) {
    refuse(client->socket, refusal);
    client->is_answered = true;
    client->deadline_ns = clock_ns() + NANOSECONDS;
  } else if ((progress == REQUEST_WHOLE) || clock_ns() >= client->deadline_ns ||
             (is_ready && client->is_answered && is_over(client))) {
    drop_client(server, at);
  }
}

/* A round of what came, or half a second. */
static void serve_round(Server *server) {
  struct pollfd ready[MAX_CLIENTS + 1];
  size_t count = server->count;
  for (size_t i = 0; i < count; i++) ready[i] = (struct pollfd){.fd = server->clients[i]->socket, .events = POLLIN};
  ready[count] = (struct pollfd){.fd = server->socket, .events = POLLIN};
  if (poll(ready, count + 1, 500) < 0) return;
  for (size_t i = count; i-- > 0;) look_after(server, i, ready[i].revents != 0); /* from the end: they go */
  if (ready[count].revents) accept_client(server);
  while (server->pages && waitpid(-1, NULL, WNOHANG) > 0) server->pages--;
}

int view_serve(const View *view, long port) {
  Server server = {.view = view, .socket = -1};
  struct sigaction action = {.sa_handler = stop};
  bool fine = make_token(&server) && open_socket(&server, port);
  if (fine) {
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    show("http://127.0.0.1:%d/%s/\n", server.port, server.token);
    show("Ctrl-C ends it.\n");
    fine = show_finish();
  }
  while (fine && !is_stopped) serve_round(&server);
  while (server.count) drop_client(&server, 0);
  if (server.socket >= 0) close(server.socket);
  return fine ? EXIT_DONE : EXIT_FAILED;
}
