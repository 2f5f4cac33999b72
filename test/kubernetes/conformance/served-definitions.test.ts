import { CustomResourceDefinition, noLog, realClock } from '@openstack-operator/kube';
import { untilDefinitionsMatch } from '@openstack-operator/operator';
import { expect, test } from 'vitest';
import { serveOurKinds } from './openstack-definitions.ts';
import { testServer } from './server.ts';

test('definitions as a server stores them are those that the operator compares them with', async () => {
  const server = await testServer();
  await serveOurKinds(server);
  const problems: unknown[] = [];
  const stop = new AbortController();
  const log = { ...noLog, error: (...said: unknown[]) => (problems.push(said), stop.abort()) };
  await untilDefinitionsMatch({ client: server.client, clock: realClock, log, signal: stop.signal }).catch(() => {});
  expect(problems).toEqual([]);
  if (server.name === 'kubernetes') {
    const { items } = await server.client.list(CustomResourceDefinition);
    expect(items.filter(({ spec }) => spec.group === 'openstack.k8s.io').length).toBeGreaterThan(9);
  }
});
