import { expect, test } from 'vitest';
import { terminationMessageOf } from './termination-message.ts';

const prefix = '2026-11-21 19:51:26.942 1 ERROR glance';

test.each([
  [
    'the exception of a traceback in the log of a service, whose last line is empty',
    [
      `${prefix}   File "/usr/lib/python3/dist-packages/pymysql/err.py", line 150, in raise_mysql_exception`,
      `${prefix}     raise errorclass(errno, errval)`,
      `${prefix} sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (1044, "Access denied")`,
      `${prefix} (Background on this error at: https://sqlalche.me/e/20/e3q8)`,
      `${prefix} `,
    ],
    'sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (1044, "Access denied")',
  ],
  [
    'an exception below uwsgi, not what uwsgi says of itself',
    [
      '  File "/usr/lib/python3/dist-packages/oslo_config/cfg.py", line 1591, in parse',
      '    with open(self.filename) as f:',
      "IsADirectoryError: [Errno 21] Is a directory: '/etc/neutron/neutron.conf'",
      "unable to load app 0 (mountpoint='') (callable not found or import error)",
      '*** no app loaded. GAME OVER ***',
      'OOPS ! failed loading app in worker 1 (pid 8)',
      'Sat Nov 21 19:54:01 2026 - need-app requested, destroying the instance...',
      'SIGINT/SIGTERM received...killing workers...',
      'worker 2 buried after 1 seconds',
      'goodbye to uWSGI.',
    ],
    "IsADirectoryError: [Errno 21] Is a directory: '/etc/neutron/neutron.conf'",
  ],
  [
    'the last line with an error where there is no traceback',
    [
      "2026-11-21 19:52:48 0 [ERROR] mariadbd: unknown variable 'max-connectionsx=1000'",
      '2026-11-21 19:52:48 0 [ERROR] Aborting',
    ],
    "[ERROR] mariadbd: unknown variable 'max-connectionsx=1000'",
  ],
  [
    'that the disk is full, whatever failed for it; and MariaDB pads the hour with a blank',
    [
      '2026-11-22  0:31:49 0 [ERROR] mariadbd: Disk is full writing \'./tc.log\' (Errcode: 28 "No space left on device")',
      "2026-11-22  0:31:49 0 [ERROR] Can't init tc log",
      '2026-11-22  0:31:49 0 [ERROR] Aborting',
    ],
    '[ERROR] mariadbd: Disk is full writing \'./tc.log\' (Errcode: 28 "No space left on device")',
  ],
  [
    'the last line where nothing is called an error',
    ['one', 'chown: missing operand', "Try 'chown --help' for more information."],
    'chown: missing operand',
  ],
  [
    'why it failed, and not what it tells of an identifier',
    ['{network failed: 4711}', 'quota exceeded', '{endpoint image: 0815}'],
    'quota exceeded',
  ],
  ['nothing of nothing', [], ''],
])('last words are %s', (_name, lines, words) => {
  expect(terminationMessageOf(lines.join('\n'))).toBe(words);
});
