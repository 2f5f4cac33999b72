import { ConfigMap, Pod } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { configMap, secret, startTestSandbox } from '../testing/test-sandbox.ts';

const container = (world: Awaited<ReturnType<typeof startTestSandbox>>, name: string) =>
  world.get(name)?.status?.containerStatuses?.[0];

test('hundreds of nodes have addresses of their own, and so have their pods', async () => {
  const nodes = Array.from({ length: 300 }, (_, index) => ({ name: `node-${index + 1}` }));
  const world = await startTestSandbox({ nodes });
  await world.pod('far', {}, { nodeName: 'node-300' });
  await world.ready('far');
  expect(world.get('far')?.status).toMatchObject({ podIP: '10.245.43.2', hostIP: '10.89.1.45' });
});

test('a pod reports its phases, conditions, addresses and container states', async () => {
  const world = await startTestSandbox();
  await world.pod('web');
  await world.ready('web');
  const status = world.get('web')?.status;
  expect(status).toMatchObject({ phase: 'Running', podIP: '10.244.0.2', hostIP: '10.89.0.2', qosClass: 'BestEffort' });
  expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`).sort()).toEqual([
    'ContainersReady=True',
    'Initialized=True',
    'PodReadyToStartContainers=True',
    'PodScheduled=True',
    'Ready=True',
  ]);
  expect(status?.containerStatuses?.[0]).toMatchObject({ ready: true, started: true, restartCount: 0 });
  expect(world.events('web').sort()).toEqual([
    'Normal Created: Container created',
    'Normal Pulled: Successfully pulled image "test:1" in 0ms (0ms including waiting). Image size: 0 bytes.',
    'Normal Pulling: Pulling image "test:1"',
    'Normal Scheduled: Successfully assigned default/web to node-1',
    'Normal Started: Container started',
  ]);
});

test('a crashing container is restarted with growing pauses, and its last words are kept', async () => {
  const world = await startTestSandbox();
  await world.pod('bad', { command: ['crash'], terminationMessagePolicy: 'FallbackToLogsOnError' });
  await world.sandbox.run(() => container(world, 'bad')?.restartCount === 4);
  // At once, then after 10, 20 and 40 seconds.
  expect(Math.round((world.clock.now() - 1_767_225_600_000) / 1000)).toBe(70);
  expect(container(world, 'bad')?.lastState?.terminated).toMatchObject({
    exitCode: 1,
    reason: 'Error',
    message: 'boom\n',
  });
  await world.clock.advance(1000);
  expect(container(world, 'bad')?.state?.waiting).toMatchObject({
    reason: 'CrashLoopBackOff',
    message: expect.stringMatching(/^back-off 1m20s restarting failed container=c pod=bad_default\(.*\)$/),
  });
  expect(world.sandbox.pods.logs({ namespace: 'default', name: 'bad' }, { previous: true })).toBe('boom\n');
  expect(world.get('bad')?.status?.phase).toBe('Running');
});

test.each([
  ['Never', 'once', 'Succeeded'],
  ['Never', 'crash', 'Failed'],
  ['OnFailure', 'once', 'Succeeded'],
] as const)('restartPolicy %s, command %s ends in %s', async (restartPolicy, command, phase) => {
  const world = await startTestSandbox();
  await world.pod('p', { command: [command] }, { restartPolicy });
  await world.until('p', phase);
  expect(container(world, 'p')?.restartCount).toBe(0);
});

test('an image that nobody has ends in ErrImagePull, then ImagePullBackOff', async () => {
  const world = await startTestSandbox();
  await world.pod('p', { image: 'registry.example/none:1' });
  const reason = () => container(world, 'p')?.state?.waiting?.reason;
  await world.sandbox.run(() => reason() === 'ErrImagePull');
  await world.sandbox.run(() => reason() === 'ImagePullBackOff');
  expect(world.events('p')).toContain('Warning Failed: Error: ErrImagePull');
  expect(() => world.sandbox.pods.logs({ namespace: 'default', name: 'p' })).toThrow(
    'container "c" in pod "p" is waiting to start: trying and failing to pull image',
  );
});

test('a command that the image lacks is a StartError with the words of runc', async () => {
  const world = await startTestSandbox();
  await world.pod('p', { command: ['nope'] }, { restartPolicy: 'Never' });
  await world.until('p', 'Failed');
  expect(container(world, 'p')?.state?.terminated).toMatchObject({
    exitCode: 128,
    reason: 'StartError',
    message: expect.stringContaining('exec: "nope": executable file not found in $PATH'),
  });
});

test.each([
  ['configMapKeyRef', { name: 'm', key: 'k' }, 'configmap "m" not found'],
  ['secretKeyRef', { name: 's', key: 'k' }, 'secret "s" not found'],
  ['configMapKeyRef', { name: 'there', key: 'k' }, "couldn't find key k in ConfigMap default/there"],
])('a missing %s keeps the container waiting', async (source, reference, message) => {
  const world = await startTestSandbox();
  await world.create(configMap('there', { other: '1' }));
  await world.pod('p', { env: [{ name: 'X', valueFrom: { [source]: reference } }] });
  await world.sandbox.run(() => container(world, 'p')?.state?.waiting?.reason === 'CreateContainerConfigError');
  expect(container(world, 'p')?.state?.waiting?.message).toBe(message);
  expect(world.events('p')).toContain(`Warning Failed: Error: ${message}`);
});

test('a container that waits for a Secret starts once it is there', async () => {
  const world = await startTestSandbox();
  await world.pod('p', { envFrom: [{ secretRef: { name: 's' } }] });
  await world.clock.advance(5000);
  await world.create(secret('s', { PASSWORD: 'geheim' }));
  await world.ready('p');
  expect((await world.exec('p', 'env')).stdout).toContain('PASSWORD=geheim');
});

test('a volume of a missing ConfigMap is a FailedMount until the ConfigMap is there', async () => {
  const world = await startTestSandbox();
  const volumes = [{ name: 'conf', configMap: { name: 'm' } }];
  await world.pod('p', { volumeMounts: [{ name: 'conf', mountPath: '/etc/x' }] }, { volumes });
  await world.clock.advance(3000);
  expect(world.events('p')).toContain(
    'Warning FailedMount: MountVolume.SetUp failed for volume "conf" : configmap "m" not found',
  );
  expect(container(world, 'p')?.state?.waiting?.reason).toBe('ContainerCreating');
  await world.create(configMap('m', { 'a.conf': 'one' }));
  await world.ready('p');
  expect((await world.exec('p', 'cat', '/etc/x/a.conf')).stdout).toBe('one');
});

test('a mounted directory follows its ConfigMap after a while, a subPath never does', async () => {
  const world = await startTestSandbox();
  await world.create(configMap('m', { a: 'old' }));
  const volumeMounts = [
    { name: 'conf', mountPath: '/dir' },
    { name: 'conf', mountPath: '/file', subPath: 'a' },
  ];
  await world.pod('p', { volumeMounts }, { volumes: [{ name: 'conf', configMap: { name: 'm' } }] });
  await world.ready('p');
  await world.sandbox.client().patch(ConfigMap, { namespace: 'default', name: 'm' }, 'merge', { data: { a: 'new' } });
  const read = async () => (await world.exec('p', 'cat', '/dir/a', '/file')).stdout;
  expect(await read()).toBe('oldold');
  await world.clock.advance(61_000);
  expect(await read()).toBe('newold');
});

test('runAsNonRoot refuses an image that runs as root', async () => {
  const world = await startTestSandbox();
  await world.pod('p', {}, { securityContext: { runAsNonRoot: true } });
  await world.sandbox.run(() => container(world, 'p')?.state?.waiting?.reason === 'CreateContainerConfigError');
  expect(container(world, 'p')?.state?.waiting?.message).toMatch(
    /^container has runAsNonRoot and image will run as root \(pod: "p_default\(.*\)", container: c\)$/,
  );
});

test('variables, arguments and the downward API are expanded as the kubelet does it', async () => {
  const world = await startTestSandbox();
  await world.pod('p', {
    command: ['web', '$(PORT)'],
    env: [
      { name: 'PORT', value: '8080' },
      { name: 'URL', value: 'http://$(IP):$(PORT)/$(NOBODY)/$$(PORT)' },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    ],
    resources: { limits: { cpu: '1500m' } },
  });
  await world.ready('p');
  const { stdout } = await world.exec('p', 'env');
  expect(stdout).toContain('URL=http://$(IP):8080/$(NOBODY)/$(PORT)\n');
  expect(stdout).toContain('IP=10.244.0.2\n');
  expect(stdout).toContain('NODE=node-1\n');
  expect(stdout).toContain('CPUS=2\n');
});

test('init containers run one after another; a sidecar among them stays', async () => {
  const world = await startTestSandbox();
  const initContainers = [
    { name: 'first', image: 'test:1', command: ['sleep', '3'] },
    { name: 'side', image: 'test:1', command: ['web', '9000'], restartPolicy: 'Always' as const },
    { name: 'second', image: 'test:1', command: ['fetch', 'localhost', '9000'] },
  ];
  await world.pod('p', { command: ['sleep', '5'] }, { initContainers, restartPolicy: 'Never' });
  await world.clock.advance(1000);
  expect(world.get('p')?.status?.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
    status: 'False',
    message: 'containers with incomplete status: [first side second]',
  });
  expect(container(world, 'p')?.state?.waiting?.reason).toBe('PodInitializing');
  await world.until('p', 'Running');
  expect(world.sandbox.pods.logs({ namespace: 'default', name: 'p' }, { container: 'second' })).toBe('hello from p');
  await world.until('p', 'Succeeded');
  expect(world.sandbox.pods.logs({ namespace: 'default', name: 'p' }, { container: 'side' })).toBe('listening\nbye\n');
});

test('a failing init container holds the others back', async () => {
  const world = await startTestSandbox();
  await world.pod('p', {}, { initContainers: [{ name: 'i', image: 'test:1', command: ['crash'] }] });
  await world.clock.advance(60_000);
  const [init] = world.get('p')?.status?.initContainerStatuses ?? [];
  expect(init?.restartCount).toBeGreaterThan(1);
  expect(world.get('p')?.status?.phase).toBe('Pending');
  expect(container(world, 'p')?.containerID).toBeUndefined();
});

test('a container is ready while its readiness probe succeeds', async () => {
  const world = await startTestSandbox();
  const readinessProbe = { exec: { command: ['cat', '/tmp/ready'] }, periodSeconds: 2 };
  await world.pod('p', { readinessProbe });
  await world.clock.advance(10_000);
  expect(container(world, 'p')?.ready).toBe(false);
  expect(world.events('p')).toContain(
    "Warning Unhealthy: Readiness probe failed: No such file or directory: '/tmp/ready'\n",
  );
  await world.exec('p', 'write', '/tmp/ready', 'yes');
  await world.clock.advance(2000);
  expect(container(world, 'p')?.ready).toBe(true);
});

test('a probe by HTTPS fails at a server without TLS', async () => {
  const world = await startTestSandbox();
  const probe = (scheme: 'HTTP' | 'HTTPS') => ({ readinessProbe: { httpGet: { port: 80, scheme }, periodSeconds: 1 } });
  await world.pod('p', probe('HTTPS'));
  await world.pod('q', probe('HTTP'));
  await world.clock.advance(5000);
  expect([container(world, 'p')?.ready, container(world, 'q')?.ready]).toEqual([false, true]);
  expect(world.events('p')).toContain(
    'Warning Unhealthy: Readiness probe failed: Get "https://10.244.0.2:80/": http: server gave HTTP response to HTTPS client',
  );
});

test('a container whose liveness probe fails is restarted', async () => {
  const world = await startTestSandbox();
  const livenessProbe = { tcpSocket: { port: 81 }, periodSeconds: 5, failureThreshold: 2 };
  await world.pod('p', { livenessProbe });
  await world.sandbox.run(() => container(world, 'p')?.restartCount === 1);
  expect(world.events('p')).toContain(
    'Warning Unhealthy: Liveness probe failed: dial tcp 10.244.0.2:81: connect: connection refused',
  );
  expect(world.events('p')).toContain('Normal Killing: Container c failed liveness probe, will be restarted');
});

test('a startup probe holds the other probes back', async () => {
  const world = await startTestSandbox();
  const startupProbe = { exec: { command: ['cat', '/tmp/up'] }, periodSeconds: 1, failureThreshold: 30 };
  const livenessProbe = { tcpSocket: { port: 81 }, periodSeconds: 1, failureThreshold: 1 };
  await world.pod('p', { startupProbe, livenessProbe });
  await world.clock.advance(10_000);
  expect(container(world, 'p')).toMatchObject({ restartCount: 0, started: false });
  await world.exec('p', 'write', '/tmp/up', '');
  await world.sandbox.run(() => container(world, 'p')?.restartCount === 1);
});

test('deleting a pod sends SIGTERM, and kills what does not listen when the grace is over', async () => {
  const world = await startTestSandbox();
  await world.pod('polite', {});
  await world.pod('stubborn', { command: ['stubborn'] }, { terminationGracePeriodSeconds: 20 });
  await world.ready('polite', 'stubborn');
  const begun = world.clock.now();
  for (const name of ['polite', 'stubborn']) await world.sandbox.client().delete(Pod, { namespace: 'default', name });
  await world.sandbox.run(() => world.get('polite') === undefined);
  expect(world.clock.now() - begun).toBeLessThan(1000);
  await world.sandbox.run(() => world.get('stubborn') === undefined);
  expect(Math.round((world.clock.now() - begun) / 1000)).toBe(20);
  expect(world.events('stubborn')).toContain('Normal Killing: Stopping container c');
});

test('a preStop hook runs before SIGTERM', async () => {
  const world = await startTestSandbox();
  await world.pod('p', { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } });
  await world.ready('p');
  const begun = world.clock.now();
  await world.sandbox.client().delete(Pod, { namespace: 'default', name: 'p' });
  await world.sandbox.run(() => world.get('p') === undefined);
  expect(Math.round((world.clock.now() - begun) / 1000)).toBe(5);
});

test('a node that loses its power is noticed; its pods move after five minutes, and it comes back', async () => {
  const world = await startTestSandbox({ nodes: [{ name: 'a' }, { name: 'b' }] });
  await world.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'test:1' }] } },
    },
  });
  const pods = () => world.sandbox.api.store.list(Pod, 'default') as Pod[];
  const running = (node: string) =>
    pods().some(
      ({ spec, status, metadata }) =>
        spec?.nodeName === node && status?.phase === 'Running' && !metadata.deletionTimestamp,
    );
  await world.sandbox.run(() => running('a'));
  const begun = world.clock.now();
  world.sandbox.nodes.stop('a');
  await world.sandbox.run(() => running('b'));
  expect(Math.round((world.clock.now() - begun) / 1000)).toBeGreaterThan(300);
  expect(pods()).toHaveLength(2);
  world.sandbox.nodes.start('a');
  await world.sandbox.run(() => pods().length === 1);
});
