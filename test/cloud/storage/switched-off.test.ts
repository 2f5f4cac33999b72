import { expect, onTestFinished, test } from 'vitest';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { made, reaches, servicesAreUp, type Thing } from './disks.ts';

/** Disables Cinder, or leaves the field out, as it was. */
async function enable(enabled: false | null): Promise<void> {
  const { name, namespace } = (await controlPlane()).metadata;
  const patch = JSON.stringify({ spec: { cinder: { enabled } } });
  await program('kubectl', '-n', namespace, 'patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', patch);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Waits until the control plane says so of Cinder. */
async function cinderIs(wanted: Partial<Condition>): Promise<Condition> {
  const said = async () => {
    const { conditions } = (await controlPlane()).status as unknown as { conditions: readonly Condition[] };
    return conditions.find(({ type }) => type === 'CinderReady');
  };
  return await until({
    what: `the control plane to say of Cinder ${JSON.stringify(wanted)}`,
    seconds: 180,
    probe: async () => {
      const condition = await said();
      const isSo = Object.entries(wanted).every(([field, value]) => condition?.[field as keyof Condition] === value);
      return isSo ? condition : undefined;
    },
    explain: async () => JSON.stringify(await said()),
  });
}

/** The resource of Cinder, and the pods of its processes, by their uids. */
async function uids(): Promise<string> {
  const { namespace } = (await controlPlane()).metadata;
  const running = [
    '--field-selector',
    'status.phase=Running',
    '-l',
    'app.kubernetes.io/name=cinder,!batch.kubernetes.io/job-name',
  ];
  const [resource, pods] = await Promise.all([
    program('kubectl', '-n', namespace, 'get', 'cinder', '-o', 'jsonpath={.items[*].metadata.uid}'),
    program('kubectl', '-n', namespace, 'get', 'pod', ...running, '-o', 'jsonpath={.items[*].metadata.uid}'),
  ]);
  return `${resource} ${pods}`;
}

/** Whether Glance needs Cinder, too: that is told then (images-in-cinder.test.ts). */
async function isNeeded(): Promise<boolean> {
  const { spec } = await controlPlane();
  const { glance = {} } = spec as { glance?: { additionalStores?: readonly { readonly type: string }[] } };
  return glance.additionalStores?.some(({ type }) => type === 'cinder') ?? false;
}

test('a Cinder with a volume is not switched off: it works on, says why, and has its volume when it is set back', async (context) => {
  context.skip(await isNeeded(), 'images are kept in volumes, and Cinder stays for Glance');
  const user = await member();
  const volume = await made(user, 'volume', { name: `${prefix}held`, size: 1 });
  const before = await uids();
  onTestFinished(() => enable(null));
  await enable(false);
  const { message } = await cinderIs({ status: 'False', reason: 'ResourcesExist' });
  expect(message).toMatch(/^spec\.cinder: Cinder \S+ is disabled, and kept: Cinder \S+ has \d+ volumes?\b/);
  expect(await user.call<Thing>('block_storage.get_volume', volume.id)).toMatchObject({ status: 'available' });
  await made(user, 'snapshot', { name: `${prefix}held`, volume_id: volume.id });
  await enable(null);
  await cinderIs({ status: 'True' });
  await servicesAreUp();
  await reaches(user, 'volume', volume, 'available');
  expect(await uids()).toBe(before);
}, 600_000);
