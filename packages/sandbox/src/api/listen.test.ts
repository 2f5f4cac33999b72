import * as http2 from 'node:http2';
import {
  createClient,
  createHttp1Transport,
  createHttp2Transport,
  defineKind,
  type KubeObject,
  realClock,
  seededRandom,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { toyConfigMap, toyNamespace } from '../testing/toy-types.ts';
import { createApiServer } from './api-server.ts';
import { listen } from './listen.ts';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

const start = (authorization: 'AlwaysAllow' | 'RBAC' = 'AlwaysAllow') =>
  createApiServer({ clock: realClock, random: seededRandom(1), types: [toyNamespace, toyConfigMap], authorization });

/** What a client needs of a kubeconfig. */
function settingsOf(kubeconfig: string) {
  const config = parse(kubeconfig);
  const decode = (text: string) => Buffer.from(text, 'base64').toString();
  const { user } = config.users[0];
  const { cluster } = config.clusters[0];
  const tls = {
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  };
  return { server: cluster.server as string, clock: realClock, tls: () => Promise.resolve(tls) };
}

for (const [name, createTransport] of [
  ['HTTP/1.1', createHttp1Transport],
  ['HTTP/2', createHttp2Transport],
] as const) {
  test(`a kubeconfig leads to the server over ${name}, watches included`, async () => {
    await using listening = await listen(start());
    const transport = createTransport(settingsOf(await listening.kubeconfig()));
    const client = createClient({ transport, clock: realClock });
    const abort = new AbortController();
    const watching = (async () => {
      const options = { namespace: 'default', sendInitialEvents: true, signal: abort.signal };
      for await (const event of client.watch(ConfigMap, options)) {
        if (event.type === 'BOOKMARK') await client.create(ConfigMap, configMap('a'));
        else return `${event.type} ${event.object.metadata.name}`;
      }
      return 'nothing';
    })();
    expect(await watching).toBe('ADDED a');
    abort.abort();
    await client.close();
  });
}

test('a certificate says who somebody is', async () => {
  await using listening = await listen(start('RBAC'));
  const kubeconfig = await listening.kubeconfig({ name: 'jane', groups: ['team'] });
  const client = createClient({ transport: createHttp2Transport(settingsOf(kubeconfig)), clock: realClock });
  await expect(client.list(ConfigMap, { namespace: 'default' })).rejects.toThrow(
    'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
  );
  await client.close();
});

test('a token of the table says it too, another is refused', async () => {
  const tokens = { secret: { name: 'robot', groups: ['system:masters'] } };
  await using listening = await listen(start('RBAC'), { tokens });
  const settings = { server: listening.url, clock: realClock, tls: () => Promise.resolve(trust) };
  const trust = { ca: listening.certificateAuthority ?? '' };
  const transport = createHttp2Transport(settings);
  const ask = async (token: string) => {
    const answer = await transport.request({
      method: 'GET',
      path: '/api/v1/namespaces/default',
      headers: { authorization: `Bearer ${token}` },
    });
    for await (const _ of answer.body);
    return answer.status;
  };
  expect([await ask('secret'), await ask('guessed')]).toEqual([200, 401]);
  await transport.close();
});

test('plain HTTP speaks both protocols on one port', async () => {
  await using listening = await listen(start(), { tls: false });
  const one = createHttp1Transport({ server: listening.url, clock: realClock });
  expect((await one.request({ method: 'GET', path: '/healthz' })).status).toBe(200);
  await one.close();
  const session = http2.connect(listening.url);
  const status = await new Promise((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({ ':path': '/healthz' });
    stream.on('response', (headers) => resolve(headers[':status']));
    stream.on('error', reject);
    stream.resume();
  });
  expect(status).toBe(200);
  session.destroy();
});
