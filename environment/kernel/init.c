/* First process of a guest: mounts, one program, power off. In C and small, since every load pays for it.
 *
 *   init JOB
 *
 * JOB is a file of records, each ended by a zero byte and told by its first letter: W a folder of the host that stays
 * writable, D the folder to start in, A an argument of the program (the first is the program), E a variable of its
 * environment. A file and not the kernel's command line, which loses quotes and has a limit. Beside JOB it leaves
 * `stdout`, `stderr` and `status`: "exit N", "signal N", or "init WHY" if the program was not started. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 4096, OPEN_FILES = 1024, OPEN_FILES_MOST = 524288 };

static char *writable[RECORDS], *arguments[RECORDS], *environment[RECORDS], *folder = "/";
static const char *place; /* where JOB is */

/* Says how it ended, and switches off. */
static void __attribute__((noreturn, format(printf, 1, 2))) leave(const char *format, ...)
{
	va_list values;
	int status;

	kill(-1, SIGKILL);
	status = openat(AT_FDCWD, place, O_PATH | O_DIRECTORY);
	status = openat(status, "status", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	va_start(values, format);
	/* On the console while the file cannot be written yet. */
	vdprintf(status < 0 ? 2 : status, format, values);
	va_end(values);
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void attach(const char *type, const char *target, unsigned long flags, const char *options)
{
	if (mount(type, target, type, flags, options))
		leave("init: %s cannot be mounted on %s: %s\n", type, target, strerror(errno));
}

static void make_folder(const char *path, mode_t mode)
{
	if (mkdir(path, mode) && errno != EEXIST)
		leave("init: %s cannot be made: %s\n", path, strerror(errno));
	chmod(path, mode);
}

static void make_folders(const char *path, mode_t mode)
{
	char *part = strdup(path);

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		make_folder(part, 0755);
		*slash = '/';
	}
	make_folder(part, mode);
	free(part);
}

static char *read_job(const char *path)
{
	int job = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	char *text;

	if (job < 0 || fstat(job, &about))
		leave("init: %s: %s\n", path, strerror(errno));
	text = calloc(1, about.st_size + 1);
	for (ssize_t got, all = 0; all < about.st_size; all += got) {
		got = read(job, text + all, about.st_size - all);
		if (got <= 0)
			leave("init: %s cannot be read\n", path);
	}
	close(job);
	for (size_t at = 0, w = 0, a = 0, e = 0; at < (size_t)about.st_size; at += strlen(text + at) + 1) {
		char *value = text + at + 1;

		if (w == RECORDS - 1 || a == RECORDS - 1 || e == RECORDS - 1)
			leave("init: %s has too many records\n", path);
		switch (text[at]) {
		case 'W': writable[w++] = value; break;
		case 'D': folder = value; break;
		case 'A': arguments[a++] = value; break;
		case 'E': environment[e++] = value; break;
		default: leave("init: %s: a record of unknown kind\n", path);
		}
	}
	if (!arguments[0])
		leave("init: %s names no program\n", path);
	return text;
}

/* A folder of the host as it is, with changes in memory only. */
static void cover(const char *path, const char *name)
{
	char upper[64], work[64], options[256];

	if (access(path, F_OK))
		return;
	snprintf(upper, sizeof upper, "/run/%s", name);
	snprintf(work, sizeof work, "/run/%s.work", name);
	make_folder(upper, 01777);
	make_folder(work, 0700);
	snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", path, upper, work);
	attach("overlay", path, 0, options);
}

static void mount_all(void)
{
	attach("proc", "/proc", 0, NULL);
	attach("sysfs", "/sys", 0, NULL);
	attach("devtmpfs", "/dev", 0, "mode=755");
	make_folder("/dev/shm", 0755);
	make_folder("/dev/pts", 0755);
	attach("tmpfs", "/dev/shm", 0, "mode=1777");
	attach("devpts", "/dev/pts", 0, "ptmxmode=666");
	if (symlink("/proc/self/fd", "/dev/fd") || symlink("fd/0", "/dev/stdin") || symlink("fd/1", "/dev/stdout") ||
	    symlink("fd/2", "/dev/stderr"))
		leave("init: links in /dev: %s\n", strerror(errno));
	attach("tmpfs", "/run", 0, "mode=755");
	make_folder("/run/lock", 01777);
	make_folder("/run/netns", 0755);
	make_folders(place, 0700);
	attach("hostfs", place, 0, place);
	cover("/tmp", "tmp");
	cover("/var/tmp", "var-tmp");
	for (char **path = writable; *path; path++)
		attach("hostfs", *path, 0, *path);
}

static void loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (any < 0 || ioctl(any, SIOCSIFFLAGS, &lo))
		leave("init: the loopback device stays down: %s\n", strerror(errno));
	close(any);
}

/* A file beside JOB in place of a descriptor of this process. */
static void redirect(int descriptor, const char *name)
{
	char path[256];
	int file;

	snprintf(path, sizeof path, "%s/%s", place, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (file < 0 || dup2(file, descriptor) < 0)
		leave("init: %s: %s\n", path, strerror(errno));
	close(file);
}

static void __attribute__((noreturn)) run_program(void)
{
	struct rlimit files = { OPEN_FILES, OPEN_FILES_MOST };
	const char *search = "/usr/bin:/bin";

	setsid();
	setrlimit(RLIMIT_NOFILE, &files);
	if (chdir(folder)) {
		dprintf(2, "guest: %s: %s\n", folder, strerror(errno));
		_exit(126);
	}
	for (char **variable = environment; *variable; variable++)
		if (!strncmp(*variable, "PATH=", 5))
			search = *variable + 5;
	setenv("PATH", search, 1);
	execvpe(arguments[0], arguments, environment);
	dprintf(2, "guest: %s: %s\n", arguments[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int main(int count, char **values)
{
	char *job;
	int state, nothing;
	pid_t program, ended;

	if (count != 2)
		return 1;
	place = dirname(strdup(values[1]));
	job = read_job(values[1]);
	mount_all();
	loopback_up();
	/* The kernel's timers are coarse until its first ticks; costs nothing. */
	sleep(1);
	nothing = open("/dev/null", O_RDONLY);
	dup2(nothing, 0);
	redirect(1, "stdout");
	redirect(2, "stderr");
	program = fork();
	if (program < 0)
		leave("init: %s\n", strerror(errno));
	if (program == 0)
		run_program();
	/* What others leave behind is collected on the way. */
	while ((ended = wait(&state)) != program)
		if (ended < 0)
			leave("init: wait: %s\n", strerror(errno));
	free(job);
	if (WIFSIGNALED(state))
		leave("signal %d\n", WTERMSIG(state));
	leave("exit %d\n", WEXITSTATUS(state));
}
