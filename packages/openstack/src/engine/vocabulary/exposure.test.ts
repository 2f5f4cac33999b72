import { describe, expect, test } from 'vitest';
import { type Exposed, exposureOf } from './exposure.ts';
import { type KnownSurroundings, type ServiceSpec, surroundingsOf } from './surroundings.ts';

const gateways: NonNullable<KnownSurroundings['gateways']> = {
  'ns/openstack-gateway': {
    listeners: [
      { name: 'http', protocol: 'HTTP', port: 80 },
      { name: 'https', protocol: 'HTTPS', port: 8443 },
    ],
  },
  'edge/plain': { listeners: [{ name: 'web', protocol: 'HTTP', port: 80 }] },
  'edge/tcp': { listeners: [{ name: 'raw', protocol: 'TCP', port: 9000 }] },
};
const served = new Set(['gateway.networking.k8s.io/HTTPRoute']);
const host = 'api.example.org';

function outcome(
  spec: ServiceSpec,
  world: KnownSurroundings = { served, gateways },
  what: Pick<Exposed, 'port' | 'speaks'> = { port: 9696 },
): string {
  const exposure = exposureOf({ namespace: 'ns', component: 'api', ...what, spec }, surroundingsOf(world));
  return exposure.type === 'problem' ? exposure.problem.reason : (exposure.url ?? exposure.type);
}

describe('an API is reached from outside', () => {
  test.each<[string, ServiceSpec, string]>([
    ['by the default Gateway, over TLS where it can', { publicHostname: host }, `https://${host}:8443`],
    [
      'by another Gateway of another namespace',
      { publicHostname: host, gatewayRef: { name: 'plain', namespace: 'edge' } },
      `http://${host}`,
    ],
    [
      'by a listener that is named',
      { publicHostname: host, gatewayRef: { name: 'openstack-gateway', listenerName: 'http' } },
      `http://${host}`,
    ],
    ['never when that is not wanted', { publicHostname: host, exposure: 'None' }, 'none'],
    ['not without a host name', {}, 'none'],
    ['a host name is missed when a Gateway is asked for', { exposure: 'Gateway' }, 'HostnameMissing'],
    ['a Gateway that does not exist', { publicHostname: host, gatewayRef: { name: 'x' } }, 'GatewayMissing'],
    [
      'a listener that does not exist',
      { publicHostname: host, gatewayRef: { name: 'openstack-gateway', listenerName: 'x' } },
      'ListenerMissing',
    ],
    [
      'by a load balancer, at the port of the API',
      { publicHostname: host, exposure: 'LoadBalancer' },
      `http://${host}:9696`,
    ],
    [
      'by a load balancer that ends TLS, at the port of that',
      { publicHostname: host, exposure: 'LoadBalancer', externalService: { ports: { api: 443 }, scheme: 'https' } },
      `https://${host}`,
    ],
    [
      'by a port of the nodes',
      { publicHostname: host, exposure: 'NodePort', externalService: { ports: { api: 30_001 } } },
      `http://${host}:30001`,
    ],
    ['a port of the nodes is named', { publicHostname: host, exposure: 'NodePort' }, 'ExposureRefused'],
    ['a load balancer without a host name', { exposure: 'LoadBalancer' }, 'HostnameMissing'],
    [
      'a Gateway without a listener for HTTP',
      { publicHostname: host, gatewayRef: { name: 'tcp', namespace: 'edge' } },
      'ListenerMissing',
    ],
  ])('%s', (_title, spec, expected) => {
    expect(outcome(spec)).toBe(expected);
  });

  test('a cluster without Gateway API: nothing, unless it is asked for', () => {
    expect(outcome({ publicHostname: host }, {})).toBe('none');
    expect(outcome({ publicHostname: host, exposure: 'Gateway' }, {})).toBe('GatewayApiMissing');
    expect(outcome({ publicHostname: host, gatewayRef: { name: 'x' } }, {})).toBe('GatewayApiMissing');
  });

  test('what speaks no HTTP needs a listener of its port, and no host name', () => {
    const gatewayRef = { name: 'tcp', namespace: 'edge' };
    const tcp = { gateways, served: new Set([...served, 'gateway.networking.k8s.io/TCPRoute']) };
    expect(outcome({ gatewayRef }, tcp, { port: 9000, speaks: 'TCP' })).toBe('route');
    expect(outcome({ gatewayRef }, tcp, { port: 9001, speaks: 'TCP' })).toBe('ListenerMissing');
    expect(outcome({ gatewayRef }, tcp, { port: 9000, speaks: 'UDP' })).toBe('GatewayApiMissing');
    expect(outcome({ exposure: 'LoadBalancer' }, {}, { port: 9000, speaks: 'UDP' })).toBe('service');
  });

  test('a cluster with Gateway API and no Gateway: nothing', () => {
    expect(outcome({ publicHostname: host }, { served })).toBe('none');
  });
});
