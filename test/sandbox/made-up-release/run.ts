import { addRelease } from './add-release.ts';

/**
 * Brings up a small control plane, then brings it to a release that no version has, with the operator stopped and
 * started in each phase; before, its upgrade check fails. Prints what Keystone ran at each moment, as JSON.
 */
addRelease('2099.1');

const { controlPlane, createCloud, identityOnly } = await import('../rollout/cloud.ts');
const { call, entitiesOf, login } = await import('../rollout/keystone.ts');
const { Keystone, OpenStackControlPlane } = await import('@openstack-operator/openstack');
const cloud = await createCloud();
let operator = await cloud.startOperator({ identity: 'first' });
await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
await cloud.ready();

const name = 'my-cloud-keystone';
const status = () =>
  (cloud.get('Keystone', name)?.['status'] ?? {}) as {
    jobs?: Record<string, string>;
    release?: { deployed?: string; target?: string; phase?: string };
    conditions?: { type: string; status: string; message: string }[];
  };
const imagesOf = (kind: string) =>
  cloud
    .list(kind)
    .filter(({ metadata }) => metadata.name.startsWith(name))
    .map(({ metadata, spec }) => {
      const { template } = spec as { template: { spec: { containers: { image: string }[] } } };
      return `${metadata.name.slice(name.length + 1)}: ${template.spec.containers[0]?.image.split('/')[0]}`;
    })
    .filter((text) => /^(api|db-(sync|expand|contract)):/.test(text))
    .sort();
interface Moment {
  readonly phase: string | undefined;
  readonly api: readonly string[];
  readonly jobs: readonly string[];
  readonly ready: string | undefined;
  /** Whether the status knows that there is data which the credential keys are for. */
  readonly guarded: boolean;
}
const moments: Moment[] = [];
const look = () => {
  const ready = status().conditions?.find(({ type }) => type === 'Ready');
  const guarded = status().jobs?.[`${name}-db-sync`] !== undefined;
  const [api, jobs] = [imagesOf('Deployment'), imagesOf('Job')];
  moments.push({ phase: status().release?.phase, api, jobs, ready: ready?.status, guarded });
};
look();
/** Whether anybody may change the role. */
const openRole = async (isOpen: boolean) => {
  const [role] = (await entitiesOf(cloud, 'roles')).filter((one) => one['name'] === 'reader');
  const change = { role: { options: { immutable: !isOpen } } };
  await call(cloud, await login(cloud), 'PATCH', `/roles/${role?.id}`, change);
};
await openRole(true);
await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { release: '2099.1' } });
const migration = () => cloud.condition(Keystone, name, 'MigrationReady')?.message ?? '';
await cloud.until(() => migration().includes('keystone-status upgrade check failed'));
await cloud.clock.advance(600_000);
const held = { message: migration(), phase: status().release?.phase, api: imagesOf('Deployment') };
await openRole(false);
const messages: (string | undefined)[] = [];
for (const phase of ['Expand', 'Rollout', 'Contract', undefined]) {
  await cloud.until(() => status().release?.target === '2099.1' && status().release?.phase === phase);
  look();
  messages.push(cloud.condition(Keystone, name, 'UpgradeReady')?.message);
  await cloud.settle(operator.stop());
  operator = await cloud.startOperator({ identity: `in ${phase}` });
}
await cloud.ready();
look();
const release = status().release;

await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { release: '2025.1' } });
await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud')?.reason === 'ReleaseRefused');
const refused = cloud.condition(OpenStackControlPlane, 'my-cloud')?.message;
process.stdout.write(JSON.stringify({ moments, messages, held, release, refused, after: imagesOf('Deployment') }));
process.exit(0);
