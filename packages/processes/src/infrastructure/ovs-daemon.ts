import type { Listener, Process } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import type { CommandLine, OptionNames } from '../command-line.ts';
import { CommandError, logTime, nameOf } from '../program-support.ts';
import type { OvsdbRequest } from './ovsdb.ts';
import { answering } from './wire.ts';

/** Options that every daemon of OVS and OVN has. */
export const daemonOptions: OptionNames = {
  flags: 'detach no-chdir monitor no-self-confinement mlockall disable-system dry-run no-dbs version h help',
  values:
    'v log-file-x remote unixctl private-key certificate ca-cert bootstrap-ca-cert peer-ca-cert user ovnnb-db ovnsb-db n-threads schema sync-from config-file ssl-protocols ssl-ciphers chassis n syslog-method syslog-target',
  optional: 'pidfile log-file overwrite-pidfile verbose',
};

/** Log lines as ovs writes them to the console: `2026-01-02T03:04:05Z|00001|module|LEVEL|text`. */
export function ovsLog(process: Process): (text: string) => void {
  let number = 0;
  return (text) => {
    number += 1;
    process.stderr(`${logTime(process).slice(0, 19).replace(' ', 'T')}Z|${String(number).padStart(5, '0')}|${text}\n`);
  };
}

/**
 * Writes the pid file (with --pidfile) and opens the control socket in the run directory; `answers`: by the first word.
 * @throws CommandError when the directory is missing or closed
 */
export function openDaemon(
  process: Process,
  line: CommandLine,
  { directory, answers }: { directory: string; answers: Readonly<Record<string, (...words: string[]) => string>> },
): Listener {
  const name = nameOf(process);
  const pidfile = line.has('pidfile') ? line.value('pidfile') || `${directory}/${name}.pid` : undefined;
  const absolute = (path: string): string => (path.startsWith('/') ? path : `${directory}/${path}`);
  if (pidfile !== undefined)
    worded(
      () => process.files.write(absolute(pidfile), `${process.pid}\n`),
      (error) => new CommandError(`${name}: ${pidfile}.tmp: create failed (${error.reason})`),
    );
  const socket = line.value('unixctl') ?? `${directory}/${name}.${process.pid}.ctl`;
  const receive = answering((request: OvsdbRequest) => {
    const text = request.type === 'control' ? request.command : '';
    const [name = '', ...words] = text.split(' ');
    const answer = answers[name];
    if (answer === undefined) throw new CommandError(`"${text}" is not a valid command`);
    return answer(...words);
  });
  return worded(
    () => process.network.listen(`unix:${absolute(socket)}`, 'ovsdb', () => ({ receive })),
    (error) => new CommandError(`${name}: could not initialize control socket ${socket}: ${error.reason}`),
  );
}
