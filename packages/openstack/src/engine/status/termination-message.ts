/**
 * What oslo.log and MariaDB begin a line with: with the time, every restart would say something new. Each line of a
 * traceback in oslo.log has level and logger, so that every line speaks of an error.
 */
const prefix =
  /^\d{4}-\d\d-\d\d[ T] ?\d?\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)? (?:\d+ )?(?:(?:ERROR|CRITICAL|WARNING) [\w.]+(?: \[[^\]]*\])?(?: |$))?/;

/** What follows the cause: where to read on, and a program's report of its own end; and what a run tells of an identifier. */
const afterthoughts =
  /^(?:\{[^{}]+: [\w-]{1,64}\}$|\(Background on this error|\[(?:SQL|parameters): |Try '.* --help'|unable to load app 0|\*\*\* no app loaded|OOPS ! failed loading app|SIGINT\/SIGTERM|worker \d+ buried|goodbye to uWSGI|.* need-app requested|\[pid: |\[ERROR\] Aborting$|Fatal error in defaults handling)/;

/**
 * The line of a log's end that says what went wrong: that the disk is full, else the exception at the end of the last
 * traceback, else the last line with an error in it, else the last one. Without time, process and logger. Logs are cut
 * off at 2048 bytes, so that a traceback's beginning is seldom there.
 */
export function terminationMessageOf(log: string): string {
  const lines = log
    .split('\n')
    .map((line) => line.replace(prefix, '').trimEnd())
    .filter((line) => line !== '' && !afterthoughts.test(line));
  const frame = lines.findLastIndex(
    (line) => /^ +File ".*", line \d+/.test(line) || line.startsWith('Traceback (most'),
  );
  const exception = frame < 0 ? undefined : lines.slice(frame + 1).find((line) => !/^\s/.test(line));
  return (
    // All else follows from it.
    lines.findLast((line) => /no space left on device/i.test(line)) ??
    exception ??
    lines.findLast((line) => /error|exception|denied|refused|failed|fatal|cannot|unable/i.test(line)) ??
    lines.at(-1) ??
    ''
  );
}
