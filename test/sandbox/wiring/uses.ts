import type { Endpoint } from './endpoint.ts';

interface Server {
  readonly status: string;
  readonly fault?: { readonly message: string };
}

/** What a user wants of each service; it needs a valid token, the service's database, and what runs behind its API. */
export const uses: Readonly<Record<string, (endpoint: Endpoint) => Promise<void>>> = {
  identity: async ({ get }) => {
    await get('/users');
  },
  image: async ({ get, post, put, made }) => {
    made.image = (
      await post('/v2/images', {
        name: 'cirros',
        disk_format: 'qcow2',
        container_format: 'bare',
        os_distro: 'fedora-coreos',
      })
    )['id'];
    await put(`/v2/images/${String(made.image)}/file`, 'a disk');
    await get('/v2/images');
  },
  placement: async ({ get }) => {
    await get('/resource_providers');
  },
  orchestration: async ({ get, post, wait }) => {
    const { stacks: before = [] } = await get('/stacks');
    const { stack } = await post('/stacks', { stack_name: `web-${before.length}`, template: {} });
    await wait(10_000);
    const { stacks = [] } = await get('/stacks');
    const { stack_status: status, stack_status_reason: reason } = stacks.find(({ id }) => id === stack?.['id']) ?? {};
    if (status !== 'CREATE_COMPLETE') throw new Error(`a stack is ${String(status)}: ${String(reason)}`);
  },
  baremetal: async ({ get, post, put }) => {
    const { uuid } = (await post('/v1/nodes', { driver: 'fake-hardware' })) as unknown as { uuid: string };
    for (const target of ['manage', 'provide', 'active']) await put(`/v1/nodes/${uuid}/states/provision`, { target });
    const { provision_state: state } = (await get(`/v1/nodes/${uuid}`)) as Record<string, unknown>;
    if (state !== 'active') throw new Error(`a machine is ${String(state)}`);
  },
  'nfv-orchestration': async ({ get, post, put, wait, login }) => {
    const packages = '/vnfpkgm/v1/vnf_packages';
    const { id } = (await post(packages, {})) as Record<string, unknown>;
    await put(`${packages}/${String(id)}/package_content`, 'PK: an archive');
    await wait(10_000);
    const { onboardingState: state } = (await get(`${packages}/${String(id)}`)) as Record<string, unknown>;
    if (state !== 'ONBOARDED') throw new Error(`a package is ${String(state)}`);
    const vim = {
      name: 'here',
      type: 'openstack',
      auth_url: login.url,
      auth_cred: { username: 'admin', password: login.password },
      vim_project: { name: 'admin' },
    };
    await post('/v1.0/vims', { vim });
    await get('/vnflcm/v1/vnf_instances');
  },
  container: async ({ get, post, put, project }) => {
    await post('/registries', { registry: { name: 'private', domain: 'registry.example.com', password: 'secret' } });
    await put(`/quotas/${project}`, { containers: 10 });
    // No host is in the cloud.
    const answer = JSON.stringify(await post('/containers', { name: 'web', image: 'nginx' }));
    if (!answer.includes('There are not enough hosts available.')) throw new Error(`a container is ${answer}`);
    await get('/services');
  },
  LMS: async ({ get, post }) => {
    await post('/v1/custom_config', { id: 'log_save_days', value: '7' });
    const { log_save_days: days } = (await get('/v1/custom_config')) as Record<string, unknown>;
    if (days !== '7') throw new Error(`logs are kept for ${String(days)} days`);
    // Nobody keeps logs in the cloud.
    await get('/v1/search/logs');
  },
  messaging: async ({ get, put, post }) => {
    await put('/v2/queues/jobs', {});
    await post('/v2/queues/jobs/messages', { messages: [{ body: 'one', ttl: 300 }] });
    const { messages = [] } = await get('/v2/queues/jobs/messages');
    if (messages.length === 0) throw new Error('a message is gone');
    await post('/v2/queues/jobs/claims', { ttl: 60, grace: 60 });
  },
  'admin-logic': async ({ get, post }) => {
    const { tasks: before = [] } = await get('/tasks');
    const email = `user-${before.length}@example.com`;
    await post('/openstack/users', { email, roles: ['member', 'project_mod'] });
    const { tokens = [] } = await get('/tokens');
    await post(`/tokens/${String(tokens[0]?.['token'])}`, { password: 'secret' });
    const { users = [] } = await get('/openstack/users');
    const id = String(users.find(({ name }) => name === email)?.['id']);
    for (const path of [`/openstack/users/${id}`, `/openstack/users/${id}/roles`, '/openstack/roles']) await get(path);
    const { tasks: invited = [] } = await get('/tasks');
    const { user_id: asker } = (invited[0]?.['keystone_user'] ?? {}) as { user_id?: string };
    const shown = (path: string) => get(path).then(Boolean, () => false);
    if (users.some(({ name }) => name === 'admin') || (await shown(`/openstack/users/${asker}`)))
      throw new Error('administrators are shown');
    if (await shown(`/openstack/users/${asker}/roles`)) throw new Error('roles of administrators are shown');
    const count = async () => (await get('/tokens'))['tokens']?.length ?? 0;
    const held = await count();
    await post('/openstack/users/password-reset', { email });
    if ((await count()) !== held + 1) throw new Error('whoever lost a password has no token');
    const [name, project] = [`signed-${before.length}@example.com`, `project-${before.length}`];
    await post('/openstack/sign-up', { email: name, project_name: project });
    const { tasks = [] } = await get('/tasks');
    const { uuid } =
      tasks.find(({ task_type: type, approved }) => type === 'create_project_and_user' && !approved) ?? {};
    await post(`/tasks/${String(uuid)}`, { approved: true });
  },
  database: async ({ get, post, made }) => {
    const { datastores = [] } = await get('/datastores');
    if (!datastores.some(({ name }) => name === 'postgresql')) throw new Error('a datastore is missing');
    const version = { datastore_name: 'mysql', name: '8.4', datastore_manager: 'mysql', image: made.image, active: 1 };
    await post('/mgmt/datastore-versions', { version });
    await get('/instances');
  },
  'container-infra': async ({ get, post, made, wait }) => {
    const asked = { name: 'small', coe: 'kubernetes', image_id: made.image, external_network_id: made.network };
    const { uuid: template } = await post('/clustertemplates', asked);
    const { uuid } = (await post('/clusters', { name: 'one', cluster_template_id: template })) as { uuid?: string };
    await wait(5000);
    const { status_reason: reason } = (await get(`/clusters/${uuid}`)) as Record<string, unknown>;
    // From here nobody finds the service by which its nodes would meet.
    if (!String(reason).includes('discovery url')) throw new Error(`a cluster: ${String(reason)}`);
    const { mservices = [] } = await get('/mservices');
    if (mservices.length !== 1) throw new Error(`${mservices.length} conductors`);
  },
  workflow: async ({ get, post, wait }) => {
    const { workflows = [] } = await get('/workflows');
    const name = `hello-${workflows.length}`;
    await post('/workflows', { version: '2.0', [name]: { tasks: { greet: { action: 'std.echo' } } } });
    const { id } = (await post('/executions', { workflow_name: name })) as { id?: string };
    await post('/cron_triggers', { name, workflow_name: name, pattern: '* * * * *' });
    await wait(5000);
    const { state } = (await get(`/executions/${id}`)) as Record<string, unknown>;
    if (state !== 'SUCCESS') throw new Error(`a workflow is ${String(state)}`);
  },
  // Aodh notifies of the second alarm, Ceilometer makes an event of that, and the first one fires.
  alarming: async ({ get, post, wait }) => {
    const first = (await post('/v2/alarms', {
      name: 'first',
      type: 'event',
      event_rule: { event_type: 'alarm.creation' },
    })) as Record<string, unknown>;
    await post('/v2/alarms', { name: 'second', type: 'event', event_rule: { event_type: 'nothing' } });
    await wait(10_000);
    const { state } = (await get(`/v2/alarms/${String(first['alarm_id'])}`)) as Record<string, unknown>;
    if (state !== 'alarm') throw new Error(`an alarm on an event is ${String(state)}`);
  },
  metric: async ({ get, post, wait }) => {
    const id = `resource-${Object.keys(await get('/v1/resource/generic')).length}`;
    await post('/v1/resource/generic', { id });
    const measures = [{ timestamp: '2026-01-02T03:04:05', value: 42 }];
    await post('/v1/batch/resources/metrics/measures?create_metrics=true', { [id]: { answer: { measures } } });
    await wait(70_000);
    const found = (await get(`/v1/resource/generic/${id}/metric/answer/measures`)) as unknown as unknown[];
    if (found.length === 0) throw new Error('no measure is aggregated');
  },
  rca: async ({ get, put, post, wait }) => {
    await wait(70_000);
    const { nodes = [] } = (await post('/v1/topology', { all_tenants: true })) as unknown as {
      nodes?: { vitrage_type: string }[];
    };
    for (const type of ['nova.host', 'nova.instance', 'neutron.network'])
      if (!nodes.some((node) => node.vitrage_type === type)) throw new Error(`no ${type} is in the graph`);
    await get('/v1/service');
    const name = `template-${Object.keys(await get('/v1/template')).length}`;
    await put('/v1/template', {
      templates: [['one.yaml', { metadata: { version: '3', name } }]],
      template_type: 'standard',
    });
    if (Object.keys(await get('/v1/template')).length === 0) throw new Error('a template is gone');
  },
  backup: async ({ get, post, project }) => {
    const { clients = [] } = await get(`/v2/${project}/clients`);
    const name = `node-${clients.length}`;
    await post(`/v2/${project}/clients`, { client_id: name, hostname: name });
    await post(`/v2/${project}/jobs`, { client_id: name, job_actions: [{ freezer_action: { action: 'backup' } }] });
    const { jobs = [] } = await get(`/v2/${project}/jobs`);
    if (!jobs.some(({ client_id: client }) => client === name)) throw new Error('a job is gone');
  },
  rating: async ({ get, post, put, wait }) => {
    const total = async () => {
      const { summary = [] } = await get('/v1/report/summary');
      return Number(summary[0]?.['rate']);
    };
    const before = await total();
    if (before === 0) {
      const hashmap = '/v1/rating/module_config/hashmap';
      await put('/v1/rating/modules/hashmap', { enabled: true });
      const service = (await post(`${hashmap}/services`, { name: 'image.size' })) as Record<string, unknown>;
      await post(`${hashmap}/mappings`, { service_id: service['service_id'], cost: '0.5', type: 'flat' });
    }
    const quote = await post('/v1/rating/quote', { resources: [{ service: 'image.size', volume: '4' }] });
    if (Number(quote) !== 2) throw new Error(`a quote is ${JSON.stringify(quote)}`);
    await wait(150_000);
    if ((await total()) <= before) throw new Error('nothing is rated');
  },
  network: async ({ get, post, host, made }) => {
    await get('/v2.0/networks');
    await get('/v2.0/routers');
    await get('/v2.0/security-groups');
    const { extensions = [] } = await get('/v2.0/extensions');
    for (const alias of ['qos', 'trunk', 'floating-ip-port-forwarding', 'segment', 'logging'])
      if (!extensions.some((one) => one['alias'] === alias)) throw new Error(`networks have no ${alias}`);
    const { network } = await post('/v2.0/networks', { network: { name: 'guests' } });
    if (network?.['provider:network_type'] !== 'geneve') throw new Error('a network does not reach other nodes');
    made.network = network['id'];
    const { ports = [] } = await get('/v2.0/ports');
    const metadata = ports.find((port) => port['network_id'] === made.network);
    if (metadata?.['device_owner'] !== 'network:distributed') throw new Error('a network has no metadata');
    const outside = [];
    for (const type of ['flat', 'vlan']) {
      const { network: made } = await post('/v2.0/networks', {
        network: { 'provider:network_type': type, 'provider:physical_network': 'physnet1', 'router:external': true },
      });
      outside.push(made?.['id']);
    }
    if (host === undefined) return;
    for (const id of [made.network, ...outside]) {
      const { port } = await post('/v2.0/ports', { port: { network_id: id, 'binding:host_id': host } });
      if (port?.['binding:vif_type'] !== 'ovs') throw new Error(`a port on ${host} is not bound`);
    }
  },
  'key-manager': useKeys,
  dns: useZones,
  'load-balancer': useBalancers,
  'instance-ha': async ({ get, post, host, wait }) => {
    const { segments = [] } = await get('/segments');
    const said = { name: `rack-${segments.length}`, recovery_method: 'auto', service_type: 'COMPUTE' };
    const { segment } = await post('/segments', { segment: said });
    const name = { name: host, type: 'COMPUTE', control_attributes: 'SSH' };
    await post(`/segments/${String(segment?.['uuid'])}/hosts`, { host: name });
    await post('/notifications', { notification: { type: 'COMPUTE_HOST', hostname: host, payload: {} } });
    await wait(5000);
    const { notifications = [] } = await get('/notifications');
    const status = notifications.at(-1)?.['status'];
    if (status !== 'finished') throw new Error(`a notification is ${String(status)}`);
  },
  'block-storage': useVolumes,
  'shared-file-system': useShares,
  'infra-optim': useAudits,
  reservation: useLeases,
  accelerator: useDevices,
  compute: async ({ get, post, open, host, made, wait, say }) => {
    const { services = [] } = await get('/os-services');
    for (const binary of ['nova-conductor', 'nova-scheduler', 'nova-compute']) {
      if (!services.some((service) => service['binary'] === binary && service['state'] === 'up'))
        throw new Error(`no ${binary} is up`);
    }
    const { hypervisors = [] } = await get('/os-hypervisors');
    if (hypervisors.length === 0) throw new Error('no hypervisor');
    await get('/servers');
    if (made.server !== undefined) return;
    const { flavor } = await post('/flavors', { flavor: { name: 'tiny', vcpus: 1, ram: 64, disk: 1 } });
    const { server } = await post('/servers', {
      server: { name: 'guest', imageRef: made.image, flavorRef: flavor?.['id'], networks: [{ uuid: made.network }] },
      'os:scheduler_hints': { reservation: made.reservation },
    });
    made.server = server?.['id'];
    // Longer than Nova waits for Neutron to say that the port is there.
    for (let waited = 0; waited < 400; waited += 5) {
      const { server: now } = (await get(`/servers/${String(made.server)}`)) as unknown as { server: Server };
      if (now.status === 'ACTIVE') break;
      if (now.status === 'ERROR') throw new Error(`a server does not boot: ${now.fault?.message}`);
      if (waited === 395) throw new Error('a server stays in BUILD');
      await wait(5000);
    }
    say(`guests are on ${String(made.network)}\n`);
    const { remote_console: shown } = await post(`/servers/${String(made.server)}/remote-consoles`, {
      remote_console: { protocol: 'vnc', type: 'novnc' },
    });
    await open(String(shown?.['url']));
    const { aggregates = [] } = await get('/os-aggregates');
    if (aggregates.some(({ name }) => name === 'rack')) return;
    const { aggregate } = await post('/os-aggregates', { aggregate: { name: 'rack' } });
    await post(`/os-aggregates/${String(aggregate?.['id'])}/action`, { add_host: { host } });
  },
};

/** Stores a secret and reads it, orders a key and waits for it, by the addresses that the key manager tells. */
async function useKeys({ url, get, post, wait }: Endpoint): Promise<void> {
  const told = (answer: unknown, name: string): string => {
    const address = (answer as Record<string, string>)[name] ?? '';
    if (!address.startsWith(`${url}/v1/`)) throw new Error(`${name} leads to ${address}`);
    return address.slice(url.length);
  };
  const payload = JSON.stringify('open sesame');
  const secret = told(await post('/v1/secrets', { payload, payload_content_type: 'text/plain' }), 'secret_ref');
  const read: unknown = await get(`${secret}/payload`);
  if (read !== 'open sesame') throw new Error('a secret is not what was stored');
  const asked = { type: 'key', meta: { name: 'disk', algorithm: 'aes', bit_length: 256 } };
  const order = told(await post('/v1/orders', asked), 'order_ref');
  for (let waited = 0; waited < 30; waited += 1) {
    const { status, secret_ref: made } = (await get(order)) as Record<string, unknown>;
    if (status === 'ACTIVE') return void told({ made }, 'made');
    if (status === 'ERROR') throw new Error('a key is not made');
    await wait(1000);
  }
  throw new Error('an order stays PENDING');
}

/** Makes a zone with a record, and waits until name servers have it. */
async function useZones({ get, post, wait }: Endpoint): Promise<void> {
  const { zones: before = [] } = await get('/v2/zones');
  const name = `zone-${before.length}.example.com.`;
  const { id } = (await post('/v2/zones', { name, email: 'hostmaster@example.com' })) as Record<string, unknown>;
  await post(`/v2/zones/${String(id)}/recordsets`, { name: `www.${name}`, type: 'A', records: ['192.0.2.7'] });
  for (let waited = 0; ; waited += 5) {
    const { status } = (await get(`/v2/zones/${String(id)}`)) as Record<string, unknown>;
    if (status === 'ACTIVE') return;
    if (status === 'ERROR' || waited === 120) throw new Error(`a zone is ${String(status)}`);
    await wait(5000);
  }
}

/** Makes a load balancer of the default provider in a network, and waits for it. */
async function useBalancers({ get, post, wait, made }: Endpoint): Promise<void> {
  const asked = { vip_network_id: made.network, vip_address: '10.40.0.10' };
  const { loadbalancer } = await post('/v2/lbaas/loadbalancers', { loadbalancer: asked });
  await wait(5000);
  const { loadbalancers = [] } = await get('/v2/lbaas/loadbalancers');
  const { provider, provisioning_status: status } = loadbalancers.find(({ id }) => id === loadbalancer?.['id']) ?? {};
  if (status !== 'ACTIVE') throw new Error(`a load balancer of ${String(provider)} is ${String(status)}`);
}

/** Makes a volume of the default type, and waits for it; every service of block storage is up. */
async function useVolumes({ get, post, wait }: Endpoint): Promise<void> {
  const { volume: made } = (await post('/volumes', { volume: { size: 1 } })) as { volume: { id: string } };
  for (let waited = 0; ; waited += 1) {
    const { volume = {} } = (await get(`/volumes/${made.id}`)) as { volume?: Record<string, unknown> };
    if (volume['status'] === 'available') break;
    if (volume['status'] !== 'creating' || waited === 30) throw new Error(`a volume is ${String(volume['status'])}`);
    await wait(1000);
  }
  const { services = [] } = (await get('/os-services')) as { services?: Record<string, unknown>[] };
  for (const binary of ['cinder-scheduler', 'cinder-volume'])
    if (!services.some((one) => one['binary'] === binary && one['state'] === 'up'))
      throw new Error(`${binary} is not up`);
}

/** Makes a share of the default type, and waits for it; every service of shared file systems is up. */
async function useShares({ get, post, wait }: Endpoint): Promise<void> {
  const asked = { size: 1, share_proto: 'NFS' };
  const { share: made } = (await post('/shares', { share: asked })) as { share: { id: string } };
  for (let waited = 0; ; waited += 1) {
    const { share = {} } = (await get(`/shares/${made.id}`)) as { share?: Record<string, unknown> };
    if (share['status'] === 'available') break;
    if (share['status'] !== 'creating' || waited === 30) throw new Error(`a share is ${String(share['status'])}`);
    await wait(1000);
  }
  const { services = [] } = (await get('/services')) as { services?: Record<string, unknown>[] };
  for (const binary of ['manila-scheduler', 'manila-share', 'manila-data'])
    if (!services.some((one) => one['binary'] === binary && one['state'] === 'up'))
      throw new Error(`${binary} is not up`);
}

/** Makes a device profile; the agent of a node has reported what its driver makes up. */
async function useDevices({ get, post, wait }: Endpoint): Promise<void> {
  const { device_profiles: before = [] } = await get('/device_profiles');
  await post('/device_profiles', [{ name: `fake-${before.length}`, groups: [{ 'resources:FPGA': '1' }] }]);
  await wait(70_000);
  const { devices = [] } = await get('/devices');
  if (devices.length === 0) throw new Error('no device was reported');
}

/** Gives a host to who reserves it, and leases it. */
async function useLeases({ get, post, wait, host: name, made }: Endpoint): Promise<void> {
  const { hosts = [] } = await get('/os-hosts');
  if (hosts.length > 0) return;
  await post('/os-hosts', { name });
  const { lease } = await post('/leases', { name: 'week', reservations: [{ resource_type: 'physical:host' }] });
  await wait(15_000);
  const { leases = [] } = await get('/leases');
  const { status } = leases.find(({ id }) => id === lease?.['id']) ?? {};
  if (status !== 'ACTIVE') throw new Error(`a lease is ${String(status)}`);
  made.reservation = lease?.['reservation'];
}

/** Makes an audit, and starts the plan that it ends with; the hypervisors are in the picture of the cloud. */
async function useAudits({ get, post, wait }: Endpoint): Promise<void> {
  const { uuid } = await post('/v1/audits', { audit_type: 'ONESHOT', goal: 'dummy' });
  await wait(10_000);
  const plan = async () =>
    ((await get('/v1/action_plans'))['action_plans'] ?? []).find((one) => one['audit_uuid'] === uuid) ?? {};
  await post(`/v1/action_plans/${String((await plan())['uuid'])}/start`, {});
  await wait(10_000);
  const { state } = await plan();
  if (state !== 'SUCCEEDED') throw new Error(`an action plan is ${String(state)}`);
  const { context = [] } = await get('/v1/data_model');
  if (context.length === 0) throw new Error('no hypervisor in the picture of the cloud');
  const { services = [] } = await get('/v1/services');
  if (services.some((one) => one['status'] !== 'ACTIVE')) throw new Error('a service of optimization is not active');
}
