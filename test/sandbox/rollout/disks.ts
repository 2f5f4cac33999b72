import type { StoredObject } from '@openstack-operator/kube';
import { expect } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { login, request } from './keystone.ts';

const service = (name: string, port: number, version: string) =>
  `http://my-cloud-${name}-api.openstack.svc:${port}/${version}`;
/** Where a cloud's volumes, servers and images are asked for. */
export const urls = {
  cinder: service('cinder', 8776, 'v3'),
  nova: service('nova', 8774, 'v2.1'),
  glance: service('glance', 9292, 'v2'),
};

type Answer = Record<string, Record<string, unknown>>;

/** What an API answers to the administrator, or to who has the token. @throws Error when it refuses */
export async function ask<T = Answer>(
  cloud: Cloud,
  method: string,
  address: string,
  body?: object,
  { token, version }: { token?: string; version?: string } = {},
): Promise<T> {
  const headers = version === undefined ? [] : [`OpenStack-API-Version: ${version}`];
  const text = await request(cloud, token ?? (await login(cloud)), method, address, body, headers);
  return JSON.parse(text || '{}') as T;
}

/** Lets time pass until something of Cinder has a state, or anything has what is looked at. */
export async function settles<T>(cloud: Cloud, look: () => Promise<T>, wanted: T): Promise<void> {
  for (let waited = 0; waited < 120; waited += 1) {
    if ((await look()) === wanted) return;
    await cloud.clock.advance(2000);
  }
  expect(await look()).toBe(wanted);
}

/** The state of a volume, a snapshot, a backup or a server; `gone` when it is not there. */
export async function stateOf(cloud: Cloud, address: string): Promise<unknown> {
  try {
    const [thing] = Object.values(await ask(cloud, 'GET', address));
    return thing?.['status'];
  } catch (error) {
    if (String(error).includes(' 404')) return 'gone';
    throw error;
  }
}

/** Something new of Cinder, when it is available: a volume, a snapshot, a backup. */
export async function made(cloud: Cloud, what: string, columns: object): Promise<string> {
  const { [what]: thing = {} } = await ask(cloud, 'POST', `${urls.cinder}/${what}s`, { [what]: columns });
  await settles(cloud, () => stateOf(cloud, `${urls.cinder}/${what}s/${String(thing['id'])}`), 'available');
  return String(thing['id']);
}

export const statusOf = (cloud: Cloud, volume: string) => stateOf(cloud, `${urls.cinder}/volumes/${volume}`);

/** A server that is ACTIVE; `more`: what it is asked for besides. */
export async function booted(cloud: Cloud, name: string, more: object = {}): Promise<string> {
  const { flavor } = await ask(cloud, 'POST', `${urls.nova}/flavors`, {
    flavor: { name: 'tiny', vcpus: 1, ram: 64, disk: 1 },
  });
  const server = { name, flavorRef: flavor?.['id'], networks: 'none', ...more };
  const { server: asked = {} } = await ask(cloud, 'POST', `${urls.nova}/servers`, { server });
  await settles(cloud, () => stateOf(cloud, `${urls.nova}/servers/${String(asked['id'])}`), 'ACTIVE');
  return String(asked['id']);
}

const attachmentsOf = (server: string) => `${urls.nova}/servers/${server}/os-volume_attachments`;

/** Asks for a volume to be attached. */
export const attach = (cloud: Cloud, server: string, volume: string) =>
  ask(cloud, 'POST', attachmentsOf(server), { volumeAttachment: { volumeId: volume } });

/** Asks for a volume to be detached. */
export const detach = (cloud: Cloud, server: string, volume: string) =>
  ask(cloud, 'DELETE', `${attachmentsOf(server)}/${volume}`);

/** Pods of a component, such as `nova-compute`. */
export const podsOf = (cloud: Cloud, component: string): readonly StoredObject[] =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-${component}-`));

/** What a server that has a volume is in what `sides` gives. */
export const pair = (server: string, volume: string): string => `${server} has ${volume}`;

/**
 * Which servers have which volumes, in the words of each of those that take part in an attachment. A volume that is neither
 * in use nor available stands in Cinder's words by its state, so that they differ from the others'.
 */
export async function sides(cloud: Cloud): Promise<Readonly<Record<'Cinder' | 'Nova' | 'libvirt', readonly string[]>>> {
  interface Volume {
    readonly id: string;
    readonly status: string;
    readonly attachments: readonly { readonly server_id: string }[];
  }
  const sorted = (lines: readonly string[]) => [...lines].sort((one, other) => one.localeCompare(other));
  const { volumes } = await ask<{ volumes: Volume[] }>(cloud, 'GET', `${urls.cinder}/volumes/detail?all_tenants=1`);
  const cinder = volumes.flatMap(({ id, status, attachments }) =>
    ['in-use', 'available'].includes(status)
      ? attachments.map(({ server_id: server }) => pair(server, id))
      : [`volume ${id} is ${status}`],
  );
  const nova: string[] = [];
  const { servers } = await ask<{ servers: { id: string }[] }>(cloud, 'GET', `${urls.nova}/servers?all_tenants=1`);
  for (const { id } of servers) {
    const { volumeAttachments: all } = await ask<{ volumeAttachments: { volumeId: string }[] }>(
      cloud,
      'GET',
      attachmentsOf(id),
    );
    nova.push(...all.map(({ volumeId }) => pair(id, volumeId)));
  }
  const libvirt: string[] = [];
  for (const { metadata } of podsOf(cloud, 'nova-libvirt')) {
    const virsh = async (...words: string[]) => {
      const ref = { namespace: 'openstack', name: metadata.name };
      return (await cloud.settle(cloud.rehearsal.sandbox.pods.exec(ref, ['virsh', ...words]))).stdout;
    };
    for (const guest of (await virsh('list', '--uuid')).split('\n').filter(Boolean))
      for (const [, volume = ''] of (await virsh('domblklist', guest)).matchAll(/\/volume-([0-9a-f-]{36})\b/g))
        libvirt.push(pair(guest, volume));
  }
  return { Cinder: sorted(cinder), Nova: sorted(nova), libvirt: sorted(libvirt) };
}

/** What all three say of all attachments. */
export async function agreement(cloud: Cloud): Promise<readonly string[]> {
  const { Cinder, Nova, libvirt } = await sides(cloud);
  expect({ Cinder, libvirt }).toEqual({ Cinder: Nova, libvirt: Nova });
  return Nova;
}

/** The whole minimal cloud, with volumes on a backend that needs nothing of users. */
export const cloudWithVolumes = (cinder: object) =>
  readyCloud({ capacity: { cpu: '16', memory: '64Gi', 'ephemeral-storage': '500Gi' }, spec: { cinder } });
