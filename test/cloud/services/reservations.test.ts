import { expect, onTestFinished, test } from 'vitest';
import { admin, guestImage, tiny } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Lease {
  readonly id: string;
  readonly status: string;
  readonly reservations: readonly { readonly id: string }[];
}

/** What a service answers, found by its type: the SDK knows none of reservations. */
async function asked<T>(user: User, type: string, method: string, path: string, json?: object): Promise<T> {
  const filter = { service_type: type, interface: 'public' };
  const headers = type === 'compute' ? { 'OpenStack-API-Version': 'compute 2.79' } : {};
  const options = { endpoint_filter: filter, headers, ...(json === undefined ? {} : { json }) };
  const { text } = await user.call<{ text: string }>('session.request', path, method, options);
  return JSON.parse(text || '{}') as T;
}

/** The status that a new server ends with, with the reservation that it names. It is deleted then. */
async function boots(user: User, reservation?: string): Promise<string> {
  const [imageRef, flavorRef] = await Promise.all([guestImage(), tiny()]);
  const server = { name: `${prefix}reserved`, imageRef, flavorRef, networks: 'none' };
  const hints = reservation === undefined ? {} : { 'os:scheduler_hints': { reservation } };
  const made = await asked<{ server: { id: string } }>(user, 'compute', 'POST', '/servers', { server, ...hints });
  const path = `/servers/${made.server.id}`;
  const status = await until({
    what: 'a server to be ACTIVE, or in ERROR',
    seconds: 240,
    probe: async () => {
      const { server } = await asked<{ server: { status: string } }>(user, 'compute', 'GET', path);
      return server.status === 'BUILD' ? undefined : server.status;
    },
  });
  await asked(user, 'compute', 'DELETE', path);
  await until({
    what: 'the server to be gone',
    seconds: 120,
    probe: async () => {
      const { servers } = await asked<{ servers: { id: string }[] }>(user, 'compute', 'GET', '/servers');
      return servers.every(({ id }) => id !== made.server.id) || undefined;
    },
  });
  return status;
}

/** Puts away what runs on the hosts until the test is over: no host with servers can be reserved. */
async function cleared(user: User): Promise<void> {
  const path = '/servers/detail?all_tenants=1&status=ACTIVE';
  const { servers } = await asked<{ servers: { id: string }[] }>(user, 'compute', 'GET', path);
  const act = (action: string) =>
    Promise.all(servers.map(({ id }) => asked(user, 'compute', 'POST', `/servers/${id}/action`, { [action]: null })));
  onTestFinished(async () => {
    await act('unshelve');
  });
  await act('shelve');
  await until({
    what: 'the hosts to be without servers',
    seconds: 240,
    probe: async () => {
      const all = '/servers/detail?all_tenants=1';
      const { servers: now } = await asked<{ servers: { status: string }[] }>(user, 'compute', 'GET', all);
      return now.every(({ status }) => status === 'SHELVED_OFFLOADED') || undefined;
    },
  });
}

test('a lease keeps a host for who names it; it outlives that Blazar was disabled, and gives the host back', async () => {
  const blazar = optionalService('blazar', 'blazars');
  await blazar({ enabled: true });
  const user = admin.connectedAnew();
  const ask = <T>(method: string, path: string, json?: object) => asked<T>(user, 'reservation', method, path, json);
  await cleared(user);
  const [hypervisor] = await user.call<{ name: string }[]>('compute.hypervisors');
  const { host } = await ask<{ host: { id: string } }>('POST', '/os-hosts', { name: hypervisor?.name });
  onTestFinished(async () => {
    await ask('DELETE', `/os-hosts/${host.id}`);
  });
  const wanted = {
    name: `${prefix}lease`,
    start_date: 'now',
    end_date: '2099-12-31 23:59',
    events: [],
    reservations: [
      { resource_type: 'physical:host', min: 1, max: 1, hypervisor_properties: '', resource_properties: '' },
    ],
  };
  const { lease } = await ask<{ lease: Lease }>('POST', '/leases', wanted);
  const path = `/leases/${lease.id}`;
  const isActive = () =>
    until({
      what: 'the lease to be ACTIVE',
      seconds: 120,
      probe: async () => (await ask<{ lease: Lease }>('GET', path)).lease.status === 'ACTIVE' || undefined,
    });
  onTestFinished(async () => {
    await ask('DELETE', path);
  });
  await isActive();
  expect(await boots(user)).toBe('ERROR');
  expect(await boots(user, lease.reservations[0]?.id)).toBe('ACTIVE');
  await blazar({ enabled: false });
  await blazar({ enabled: true });
  await isActive();
});
