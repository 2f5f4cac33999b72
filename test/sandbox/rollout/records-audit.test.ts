import { Job, Secret } from '@openstack-operator/kube';
import {
  annotations,
  conditionOf,
  Keystone,
  OpenStackControlPlane,
  type ScheduleStatus,
} from '@openstack-operator/openstack';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { call, login } from './keystone.ts';

const namespace = 'openstack';
let cloud: Cloud;

interface Listed {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** What a program prints in the first pod whose name begins so. */
async function run(pod: string, argv: readonly string[]): Promise<string> {
  const name = cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(pod))?.metadata.name ?? '';
  const { stdout, stderr, code } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name }, argv));
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const secret = (name: string, key = 'password') =>
  Buffer.from(((cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>)[key] ?? '', 'base64').toString();

const sql = (statement: string) =>
  run('my-cloud-mariadb-0', [
    'mariadb',
    '-h127.0.0.1',
    '-uroot',
    `-p${secret('my-cloud-mariadb-root-password')}`,
    '-N',
    '-B',
    '-e',
    statement,
  ]);

const broker = (method: string, path: string, body?: object) => {
  const user = `${secret('my-cloud-rabbitmq-credentials', 'username')}:${secret('my-cloud-rabbitmq-credentials')}`;
  const data = body === undefined ? [] : ['-d', JSON.stringify(body)];
  // The NetworkPolicy of the broker lets in the pods of Nova and Neutron only.
  return run('my-cloud-neutron-server-', [
    'curl',
    '-s',
    '-u',
    user,
    '-X',
    method,
    ...data,
    `http://my-cloud-rabbitmq.openstack.svc:15672/api${path}`,
  ]);
};

/** Entities of one of Keystone's collections. */
async function list(collection: string, query = ''): Promise<Listed[]> {
  const answer = await call(cloud, await login(cloud), 'GET', `/${collection}${query}`);
  return (JSON.parse(answer) as Record<string, Listed[]>)[collection] ?? [];
}

const keystone = async (method: string, path: string, body?: object) =>
  await call(cloud, await login(cloud), method, path, body);

const idOf = async (collection: string, name: string) =>
  (await list(collection, `?name=${name}`)).find((one) => one['name'] === name)?.id ?? '';

type Schedules = Readonly<Record<string, ScheduleStatus>>;
const schedules = (kind: string, name: string) =>
  (cloud.get(kind, name)?.['status'] as { schedules?: Schedules } | undefined)?.schedules ?? {};

/** Notes of the events about a resource. */
const events = (name: string, reason: string) =>
  cloud
    .list('Event')
    .map((event) => event as unknown as { involvedObject?: { name?: string }; reason?: string; message?: string })
    .filter((event) => event.involvedObject?.name === name && event.reason === reason)
    .map(({ message = '' }) => message);

/** Every five minutes instead of every hour: what is to be seen takes less time. */
const often = { recordsAudit: { schedule: '*/5 * * * *' } };

/** Lets every audit of the cloud run once. */
const audited = () => cloud.clock.advance(7 * 60_000);

const services = ['Keystone', 'Glance', 'Placement', 'Neutron', 'Nova'].map(
  (kind) => [kind, `my-cloud-${kind.toLowerCase()}`] as const,
);
const audit = (kind: string, name: string) => schedules(kind, name)['records-audit'];
const repaired = (name: string) => events(name, 'RecordsRepaired').join();

/** Makes a Job of a CronJob at once, as `kubectl create job --from=cronjob/NAME` does: its last program alone. */
async function start(cronJob: string, name: string): Promise<void> {
  const { jobTemplate } = structuredClone(cloud.get('CronJob', cronJob)?.['spec']) as {
    jobTemplate: { spec: { template: { metadata: object; spec: { initContainers?: unknown } } } };
  };
  delete jobTemplate.spec.template.spec.initContainers;
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace }, spec: jobTemplate.spec };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(Job, job as Job));
}

describe('a whole cloud', () => {
  beforeAll(async () => {
    ({ cloud } = await readyCloud({
      spec: { keystone: often, glance: often, placement: often, neutron: often, nova: often },
    }));
  });

  test('where nothing was changed, an audit finds nothing and says when it looked', async () => {
    const jobs = () => cloud.list('Job').filter(({ metadata }) => metadata.annotations?.[annotations.inputs]);
    const before = jobs().map(({ metadata }) => metadata.uid);
    await audited();
    for (const [kind, name] of services) {
      expect(audit(kind, name), kind).toMatchObject({ failures: 0 });
      expect(audit(kind, name)?.lastSuccessfulTime, kind).toBeDefined();
      expect(audit(kind, name)?.message, kind).toBeUndefined();
      expect(events(name, 'RecordsRepaired'), kind).toEqual([]);
    }
    expect(jobs().map(({ metadata }) => metadata.uid)).toEqual(before);
  });

  test('what was changed or deleted by hand in Keystone, the database and the broker is corrected', async () => {
    const counts = async () =>
      [await list('users'), await list('services'), await list('endpoints')].map((l) => l.length);
    const before = await counts();
    await keystone('DELETE', `/users/${await idOf('users', 'glance')}`);
    await keystone('PATCH', `/users/${await idOf('users', 'placement')}`, { user: { enabled: false } });
    const [user, project, role] = [
      await idOf('users', 'neutron'),
      await idOf('projects', 'service'),
      await idOf('roles', 'service'),
    ];
    await keystone('DELETE', `/projects/${project}/users/${user}/roles/${role}`);
    const neutron = await idOf('services', 'neutron');
    const [internal] = await list('endpoints', `?service_id=${neutron}&interface=internal`);
    await keystone('DELETE', `/endpoints/${internal?.id}`);
    await keystone('DELETE', `/services/${await idOf('services', 'placement')}`);
    await keystone('POST', '/services', { service: { type: 'weather', name: 'forecast' } });
    await sql("DROP USER 'keystone'@'%'");
    await sql("REVOKE ALL PRIVILEGES ON `nova_cell0`.* FROM 'nova'@'%'");
    await sql("ALTER USER 'placement'@'%' IDENTIFIED BY 'guessed'");
    await broker('DELETE', '/users/neutron');
    await broker('DELETE', '/permissions/nova/nova');
    await broker('DELETE', '/vhosts/nova-cell1');
    await audited();

    expect(repaired('my-cloud-glance')).toContain('created user glance; granted glance admin on project service');
    expect(repaired('my-cloud-placement')).toContain('set the password of user placement');
    expect(repaired('my-cloud-placement')).toContain('created service placement');
    expect(repaired('my-cloud-placement')).toContain('corrected password or grants of user placement');
    expect(repaired('my-cloud-neutron')).toContain('granted neutron service on project service');
    expect(repaired('my-cloud-neutron')).toContain('created internal endpoint of neutron in RegionOne');
    expect(repaired('my-cloud-neutron')).toContain('created user neutron');
    expect(repaired('my-cloud-keystone')).toContain('created user keystone');
    expect(repaired('my-cloud-nova')).toContain('corrected password or grants of user nova');
    expect(repaired('my-cloud-nova')).toContain('created vhost nova-cell1');
    expect(repaired('my-cloud-nova')).toContain('granted user nova vhost nova');
    const all = services.map(([, name]) => repaired(name)).join();
    for (const name of ['placement-service', 'placement-db', 'neutron-mq'])
      expect(all).not.toContain(secret(`my-cloud-${name}-password`));

    const [users = 0, catalogue = 0, endpoints] = before;
    expect(await counts()).toEqual([users, catalogue + 1, endpoints]);
    await keystone('HEAD', `/projects/${project}/users/${user}/roles/${role}`);
    expect(await sql("SHOW GRANTS FOR 'nova'@'%'")).toContain('GRANT ALL PRIVILEGES ON `nova_cell0`.* TO `nova`@`%`');
    expect(JSON.parse(await broker('GET', '/users/neutron'))).toMatchObject({ tags: [] });
    await audited();
    for (const [kind, name] of services) expect(audit(kind, name)?.message, kind).toBeUndefined();
    await cloud.ready();
  });

  test('two runs at once make no second user, service or endpoint', async () => {
    for (const name of ['glance', 'placement']) {
      await keystone('DELETE', `/services/${await idOf('services', name)}`);
      await keystone('DELETE', `/users/${await idOf('users', name)}`);
    }
    for (const name of ['glance', 'placement']) {
      for (const run of ['one', 'two', 'three']) await start(`my-cloud-${name}-records-audit`, `${name}-${run}`);
    }
    const jobs = () => cloud.list('Job').filter(({ metadata }) => /-(one|two|three)$/.test(metadata.name));
    await cloud.until(() => jobs().every((job) => conditionOf(job, 'Complete')?.status === 'True'));
    for (const name of ['glance', 'placement']) {
      const found = (await list('services')).filter((one) => one['name'] === name);
      expect(found, name).toHaveLength(1);
      expect(await list('endpoints', `?service_id=${found[0]?.id}`), name).toHaveLength(3);
      expect(await list('users', `?name=${name}`), name).toHaveLength(1);
    }
    expect(await list('endpoints')).toHaveLength(15);
  });

  test('a paused cloud is left as somebody makes it by hand', async () => {
    const suspended = () =>
      cloud
        .list('CronJob')
        .map((cronJob) => [cronJob.metadata.name, (cronJob['spec'] as { suspend: boolean }).suspend] as const);
    const pause = (value: string | null) =>
      cloud.change(OpenStackControlPlane, 'my-cloud', {
        metadata: { annotations: { [annotations.paused]: value } },
      });
    expect(suspended().map(([, is]) => is)).not.toContain(true);
    await pause('true');
    await cloud.until(() => suspended().every(([, is]) => is), 5);
    await pause(null);
    await cloud.until(() => suspended().every(([, is]) => !is), 5);
    await cloud.ready();
  });

  test('rows of deleted servers and images are removed at the time that the user says', async () => {
    const housekeeping = { schedule: '*/5 * * * *', purgeAfterDays: 40 };
    await cloud.change(OpenStackControlPlane, 'my-cloud', {
      spec: { nova: { housekeeping }, glance: { housekeeping } },
    });
    const done = (kind: string, name: string) => schedules(kind, `my-cloud-${kind.toLowerCase()}`)[name];
    await cloud.until(() => done('Nova', 'db-archive')?.lastSuccessfulTime !== undefined, 15);
    await cloud.until(() => done('Glance', 'db-purge')?.lastSuccessfulTime !== undefined, 15);
    expect(done('Nova', 'db-archive')).toMatchObject({ failures: 0 });
    expect(done('Glance', 'db-purge')).toMatchObject({ failures: 0 });
    await cloud.ready();
  });
});

describe('Keystone alone, audited every ten minutes', () => {
  beforeEach(async () => {
    ({ cloud } = await readyCloud({
      spec: { ...identityOnly, keystone: { recordsAudit: { schedule: '*/10 * * * *' } } },
    }));
  });

  test('an administrator password changed in Keystone stays; audits tell that they cannot log in', async () => {
    const token = await login(cloud);
    const [admin] = (JSON.parse(await call(cloud, token, 'GET', '/users?name=admin')) as { users: Listed[] }).users;
    await call(cloud, token, 'PATCH', `/users/${admin?.id}`, { user: { password: 'changed-by-hand-0123' } });
    await cloud.until(() => (audit('Keystone', 'my-cloud-keystone')?.failures ?? 0) === 1);
    expect(cloud.isReady('Keystone', 'my-cloud-keystone')).toBe(true);
    expect(cloud.condition(Keystone, 'my-cloud-keystone', 'SchedulesReady')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('its last run failed'),
    });
    expect(events('my-cloud-keystone', 'ScheduleFailed').join()).toContain('401');
    await cloud.until(() => cloud.condition(Keystone, 'my-cloud-keystone', 'SchedulesReady')?.status === 'False', 60);
    expect(cloud.condition(Keystone, 'my-cloud-keystone')?.reason).toBe('ScheduleFailing');
    await expect(login(cloud)).rejects.toThrow('401');
  });

  test('a password that is issued anew while an audit runs is not set back', async () => {
    const running = new Set<string>();
    const together: string[] = [];
    let changed = false;
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
      if (object.kind !== 'Pod') return;
      const component = object.metadata.labels?.['app.kubernetes.io/component'] ?? '';
      const { phase } = object['status'] as { phase?: string };
      if (!['records-audit', 'db-create'].includes(component)) return;
      if (phase === 'Running') running.add(component);
      else running.delete(component);
      if (component === 'records-audit' && phase === 'Running') changed = true;
      if (running.size === 2) together.push(object.metadata.name);
    });
    await cloud.until(() => changed, 20);
    const password = 'another-password-0123';
    await cloud.change(Secret, 'my-cloud-keystone-db-password', {
      data: { password: Buffer.from(password).toString('base64') },
    });
    await cloud.clock.advance(10_000);
    await cloud.ready();
    expect(together).toEqual([]);
    expect(
      await run('my-cloud-mariadb-0', ['mariadb', '-h127.0.0.1', '-ukeystone', `-p${password}`, '-e', 'SELECT 1']),
    ).toContain('1');
  });
});
