import type { Program } from '@openstack-operator/sandbox';
import { CommandError, commandWith, pause, terminated } from '../program-support.ts';
import { owned, type Recipe } from '../recipe.ts';
import { startTimes } from '../start-times.ts';
import { haproxy } from './haproxy.ts';

/** What machines boot from: DHCP and TFTP are UDP, which hosts here do not have, so nothing is answered. */

/** `dnsmasq --conf-file=FILE`: what it says of a file before it serves. */
const dnsmasq: Program = commandWith({ flags: 'd k no-daemon', values: 'conf-file C' }, async (process, line) => {
  const file = line.value('conf-file') ?? '/etc/dnsmasq.conf';
  if (!process.files.exists(file)) throw new CommandError(`dnsmasq: cannot read ${file}: No such file or directory`);
  const options = new Map(
    process.files
      .read(file)
      .split('\n')
      .map((text) => [text.split('=')[0] ?? '', text.slice(text.indexOf('=') + 1)] as const),
  );
  const fail = (words: string): never => {
    throw new CommandError(`dnsmasq: ${words}\ndnsmasq: FAILED to start up`);
  };
  if (process.uid !== 0) fail('failed to create listening socket for port 69: Permission denied');
  const root = options.get('tftp-root') ?? '';
  if (options.has('enable-tftp') && !process.files.exists(root))
    fail(`TFTP directory ${root} inaccessible: No such file or directory`);
  if (options.has('dhcp-range') && !/^[\d.]+,[\d.]+(,|$)/.test(options.get('dhcp-range') ?? ''))
    fail(`bad dhcp-range at line 1 of ${file}`);
  if (await pause(process, startTimes.dnsmasq)) await terminated(process);
  return 0;
});

const loaders = { '/usr/lib/ipxe/undionly.kpxe': 'iPXE\n', '/usr/lib/ipxe/snponly.efi': 'iPXE\n' };

/** Their images, and that of the programs that machines boot first. */
export const bootRecipes: readonly Recipe[] = [
  { names: ['dnsmasq'], user: 'ironic', programs: { '/usr/sbin': { dnsmasq } } },
  { names: ['haproxy'], user: 'haproxy', runsAsUser: true, programs: { '/usr/sbin': { haproxy } } },
  { names: ['ironic-pxe'], user: 'ironic', programs: {}, files: { ...loaders, '/var/lib/ironic': owned('ironic') } },
];
