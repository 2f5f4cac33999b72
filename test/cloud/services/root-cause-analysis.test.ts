import { expect, test } from 'vitest';
import { admin } from '../fixture.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';

interface Node {
  readonly vitrage_type: string;
  readonly name?: string;
}

/** What Vitrage answers its administrator. */
async function asked<T>(method: 'get' | 'post' | 'put', path: string, json?: unknown): Promise<T> {
  const endpoint = { endpoint_filter: { service_type: 'rca', interface: 'public' } };
  const options = json === undefined ? endpoint : { ...endpoint, json };
  const { text } = await admin.connectedAnew().call<{ text: string }>(`session.${method}`, `/v1${path}`, options);
  return JSON.parse(text) as T;
}

test('the hosts are in the graph, and a network as soon as it is made; a template outlives that Vitrage was disabled', async () => {
  const vitrage = optionalService('vitrage', 'vitrages');
  await vitrage({ enabled: true });
  const query = { depth: null, graph_type: 'graph', query: null, root: null, all_tenants: true };
  const has = (type: string, name?: string) =>
    until({
      what: `${name ?? type} to be in the graph`,
      seconds: 120,
      probe: async () => {
        const { nodes } = await asked<{ nodes: Node[] }>('post', '/topology', query);
        return nodes.find((one) => one.vitrage_type === type && (name === undefined || one.name === name));
      },
    });
  await has('nova.host');
  await admin.call('network.create_network', { name: `${prefix}graph` });
  await has('neutron.network', `${prefix}graph`);
  expect((await asked<unknown[]>('get', '/service')).length).toBeGreaterThan(0);
  const name = `${prefix}template`;
  const template = {
    metadata: { version: '3', name, type: 'standard', description: 'servers of hosts' },
    entities: { host: { type: 'nova.host' }, server: { type: 'nova.instance' } },
    scenarios: [
      {
        condition: 'host [ contains ] server',
        actions: [{ set_state: { state: 'SUBOPTIMAL', target: 'server' } }],
      },
    ],
  };
  await asked('put', '/template', { templates: [['one.yaml', template]], template_type: 'standard', params: {} });
  const active = () =>
    until({
      what: 'the template to be active',
      seconds: 60,
      probe: async () => {
        const found = await asked<{ name: string; status: string }[]>('get', '/template');
        return found.find((one) => one.name === name && one.status === 'ACTIVE');
      },
    });
  await active();
  await vitrage({ enabled: false });
  await vitrage({ enabled: true });
  await active();
});
