import { registerHooks } from 'node:module';
import type { Condition } from '@openstack-operator/kube';

/**
 * Brings up a control plane in a process whose list of services has one more, then switches that one off: all else that
 * knows of services follows from the list. Prints what became of it, as JSON.
 */
const list = new URL('../../packages/openstack/src/services/index.ts', import.meta.url).href;
const longer = `import { definitions } from '${list}?known';
import { linked } from '${new URL('../../packages/openstack/src/engine/dependencies.ts', import.meta.url).href}';
import { echo } from '${new URL('echo.ts', import.meta.url).href}';
export const services = linked([...definitions, echo]);
`;
registerHooks({
  load: (url, context, next) =>
    url === list ? { format: 'module', source: longer, shortCircuit: true } : next(url, context),
});

const { controlPlane, createCloud } = await import('../rollout/cloud.ts');
const { entitiesOf } = await import('../rollout/keystone.ts');
const { OpenStackControlPlane } = await import('@openstack-operator/openstack');
const cloud = await createCloud();
await cloud.startOperator();
await cloud.settle(cloud.rehearsal.create(controlPlane()));
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
