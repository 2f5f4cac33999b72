import { BlockList, isIP } from 'node:net';
import type { Process, Program } from '@openstack-operator/sandbox';
import { command, notModelled, terminated } from '../program-support.ts';

/**
 * `ip` of iproute2, as far as scripts ask it which interface carries an address, and which one the default route: every
 * machine here has `eth0`, with a network of 24 bits. Devices of the node come and go with `link add` and `link delete`,
 * further addresses come with `address add`, and changes of links are watched.
 */
export const ip: Program = command(async (process) => {
  const words = process.argv.slice(1).filter((word) => !['-oneline', '-o', '-4'].includes(word));
  const text = words.join(' ');
  // Guests' interfaces stay as libvirt puts them.
  if (text === 'monitor link') {
    await terminated(process);
    return 143;
  }
  const [, prefix] = /^(?:address|addr) show to (\S+)$/.exec(text) ?? [];
  if (prefix !== undefined) {
    return show(process, linesOf(addressesOf(process).filter(([, address]) => contains(prefix, withoutBits(address)))));
  }
  if (text === '-6 address show scope global permanent') return 0;
  if (text === 'address show scope global') return show(process, linesOf(addressesOf(process)));
  const [, added = '', to = ''] = /^address add (\S+) dev (\S+)$/.exec(text) ?? [];
  if (to !== '') return addAddress(process, added, to);
  if (text === 'route show default') return show(process, `default via ${gatewayOf(process.pod.ip)} dev eth0\n`);
  if (text === '-6 route show default') return 0;
  const [, verb, device = ''] = /^link (add|delete) (\S+)(?: type (?:bond|dummy))?$/.exec(text) ?? [];
  if (verb !== undefined) return changeLink(process, verb, `/sys/class/net/${device}`, device);
  return notModelled(process, text);
});

function changeLink(process: Process, verb: string, path: string, device: string): number {
  const { files } = process;
  const refused = (words: string): number => {
    process.stderr(`${words}\n`);
    return verb === 'add' ? 2 : 1;
  };
  if (verb === 'add' && files.exists(path)) return refused('RTNETLINK answers: File exists');
  if (verb === 'delete' && !files.exists(path)) return refused(`Cannot find device "${device}"`);
  try {
    if (verb === 'add') files.mkdir(path);
    else files.remove(path);
  } catch {
    return refused('RTNETLINK answers: Operation not permitted');
  }
  return 0;
}

const devices = '/sys/class/net';

/** Where the model keeps the addresses of a device, which the kernel shows in no file. */
const addressFile = (device: string) => `${devices}/${device}/.addresses`;

type Address = readonly [device: string, address: string];

function addressesOf({ files, pod }: Process): Address[] {
  const added = (device: string) =>
    files.exists(addressFile(device)) ? files.read(addressFile(device)).split('\n') : [];
  const more = files.list(devices).flatMap((device) => added(device).map((address): Address => [device, address]));
  return [['eth0', `${pod.ip}/24`], ...more];
}

function addAddress(process: Process, address: string, device: string): number {
  if (!process.files.exists(`${devices}/${device}`)) {
    process.stderr(`Cannot find device "${device}"\n`);
    return 1;
  }
  const before = addressesOf(process).flatMap(([of, one]) => (of === device && of !== 'eth0' ? [one] : []));
  process.files.write(addressFile(device), [...before, address].join('\n'));
  return 0;
}

function linesOf(addresses: readonly Address[]): string {
  return addresses
    .map(([device, address], at) => `${at + 2}: ${device}    inet ${address} scope global ${device}\n`)
    .join('');
}

function withoutBits(address: string): string {
  return address.replace(/\/.*/, '');
}

function show(process: Process, text: string): number {
  process.stdout(text);
  return 0;
}

function gatewayOf(address: string): string {
  return address.replace(/\.\d+$/, '.254');
}

/** Whether an address lies in `prefix`: an address, or a network as `10.0.0.0/24`. Of IPv4 only. */
function contains(prefix: string, address: string): boolean {
  const [network = '', bits = '32'] = prefix.split('/');
  if (isIP(network) !== 4 || isIP(address) !== 4) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits));
  return list.check(address);
}
