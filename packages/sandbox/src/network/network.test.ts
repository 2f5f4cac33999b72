import { expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../testing/test-sandbox.ts';

async function service(world: TestSandbox, name: string, spec: object): Promise<void> {
  await world.create({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec });
}

async function policy(world: TestSandbox, name: string, spec: object): Promise<void> {
  const metadata = { name, namespace: 'default' };
  await world.create({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec });
}

/** Runs `fetch` in a pod while virtual time passes. */
async function fetch(world: TestSandbox, pod: string, host: string, port = 80): Promise<string> {
  let result: { code: number; stdout: string; stderr: string } | undefined;
  void world.exec(pod, 'fetch', host, String(port)).then((done) => {
    result = done;
  });
  await world.sandbox.run(() => result !== undefined);
  return result?.code === 0 ? result.stdout : (result?.stderr.trim() ?? '');
}

test('Services are found by short and long names, and lead to ready pods only', async () => {
  const world = await startTestSandbox();
  const labels = { app: 'web' };
  await service(world, 'web', { selector: labels, ports: [{ port: 80, targetPort: 8080 }] });
  await world.pod('client');
  await world.ready('client');
  expect(await fetch(world, 'client', 'web')).toBe('ECONNREFUSED');
  await world.pod('good', { args: ['8080'] }, {}, labels);
  const readinessProbe = { exec: { command: ['cat', '/never'] } };
  await world.pod('bad', { args: ['8080'], readinessProbe }, {}, labels);
  await world.ready('good');
  await world.clock.advance(100);
  for (const name of ['web', 'web.default', 'web.default.svc', 'web.default.svc.cluster.local']) {
    expect(await fetch(world, 'client', name)).toBe('hello from good');
  }
  expect(await fetch(world, 'client', 'web.other')).toBe('ENOTFOUND');
  expect(await fetch(world, 'client', 'web', 81)).toBe('ETIMEDOUT');
  expect(await fetch(world, 'client', '10.244.0.3', 1234)).toBe('ECONNREFUSED');
});

test('members of a StatefulSet have names of their own, once they are ready', async () => {
  const world = await startTestSandbox();
  await service(world, 'db', { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 80 }] });
  await world.create({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'test:1' }] } },
    },
  });
  await world.pod('client');
  await world.ready('client', 'db-0', 'db-1');
  await world.clock.advance(100);
  expect(await fetch(world, 'client', 'db-1.db')).toBe('hello from db-1');
  expect(await fetch(world, 'client', 'db-2.db')).toBe('ENOTFOUND');
  expect(await fetch(world, 'client', 'db')).toMatch(/^hello from db-/);
});

test('pods of the node network know no cluster names unless they ask for them', async () => {
  const world = await startTestSandbox();
  await service(world, 'web', { selector: { app: 'web' }, ports: [{ port: 80 }] });
  await world.pod('web', {}, {}, { app: 'web' });
  await world.pod('plain', { args: ['90'] }, { hostNetwork: true });
  await world.pod('asks', { args: ['91'] }, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
  await world.ready('web', 'plain', 'asks');
  await world.clock.advance(100);
  expect(await fetch(world, 'plain', 'web')).toBe('ENOTFOUND');
  expect(await fetch(world, 'asks', 'web')).toBe('hello from web');
  expect(await fetch(world, 'asks', 'localhost', 90)).toBe('hello from plain');
});

test('NodePorts and hostPorts are reached at the address of the node', async () => {
  const world = await startTestSandbox();
  await service(world, 'web', { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, nodePort: 30080 }] });
  await world.pod('web', { ports: [{ containerPort: 80, hostPort: 8888 }] }, {}, { app: 'web' });
  await world.pod('client');
  await world.ready('web', 'client');
  await world.clock.advance(100);
  expect(await fetch(world, 'client', '10.89.0.2', 30080)).toBe('hello from web');
  expect(await fetch(world, 'client', '10.89.0.2', 8888)).toBe('hello from web');
});

test('network policies are judged in both directions; what is denied times out', async () => {
  const world = await startTestSandbox();
  await world.pod('server', {}, {}, { app: 'server' });
  await world.pod('friend', {}, {}, { app: 'friend' });
  await world.pod('stranger', {}, {}, { app: 'stranger' });
  await world.ready('server', 'friend', 'stranger');
  const ip = world.get('server')?.status?.podIP ?? '';
  expect(await fetch(world, 'stranger', ip)).toBe('hello from server');
  await policy(world, 'ingress', {
    podSelector: { matchLabels: { app: 'server' } },
    policyTypes: ['Ingress'],
    ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 80 }] }],
  });
  expect(await fetch(world, 'stranger', ip)).toBe('ETIMEDOUT');
  expect(await fetch(world, 'friend', ip)).toBe('hello from server');
  await policy(world, 'egress', {
    podSelector: { matchLabels: { app: 'friend' } },
    policyTypes: ['Egress'],
    egress: [],
  });
  expect(await fetch(world, 'friend', ip)).toBe('ETIMEDOUT');
  // Without a way to the name server there are no names either.
  await service(world, 'server', { selector: { app: 'server' }, ports: [{ port: 80 }] });
  expect(await fetch(world, 'friend', 'server')).toBe('EAI_AGAIN');
});

test('a Service of type ExternalName is an alias', async () => {
  const world = await startTestSandbox();
  await service(world, 'alias', { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' });
  await service(world, 'web', { selector: { app: 'web' }, ports: [{ port: 80 }] });
  await world.pod('web', {}, {}, { app: 'web' });
  await world.ready('web');
  await world.clock.advance(100);
  expect(await fetch(world, 'web', 'alias')).toBe('hello from web');
});

test('two containers of a pod cannot listen on one port', async () => {
  const world = await startTestSandbox();
  const other = { name: 'other', image: 'test:1' };
  await world.pod('p', {}, { containers: [{ name: 'c', image: 'test:1' }, other], restartPolicy: 'Never' });
  await world.clock.advance(1000);
  const log = world.sandbox.pods.logs({ namespace: 'default', name: 'p' }, { container: 'other' });
  expect(log).toBe("web: Address already in use: '0.0.0.0:80'\n");
});

test('who listens on one address of its own does not hear another', async () => {
  const world = await startTestSandbox();
  await world.pod('local', { args: ['8080', '127.0.0.1'] });
  await world.pod('everywhere', { args: ['8080'] });
  await world.ready('local', 'everywhere');
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await fetch(world, 'local', host, 8080)).toBe('hello from local');
  expect(await fetch(world, 'local', '127.0.0.9', 8080)).toBe('ECONNREFUSED');
  expect(await fetch(world, 'everywhere', '127.0.0.9', 8080)).toBe('hello from everywhere');
});
