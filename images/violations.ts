import { readFileSync } from 'node:fs';
import { type Accounts, type Contract, type ImageContract } from './contract.ts';
import type { Result } from './root-file-system.ts';

/** Runs a command in the image, as a user with groups, with text on standard input. */
export type Run = (options: {
  readonly uid: number;
  readonly groups: readonly number[];
  readonly command: readonly string[];
  readonly input?: string;
}) => Result;

/** Loads the Python that uwsgi brings, from a module beside it, and ends with what it is told. */
const uwsgiProbe = `
mkdir /tmp/uwsgi
printf 'import os, sys\\nprint("python loaded", flush=True)\\nos._exit(0)\\n' > /tmp/uwsgi/contract_probe.py
printf '[uwsgi]\\nif-not-plugin = python\\nplugins = python3\\nendif =\\nsocket = /tmp/uwsgi/s\\nneed-app = true\\npythonpath = /tmp/uwsgi\\nmodule = contract_probe:application\\n' > /tmp/uwsgi/probe.ini
uwsgi --ini /tmp/uwsgi/probe.ini > /tmp/uwsgi/log 2>&1
grep -q '^python loaded' /tmp/uwsgi/log || echo "uwsgi does not load Python from an ini: $(tail -n 1 /tmp/uwsgi/log)"
`;

/** Finds a name in a module without running the module: an application starts when it is imported. */
const wsgiProbe = readFileSync(new URL('wsgi-probe.py', import.meta.url), 'utf8');

/** Connects python-ovs to a socket of its own, by address, as if there were no module `unbound`. */
const ovsdbProbe = readFileSync(new URL('ovsdb-probe.py', import.meta.url), 'utf8');

/** Each point of the contract that an image does not meet, in words. */
export function violationsOf(image: ImageContract, contract: Contract, accounts: Accounts, run: Run): string[] {
  const uid = typeof image.user === 'number' ? image.user : image.user === 'root' ? 0 : accounts.users[image.user];
  if (uid === undefined)
    throw new Error(`contract.yaml: ${image.names.join(', ')}: no user ${image.user} in accounts.yaml`);
  const groups = Object.entries(accounts.members).flatMap(([group, members]) => {
    const id = accounts.users[group];
    return id !== undefined && members.includes(String(image.user)) ? [id] : [];
  });
  const violations: string[] = [];
  const expect = (command: readonly string[], input?: string) => {
    const { status, output } = run({ uid, groups, command, ...(input !== undefined && { input }) });
    if (status !== 0) violations.push(`${command.join(' ')}: exit ${status}: ${lastLine(output)}`);
  };
  if (image.shell !== false) {
    const root = run({ uid: 0, groups: [], command: ['sh'], input: accountsScript(accounts) });
    const own = run({ uid, groups, command: ['sh'], input: userScript(image, contract, accounts) });
    for (const { status, output } of [root, own]) {
      violations.push(...output.split('\n').filter((line) => line !== ''));
      if (status !== 0) violations.push(`a script in its shell ended with exit ${status}`);
    }
  }
  for (const command of image.runs ?? []) expect(command.split(' '));
  for (const application of image.wsgi ?? []) expect(['python3', '-', application], wsgiProbe);
  if (image.ovsdb === true) expect(['python3', '-'], ovsdbProbe);
  return violations;
}

/** Numeric ids, in every image. */
function accountsScript({ users, groups, members }: Accounts): string {
  return Object.entries(users)
    .map(([user, id]) => {
      const group = groups[user] ?? user;
      return `
[ "$(sed -n 's/^${user}:[^:]*:\\([0-9]*:[0-9]*\\):.*/\\1/p' /etc/passwd)" = ${id}:${id} ] || echo "user ${user} is not ${id}:${id}: $(grep '^${user}:' /etc/passwd)"
[ "$(sed -n 's/^${group}:[^:]*:\\([0-9]*\\):.*/\\1/p' /etc/group)" = ${id} ] || echo "group ${group} is not ${id}: $(grep '^${group}:' /etc/group)"`;
    })
    .concat(
      '[ "$(stat -c %a:%G /var/log/kolla)" = 2775:kolla ] || echo "/var/log/kolla is not root:kolla 2775: $(stat -c %a:%U:%G /var/log/kolla 2>&1)"',
      '[ "$(stat -c %a /tmp)" = 1777 ] || echo "/tmp is not there for everybody"',
      members['qemu']?.includes('nova')
        ? 'if [ -x /usr/sbin/libvirtd ]; then grep -q "^qemu:.*nova" /etc/group || echo "nova is not in group qemu"; fi'
        : '',
    )
    .join('\n');
}

/** What the image's user finds. */
function userScript(image: ImageContract, contract: Contract, { users }: Accounts): string {
  const lines = [...contract.commands, ...(image.commands ?? [])].map((command) =>
    command.startsWith('/')
      ? `[ -x ${command} ] || echo "${command} is not there or no program"`
      : `command -v ${command} > /dev/null || echo "${command} is not on PATH ($PATH)"`,
  );
  for (const file of image.files ?? [])
    lines.push(`[ -r ${file} ] || echo "${file} is not there or not readable by ${image.user}"`);
  for (const directory of image.owned ?? [])
    lines.push(
      `[ "$(stat -c %u ${directory} 2>&1)" = ${users[image.user]} ] || echo "${directory} does not belong to ${image.user}: $(stat -c %U:%G ${directory} 2>&1)"`,
    );
  if (image.wsgi !== undefined) {
    lines.push('command -v uwsgi > /dev/null || echo "uwsgi is not on PATH ($PATH)"', uwsgiProbe);
  }
  for (const program of image.resolves ?? []) {
    // Linked by the program itself, or by Open vSwitch's library.
    lines.push(
      `path=$(command -v ${program}) || path=/usr/sbin/${program}`,
      `cat "$path" /usr/lib/*/libopenvswitch*.so* /usr/lib*/libopenvswitch*.so* 2> /dev/null | grep -aq libunbound || echo "${program} resolves no names: it is not linked with libunbound"`,
    );
  }
  if (image.rootwrap !== undefined) {
    const rootwrap = `${image.rootwrap}-rootwrap /etc/${image.rootwrap}/rootwrap.conf`;
    lines.push(`sudo -n -l ${rootwrap} true > /dev/null 2>&1 || echo "${image.user} may not run by sudo: ${rootwrap}"`);
  }
  return `${lines.join('\n')}\nexit 0\n`;
}

const lastLine = (text: string) => text.split('\n').at(-1) ?? '';
