import { onTestFinished } from 'vitest';
import { admin, guestImage, networks, tiny } from '../fixture.ts';
import type { User } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { until } from '../until.ts';

/** A volume, a snapshot or a backup. */
export interface Thing {
  readonly id: string;
  readonly status: string;
  readonly fail_reason?: string | null;
}

/** Waits for something of Cinder. */
export async function reaches(user: User, what: string, { id }: Pick<Thing, 'id'>, status: string): Promise<Thing> {
  const state = () => user.call<Thing>(`block_storage.get_${what}`, id);
  return await until({
    what: `${what} ${id} to be ${status}`,
    seconds: 120,
    probe: async () => {
      const thing = await state();
      if (thing.status.startsWith('error') && !status.startsWith('error'))
        throw new Error(`${what} ${id} is ${thing.status}: ${thing.fail_reason ?? ''}`);
      return thing.status === status ? thing : undefined;
    },
    explain: async () => JSON.stringify(await state()),
  });
}

/** Makes something of Cinder, and removes it when the test is over. */
export async function made(user: User, what: string, attributes: object): Promise<Thing> {
  const thing = await user.call<Thing>(`block_storage.create_${what}`, attributes);
  onTestFinished(async () => {
    await user.call(`block_storage.delete_${what}`, thing.id, { ignore_missing: true });
    await until({
      what: `${what} ${thing.id} to be gone`,
      seconds: 120,
      probe: async () => (await user.call(`block_storage.find_${what}`, thing.id)) === null || undefined,
    });
  }, 180_000);
  await reaches(user, what, thing, 'available');
  return thing;
}

/** A server that does what a script says; removed when the test is over. */
export async function guest(user: User, name: string, script: string): Promise<Server> {
  const [image, flavor, { near }] = await Promise.all([guestImage(), tiny(), networks()]);
  const server = await Server.create(user, { name, image, flavor, networks: [{ uuid: near }], script });
  onTestFinished(() => server.delete(), 120_000);
  return server;
}

/** Does something to the second disk, when it is there. The console shows the script, too: words are told from it. */
export const withDisk = (what: string) => `until [ -b /dev/vdb ]; do sleep 1; done; ${what}`;

/** Attaches a volume, and waits until it is. */
export async function attach(user: User, server: Server, volume: Thing): Promise<void> {
  await user.call('compute.create_volume_attachment', server.id, { volume_id: volume.id });
  await reaches(user, 'volume', volume, 'in-use');
}

/** Detaches a volume, and waits until Cinder and Nova know it. */
export async function detach(user: User, server: Server, volume: Thing): Promise<void> {
  await user.call('compute.delete_volume_attachment', server.id, volume.id);
  await reaches(user, 'volume', volume, 'available');
  // Nova forgets it a moment later than Cinder.
  await until({
    what: `server ${server.name} not to know volume ${volume.id}`,
    seconds: 60,
    probe: async () => {
      const there = await user.call<{ readonly volume_id: string }[]>('compute.volume_attachments', server.id);
      return there.every(({ volume_id: id }) => id !== volume.id) || undefined;
    },
  });
}

/** Writes to the second disk for ever, each block to the end, and says so; or how it failed. */
export const writing = withDisk(
  'i=0; while dd if=/dev/zero of=/dev/vdb bs=4096 count=1 seek=$((i % 64)) conv=fsync 2> /tmp/said; do i=$((i + 1)); [ $((i % 4)) -ne 0 ] || echo "== WROTE $i"; sleep 0.5; done; echo "== GAVE UP AT $((i)): $(cat /tmp/said)"',
);

/** How many blocks the guest has written. @throws Error with its words when a write failed */
async function written(server: Server): Promise<number> {
  const text = await server.console();
  const failed = /== GAVE UP AT \d+: .*/.exec(text)?.[0];
  if (failed !== undefined) throw new Error(`${server.name}: ${failed}`);
  return Math.max(0, ...[...text.matchAll(/== WROTE (\d+)/g)].map(([, count]) => Number(count)));
}

/** Waits until the guest has written more; `what` has happened. @throws Error with its words when a write failed */
export async function goesOn(server: Server, what: string): Promise<void> {
  const before = await written(server);
  await until({
    what: `${server.name} to write on after ${what}`,
    seconds: 180,
    probe: async () => (await written(server)) > before + 4 || undefined,
    explain: async () => (await server.console()).slice(-2000),
  });
}

interface Service {
  readonly status: string;
  readonly state: string;
}

/** Waits until all processes of Nova and Cinder answer that are waited for by others. */
export async function servicesAreUp(): Promise<void> {
  await until({
    what: 'nova-compute and cinder-volume to be up',
    seconds: 180,
    probe: async () => {
      const compute = await admin.call<Service[]>('compute.services');
      const volume = await admin.call<Service[]>('block_storage.services');
      // Of a backend that was removed a row stays.
      const enabled = [...compute, ...volume].filter(({ status }) => status === 'enabled');
      return enabled.every(({ state }) => state === 'up') || undefined;
    },
  });
}
