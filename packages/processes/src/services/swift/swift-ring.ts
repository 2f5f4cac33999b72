import type { Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { parseCommandLine } from '../../command-line.ts';
import { CommandError, command, notModelled, pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { SwiftError } from './swift-conf.ts';

/** A device as rings name it. */
export interface RingDevice {
  readonly id: number;
  readonly zone: number;
  readonly ip: string;
  readonly port: number;
  readonly device: string;
  readonly weight: number;
  /** It goes with the next rebalance. */
  readonly isRemoved?: boolean;
}

/** A ring: for each replica the device of each partition. */
export interface Ring {
  readonly power: number;
  readonly devices: readonly RingDevice[];
  readonly replicas: readonly (readonly number[])[];
}

interface Builder {
  power: number;
  count: number;
  hours: number;
  devices: RingDevice[];
  replicas: number[][];
  /** By partition, when a replica of it was moved: milliseconds since the epoch. */
  moved: number[];
}

/** Of each kind of server. */
export type RingName = 'account' | 'container' | 'object';

/** The ring of a server, of objects that of a policy. @throws SwiftError when there is none */
export function readRing({ files }: Process, folder: string, name: RingName, policy = 0): Ring {
  const path = `${folder}/${name}${suffixOf(policy)}.ring.gz`;
  try {
    return JSON.parse(files.read(path)) as Ring;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new SwiftError(`FileNotFoundError: [Errno 2] No such file or directory: '${path}'`);
  }
}

/** What follows the names of rings and folders of a policy. */
export const suffixOf = (policy: number): string => (policy === 0 ? '' : `-${policy}`);

/** The partition of a hash. */
export function partitionOf({ power }: Ring, hash: string): number {
  return Number.parseInt(hash.slice(0, 8), 16) >>> (32 - power);
}

/** The devices of a partition: the primary ones, and those that stand in for them. */
export function devicesOf({ devices, replicas }: Ring, partition: number) {
  const ids = [...new Set(replicas.map((one) => one[partition]))];
  const primaries = ids.flatMap((id) => devices.filter((device) => device.id === id));
  const others = devices.filter(({ id }) => !ids.includes(id));
  const first = partition % Math.max(1, others.length);
  return { primaries, handoffs: [...others.slice(first), ...others.slice(0, first)] };
}

/** `swift-ring-builder` of Swift 2.35, as far as it is used: 1 is a warning, 2 an error. */
export const ringBuilder: Program = command(async (process) => {
  const { files } = process;
  const [, path = '', action = 'default', ...rest] = process.argv;
  const say = (text: string): void => process.stdout(`${text}\n`);
  await pause(process, startTimes.swiftRingBuilder);
  if (action === 'create') {
    const [power, count, hours] = rest.map(Number) as [number, number, number];
    save(process, path, { power, count, hours, devices: [], replicas: [], moved: [] });
    return 0;
  }
  if (!files.exists(path)) {
    say(`Ring Builder file does not exist: ${path}`);
    return 2;
  }
  const builder = JSON.parse(files.read(path)) as Builder;
  const line = parseCommandLine(rest, { flags: 'yes', values: 'region zone ip port device weight' });
  const { ip, port, device } = { ip: line.value('ip'), port: Number(line.value('port')), device: line.value('device') };
  // What is not said of a device may be anything.
  const isMeant = (one: RingDevice) =>
    [ip, line.value('port'), device].every(
      (asked, index) => asked === undefined || asked === String([one.ip, one.port, one.device][index]),
    );
  const found = builder.devices.find(isMeant);
  const where = `${ip}:${port}R${ip}:${port}/${device}_""`;
  switch (action) {
    case 'default':
      say(
        `${path.split('/').at(-1)}, build version ${builder.devices.length}\n${2 ** builder.power} partitions, ${builder.count}.000000 replicas, 1 regions, ${new Set(builder.devices.map((one) => one.zone)).size} zones, ${builder.devices.length} devices, 0.00 balance, 0.00 dispersion`,
      );
      return 0;
    case 'set_min_part_hours':
      save(process, path, { ...builder, hours: Number(rest[0]) });
      say(`The minimum number of hours before a partition can be reassigned is now set to ${rest[0]}`);
      return 0;
    case 'search': {
      say(found === undefined ? 'No matching devices found' : table(builder, found));
      return found === undefined ? 2 : 0;
    }
    case 'set_weight':
    case 'remove': {
      if (found === undefined || !line.has('yes')) {
        say('Search value matched 0 devices.\nThe on-disk ring builder is unchanged.');
        return 2;
      }
      const changed = action === 'remove' ? { isRemoved: true } : { weight: Number(line.operands[0]) };
      const all = builder.devices.map((one) => (one === found ? { ...one, ...changed } : one));
      save(process, path, { ...builder, devices: all });
      const done =
        action === 'remove'
          ? 'marked for removal and will be removed next rebalance.'
          : `weight set to ${changed.weight}`;
      say(`d${found.id}r1z${found.zone}-${where} ${done}`);
      return 0;
    }
    case 'add': {
      if (found !== undefined) {
        say(`Device ${found.id} already uses ${ip}:${port}/${device}.\nThe on-disk ring builder is unchanged.\n`);
        return 2;
      }
      if (ip === undefined || device === undefined) throw new CommandError('Required argument missing', 2);
      const id = Math.max(-1, ...builder.devices.map((one) => one.id)) + 1;
      const [zone, weight] = ['zone', 'weight'].map((name) => Number(line.value(name))) as [number, number];
      save(process, path, { ...builder, devices: [...builder.devices, { id, zone, ip, port, device, weight }] });
      say(`Device d${id}r1z${zone}-${where} with ${weight.toFixed(1)} weight got id ${id}`);
      return 0;
    }
    case 'rebalance': {
      const before = builder.devices.length;
      builder.devices = builder.devices.filter(({ isRemoved }) => isRemoved !== true);
      if (builder.count > builder.devices.length) {
        say(
          `An error has occurred during ring validation.\n Replica count of ${builder.count}.0 requires more than ${builder.devices.length} devices`,
        );
        return 2;
      }
      const moved = rebalanced(builder, process.clock.now());
      if (moved === 0 && builder.devices.length === before) {
        say('No partitions could be reassigned.');
        return 1;
      }
      const { power, devices, replicas } = builder;
      files.write(path.replace(/builder$/u, 'ring.gz'), JSON.stringify({ power, devices, replicas } satisfies Ring));
      save(process, path, builder);
      say(
        `Reassigned ${moved} (${((100 * moved) / 2 ** power).toFixed(2)}%) partitions. Balance is now 0.00.  Dispersion is now 0.00`,
      );
      return 0;
    }
    default:
      return notModelled(process, action);
  }
});

/** A device as `search` shows it. */
function table({ replicas }: Builder, { id, zone, ip, port, device, weight }: RingDevice): string {
  const parts = replicas.flat().filter((one) => one === id).length;
  const header =
    'Devices:    id  region  zone      ip address  port  replication ip  replication port      name weight partitions balance meta';
  return `${header}\n ${id} 1 ${zone} ${ip} ${port} ${ip} ${port} ${device} ${weight.toFixed(2)} ${parts} 0.00 `;
}

function save({ files }: Process, path: string, builder: Builder): void {
  files.write(path, JSON.stringify(builder));
}

/**
 * How many replicas each device is to have, by its weight: of each partition one at most, and what is more than that goes to the
 * others (swift/common/ring/builder.py, _build_replica_plan).
 */
function shares({ devices, count }: Builder, parts: number): Map<number, number> {
  const found = new Map<number, number>(devices.map(({ id }) => [id, 0]));
  let [open, left] = [devices.filter(({ weight }) => weight > 0), parts * count];
  while (open.length > 0) {
    const total = open.reduce((sum, { weight }) => sum + weight, 0);
    const shareOf = ({ weight }: RingDevice) => (left * weight) / total;
    const whole = open.filter((one) => shareOf(one) > parts);
    for (const one of whole.length > 0 ? whole : open) found.set(one.id, Math.min(parts, Math.ceil(shareOf(one))));
    left -= whole.length * parts;
    open = whole.length > 0 ? open.filter((one) => !whole.includes(one)) : [];
  }
  return found;
}

/**
 * Moves one replica of a partition at most, and none of one that was moved lately. As far as weights allow replicas of a
 * partition are in different zones, then on different hosts. @returns how many were moved
 */
function rebalanced(builder: Builder, now: number): number {
  const { power, count, hours, devices, replicas, moved } = builder;
  const parts = 2 ** power;
  const spare = shares(builder, parts);
  for (const id of replicas.flat()) spare.set(id, (spare.get(id) ?? 0) - 1);
  const spareOf = ({ id }: RingDevice) => spare.get(id) ?? 0;
  const others = (taken: readonly number[]): RingDevice[] => {
    const held = devices.filter(({ id }) => taken.includes(id));
    const near = (one: RingDevice) => [
      held.filter(({ zone }) => zone === one.zone).length,
      held.filter(({ ip }) => ip === one.ip).length,
      -spareOf(one),
    ];
    return devices
      .filter(({ id, weight }) => !taken.includes(id) && weight > 0)
      .sort((one, other) => {
        const [first, second] = [near(one), near(other)];
        return first.map((value, index) => value - (second[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
      });
  };
  const assign = (replica: number, partition: number, id: number): void => {
    (replicas[replica] ??= [])[partition] = id;
    spare.set(id, (spare.get(id) ?? 0) - 1);
    moved[partition] = now;
  };
  let changes = 0;
  const isThere = (id: number | undefined) => devices.some((one) => one.id === id);
  for (let partition = 0; partition < parts; partition += 1) {
    // What lay on a device that was removed is placed anew, whenever it was moved last.
    for (const [replica, of] of replicas.entries()) {
      if (of[partition] === undefined || isThere(of[partition])) continue;
      const rest = replicas.flatMap((one) => (isThere(one[partition]) ? (one[partition] ?? []) : []));
      const free = others(rest);
      assign(replica, partition, (free.find((one) => spareOf(one) > 0) ?? free[0])?.id ?? 0);
      changes += 1;
    }
    const taken = () => replicas.flatMap((one) => one[partition] ?? []);
    for (let replica = taken().length; replica < count; replica += 1) {
      const free = others(taken());
      assign(replica, partition, (free.find((one) => spareOf(one) > 0) ?? free[0])?.id ?? 0);
      changes += 1;
    }
    if (now - (moved[partition] ?? 0) < hours * 3_600_000) continue;
    const full = replicas.findIndex((one) => (spare.get(one[partition] ?? 0) ?? 0) < 0);
    const from = replicas[full]?.[partition] ?? 0;
    const rest = taken().filter((id) => id !== from);
    // What lies on a device without weight goes, though it goes to one that has enough (_reassign_parts asks for the best tier alone).
    const isLeaving = devices.some(({ id, weight }) => id === from && weight === 0);
    const free = full < 0 ? [] : others(rest).filter(({ id }) => id !== from);
    const to = free.find((one) => spareOf(one) > 0) ?? (isLeaving ? free[0] : undefined);
    if (to === undefined) continue;
    spare.set(from, (spare.get(from) ?? 0) + 1);
    assign(full, partition, to.id);
    changes += 1;
  }
  return changes;
}
