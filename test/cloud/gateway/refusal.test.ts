import { afterEach, expect, test } from 'vitest';
import { patchControlPlane } from '../durability/events.ts';
import { program } from '../kubernetes.ts';
import { until } from '../until.ts';
import { type Condition, conditionOf, gatewayRef, type Judged, objects, ready } from './public-cloud.ts';

/** Placement alone is sent elsewhere: nothing that users do needs its public endpoint. */
const send = (ref: object | null) => patchControlPlane({ placement: { gatewayRef: ref } });

afterEach(async () => {
  await send(null);
  await ready();
  await program('kubectl', 'delete', 'gateway', '-n', gatewayRef.namespace, 'wrong', '--ignore-not-found');
});

async function exposed(reason: string): Promise<Condition> {
  const condition = async () => conditionOf((await objects<Judged>('placements'))[0], 'ExposureReady');
  return await until({
    what: `the reason ${reason} in the condition ExposureReady of Placement`,
    seconds: 60,
    probe: async () => {
      const now = await condition();
      return now?.reason === reason ? now : undefined;
    },
    explain: async () => JSON.stringify(await condition()),
  });
}

test('a Gateway that does not exist', async () => {
  await send({ name: 'nowhere', namespace: gatewayRef.namespace });
  const { status, message } = await exposed('GatewayMissing');
  expect(status).toBe('False');
  expect(message).toContain('Gateway gateway/nowhere does not exist');
  const [plane] = await objects<Judged>('openstackcontrolplanes');
  expect(conditionOf(plane, 'Ready')?.message).toContain('gateway/nowhere');
});

/** A Gateway of the same implementation, with one listener. */
async function create(name: string, listener: object): Promise<void> {
  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: gatewayRef.namespace },
    spec: { gatewayClassName: 'envoy', listeners: [listener] },
  };
  await program('bash', '-c', 'kubectl apply -f - <<< "$1"', 'bash', JSON.stringify(gateway));
}

test('a Gateway that does not admit routes of this namespace', async () => {
  await create('wrong', { name: 'http', protocol: 'HTTP', port: 80, allowedRoutes: { namespaces: { from: 'Same' } } });
  await send({ name: 'wrong', namespace: gatewayRef.namespace });
  const { status, message } = await exposed('RouteRefused');
  expect(status).toBe('False');
  expect(message).toMatch(/Gateway gateway\/wrong says Accepted is False, NotAllowedByListeners: \w.+/);
});

test('a Gateway without its certificate', async () => {
  const tls = { mode: 'Terminate', certificateRefs: [{ name: 'nowhere' }] };
  const allowedRoutes = { namespaces: { from: 'All' } };
  await create('wrong', { name: 'https', protocol: 'HTTPS', port: 443, tls, allowedRoutes });
  await send({ name: 'wrong', namespace: gatewayRef.namespace });
  const { status, message } = await exposed('GatewayNotReady');
  expect(status).toBe('False');
  expect(message).toMatch(/listener https, says ResolvedRefs is False, InvalidCertificateRef: .*gateway\/nowhere/);
});
