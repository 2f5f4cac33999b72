import type { KubeObject } from '@openstack-operator/kube';
import { bellCloud, tell } from './bell-cloud.ts';

/** What a service says in the configuration of another one, while both are in a cloud, and while both stand alone. */
const off = { enabled: false };
const cloud = await bellCloud({}, { placement: {} });
const generations = () =>
  Object.fromEntries(
    cloud
      .list('Deployment')
      .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] !== 'echo')
      .map(({ metadata }) => [metadata.name, metadata.generation]),
  );
const section = (deployment: string) =>
  /\[echo\]\n(?:.+\n)*/.exec(cloud.file(deployment, 'placement.conf') ?? '')?.[0] ?? 'none';
const told = () => ({ section: section('my-cloud-bell-api'), generations: generations() });

const without = told();
await cloud.changed({ echo: { enabled: true } });
const during = told();
await cloud.changed({ echo: off });
const after = told();
// Both from the first rollout on: what comes up first knows of what comes later.
await cloud.changed({ bell: off });
await cloud.changed({ bell: { enabled: true }, echo: { enabled: true } });
const together = told();

await cloud.changed({ bell: off, echo: off });
const alone = (kind: string, name: string): KubeObject => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'openstack' },
  spec: {},
});
await cloud.settle(cloud.rehearsal.create(alone('Bell', 'bell')));
await cloud.until(() => cloud.isReady('Bell', 'bell'));
const byItself = section('bell-api');
await cloud.settle(cloud.rehearsal.create(alone('Echo', 'echo')));
await cloud.until(() => section('bell-api') !== 'none');
const beside = section('bell-api');
const kind = { group: 'openstack.k8s.io', version: 'v1alpha1', kind: 'Echo', plural: 'echoes', namespaced: true };
await cloud.remove(kind, 'echo');
await cloud.until(() => section('bell-api') === 'none');
tell({ without, during, after, together, byItself, beside });
