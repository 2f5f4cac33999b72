import { overNetwork } from '@openstack-operator/cli';
import { Pod, sleep } from '@openstack-operator/kube';
import { offeredBy, openScreen } from '@openstack-operator/processes';
import type { Image, Process } from '@openstack-operator/sandbox';
import type { Cloud } from './cloud.ts';

/** The image of a pod in which the cloud's administrator creates or deletes servers, or looks into Placement. */
export const userImage: Image = {
  matches: (reference) => reference === 'user',
  user: 1000,
  programs: {
    boot: (process) => asAdmin(process, boot),
    delete: (process) => asAdmin(process, deleteAll),
    act: (process) => asAdmin(process, act),
    console: (process) => asAdmin(process, openConsole),
    peek: async (process) => {
      await peek(process);
      return 0;
    },
    disable: (process) => asAdmin(process, disable),
    hosts: (process) => asAdmin(process, hosts),
    agents: (process) => asAdmin(process, agents),
    ports: (process) => asAdmin(process, ports),
    inventories: (process) => asAdmin(process, inventories),
  },
};

/** `version`: of the API, where it is not the oldest. */
type Call = (method: string, path: string, body?: unknown, version?: string) => Promise<Record<string, unknown>>;

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
  await run(async (method, path, body, version) => {
    const url = path.startsWith('/') ? `http://my-cloud-nova-api.openstack.svc:8774/v2.1${path}` : path;
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const asked = version === undefined ? headers : { ...headers, 'openstack-api-version': `compute ${version}` };
    const answer = await overNetwork(process, { method, url, headers: asked, ...text });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body || '{}') as Record<string, unknown>;
  }, process);
  return 0;
}

const neutron = 'http://my-cloud-neutron-server.openstack.svc:9696/v2.0';

/** Boots a server of the name that is asked for, in a network of the name that is asked for, whose id it prints. */
async function boot(call: Call, process: Process): Promise<void> {
  const [, name = 'guest', network] = process.argv;
  const networks: { uuid: string }[] = [];
  if (network !== undefined) {
    const made = (await call('POST', `${neutron}/networks`, { network: { name: network } })) as {
      network: { id: string };
    };
    networks.push({ uuid: made.network.id });
    process.stdout(made.network.id);
  }
  const { flavor } = (await call('POST', '/flavors', { flavor: { name: 'tiny', vcpus: 1, ram: 64, disk: 1 } })) as {
    flavor: { id: string };
  };
  const { server } = (await call('POST', '/servers', { server: { name, flavorRef: flavor.id, networks } })) as {
    server: { id: string };
  };
  for (;;) {
    const { server: now } = (await call('GET', `/servers/${server.id}`)) as { server: { status: string } };
    if (now.status === 'ACTIVE') return;
    if (now.status === 'ERROR') throw new Error('the server does not boot');
    await sleep(process.clock, 1000, process.signal);
  }
}

interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly 'OS-EXT-SRV-ATTR:host': string;
  readonly 'OS-EXT-STS:task_state': string | null;
}

const listed = async (call: Call): Promise<readonly Server[]> =>
  (await call('GET', '/servers/detail?all_tenants=1'))['servers'] as readonly Server[];

/** Deletes the servers of the name that is asked for, or all. */
async function deleteAll(call: Call, { argv: [, wanted] }: Process): Promise<void> {
  for (const { id, name } of await listed(call))
    if (wanted === undefined || name === wanted) await call('DELETE', `/servers/${id}`);
}

/** Prints the host of each agent of Neutron. */
async function agents(call: Call, process: Process): Promise<void> {
  const { agents: all } = (await call('GET', `${neutron}/agents`)) as { agents: readonly { host: string }[] };
  process.stdout(all.map(({ host }) => host).join(' '));
}

/** Has something done with the server of a name, as JSON, until it has a status and nothing goes on any more. */
async function act(call: Call, { argv: [, wanted, action = '', status], clock, signal }: Process): Promise<void> {
  const one = async () => (await listed(call)).find(({ name }) => name === wanted);
  await call('POST', `/servers/${(await one())?.id}/action`, JSON.parse(action));
  const isDone = (server: Server | undefined) =>
    server?.status === status && server?.['OS-EXT-STS:task_state'] === null;
  while (!isDone(await one())) await sleep(clock, 1000, signal);
}

/** Prints what a browser gets to see of the graphical console of a server. */
async function openConsole(call: Call, process: Process): Promise<void> {
  const [, wanted] = process.argv;
  const server = (await listed(call)).find(({ name }) => name === wanted);
  const asked = { remote_console: { protocol: 'vnc', type: 'novnc' } };
  const { remote_console: made } = await call('POST', `/servers/${server?.id}/remote-consoles`, asked, '2.6');
  const { searchParams } = new URL((made as { url: string }).url);
  const url = `http://my-cloud-nova-cell1-novncproxy.openstack.svc:6080/${searchParams.get('path') ?? ''}`;
  const headers = { upgrade: 'websocket', connection: 'Upgrade' };
  process.stdout((await overNetwork(process, { method: 'GET', url, headers })).body);
}

/** Prints whether the screen at a port of a host is shown to who has no certificate, by each security type that it offers. */
async function peek(process: Process): Promise<void> {
  const [, host = '', port] = process.argv;
  const connect = () => process.network.connect(host, Number(port), 'vnc');
  for (const type of await offeredBy(await connect())) {
    const connection = await connect();
    const said = await openScreen(connection, type).then(
      () => 'shown',
      (error: unknown) => String(error),
    );
    connection.close();
    process.stdout(`${type}: ${said}`);
  }
}

/** Disables a host, for a reason. */
async function disable(call: Call, { argv: [, host, reason] }: Process): Promise<void> {
  await call('PUT', '/os-services/disable-log-reason', { host, binary: 'nova-compute', disabled_reason: reason });
}

/** Prints the host of each port. */
async function ports(call: Call, process: Process): Promise<void> {
  const { ports: all } = (await call('GET', `${neutron}/ports?device_owner=compute:nova`)) as {
    ports: readonly { status: string; 'binding:host_id': string; 'binding:vif_type': string }[];
  };
  process.stdout(all.map((one) => `${one['binding:host_id']} ${one['binding:vif_type']} ${one.status}`).join('\n'));
}

/** Prints each host with its servers, and why it is disabled. */
async function hosts(call: Call, process: Process): Promise<void> {
  const { services } = (await call('GET', '/os-services?binary=nova-compute')) as {
    services: readonly { host: string; status: string; disabled_reason: string | null }[];
  };
  const servers = await listed(call);
  const shown = services.map(({ host, status, disabled_reason: reason }) => {
    const own = servers.filter((server) => server['OS-EXT-SRV-ATTR:host'] === host);
    return [host, { status, reason, servers: own.map(({ name, status }) => `${name} ${status}`) }] as const;
  });
  process.stdout(JSON.stringify(Object.fromEntries(shown)));
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
export async function asUser(
  cloud: Cloud,
  task: 'boot' | 'delete' | 'act' | 'console' | 'peek' | 'agents' | 'disable' | 'hosts' | 'ports' | 'inventories',
  ...words: readonly string[]
): Promise<string> {
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
          command: [task, ...words],
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
