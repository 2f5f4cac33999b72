import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccounts } from './contract.ts';

/**
 * Adds the contract's users and groups to a root file system: `node images/accounts.ts ROOT`. Written as text, because
 * useradd notes the day of the change and would make every day another image.
 */
export function addAccounts(root: string): void {
  const { users, groups, homes, members } = readAccounts();
  const groupOf = (user: string) => groups[user] ?? user;
  const add = (file: string, line: (user: string, id: number) => string) => {
    const path = join(root, 'etc', file);
    const present = new Set(
      readFileSync(path, 'utf8')
        .split('\n')
        .map((entry) => entry.split(':')[0]),
    );
    const lines = Object.entries(users).map(([user, id]) => line(user, id));
    const clash = lines.find((entry) => present.has(entry.split(':')[0]));
    if (clash !== undefined)
      throw new Error(`${path} has ${clash.split(':')[0]} already: it must come before every package`);
    appendFileSync(path, `${lines.join('\n')}\n`);
  };
  // No password at all: the package passwd makes the shadow files of these.
  add('passwd', (user, id) => `${user}:*:${id}:${id}::${homes[user] ?? `/var/lib/${user}`}:/usr/sbin/nologin`);
  add('group', (user, id) => `${groupOf(user)}:*:${id}:${(members[user] ?? []).join(',')}`);
}

const [root] = process.argv.slice(2);
if (import.meta.main) {
  if (root === undefined) throw new Error('usage: node images/accounts.ts ROOT');
  addAccounts(root);
}
