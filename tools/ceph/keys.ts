import { randomBytes, randomUUID } from 'node:crypto';

/** Somebody that Ceph knows by a key, such as `client.cinder`, and what it may do, by kind of daemon. */
export interface Entity {
  readonly name: string;
  readonly caps: Readonly<Record<string, string>>;
}

/** Pools of block devices. */
export const pools = ['images', 'volumes', 'vms', 'backups'] as const;

type Pool = (typeof pools)[number];

const may = (pool: Pool, { readOnly = false } = {}) => `profile rbd${readOnly ? '-read-only' : ''} pool=${pool}`;

/** What a service needs that keeps block devices in these pools. A clone of an image reads its parent, which stays. */
function blockDevices(name: string, own: readonly Pool[], parents: readonly Pool[] = []): Entity {
  const mgr = own.map((pool) => may(pool)).join(', ');
  const osd = [...own.map((pool) => may(pool)), ...parents.map((pool) => may(pool, { readOnly: true }))].join(', ');
  return { name: `client.${name}`, caps: { mon: 'profile rbd', osd, mgr } };
}

/** The services of OpenStack. */
export const users: readonly Entity[] = [
  blockDevices('glance', ['images']),
  blockDevices('cinder', ['volumes', 'vms'], ['images']),
  blockDevices('cinder-backup', ['backups']),
  blockDevices('nova', ['vms', 'volumes'], ['images']),
  { name: 'client.manila', caps: { mon: 'allow r', mgr: 'allow rw' } },
  { name: 'client.swift', caps: { mon: 'allow rw', osd: 'allow rwx', mgr: 'allow r' } },
];

/** The administrator. */
export const administrator: Entity = {
  name: 'client.admin',
  caps: { mon: 'allow *', osd: 'allow *', mds: 'allow *', mgr: 'allow *' },
};

/** The daemons; monitors share one key. */
export const daemons: readonly Entity[] = [
  { name: 'mon.', caps: { mon: 'allow *' } },
  { name: 'mgr.a', caps: { mon: 'allow profile mgr', osd: 'allow *', mds: 'allow *' } },
  { name: 'osd.0', caps: { mon: 'allow profile osd', mgr: 'allow profile osd', osd: 'allow *' } },
  { name: 'mds.a', caps: { mon: 'profile mds', mgr: 'profile mds', mds: 'allow *', osd: 'allow *' } },
  { name: 'client.rgw.a', caps: { mon: 'allow rw', osd: 'allow rwx' } },
];

const everybody = [...daemons, administrator, ...users];

/** What makes a cluster this one, whether its data are kept or lost: made once. */
export interface Identity {
  readonly fsid: string;
  /** The id of the OSD's data. */
  readonly osd: string;
  /** Keys by name of the entity. */
  readonly keys: Readonly<Record<string, string>>;
}

/** An identity whose known parts stay. */
export function identityFrom({ fsid, osd, ...known }: Readonly<Record<string, string>>): Identity {
  const keys = everybody.map(({ name }) => [name, known[name] ?? newKey()]);
  return { fsid: fsid ?? randomUUID(), osd: osd ?? randomUUID(), keys: Object.fromEntries(keys) };
}

/** A key as `ceph-authtool --gen-print-key` makes it: kind 1 (AES), time of creation, length, 16 bytes; in base64. */
export function newKey(seconds = Math.floor(Date.now() / 1000), secret: Buffer = randomBytes(16)): string {
  const header = Buffer.alloc(12);
  header.writeUInt16LE(1, 0);
  header.writeUInt32LE(seconds, 2);
  header.writeUInt16LE(secret.length, 10);
  return Buffer.concat([header, secret]).toString('base64');
}

/** The keyring of one entity, as its own programs read it. */
export function keyring({ keys }: Identity, { name }: Pick<Entity, 'name'>): string {
  return `[${name}]\n\tkey = ${keys[name]}\n`;
}

/** The keyring that a monitor is made with: everybody, and what each may do. */
export function monitorKeyring(identity: Identity): string {
  return everybody
    .map((entity) => {
      const caps = Object.entries(entity.caps).map(([daemon, text]) => `\tcaps ${daemon} = "${text}"\n`);
      return keyring(identity, entity) + caps.join('');
    })
    .join('');
}
