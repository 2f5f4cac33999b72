import { expect, onTestFinished, test } from 'vitest';
import { admin, member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { made, reaches, servicesAreUp, type Thing } from './disks.ts';

const second = { name: 'second', type: 'ceph', cephPoolName: 'vms' };

/** The backends of the control plane, with another one or without. */
async function backends(more: readonly object[]): Promise<void> {
  const { metadata, spec } = await controlPlane();
  const { cinder } = spec as { cinder: { backends: readonly { readonly name: string }[] } };
  const others = cinder.backends.filter(({ name }) => name !== second.name);
  const patch = JSON.stringify({ spec: { cinder: { backends: [...others, ...more] } } });
  const cloud = ['-n', metadata.namespace, 'openstackcontrolplane', metadata.name];
  await program('kubectl', 'patch', ...cloud, '--type', 'merge', '-p', patch);
}

interface Service {
  readonly host: string;
  readonly status: string;
  readonly state: string;
}

/** Waits until the service of the backend is so. */
async function serviceIs(status: string): Promise<void> {
  const service = async () =>
    (await admin.call<Service[]>('block_storage.services')).find(({ host }) => host.endsWith('@second'));
  await until({
    what: `cinder-volume of the backend to be ${status}`,
    seconds: 180,
    probe: async () => {
      const found = await service();
      return (found?.status === status && (status === 'disabled' || found.state === 'up')) || undefined;
    },
    explain: async () => JSON.stringify(await service()),
  });
}

const ofType = { name: `${prefix}second`, size: 1, volume_type: second.name };

/** One that no backend takes. */
async function refused(user: User): Promise<void> {
  const volume = await user.call<Thing>('block_storage.create_volume', ofType);
  onTestFinished(async () => {
    await user.call('block_storage.delete_volume', volume.id, { ignore_missing: true });
  });
  await reaches(user, 'volume', volume, 'error');
}

test('a backend that is removed takes no more volumes, and its process stays until the last one is gone', async () => {
  const user = await member();
  const { name, namespace } = (await controlPlane()).metadata;
  const kubectl = (...argv: readonly string[]) => program('kubectl', '-n', namespace, ...argv);
  const deployments = async () => await kubectl('get', 'deployment', '-o', 'name');
  onTestFinished(async () => {
    await backends([]);
    await servicesAreUp().catch(() => undefined);
  }, 300_000);
  await backends([second]);
  await serviceIs('enabled');
  await until({
    what: 'the type of the backend',
    seconds: 180,
    probe: async () => (await user.call('block_storage.find_type', second.name)) !== null || undefined,
  });
  const volume = await made(user, 'volume', ofType);
  await backends([]);
  const told = async () => {
    const path = 'jsonpath={.status.conditions[?(@.type=="RemovedBackendsEmpty")].message}';
    return await kubectl('get', 'cinder', `${name}-cinder`, '-o', path);
  };
  await until({
    what: 'the volume to be told',
    seconds: 180,
    probe: async () => (await told()).includes(`volumes: 1 of ${name}-cinder@second`) || undefined,
    explain: told,
  });
  await serviceIs('disabled');
  await refused(user);
  expect(await deployments()).toContain(`${name}-cinder-volume-second`);
  await user.call('block_storage.delete_volume', volume.id);
  await until({
    what: 'the process to go',
    seconds: 400,
    probe: async () => !(await deployments()).includes(`${name}-cinder-volume-second`) || undefined,
    explain: told,
  });
  await backends([second]);
  await serviceIs('enabled');
  await made(user, 'volume', ofType);
}, 1_200_000);
