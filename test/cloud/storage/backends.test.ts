import { expect, onTestFinished, test } from 'vitest';
import { member } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { made, reaches, type Thing } from './disks.ts';
import { addSecond, backends, goesWithTest, second, serviceIs } from './second-backend.ts';

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
  goesWithTest();
  await addSecond();
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
  await addSecond();
  await made(user, 'volume', ofType);
}, 1_200_000);
