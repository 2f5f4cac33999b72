import {
  CustomResourceDefinition,
  Gateway as GatewayKind,
  HTTPRoute,
  type Kind,
  type KubeObject,
} from '@openstack-operator/kube';
import { Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { beforeEach, expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { definition } from './definition.ts';
import { get, login } from './keystone.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const Gateway = GatewayKind as Kind;
const { group } = Gateway;
let cloud: Cloud;
beforeEach(async () => {
  ({ cloud } = await readyCloud({ spec: identityOnly }));
});

async function installGatewayApi(): Promise<void> {
  const client = cloud.rehearsal.sandbox.client();
  await cloud.settle(client.create(CustomResourceDefinition, definition(group, 'v1', 'HTTPRoute', 'httproutes')));
  await cloud.settle(client.create(CustomResourceDefinition, definition(group, 'v1', 'Gateway', 'gateways')));
}
const gateway = (listeners: object[], name = 'openstack-gateway'): KubeObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name, namespace: 'openstack' },
  spec: { gatewayClassName: 'any', listeners },
});
/** The controller of the Gateway's class says of every route, as it is now, what it thinks of it. */
async function answer(answers: Record<string, string> = { Accepted: 'Accepted', ResolvedRefs: 'ResolvedRefs' }) {
  for (const { metadata, ...route } of cloud.list('HTTPRoute')) {
    const { parentRefs } = route['spec'] as { parentRefs: object[] };
    const conditions = Object.entries(answers).map(([type, reason]) => ({
      type,
      status: type === reason ? 'True' : 'False',
      reason,
      message: `${reason}, said the Gateway`,
      observedGeneration: metadata.generation,
      lastTransitionTime: '2025-01-01T00:00:00Z',
    }));
    const parents = parentRefs.map((parentRef) => ({ parentRef, controllerName: 'example.org/any', conditions }));
    const { name, namespace = '' } = metadata;
    const client = cloud.rehearsal.sandbox.client();
    const options = { subresource: 'status' };
    await cloud.settle(client.patch(HTTPRoute, { namespace, name }, 'merge', { status: { parents } }, options));
  }
  await cloud.clock.advance(2000);
}
const publicUrl = () =>
  (cloud.get('Keystone', 'my-cloud-keystone')?.status as { endpoints?: { public?: string } } | undefined)?.endpoints
    ?.public;
const internal = 'http://my-cloud-keystone-api.openstack.svc:5000/v3';
const routes = () => cloud.list('HTTPRoute').map(({ metadata }) => metadata.name);

test('Gateway API that comes later is used without a restart; the catalogue follows gateway and domain', async () => {
  const pods = () =>
    cloud
      .list('Pod')
      .filter(({ status }) => (status as { phase: string }).phase === 'Running')
      .map(({ metadata }) => metadata.uid);
  const before = pods();
  expect(publicUrl()).toBe(internal);
  await installGatewayApi();
  await cloud.clock.advance(120_000);
  expect(publicUrl()).toBe(internal);

  await cloud.settle(cloud.rehearsal.create(gateway([{ name: 'web', protocol: 'HTTP', port: 80 }])));
  await cloud.until(() => publicUrl() === 'http://keystone.openstack.local/v3', 10);
  await answer();
  await settled();
  expect(routes()).toEqual(['my-cloud-keystone-api']);
  expect(await endpoints()).toEqual({ public: 'http://keystone.openstack.local/v3', internal, admin: internal });
  const ids = await endpointIds();

  const https = [
    { name: 'web', protocol: 'HTTP', port: 80 },
    { name: 'secure', protocol: 'HTTPS', port: 8443 },
  ];
  await cloud.change(Gateway, 'openstack-gateway', { spec: { listeners: https } });
  await cloud.until(() => publicUrl() === 'https://keystone.openstack.local:8443/v3', 10);
  await settled();
  await cloud.change(ControlPlane, 'my-cloud', { spec: { publicDomain: 'cloud.example.org' } });
  await cloud.until(() => publicUrl() === 'https://keystone.cloud.example.org:8443/v3', 10);
  await answer();
  await cloud.ready();
  expect(publicUrl()).toBe('https://keystone.cloud.example.org:8443/v3');
  expect(await endpoints()).toMatchObject({ public: 'https://keystone.cloud.example.org:8443/v3', internal });
  expect(await endpointIds()).toEqual(ids);
  expect(pods()).toEqual(before);

  await cloud.remove(Gateway, 'openstack-gateway');
  await cloud.until(() => routes().length === 0, 10);
  await settled();
  expect(await endpoints()).toMatchObject({ public: internal });
});

const exposed = () => cloud.condition(Keystone, 'my-cloud-keystone', 'ExposureReady');

test('a Gateway that is silent, or refuses the route, keeps the cloud from being Ready, in its own words', async () => {
  await installGatewayApi();
  await cloud.settle(cloud.rehearsal.create(gateway([{ name: 'web', protocol: 'HTTP', port: 80 }])));
  await cloud.until(() => exposed()?.reason === 'RoutePending', 5);
  expect(exposed()?.message).toContain('Gateway openstack/openstack-gateway has not answered');

  await answer({ Accepted: 'NotAllowedByListeners' });
  expect(exposed()).toMatchObject({ status: 'False', reason: 'RouteRefused' });
  expect(exposed()?.message).toContain('NotAllowedByListeners, said the Gateway');
  expect(cloud.condition(ControlPlane, 'my-cloud')?.message).toContain('NotAllowedByListeners, said the Gateway');
  await answer({ Accepted: 'Accepted', ResolvedRefs: 'BackendNotFound' });
  expect(exposed()?.message).toContain('BackendNotFound, said the Gateway');
  await answer();
  await settled();

  await cloud.change(ControlPlane, 'my-cloud', { spec: { publicDomain: 'cloud.example.org' } });
  await cloud.until(() => exposed()?.reason === 'RoutePending', 5);
  await answer();
  await cloud.ready();
});

test('a Gateway and a listener that are asked for and missing are conditions that name them', async () => {
  await cloud.change(ControlPlane, 'my-cloud', { spec: { gatewayRef: { name: 'edge', listenerName: 'tls' } } });
  await cloud.until(() => exposed()?.reason === 'GatewayApiMissing', 5);
  await installGatewayApi();
  await cloud.until(() => exposed()?.reason === 'GatewayMissing', 5);
  expect(exposed()?.message).toContain('Gateway openstack/edge does not exist');
  await cloud.settle(cloud.rehearsal.create(gateway([{ name: 'web', protocol: 'HTTP', port: 80 }], 'edge')));
  await cloud.until(() => exposed()?.reason === 'ListenerMissing', 5);
  expect(exposed()?.message).toContain('"tls"');
  expect(exposed()?.message).toContain('it has web');
  await cloud.change(ControlPlane, 'my-cloud', { spec: { gatewayRef: { name: 'edge', listenerName: 'web' } } });
  await cloud.until(() => exposed()?.reason === 'RoutePending', 5);
  await answer();
  await cloud.ready(10);
});

/** The control plane has seen that its child is not Ready, and that it is again. */
async function settled(): Promise<void> {
  await cloud.clock.advance(2000);
  await cloud.ready();
}

async function endpointList() {
  const [, body = ''] = (await get(cloud, await login(cloud), '/endpoints')).split(/\r?\n\r?\n/);
  return (JSON.parse(body) as { endpoints: { id: string; interface: string; url: string }[] }).endpoints;
}
const endpoints = async () => Object.fromEntries((await endpointList()).map((one) => [one.interface, one.url]));
const endpointIds = async () => (await endpointList()).map(({ id }) => id).sort();
