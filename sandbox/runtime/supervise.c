/*
 * Runs one command inside a box and records it in a spool folder that the host reads.
 *
 *   supervise <spool-folder> <timeout-ms> <capture-bytes> <working-folder> <command>
 *   supervise --kill <spool-folder>
 *
 * The record lies in files, not in the stream of the exec, so that neither a restart of the host nor one of the
 * container engine loses it. Three processes take part: the front, which the engine started and which ends with the
 * command; the supervisor, which outlives the command for as long as something that it started still runs; the shell.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  CODE_USAGE = 64,
  CODE_TIMEOUT = 124,
  CODE_NO_SPOOL = 125,
  CODE_SECOND = 126,
  CODE_CANCELLED = 130,
  CODE_REFUSED = 254,
  CODE_LOST = 255,

  TICK_MS = 100,
  TOUCH_MS = 500,
  FORK_TRIES = 10,
  FORK_PAUSE_MS = 20,
  KILL_PASSES = 400,
  STOP_PASSES = 100,
  KILL_BUDGET_MS = 3000,
  KILL_PAUSE_MS = 2,
  DRAIN_BYTES = 1 << 20, /* the most that an unprivileged pipe holds */
  RESERVED_BYTES = 256,
  PROCESSES = 4096,
  FALLBACK_DESCRIPTORS = 1024,
};

struct stream {
  const char *name;
  int pipe; /* -1 once every writer has closed it */
  int file; /* -1 once the spool took no more */
  long long seen;
};

struct process {
  int pid, parent, group, ours;
  char state;
};

static int spool = -1, record = -1, alive = -1;
static long long capture_limit;
static struct stream out = {"stdout", -1, -1, 0}, err = {"stderr", -1, -1, 0};

static long long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void pause_ms(int ms) {
  struct timespec t = {ms / 1000, (ms % 1000) * 1000000L};
  nanosleep(&t, NULL);
}

static int write_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t n = write(fd, bytes, count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -1;
    bytes += n;
    count -= (size_t)n;
  }
  return 0;
}

static int create(const char *name) {
  return openat(spool, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
}

/* A host that lost the engine's answer asks again. Whoever comes second finds the mark and leaves: nothing runs twice. */
static int is_first(void) {
  alive = openat(spool, "alive", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  return alive >= 0 || errno != EEXIST;
}

/* The room for the record is taken before the command runs: a command that fills the spool cannot keep it out. */
static void open_files(void) {
  char blank[RESERVED_BYTES];
  memset(blank, ' ', sizeof blank);
  record = create("exit.tmp");
  if (record >= 0) (void)write_all(record, blank, sizeof blank);
  out.file = create(out.name);
  err.file = create(err.name);
}

static void write_record(const char *outcome, int code) {
  char line[RESERVED_BYTES], exit_code[32] = "";
  if (code >= 0) snprintf(exit_code, sizeof exit_code, "\"exit_code\":%d,", code);
  int length = snprintf(line, sizeof line, "{\"outcome\":\"%s\",%s\"stdout_bytes\":%lld,\"stderr_bytes\":%lld}\n",
                        outcome, exit_code, out.seen, err.seen);
  struct stat file;
  for (int attempt = 0; attempt < 2; attempt++) {
    if (record >= 0 && fstat(record, &file) == 0 && file.st_nlink > 0 && lseek(record, 0, SEEK_SET) == 0 &&
        write_all(record, line, (size_t)length) == 0 && ftruncate(record, length) == 0 &&
        renameat(spool, "exit.tmp", spool, "exit") == 0)
      return;
    if (record >= 0) close(record);
    unlinkat(spool, "exit.tmp", 0); /* the command removed it, or put something else in its place */
    record = create("exit.tmp");
  }
}

/* The command never ran. The reason goes where its user looks first. */
static int refuse(void) {
  const char *reason = errno == EAGAIN ? "the process limit of the container is reached" : strerror(errno);
  if (err.file >= 0) err.seen = dprintf(err.file, "The command was not started: %s.\n", reason);
  if (err.seen < 0) err.seen = 0;
  write_record("exit", CODE_REFUSED);
  return CODE_REFUSED;
}

/* A limit that is full because of processes that are just ending frees itself within moments. */
static pid_t fork_patiently(void) {
  pid_t pid = fork();
  for (int attempt = 1; pid < 0 && attempt < FORK_TRIES; attempt++) {
    pause_ms(FORK_PAUSE_MS);
    pid = fork();
  }
  return pid;
}

/* Returns the bytes read; 0 when nothing is there now. What lies beyond the limit is counted and thrown away. */
static size_t take(struct stream *s) {
  static char buffer[65536];
  if (s->pipe < 0) return 0;
  ssize_t n = read(s->pipe, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (n <= 0) {
    close(s->pipe);
    s->pipe = -1;
    return 0;
  }
  long long room = capture_limit - s->seen;
  s->seen += n;
  if (s->file >= 0 && room > 0 && write_all(s->file, buffer, (size_t)(n < room ? n : room)) < 0) {
    close(s->file); /* a later write that fits would leave a gap */
    s->file = -1;
  }
  return (size_t)n;
}

/* A child left in the background may write for ever: only what the pipe can hold is waited for. */
static void drain(struct stream *s) {
  for (size_t total = 0, n; total < DRAIN_BYTES && (n = take(s)) > 0;) total += n;
}

/* Signals are let in only while it waits, so that none is lost between a check and the wait. */
static void wait_for_output(int timeout_ms) {
  struct pollfd fds[2] = {{out.pipe, POLLIN, 0}, {err.pipe, POLLIN, 0}};
  struct timespec t = {timeout_ms / 1000, (timeout_ms % 1000) * 1000000L};
  sigset_t mask;
  sigfillset(&mask);
  sigdelset(&mask, SIGCHLD);
  int ready = ppoll(fds, 2, timeout_ms < 0 ? NULL : &t, &mask);
  if (ready > 0 && fds[0].revents) take(&out);
  if (ready > 0 && fds[1].revents) take(&err);
}

static int read_process(const char *pid, struct process *p) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  char *name_end = strrchr(text, ')'); /* the name in front may hold anything, brackets too */
  p->pid = atoi(pid);
  p->ours = p->pid == getpid();
  return name_end && sscanf(name_end + 1, " %c %d %d", &p->state, &p->parent, &p->group) == 3;
}

static size_t list_processes(struct process *table, size_t room) {
  size_t count = 0;
  struct dirent *entry;
  DIR *proc = opendir("/proc");
  if (!proc) return 0;
  while (count < room && (entry = readdir(proc)))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(entry->d_name, &table[count])) count++;
  closedir(proc);
  return count;
}

static int is_ours(const struct process *table, size_t count, int pid) {
  for (size_t i = 0; i < count; i++)
    if (table[i].pid == pid) return table[i].ours;
  return 0;
}

/* Sends the signal to all that descends from here; returns how many of them could still start something. */
static int signal_descendants(int signal_number) {
  static struct process table[PROCESSES];
  size_t count = list_processes(table, PROCESSES);
  int active = 0;
  for (int grown = 1; grown;) {
    grown = 0;
    for (struct process *p = table; p < table + count; p++)
      if (!p->ours && is_ours(table, count, p->parent)) grown = p->ours = 1;
  }
  for (struct process *p = table; p < table + count; p++) {
    if (!p->ours || p->pid == getpid()) continue;
    /* The kernel signals a group in one go, so a member cannot fork itself out of reach. No stranger is in it: a group
       never leaves its session, and every session below this process was opened below it. */
    if (p->group > 1 && p->group != getpgrp()) kill(-p->group, signal_number);
    kill(p->pid, signal_number); /* also a zombie: it may be the dead first thread of a living process */
    int stopped = p->state == 'T' || p->state == 't', dead = p->state == 'Z' || p->state == 'X';
    if (!dead && !(stopped && signal_number == SIGSTOP)) active++;
  }
  return active;
}

/* Stops at the shell; whoever calls again reaps the rest. */
static int reap(pid_t shell, int *status) {
  pid_t pid;
  while ((pid = waitpid(-1, status, WNOHANG)) > 0 && pid != shell) continue;
  return pid == shell;
}

/* Stopping all of them first is what wins against a fork bomb: killed one by one, they are replaced as fast. */
static void kill_descendants(pid_t shell) {
  long long deadline = now_ms() + KILL_BUDGET_MS;
  int status;
  kill(-shell, SIGSTOP);
  for (int pass = 0; pass < STOP_PASSES && now_ms() < deadline - KILL_BUDGET_MS / 2; pass++) {
    if (signal_descendants(SIGSTOP) == 0) break;
    reap(shell, &status);
  }
  /* A child whose parent died during the walk looks like a stranger until the next one: one empty pass is no proof. */
  for (int pass = 0, empty = 0; pass < KILL_PASSES && empty < 2 && now_ms() < deadline; pass++) {
    empty = signal_descendants(SIGKILL) == 0 ? empty + 1 : 0;
    reap(shell, &status);
    pause_ms(KILL_PAUSE_MS);
  }
}

static void become_shell(const char *folder, char *command, int out_end, int err_end) {
  sigset_t none;
  sigemptyset(&none);
  setsid();
  dup2(out_end, 1);
  dup2(err_end, 2);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  umask(022);
  if (chdir(folder) != 0 && chdir("/") != 0) dprintf(2, "No working folder: %s\n", strerror(errno));
  execv("/bin/bash", (char *[]){"bash", "-c", command, NULL});
  execv("/bin/sh", (char *[]){"sh", "-c", command, NULL});
  dprintf(2, "The shell was not started: %s\n", strerror(errno));
  _exit(127);
}

static pid_t start_shell(const char *folder, char *command) {
  int ends[2][2];
  if (pipe2(ends[0], O_CLOEXEC) != 0 || pipe2(ends[1], O_CLOEXEC) != 0) return -1;
  pid_t shell = fork_patiently();
  if (shell == 0) become_shell(folder, command, ends[0][1], ends[1][1]);
  out.pipe = ends[0][0];
  err.pipe = ends[1][0];
  for (int i = 0; i < 2; i++) {
    close(ends[i][1]);
    fcntl(ends[i][0], F_SETFL, O_NONBLOCK); /* the command's end is another description and stays blocking */
  }
  return shell;
}

static int cancel_asked(void) { return faccessat(spool, "cancel", F_OK, 0) == 0; }

static int watch(pid_t shell, long long timeout_ms) {
  long long deadline = now_ms() + timeout_ms, tick = 0, touch = 0;
  const char *outcome = NULL;
  int status = 0, code = -1;
  while (!outcome) {
    long long now = now_ms();
    if (reap(shell, &status)) {
      outcome = "exit";
      code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    } else if (now >= deadline) {
      outcome = "timeout";
    } else if (now < tick) {
      wait_for_output((int)((tick < deadline ? tick : deadline) - now));
    } else {
      tick = now + TICK_MS;
      if (cancel_asked()) outcome = "cancelled";
      if (now < touch) continue;
      touch = now + TOUCH_MS;
      if (alive >= 0) futimens(alive, NULL);
    }
  }
  if (code < 0) kill_descendants(shell);
  drain(&out);
  drain(&err);
  write_record(outcome, code);
  return code >= 0 ? code : outcome[0] == 't' ? CODE_TIMEOUT : CODE_CANCELLED;
}

/* A server left in the background must never get SIGPIPE, so its output is read for as long as it lives. */
static void outlive_command(void) {
  int files[] = {spool, record, alive, out.file, err.file};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i] >= 0) close(files[i]);
  capture_limit = 0;
  for (;;) {
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (pid < 0 && errno == ECHILD && out.pipe < 0 && err.pipe < 0) return;
    wait_for_output(-1);
  }
}

/* Without a handler the signal would not end the wait. */
static void on_child(int number) { (void)number; }

static void supervise(char **argv, long long timeout_ms, int answer) {
  struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
  setsid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int fd = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC); fd <= 2; fd++) dup2(null, fd);
  if (chdir("/") != 0) errno = 0; /* it only keeps no folder busy */
  sigaction(SIGCHLD, &action, NULL);
  pid_t shell = start_shell(argv[4], argv[5]);
  unsigned char code = (unsigned char)(shell < 0 ? refuse() : watch(shell, timeout_ms));
  (void)write_all(answer, (char *)&code, 1);
  close(answer);
  outlive_command();
  _exit(0);
}

static int run(char **argv) {
  long long timeout_ms = atoll(argv[2]);
  int answer[2];
  unsigned char code = CODE_LOST;
  capture_limit = atoll(argv[3]);
  if (timeout_ms <= 0 || capture_limit < 0) return CODE_USAGE;
  spool = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (spool < 0) return CODE_NO_SPOOL;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL); /* a stray signal of the command must end neither front nor supervisor */
  umask(022);
  if (!is_first()) return CODE_SECOND;
  open_files();
  if (pipe2(answer, O_CLOEXEC) != 0) return refuse();
  pid_t supervisor = fork_patiently();
  if (supervisor < 0) return refuse();
  if (supervisor == 0) supervise(argv, timeout_ms, answer[1]);
  close(answer[1]);
  while (read(answer[0], &code, 1) < 0 && errno == EINTR) continue;
  return code;
}

/* A file and no signal: the host can make it too, without an exec, also when the process limit is reached. */
static int ask_to_cancel(const char *folder) {
  spool = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return spool >= 0 && create("cancel") >= 0 ? 0 : CODE_NO_SPOOL;
}

int main(int argc, char **argv) {
  int fd;
  while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= 2) continue; /* later descriptors must not take 0 to 2 */
  if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
    for (fd = 3; fd < FALLBACK_DESCRIPTORS; fd++) close(fd);
  if (argc == 3 && strcmp(argv[1], "--kill") == 0) return ask_to_cancel(argv[2]);
  if (argc == 6) return run(argv);
  dprintf(2, "Usage: supervise <spool> <timeout-ms> <capture-bytes> <folder> <command> | supervise --kill <spool>\n");
  return CODE_USAGE;
}
