import type { Condition } from '@openstack-operator/kube';
import { addServices } from './add-services.ts';

/** Brings up a control plane with one more service (another one, which it configures, is off), then switches that one off. Prints what became of it, as JSON. */
addServices(['bell.ts', 'bell'], ['echo.ts', 'echo']);

const { controlPlane, createCloud } = await import('../rollout/cloud.ts');
const { entitiesOf } = await import('../rollout/keystone.ts');
const { OpenStackControlPlane } = await import('@openstack-operator/openstack');
const cloud = await createCloud();
await cloud.startOperator();
await cloud.settle(cloud.rehearsal.create(controlPlane({ bell: { enabled: false } })));
await cloud.ready();

const conditions = (kind: string, name: string) => {
  const { conditions = [] } = (cloud.get(kind, name)?.['status'] ?? {}) as { conditions?: Condition[] };
  return Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
};
const up = {
  controlPlane: conditions('OpenStackControlPlane', 'my-cloud'),
  echo: conditions('Echo', 'my-cloud-echo'),
  spec: cloud.get('Echo', 'my-cloud-echo')?.['spec'],
  service: cloud.get('Service', 'my-cloud-echo-api')?.['spec'],
  policy: cloud.get('NetworkPolicy', 'my-cloud-echo-api')?.['spec'],
  catalogue: (await entitiesOf(cloud, 'services')).map(({ name, type }) => [name, type]),
  containers: cloud
    .list('Pod')
    .filter(({ metadata }) => metadata.name.startsWith('my-cloud-echo-api'))
    .flatMap(({ spec }) => (spec as { containers: { name: string; ports: { name: string }[] }[] }).containers)
    .map(({ name, ports }) => [name, ports.map((port) => port.name)]),
  files: cloud.get('Secret', 'my-cloud-echo-config-files')?.['data'],
};
await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { echo: { enabled: false } } });
await cloud.until(() => cloud.get('Echo', 'my-cloud-echo') === undefined);
await cloud.ready();
process.stdout.write(JSON.stringify(up));
process.exit(0);
