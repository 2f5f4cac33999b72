import { expect } from 'vitest';
import { type Cloud, identityOnly } from './cloud.ts';
import { entitiesOf, login, request } from './keystone.ts';

/** Few partitions are enough here. */
export const swift = { storagePolicy: { partitionPower: 6, minPartHours: 1 } };
/** A control plane with Swift. */
export const spec = { ...identityOnly, imageRegistry: 'registry.example.com/openstack', swift };
/** Its name. */
export const name = 'my-cloud-swift';

/** Asks for something of the administrator's account; the first word of an error is its status. */
export async function account(cloud: Cloud) {
  const token = await login(cloud);
  const id = (await entitiesOf(cloud, 'projects')).find((project) => project['name'] === 'admin')?.id;
  const url = `http://${name}-proxy.openstack.svc:8080/v1/AUTH_${id}`;
  return (method: string, path: string, body?: object, headers?: readonly string[]) =>
    request(cloud, token, method, `${url}${path}`, body, headers);
}

const texts = (names: readonly string[]) => Object.fromEntries(names.map((one) => [one, JSON.stringify({ one })]));

/** Objects by name, of the container `photos`. */
export async function stored(cloud: Cloud, names: readonly string[]): Promise<Record<string, string>> {
  const send = await account(cloud);
  await send('PUT', '/photos');
  for (const one of names) await send('PUT', `/photos/${one}`, { one });
  return texts(names);
}

/** What these objects are, by name. */
export async function read(cloud: Cloud, names: readonly string[]): Promise<Record<string, string>> {
  const send = await account(cloud);
  const found: Record<string, string> = {};
  for (const one of names) found[one] = await send('GET', `/photos/${one}`);
  return found;
}

/** What a Secret of rings has. */
export const rings = (cloud: Cloud, secret = `${name}-rings`) =>
  (cloud.get('Secret', secret)?.['data'] ?? {}) as Readonly<Record<string, string>>;

/** The same of further policies. */
export const policyRings = (cloud: Cloud) => rings(cloud, `${name}-rings-policies`);

/** A builder of rings, as its model writes it. */
export interface Builder {
  readonly devices: readonly {
    readonly id: number;
    readonly ip: string;
    readonly device: string;
    readonly zone: number;
    readonly weight: number;
  }[];
  readonly replicas: readonly (readonly number[])[];
}

/** That of objects. */
export const builder = (cloud: Cloud) =>
  JSON.parse(Buffer.from(rings(cloud)['object.builder'] ?? '', 'base64').toString()) as Builder;

/** How many replicas of each partition are elsewhere than before. */
export const moved = (before: Builder, now: Builder): number[] =>
  (before.replicas[0] ?? []).map(
    (_, part) => before.replicas.filter((one, replica) => one[part] !== now.replicas[replica]?.[part]).length,
  );

/** Writes another object, and reads all of them. */
export async function use(cloud: Cloud, all: Record<string, string>): Promise<void> {
  Object.assign(all, await stored(cloud, [`cat-${Object.keys(all).length}`]));
  expect(await read(cloud, Object.keys(all))).toEqual(all);
}

/** How many partitions each storage node has, of the ring of objects. */
export function partitions(cloud: Cloud): Record<string, number> {
  const ring = JSON.parse(Buffer.from(rings(cloud)['object.ring.gz'] ?? '', 'base64').toString()) as {
    devices: readonly { id: number; ip: string }[];
    replicas: readonly (readonly number[])[];
  };
  return Object.fromEntries(
    ring.devices.map(({ id, ip }) => [ip.split('.')[0], ring.replicas.flat().filter((one) => one === id).length]),
  );
}

/** Names of the first storage nodes. */
export const nodes = (count: number) => Array.from({ length: count }, (_, index) => `${name}-storage-${index}`);
/** Names of objects. */
export const cats = ['tom', 'felix', 'garfield', 'minka'];
