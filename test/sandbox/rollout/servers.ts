import { overNetwork } from '@openstack-operator/cli';
import { Pod, sleep } from '@openstack-operator/kube';
import type { Image, Process } from '@openstack-operator/sandbox';
import type { Cloud } from './cloud.ts';

/** The image of a pod in which the cloud's administrator creates or deletes servers, or looks into Placement. */
export const userImage: Image = {
  matches: (reference) => reference === 'user',
  user: 1000,
  programs: {
    boot: (process) => asAdmin(process, boot),
    delete: (process) => asAdmin(process, deleteAll),
    inventories: (process) => asAdmin(process, inventories),
  },
};

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

async function asAdmin(process: Process, run: (call: Call, process: Process) => Promise<void>): Promise<number> {
  const user = { name: 'admin', domain: { id: 'default' }, password: process.env['PASSWORD'] };
  const auth = {
    identity: { methods: ['password'], password: { user } },
    scope: { project: { name: 'admin', domain: { id: 'default' } } },
  };
  const login = await overNetwork(process, {
    method: 'POST',
    url: 'http://my-cloud-keystone-api.openstack.svc:5000/v3/auth/tokens',
    headers: {},
    body: JSON.stringify({ auth }),
  });
  const headers = { 'x-auth-token': login.headers['x-subject-token'] ?? '' };
  await run(async (method, path, body) => {
    const url = path.startsWith('/') ? `http://my-cloud-nova-api.openstack.svc:8774/v2.1${path}` : path;
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await overNetwork(process, { method, url, headers, ...text });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body || '{}') as Record<string, unknown>;
  }, process);
  return 0;
}

async function boot(call: Call, process: Process): Promise<void> {
  const { flavor } = (await call('POST', '/flavors', { flavor: { name: 'tiny', vcpus: 1, ram: 64, disk: 1 } })) as {
    flavor: { id: string };
  };
  const { server } = (await call('POST', '/servers', { server: { name: 'guest', flavorRef: flavor.id } })) as {
    server: { id: string };
  };
  for (;;) {
    const { server: now } = (await call('GET', `/servers/${server.id}`)) as { server: { status: string } };
    if (now.status === 'ACTIVE') return;
    if (now.status === 'ERROR') throw new Error('the server does not boot');
    await sleep(process.clock, 1000, process.signal);
  }
}

async function deleteAll(call: Call): Promise<void> {
  const { servers } = (await call('GET', '/servers?all_tenants=1')) as { servers: readonly { id: string }[] };
  for (const { id } of servers) await call('DELETE', `/servers/${id}`);
}

/** Prints what each provider gives: name -> resource class -> total and reserved. */
async function inventories(call: Call, process: Process): Promise<void> {
  const placement = 'http://my-cloud-placement-api.openstack.svc:8778/resource_providers';
  const { resource_providers: providers } = (await call('GET', placement)) as {
    resource_providers: readonly { uuid: string; name: string }[];
  };
  const given: Record<string, unknown> = {};
  for (const { uuid, name } of providers)
    given[name] = (await call('GET', `${placement}/${uuid}/inventories`))['inventories'];
  process.stdout(JSON.stringify(given));
}

/** Lets the administrator do something in the cloud, waits until that is done, and gives what it printed. */
export async function asUser(cloud: Cloud, task: 'boot' | 'delete' | 'inventories'): Promise<string> {
  const name = `user-${task}`;
  const secretKeyRef = { name: 'my-cloud-keystone-admin-password', key: 'password' };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'openstack', labels: { 'app.kubernetes.io/part-of': 'openstack' } },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'user',
          image: 'user',
          command: [task],
          env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef } }],
          terminationMessagePolicy: 'FallbackToLogsOnError',
        },
      ],
    },
  };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(Pod, pod));
  const phase = () => (cloud.get('Pod', name)?.status as { phase?: string } | undefined)?.phase;
  await cloud.until(() => ['Succeeded', 'Failed'].includes(phase() ?? ''), 10);
  if (phase() !== 'Succeeded') throw new Error(JSON.stringify(cloud.get('Pod', name)?.status));
  const printed = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name });
  await cloud.remove(Pod, name);
  return printed;
}
