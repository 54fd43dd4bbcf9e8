#include "content.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
  char *path;
  const uint8_t *bytes;
  uint64_t length;
  struct file *next;
};

static const uint8_t PRIMED[] = "primed\n";

static bool map(struct file *file, const char *name) {
  struct stat status;
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool found = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (found && status.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    found = bytes != MAP_FAILED;
    file->bytes = bytes;
    file->length = (uint64_t)status.st_size;
  }
  close(fd);
  return found;
}

/* Files stay mapped, for answers that are still being sent. */
static const struct file *find(const char *www, const char *path) {
  static struct file *files;
  for (const struct file *file = files; file; file = file->next)
    if (strcmp(file->path, path) == 0) return file;
  if (*path != '/' || strstr(path, "..")) return NULL;
  struct file *file = allocate(1, sizeof *file);
  char *name = text_of("%s%s", www, path);
  bool found = map(file, name);
  if (!found && strcmp(path, "/prime") == 0) {
    file->bytes = PRIMED;
    file->length = sizeof PRIMED - 1;
    found = true;
  }
  free(name);
  if (!found) {
    free(file);
    return NULL;
  }
  file->path = text_of("%s", path);
  file->next = files;
  return files = file;
}

struct answer content_answer(const char *www, const char *path, bool ranged, uint64_t first) {
  const struct file *file = find(www, path);
  if (!file || (ranged && first >= file->length)) return (struct answer){.status = file ? 416 : 404};
  return (struct answer){.status = ranged ? 206 : 200, .bytes = file->bytes + first,
                         .length = file->length - first, .first = first, .whole = file->length};
}
