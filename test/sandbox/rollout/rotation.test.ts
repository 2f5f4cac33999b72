import { parseTimestamp, Secret, timestamp } from '@openstack-operator/kube';
import { OpenStackControlPlane, Placement } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, isReady, only, readyCloud } from './cloud.ts';
import { entitiesOf, login, request } from './keystone.ts';

const name = 'my-cloud-keystone-db-password';
const database = { namespace: 'openstack', name: 'my-cloud-mariadb-0' };

const dataOf = (cloud: Cloud, secret: string) =>
  (cloud.get('Secret', secret)?.['data'] ?? {}) as Record<string, string>;
const passwordOf = (cloud: Cloud) => Buffer.from(dataOf(cloud, name)['password'] ?? '', 'base64').toString();
const previous = (cloud: Cloud) => cloud.get('Secret', `${name}-previous`);
const completed = (cloud: Cloud) =>
  ((cloud.get('Keystone', 'my-cloud-keystone')?.['status'] ?? {}) as { rotated?: Record<string, { request?: string }> })
    .rotated?.[name]?.request;

const rotate = (cloud: Cloud, value: string) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/rotate-at': value } },
  });

const run = (cloud: Cloud, ...argv: string[]) => cloud.settle(cloud.rehearsal.sandbox.pods.exec(database, argv));

/** First line of what Keystone's Service answers to a request that reads its database. */
async function statusOf(cloud: Cloud, token: string): Promise<string> {
  const pod = cloud.list('Pod').find((one) => one.metadata.name.startsWith('my-cloud-keystone-api-') && isReady(one));
  const argv = [
    'curl',
    '-s',
    '-i',
    '-H',
    `X-Auth-Token: ${token}`,
    'http://my-cloud-keystone-api.openstack.svc:5000/v3/users',
  ];
  const from = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
  const { stdout } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(from, argv));
  return stdout.split('\n')[0]?.trim() ?? '';
}

/** Whether the database lets somebody in by this password. */
async function accepts(cloud: Cloud, password: string): Promise<boolean> {
  const { code, stderr } = await run(cloud, 'mariadb', '-h127.0.0.1', '-ukeystone', `-p${password}`, '-e', 'SELECT 1');
  expect(stderr).toMatch(/^(ERROR 1045 .*\n)?$/);
  return code === 0;
}

test('a password of the database is rotated: requests go on, and the one before is refused in the end', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const token = await login(cloud);
  const old = passwordOf(cloud);
  await rotate(cloud, 'first');
  const answers = new Map<string, number>();
  let both = 0;
  while (completed(cloud) !== 'first') {
    const status = await statusOf(cloud, token);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    const accepted = [await accepts(cloud, old), await accepts(cloud, passwordOf(cloud))];
    if (passwordOf(cloud) !== old && accepted.every(Boolean)) both++;
    if (completed(cloud) !== 'first') expect(accepted[0]).toBe(true);
    await cloud.clock.advance(500);
  }
  expect([...answers.keys()]).toEqual(['HTTP/1.1 200']);
  expect(answers.get('HTTP/1.1 200')).toBeGreaterThan(10);
  expect(both).toBeGreaterThan(5);
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect([await accepts(cloud, old), await accepts(cloud, passwordOf(cloud))]).toEqual([false, true]);
  expect(previous(cloud)?.['data'] ?? {}).toEqual({});
  expect(previous(cloud)?.metadata.annotations?.['openstack.k8s.io/generation']).toBeUndefined();

  // Nothing more is done for the same request, and the next one works the same.
  const first = passwordOf(cloud);
  const pods = () => cloud.list('Pod').map(({ metadata }) => metadata.uid);
  const there = pods();
  await cloud.clock.advance(1_200_000);
  expect([passwordOf(cloud), pods()]).toEqual([first, there]);
  await rotate(cloud, 'second');
  await cloud.until(() => completed(cloud) === 'second');
  // It is Ready when the one before is refused, and not a moment earlier.
  await cloud.until(() => cloud.isReady('Keystone', 'my-cloud-keystone'));
  expect([await accepts(cloud, first), await accepts(cloud, passwordOf(cloud))]).toEqual([false, true]);
  expect(passwordOf(cloud)).not.toBe(first);
});

test('an operator that ends in the middle of a rotation goes on; a request in between waits', async () => {
  const { cloud, operator } = await readyCloud({ spec: identityOnly });
  const old = passwordOf(cloud);
  await rotate(cloud, 'first');
  await cloud.until(() => dataOf(cloud, `${name}-previous`)['password'] !== undefined);
  await cloud.settle(operator.stop());
  const kept = dataOf(cloud, `${name}-previous`)['password'];
  expect(Buffer.from(kept ?? '', 'base64').toString()).toBe(old);
  const again = await cloud.startOperator();
  await cloud.until(() => passwordOf(cloud) !== old);
  await cloud.settle(again.stop());
  await rotate(cloud, 'second');
  const between = passwordOf(cloud);
  await cloud.startOperator();
  await cloud.until(() => completed(cloud) === 'first');
  expect(passwordOf(cloud)).toBe(between);
  await cloud.until(() => completed(cloud) === 'second');
  await cloud.clock.advance(60_000);
  await cloud.ready();
  expect([await accepts(cloud, between), await accepts(cloud, passwordOf(cloud))]).toEqual([false, true]);
});

test('a password that is made anew meanwhile, or is new, is rotated no more', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await rotate(cloud, 'first');
  await cloud.until(() => completed(cloud) === 'first');
  await cloud.ready();
  await cloud.remove(Secret, name);
  await cloud.ready();
  const fresh = passwordOf(cloud);
  await cloud.clock.advance(600_000);
  await cloud.ready();
  expect(passwordOf(cloud)).toBe(fresh);
  expect(await accepts(cloud, fresh)).toBe(true);
});

test('what somebody else has put where the password before is kept is neither accepted nor replaced', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const planted = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${name}-previous`,
      namespace: 'openstack',
      annotations: { 'openstack.k8s.io/generation': '1' },
    },
    data: { password: Buffer.from('planted').toString('base64') },
  };
  await cloud.settle(cloud.rehearsal.create(planted));
  const old = passwordOf(cloud);
  await cloud.clock.advance(120_000);
  // Until somebody asks for a rotation it is in nobody's way.
  expect(cloud.isReady('Keystone', 'my-cloud-keystone')).toBe(true);
  await rotate(cloud, 'first');
  await cloud.clock.advance(120_000);
  expect(cloud.get('Keystone', 'my-cloud-keystone')?.['status']).toMatchObject({
    message: expect.stringContaining(`Secret openstack/${name}-previous exists and has no controlling owner`),
  });
  expect([passwordOf(cloud), await accepts(cloud, 'planted'), await accepts(cloud, old)]).toEqual([old, false, true]);
});

test('a password of a certain age is rotated without a request, and every one after it', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, passwordRotationDays: 2 } });
  const generation = () => cloud.get('Secret', name)?.metadata.annotations?.['openstack.k8s.io/generation'];
  const status = () =>
    ((cloud.get('Keystone', 'my-cloud-keystone')?.['status'] ?? {}) as { rotated?: Record<string, object> }).rotated?.[
      name
    ];
  /** As if it had been generated so long before it is due. */
  const dueIn = (minutes: number) => {
    const since = timestamp({ now: () => cloud.clock.now() + (minutes - 2 * 1440) * 60_000 });
    return cloud.change(Secret, name, { metadata: { annotations: { 'openstack.k8s.io/rotated-at': since } } });
  };
  /** Two days after its password was generated. */
  const next = () => {
    const since = cloud.get('Secret', name)?.metadata.annotations?.['openstack.k8s.io/rotated-at'] ?? '';
    return timestamp({ now: () => parseTimestamp(since) + 2 * 86_400_000 });
  };
  const old = passwordOf(cloud);
  expect(status()).toEqual({ next: next() });
  await dueIn(10);
  await cloud.clock.advance(9 * 60_000);
  expect([generation(), passwordOf(cloud), status()]).toEqual([undefined, old, { next: next() }]);
  await cloud.clock.advance(5 * 60_000);
  await cloud.ready();
  expect([generation(), status()]).toEqual(['2', { generation: 2, time: expect.stringMatching(/^20/), next: next() }]);
  expect([await accepts(cloud, old), await accepts(cloud, passwordOf(cloud))]).toEqual([false, true]);

  // A request comes on top, and the next one is as far away as ever.
  await rotate(cloud, 'between');
  await cloud.until(() => completed(cloud) === 'between');
  await cloud.ready();
  const between = passwordOf(cloud);
  await cloud.clock.advance(30 * 60_000);
  expect([generation(), passwordOf(cloud)]).toEqual(['3', between]);
  expect(status()).toMatchObject({ generation: 3, request: 'between', next: next() });
  await dueIn(1);
  await cloud.clock.advance(5 * 60_000);
  await cloud.ready();
  expect([generation(), await accepts(cloud, between)]).toEqual(['4', false]);

  // Without a schedule there is no next one.
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { passwordRotationDays: null } });
  await cloud.ready();
  expect(status()).toEqual({ generation: 4, request: 'between', time: expect.stringMatching(/^20/) });
});

test('a user in Keystone takes turns with a second one: requests go on, and the one before is refused in the end', async () => {
  const spec = { ...only('mariadb', 'memcached', 'keystone', 'placement'), passwordRotationDays: 2 };
  const { cloud } = await readyCloud({ spec });
  const secret = 'my-cloud-placement-service-password';
  const passwordNow = () => Buffer.from(dataOf(cloud, secret)['password'] ?? '', 'base64').toString();
  const enabled = async () =>
    Object.fromEntries(
      (await entitiesOf(cloud, 'users')).flatMap((user) =>
        String(user['name']).startsWith('placement') ? [[user['name'], user['enabled']]] : [],
      ),
    );
  const isLetIn = (name: string, password: string) =>
    login(cloud, {
      identity: { methods: ['password'], password: { user: { name, password, domain: { name: 'Default' } } } },
      scope: { project: { name: 'service', domain: { name: 'Default' } } },
    }).then(
      () => true,
      (error: unknown) => {
        expect(String(error)).toContain('401');
        return false;
      },
    );
  const generation = () =>
    (
      (cloud.get('Placement', 'my-cloud-placement')?.['status'] ?? {}) as {
        rotated?: Record<string, { generation?: number }>;
      }
    ).rotated?.[secret]?.generation;
  const pods = () => cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith('my-cloud-placement-api-'));
  const there = pods().map(({ metadata }) => metadata.name);
  const first = passwordNow();
  expect(await enabled()).toEqual({ placement: true });
  // This password alone: its user is there before the pods that log in as it.
  const longAgo = timestamp({ now: () => cloud.clock.now() - 3 * 86_400_000 });
  await cloud.change(Secret, secret, { metadata: { annotations: { 'openstack.k8s.io/rotated-at': longAgo } } });
  let asked = 0;
  while (generation() !== 2) {
    // Of a new token Placement has to ask Keystone, as its own user.
    const answer = await request(
      cloud,
      await login(cloud),
      'GET',
      'http://my-cloud-placement-api.openstack.svc:8778/resource_providers',
    );
    expect(JSON.parse(answer)).toEqual({ resource_providers: [] });
    asked++;
    expect(await isLetIn('placement', first)).toBe(true);
    // No pod logs in as a user that is not there.
    if (pods().some(({ metadata }) => !there.includes(metadata.name)))
      expect(await enabled()).toEqual({ placement: true, 'placement.b': true });
    await cloud.clock.advance(500);
  }
  expect(asked).toBeGreaterThan(10);
  await cloud.until(() => cloud.isReady('Placement', 'my-cloud-placement'));
  const second = passwordNow();
  expect(second).not.toBe(first);
  expect(await enabled()).toEqual({ placement: false, 'placement.b': true });
  expect([await isLetIn('placement', first), await isLetIn('placement.b', second)]).toEqual([false, true]);

  await cloud.change(Placement, 'my-cloud-placement', {
    metadata: { annotations: { 'openstack.k8s.io/rotate-at': 'now' } },
  });
  await cloud.until(() => generation() === 3);
  await cloud.until(() => cloud.isReady('Placement', 'my-cloud-placement'));
  expect(await enabled()).toEqual({ placement: true, 'placement.b': false });
  const third = passwordNow();
  expect([await isLetIn('placement', first), await isLetIn('placement', third)]).toEqual([false, true]);
  expect(await isLetIn('placement.b', second)).toBe(false);
});

test('a control plane has the services that it names rotate theirs, and refuses other names', async () => {
  const { cloud } = await readyCloud({ spec: only('mariadb', 'memcached', 'keystone', 'placement') });
  const ask = (rotate: string | null, value: string) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', {
      metadata: { annotations: { 'openstack.k8s.io/rotate': rotate, 'openstack.k8s.io/rotate-at': value } },
    });
  const requests = (kind: 'Keystone' | 'Placement') => {
    const [status = {}] = cloud.list(kind).map((one) => one['status'] as { rotated?: Record<string, object> });
    return Object.values(status.rotated ?? {}).map((one) => (one as { request?: string }).request);
  };
  const done = (value: string) => (kind: 'Keystone' | 'Placement', passwords: number) =>
    cloud.until(() => requests(kind).length === passwords && requests(kind).every((one) => one === value));
  await ask('placement', 'one');
  await done('one')('Placement', 3);
  await cloud.ready();
  expect(requests('Keystone')).toEqual([]);

  await ask('placement,nova', 'two');
  await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud', 'RotationReady') !== undefined);
  await cloud.clock.advance(120_000);
  await cloud.ready();
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')).toMatchObject({
    status: 'True',
    message: expect.stringContaining('nova is no service of this cloud whose passwords can be rotated'),
  });
  expect([requests('Keystone'), requests('Placement')]).toEqual([[], ['one', 'one', 'one']]);

  await ask(null, 'two');
  await done('two')('Keystone', 1);
  await done('two')('Placement', 3);
  await cloud.ready();
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'RotationReady')).toBeUndefined();
});

test('a control plane has all of its services rotate theirs', async () => {
  const { cloud } = await readyCloud();
  await rotate(cloud, 'all');
  const done = () =>
    ['Keystone', 'Glance', 'Placement', 'Neutron', 'Nova'].flatMap((kind) =>
      cloud
        .list(kind)
        .flatMap(({ status }) => Object.entries((status as { rotated?: Record<string, unknown> }).rotated ?? {})),
    );
  await cloud.until(() => done().length === 15);
  await cloud.clock.advance(120_000);
  await cloud.ready();
  const users = [
    ...['keystone', 'glance', 'placement', 'neutron', 'nova'].map((service) => `${service}-db`),
    ...['neutron', 'nova'].map((service) => `${service}-mq`),
    ...['glance', 'placement', 'neutron', 'nova'].map((service) => `${service}-service`),
  ];
  const secrets = [
    ...users.map((user) => `${user}-password`),
    ...['glance', 'placement', 'neutron', 'nova'].map((service) => `${service}-cache-key`),
  ];
  expect(Object.fromEntries(done())).toEqual(
    Object.fromEntries(
      secrets.map((secret) => [
        `my-cloud-${secret}`,
        { generation: 2, request: 'all', time: expect.stringMatching(/^20/) },
      ]),
    ),
  );
  const kept = cloud.list('Secret').filter(({ metadata }) => metadata.name.endsWith('-previous'));
  expect(kept.map((secret) => secret['data'] ?? {})).toEqual(kept.map(() => ({})));
  expect(kept).toHaveLength(15);
  const broker = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: 'my-cloud-rabbitmq-0' });
  expect(broker).toContain("user 'nova.b' authenticated");
  expect(broker).not.toContain('refused');
});
