import { isDeepStrictEqual } from 'node:util';
import { CustomResourceDefinition, Gateway, type Kind, Service, UDPRoute } from '@openstack-operator/kube';
import { addServices } from './add-services.ts';

/** Brings up a service that stands alone, by every word that it has. Prints what became of it, as JSON. */
addServices(['depot.ts', 'depot']);

const { createCloud } = await import('../rollout/cloud.ts');
const { definition } = await import('../rollout/definition.ts');
const { kinds } = await import('@openstack-operator/openstack');
const { ObjectStore } = await import('./depot.ts');
const Depot = kinds.find(({ kind }) => kind === 'Depot');
if (Depot === undefined) throw new Error('the list of services has no Depot');

const cloud = await createCloud({ nodes: ['node-1', 'node-2'] });
const client = cloud.rehearsal.sandbox.client();
const names = { namespace: 'openstack', name: 'depot-gate' };
const told = () => cloud.condition(Depot, 'depot', 'ExposureReady');
const serve = ({ group, version, kind, plural }: Kind) =>
  cloud.settle(client.create(CustomResourceDefinition, definition(group, version, kind, plural)));
await serve(Gateway);
await serve(UDPRoute);
await cloud.startOperator();
await cloud.settle(
  cloud.rehearsal.create({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind: 'Depot',
    metadata: { name: 'depot', namespace: 'openstack' },
    spec: {
      components: {
        gate: {
          extraVolumes: [{ name: 'motd', mountPath: '/etc/motd', subPath: 'text', configMap: { name: 'motd' } }],
        },
      },
      config: {
        'polling.yaml': { sources: [{ name: 'few', meters: ['cpu'] }], limits: { disk: null, memory: 3 } },
        'local_settings.py': { DEBUG: true, SITE: { links: ['help'] } },
      },
      exposure: 'LoadBalancer',
      externalService: { ports: { gate: 69 }, annotations: { 'lb.example.org/pool': 'edge' } },
    },
  }),
);
await cloud.until(() => cloud.condition(Depot, 'depot', 'DeploymentReady')?.reason === 'ConfigMapMissing');
const missing = cloud.condition(Depot, 'depot', 'DeploymentReady')?.message;
const motd = { name: 'motd', namespace: 'openstack' };
await cloud.settle(
  cloud.rehearsal.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: motd, data: { text: 'welcome' } }),
);
await cloud.until(() => told()?.reason === 'LoadBalancerPending');
const external = cloud.get('Service', 'depot-gate-external');
const store = () => cloud.condition(Depot, 'depot', 'StoreReady');
const unserved = store()?.message;
await serve(ObjectStore);
await cloud.until(() => store()?.reason === 'Progressing');
const unready = store()?.message;
const ready = { status: { phase: 'Ready' } };
await cloud.settle(
  client.patch(ObjectStore, { ...names, name: 'depot-store' }, 'merge', ready, { subresource: 'status' }),
);
const status = { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } };
await cloud.settle(
  client.patch(Service, { ...names, name: 'depot-gate-external' }, 'merge', { status }, { subresource: 'status' }),
);
await cloud.until(() => cloud.isReady('Depot', 'depot'));
const pods = cloud.list('Pod').map(({ metadata, spec, status }) => ({ name: metadata.name, spec, status }));
const nodes = cloud.list('Node').map(({ metadata: { name, labels = {} } }) => {
  const agents = cloud.list('Pod').filter(({ metadata, spec }) => {
    const { nodeName } = spec as { nodeName?: string };
    return metadata.name.startsWith('depot-backup-') && nodeName === name;
  });
  const ours = Object.entries(labels).filter(([label]) => label.startsWith('openstack.k8s.io/'));
  return { labels: Object.fromEntries(ours), agents: agents.length };
});
const role = cloud.get('Role', 'depot-volume')?.['rules'];
const binding = cloud.get('RoleBinding', 'depot-volume');
const claim = cloud.get('PersistentVolumeClaim', 'depot-shared');
const deployment = cloud.get('Deployment', 'depot-gate')?.['spec'];

const listeners = [{ name: 'tftp', protocol: 'UDP', port: 6900 }];
await cloud.settle(
  cloud.rehearsal.create({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'openstack-gateway', namespace: 'openstack' },
    spec: { gatewayClassName: 'any', listeners },
  }),
);
await cloud.change(Depot, 'depot', { spec: { exposure: 'Gateway', externalService: null } });
await cloud.until(() => told()?.reason === 'RoutePending');
const route = cloud.get('UDPRoute', 'depot-gate');
const conditions = [{ type: 'Accepted', status: 'True', reason: 'Accepted', message: '' }];
const { parentRefs: [parentRef] = [] } = (route?.['spec'] ?? {}) as { parentRefs?: object[] };
const parents = [{ parentRef, controllerName: 'example.org/any', conditions }];
await cloud.settle(client.patch(UDPRoute, names, 'merge', { status: { parents } }, { subresource: 'status' }));
await cloud.until(() => cloud.isReady('Depot', 'depot'));
const externals = cloud.list('Service').filter(({ metadata }) => metadata.name.endsWith('-external'));

const contentsOf = (kind: string, name: RegExp) =>
  cloud.list(kind).find(({ metadata }) => name.test(metadata.name))?.['data'];
const files = {
  plain: contentsOf('ConfigMap', /^depot-config-/),
  secret: contentsOf('Secret', /^depot-config-files$/),
};
await cloud.change(Depot, 'depot', { spec: { config: { 'local_settings.py': { SECRET_KEY: 'mine', DEBUG: null } } } });
await cloud.until(() => cloud.condition(Depot, 'depot', 'ConfigReady')?.reason === 'ConfigRefused');
const refusal = cloud.condition(Depot, 'depot', 'ConfigReady')?.message;

const secret = () => contentsOf('Secret', /^depot-tls$/);
const rings = contentsOf('Secret', /^depot-rings$/);
const certificates = [secret()];
const builds = [rings];
await cloud.change(Depot, 'depot', { spec: { config: null } });
await cloud.until(() => !isDeepStrictEqual(secret(), certificates[0]), 60);
certificates.push(secret());
builds.push(contentsOf('Secret', /^depot-rings$/));

const { minimalControlPlane } = await import('@openstack-operator/cli');
const { roots, surroundingsOf } = await import('@openstack-operator/openstack');
const claims = roots
  .flatMap(({ compose }) => compose(minimalControlPlane, surroundingsOf()).steps)
  .flatMap(({ objects }) => objects)
  .flatMap((desired) => (desired.verb === 'claim' ? [{ labels: desired.labels, apartFrom: desired.apartFrom }] : []));
const { operatorControllers, permissionsOf } = await import('@openstack-operator/operator');
const controllers = operatorControllers({ operator: { name: '' }, operatorImage: '', clusterDomain: '' });
const rights = permissionsOf(controllers).namespaced.flatMap(({ resources, verbs }) =>
  resources.map((resource) => `${resource}: ${verbs.join(' ')}`),
);

process.stdout.write(
  JSON.stringify({
    nodes,
    builds,
    claims,
    rights,
    unserved,
    unready,
    role,
    binding,
    missing,
    claim,
    certificates,
    files,
    refusal,
    pods,
    deployment,
    external,
    route,
    externals,
  }),
);
process.exit(0);
