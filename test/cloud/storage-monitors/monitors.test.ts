import { expect, onTestFinished, test } from 'vitest';
import { monitorHosts, monitorService } from '../../../tools/ceph/names.ts';
import { ready } from '../chaos/health.ts';
import { patchControlPlane } from '../durability/events.ts';
import { Guest } from '../durability/guest.ts';
import { member } from '../fixture.ts';
import { program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { ceph } from '../storage/client.ts';
import { attach, detach, goesOn, guest, made, reaches, servicesAreUp, writing } from '../storage/disks.ts';
import { cephIs, check, statusOfCeph } from '../storage/health.ts';
import { until } from '../until.ts';

/** Those that are there. */
const all = ['a', 'b', 'c'];

interface Quorum {
  readonly quorum_names: readonly string[];
}

/** Stops a monitor that is a pod of its own, with all that it has stored, or starts it. */
const scale = (monitor: string, pods: 0 | 1) =>
  program('kubectl', '-n', 'ceph', 'scale', `statefulset/${monitorService(monitor)}`, `--replicas=${pods}`);

/** Waits until these monitors, and no others, decide. */
async function quorumIs(names: readonly string[]): Promise<void> {
  // They stand in the order of their addresses.
  const quorum = async () => (await ceph<Quorum>('quorum_status')).quorum_names.toSorted();
  await until({
    what: `a quorum of the monitors ${names.join(', ')}`,
    seconds: 120,
    probe: async () => (await quorum()).join() === names.join() || undefined,
    explain: async () => (await quorum()).join(),
  });
}

/** States other monitors, and waits until these have answered, services are told of them, and all are up. */
async function services(names: readonly string[]): Promise<void> {
  const hosts = monitorHosts(names);
  await patchControlPlane({ cephStorage: { external: { monitorHosts: hosts } } });
  await until({
    what: `services to be told of ${hosts}`,
    seconds: 300,
    probe: async () => (await statusOfCeph()).found?.['monitorHosts'] === hosts || undefined,
    explain: async () => JSON.stringify(await statusOfCeph()),
  });
  await ready(300);
  await servicesAreUp();
}

test('a guest writes on while a monitor of three is lost and services are told of others, and is not restarted', async () => {
  await quorumIs(all);
  const user = await member();
  const [server, volume, later] = await Promise.all([
    guest(user, 'monitored', writing),
    made(user, 'volume', { name: `${prefix}monitored`, size: 1 }),
    made(user, 'volume', { name: `${prefix}monitored-later`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  await goesOn(server, 'nothing');
  const running = new Guest(user, server);
  const before = await running.process();
  onTestFinished(async () => {
    await scale('b', 1);
    await quorumIs(all);
    await services(all);
    await check(1);
    await cephIs('True', /^HEALTH_OK/m, 240);
  }, 600_000);

  await scale('b', 0);
  await quorumIs(['a', 'c']);
  await goesOn(server, 'the loss of a monitor');
  await until({
    what: 'Ceph to say that a monitor is down',
    seconds: 60,
    probe: async () => {
      const { health } = await ceph<{ health: { checks: Record<string, object> } }>('status');
      return 'MON_DOWN' in health.checks || undefined;
    },
  });
  await check(1);
  await cephIs('True', /^HEALTH_WARN 1\/3 mons down, quorum (a,c|c,a);/m, 240);
  expect((await statusOfCeph()).health).toMatchObject({ status: 'HEALTH_WARN' });

  await services(['a', 'c']);
  await goesOn(server, 'services that know two monitors');
  await attach(user, server, later);
  await detach(user, server, later);

  await scale('b', 1);
  await quorumIs(all);
  await services(['b', 'c']);
  await goesOn(server, 'services that know two other monitors');
  expect(await running.process()).toEqual(before);
  await server.delete();
  await reaches(user, 'volume', volume, 'available');
}, 1_500_000);
