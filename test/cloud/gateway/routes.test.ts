import { expect, inject, test } from 'vitest';
import { admin } from '../fixture.ts';
import { conditionOf, gatewayRef, type Judged, objects } from './public-cloud.ts';

const domain = inject('domain');
/** Every public API, and the consoles. */
const names = ['console', 'glance', 'keystone', 'neutron', 'nova', 'placement'].map((name) => `${name}.${domain}`);

interface Route {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly hostnames: readonly string[] };
  readonly status: {
    readonly parents: readonly {
      readonly controllerName: string;
      readonly parentRef: { readonly name: string };
      readonly conditions: readonly { readonly type: string; readonly status: string }[];
    }[];
  };
}

interface Endpoint {
  readonly interface: string;
  readonly url: string;
}

test('Envoy Gateway has taken the route of every public API, and of the consoles', async () => {
  const routes = await objects<Route>('httproutes');
  expect(routes.flatMap(({ spec }) => spec.hostnames).sort()).toEqual(names);
  for (const { metadata, status } of routes) {
    // Answers of Gateways that it had before may stay.
    const [answer] = status.parents.filter(({ parentRef }) => parentRef.name === gatewayRef.name);
    expect(answer?.controllerName, metadata.name).toBe('gateway.envoyproxy.io/gatewayclass-controller');
    const conditions = answer?.conditions.map(({ type, status }) => `${type} ${status}`);
    expect(conditions, metadata.name).toEqual(expect.arrayContaining(['Accepted True', 'ResolvedRefs True']));
  }
  for (const service of await objects<Judged>('keystones,glances,placements,neutrons,novas')) {
    expect(conditionOf(service, 'ExposureReady'), service.kind).toMatchObject({ status: 'True', message: '' });
  }
});

test("the catalogue's public endpoints are the Gateway's names, the internal ones are Services", async () => {
  const endpoints = await admin.call<Endpoint[]>('identity.endpoints');
  const hosts = (wanted: string) =>
    endpoints.filter((one) => one.interface === wanted).map(({ url }) => new URL(url).origin);
  expect(hosts('public').sort()).toEqual(names.slice(1).map((name) => `https://${name}`));
  for (const url of [...hosts('internal'), ...hosts('admin')])
    expect(url).toMatch(/^http:\/\/[a-z-]+\.[a-z-]+\.svc:\d+$/);
});

test('what an API says of itself leads back to the name by which it was asked', async () => {
  const endpoints = await admin.call<Endpoint[]>('identity.endpoints', { interface: 'public' });
  for (const { url } of endpoints) {
    const { origin } = new URL(url);
    const { text } = await admin.call<{ text: string }>('session.get', `${origin}/`, { authenticated: false });
    const links = [...text.matchAll(/"href": *"([^"]*)"/g)].map(([, href = '']) => new URL(href, origin));
    const own = links.filter(({ hostname }) => hostname !== 'docs.openstack.org').map((link) => link.origin);
    expect([...new Set(own)], `${origin} says ${text.slice(0, 300)}`).toEqual([origin]);
  }
});
