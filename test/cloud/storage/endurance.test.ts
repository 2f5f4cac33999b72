import { test } from 'vitest';
import { member } from '../fixture.ts';
import { program } from '../kubernetes.ts';
import { deletePod, inComponent, podOf, replaced } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import type { Server } from '../server.ts';
import { until } from '../until.ts';
import { attach, detach, goesOn, guest, made, reaches, servicesAreUp, type Thing, writing } from './disks.ts';

const label = (name: string, component: string) =>
  `app.kubernetes.io/name=${name},app.kubernetes.io/component=${component}`;

async function replacePod(name: string, component: string): Promise<void> {
  const old = await podOf(label(name, component));
  await deletePod(old, { force: true });
  await replaced(label(name, component), old, 240);
}

async function restartMonitor(): Promise<void> {
  const count = 'jsonpath={.status.initContainerStatuses[?(@.name=="mon")].restartCount}';
  const restarts = () => program('kubectl', 'get', 'pod', '-n', 'ceph', 'ceph-0', '-o', count);
  const before = await restarts();
  await program('kubectl', 'exec', '-n', 'ceph', 'ceph-0', '-c', 'mon', '--', 'kill', '-TERM', '1');
  await until({
    what: 'the monitor to be started again',
    seconds: 120,
    probe: async () => (await restarts()) !== before || undefined,
  });
}

test('a guest writes on to its volume whatever is replaced around it', async () => {
  const user = await member();
  const [server, volume] = await Promise.all([
    guest(user, 'persistent', writing),
    made(user, 'volume', { name: `${prefix}persistent`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  await goesOn(server, 'nothing');
  const events: Readonly<Record<string, () => Promise<void>>> = {
    'a new cinder-volume': () => replacePod('cinder', 'volume-ceph'),
    'a new cinder-api': () => replacePod('cinder', 'api'),
    'a new libvirt': () => replacePod('nova', 'libvirt'),
    'a new nova-compute': () => replacePod('nova', 'compute'),
    'a restart of the monitor': restartMonitor,
  };
  for (const [what, happen] of Object.entries(events)) {
    await happen();
    await goesOn(server, what);
  }
  await servicesAreUp();
  await user.call('compute.stop_server', server.id);
  await server.reaches('SHUTOFF', 120);
  await detach(user, server, volume);
}, 900_000);

/** What each of those that take part in an attachment says of it. */
async function sides(user: User, server: Server, volume: Thing): Promise<Record<string, boolean>> {
  const cinder = await user.call<Thing & { attachments: { server_id: string }[] }>(
    'block_storage.get_volume',
    volume.id,
  );
  const nova = await user.call<{ volume_id: string }[]>('compute.volume_attachments', server.id);
  const domain = (await inComponent('libvirt', 'virsh', 'list', '--all', '--uuid', '--name'))
    .split('\n')
    .find((line) => line.includes(server.id));
  const disks = await inComponent('libvirt', 'virsh', 'domblklist', domain?.split(/\s+/)[0] ?? server.id);
  return {
    Cinder: cinder.status === 'in-use' && cinder.attachments.some(({ server_id: id }) => id === server.id),
    'Cinder is at rest': ['in-use', 'available'].includes(cinder.status),
    Nova: nova.some(({ volume_id: id }) => id === volume.id),
    libvirt: disks.includes(volume.id),
  };
}

test('an attachment during which the broker dies is there, or is not, on all sides', async () => {
  const user = await member();
  const [server, volume] = await Promise.all([
    guest(user, 'interrupted', 'true'),
    made(user, 'volume', { name: `${prefix}interrupted`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  const broker = await podOf('app.kubernetes.io/name=rabbitmq,app.kubernetes.io/component=server');
  const asked = user.call('compute.create_volume_attachment', server.id, { volume_id: volume.id }).catch(String);
  await deletePod(broker, { force: true });
  await replaced('app.kubernetes.io/name=rabbitmq,app.kubernetes.io/component=server', broker, 240);
  await servicesAreUp();
  process.stdout.write(`the request for an attachment: ${JSON.stringify(await asked).slice(0, 300)}\n`);
  let seen: Record<string, boolean> = {};
  await until({
    what: 'all sides to agree',
    seconds: 240,
    probe: async () => {
      seen = await sides(user, server, volume);
      const { 'Cinder is at rest': rests, ...three } = seen;
      return (rests === true && new Set(Object.values(three)).size === 1) || undefined;
    },
    explain: async () => JSON.stringify(seen),
  });
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  if (seen['Nova'] === true) await detach(user, server, volume);
  else {
    await attach(user, server, volume);
    await detach(user, server, volume);
  }
  await reaches(user, 'volume', volume, 'available');
}, 900_000);
