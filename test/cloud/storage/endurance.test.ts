import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { program } from '../kubernetes.ts';
import { deletePod, podOf, replaced } from '../pods.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { attachments, pair } from './attachments.ts';
import { attach, detach, goesOn, guest, made, reaches, servicesAreUp, writing } from './disks.ts';

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
  expect(await agreement()).toContain(pair(server, volume));
  await user.call('compute.stop_server', server.id);
  await server.reaches('SHUTOFF', 120);
  await detach(user, server, volume);
}, 900_000);

type Sides = Awaited<ReturnType<typeof attachments>>;

/** Waits until Cinder, Nova and libvirt say the same of all attachments of the cloud; gives what they say. */
async function agreement(): Promise<readonly string[]> {
  let seen: Sides | undefined;
  return await until({
    what: 'Cinder, Nova and libvirt to agree on who has which volume',
    seconds: 240,
    probe: async () => {
      seen = await attachments();
      return new Set(Object.values(seen).map((lines) => lines.join('\n'))).size === 1 ? seen.Nova : undefined;
    },
    explain: async () => JSON.stringify(seen),
  });
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
  const found = await agreement();
  process.stdout.write(`${JSON.stringify(found)}\n`);
  if (found.includes(pair(server, volume))) await detach(user, server, volume);
  else {
    await attach(user, server, volume);
    await detach(user, server, volume);
  }
  await reaches(user, 'volume', volume, 'available');
}, 900_000);

test('in the end Cinder, Nova and libvirt say the same of all servers and volumes', async () => {
  const user = await member();
  const [server, volume, free] = await Promise.all([
    guest(user, 'audited', 'true'),
    made(user, 'volume', { name: `${prefix}audited`, size: 1 }),
    made(user, 'volume', { name: `${prefix}free`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  const found = await agreement();
  expect(found).toContain(pair(server, volume));
  expect(found).not.toContain(pair(server, free));
  await detach(user, server, volume);
  expect(await agreement()).not.toContain(pair(server, volume));
}, 600_000);
