import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { CommandError, commandWith, pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { accountKey, almighty, emptyCatalog, type MariadbCatalog } from './mariadb-catalog.ts';

/** The live catalog of a data directory: the server and the installer share it. */
export function catalogOf(process: Process, datadir: string): MariadbCatalog {
  return process.files.attach(`${datadir}/ibdata1`, emptyCatalog, { bytes: 12 * 1024 * 1024, mode: 0o660 });
}

/**
 * `mariadb-install-db`: makes the system tables and root's accounts (0.9 s measured). `mysql/` is there long before its
 * tables are whole.
 */
export const mariadbInstallDb: Program = commandWith(
  {
    flags: 'skip-test-db skip-name-resolve no-defaults force rpm skip-log-bin cross-bootstrap verbose',
    values:
      'datadir basedir user auth-root-authentication-method auth-root-socket-user defaults-file group builddir srcdir tmpdir ldata defaults-extra-file',
  },
  async (process, line) => {
    const datadir = (line.value('datadir') ?? line.value('ldata') ?? '/var/lib/mysql').replace(/\/+$/, '');
    const { files, uid } = process;
    if (!files.exists(datadir))
      worded(
        () => files.mkdir(datadir, { mode: 0o700 }),
        ({ message }) =>
          new CommandError(
            `mkdir: cannot create directory ‘${datadir}’: ${message.split(': ').at(-1)}\nFatal error Can't create database directory '${datadir}'`,
          ),
      );
    if (files.exists(`${datadir}/mysql`)) {
      process.stdout(`mysql.user table already exists!\nRun mariadb-upgrade, not mariadb-install-db\n`);
      return 0;
    }
    process.stdout(`Installing MariaDB/MySQL system tables in '${datadir}' ...\n`);
    if (!(await pause(process, startTimes.mariadbInstallDb / 2))) return 143;
    const failed = (...errors: readonly string[]): CommandError => {
      for (const text of errors) process.stderr(`[ERROR] ${text}\n`);
      return new CommandError(
        `Installation of system tables failed!  Examine the logs in\n${datadir} for more information.`,
      );
    };
    const unwritable = temporaryFailure(process, line.value('tmpdir'));
    if (unwritable !== undefined) throw failed(...unwritable);
    try {
      const catalog = catalogOf(process, datadir);
      files.mkdir(`${datadir}/mysql`, { mode: 0o700 });
      if (!(await pause(process, startTimes.mariadbInstallDb / 2))) return 143;
      const normal = line.value('auth-root-authentication-method') === 'normal';
      const hosts = normal ? ['localhost', '127.0.0.1', '::1', process.pod.hostname.toLowerCase()] : ['localhost'];
      const login = (socketUid: number) =>
        normal ? { hash: '', socketUid: undefined } : { hash: undefined, socketUid };
      for (const host of hosts)
        catalog.accounts.set(accountKey('root', host), almighty({ user: 'root', host, ...login(0) }));
      if (!normal && uid !== 0) {
        // --user or the caller becomes a second socket account.
        const user = line.value('auth-root-socket-user') ?? line.value('user') ?? 'mysql';
        catalog.accounts.set(accountKey(user, 'localhost'), almighty({ user, host: 'localhost', ...login(uid) }));
      }
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      throw failed(error.message);
    }
    process.stdout('OK\n');
    return 0;
  },
);

/** What InnoDB says when it cannot make its temporary files, which it does before anything else. */
export function temporaryFailure(process: Process, given: string | undefined): string[] | undefined {
  const file = `${given ?? process.env['TMPDIR'] ?? '/tmp'}/ibXXXXXX`;
  try {
    process.files.write(file, '');
    process.files.remove(file);
    return undefined;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const number = { ENOENT: 2, EACCES: 13, EROFS: 30 }[error.code as 'ENOENT'] ?? 5;
    return [
      `mariadbd: Can't create/write to file '${file}' (Errcode: ${number} "${error.reason}")`,
      `InnoDB: Unable to create temporary file; errno: ${number}`,
      `Plugin 'InnoDB' registration as a STORAGE ENGINE failed.`,
      'Unknown/unsupported storage engine: InnoDB',
    ];
  }
}
