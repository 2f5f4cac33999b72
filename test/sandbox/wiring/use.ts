import { Job, Namespace, Pod } from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import { parse } from 'yaml';
import type { Cloud } from '../rollout/cloud.ts';

const namespace = 'openstack';
const cloudName = 'my-cloud';
const minute = 60_000;

/** Which type of service each of our kinds adds to the catalogue. */
const types: Readonly<Record<string, string>> = {
  Keystone: 'identity',
  Glance: 'image',
  Placement: 'placement',
  Neutron: 'network',
  Nova: 'compute',
  Barbican: 'key-manager',
  Heat: 'orchestration',
  Watcher: 'infra-optim',
  Blazar: 'reservation',
  Mistral: 'workflow',
  Magnum: 'container-infra',
  Trove: 'database',
  Designate: 'dns',
  Octavia: 'load-balancer',
  Aodh: 'alarming',
  Cyborg: 'accelerator',
  Zaqar: 'messaging',
  Masakari: 'instance-ha',
  Ironic: 'baremetal',
  Gnocchi: 'metric',
  CloudKitty: 'rating',
  Vitrage: 'rca',
  Adjutant: 'admin-logic',
  Freezer: 'backup',
  Tacker: 'nfv-orchestration',
  Zun: 'container',
  Venus: 'LMS',
  Cinder: 'block-storage',
  Manila: 'shared-file-system',
};

/**
 * Ports that anybody may reach: the APIs and the console, which users reach through a gateway; name servers; broker, southbound
 * database and metadata, because node agents come from the nodes' own addresses, which no policy can name.
 */
const open = new Set([
  5000, 9292, 8778, 9696, 8774, 9311, 8004, 8000, 9322, 1234, 6666, 8776, 8786, 6080, 9999, 5672, 5671, 6642, 16642,
  8775, 8088, 8989, 9511, 8779, 9001, 5353, 9876, 8042, 8888, 9000, 15868, 8041, 8889, 8999, 6385, 5051, 9090, 9890,
  9517, 6784,
]);

/** The broker's management, which is no AMQP by TLS at 10000 above that without. */
const management = new Set([15_671, 15_672]);

/** Uses a cloud that says that it is Ready, as its administrator does and as nobody should. Gives what went wrong. */
export async function use(cloud: Cloud): Promise<string | undefined> {
  const { data } = cloud.get('Secret', `${cloudName}-keystone-clouds`) ?? { data: {} };
  const textOf = (key: string) => Buffer.from((data as Record<string, string>)[key] ?? '', 'base64').toString();
  const text = textOf('clouds.yaml');
  const { clouds } = parse(text) as { clouds: Record<string, { auth: Record<string, string>; region_name: string }> };
  const { auth = {}, region_name: region = '' } = clouds['admin-internal'] ?? {};
  const asUser = await runPod(cloud, {
    name: 'client',
    // As a pod of the cloud: what others reach is told by the stranger.
    labels: { 'app.kubernetes.io/part-of': 'openstack' },
    env: {
      IDENTITY_URL: auth['auth_url'] ?? '',
      PASSWORD: auth['password'] ?? '',
      REGION: region,
      CA: textOf('ca.crt'),
      // Where no node is claimed, the network has no agents.
      ...(cloud.list('DaemonSet').length > 0 && { HOST: 'node-1' }),
      ...(cloud.list('Horizon').length > 0 && {
        DASHBOARD_URL: `http://${cloudName}-horizon.${namespace}.svc:8088`,
      }),
      ...(cloud.list('Skyline').length > 0 && {
        CONSOLE_URL: `http://${cloudName}-skyline.${namespace}.svc:9999`,
      }),
      TYPES: Object.entries(types)
        .flatMap(([kind, type]) => (cloud.list(kind).length > 0 ? [type] : []))
        .join(' '),
    },
  });
  if (asUser !== undefined) return `user: ${asUser}`;
  const asGuest = await askAsGuest(cloud);
  if (asGuest !== undefined) return `guest: ${asGuest}`;
  const asStranger = await runPod(cloud, { name: 'stranger', labels: {}, env: { TARGETS: innards(cloud).join(' ') } });
  if (asStranger !== undefined) return `stranger: ${asStranger}`;
  const asScraper = await scrape(cloud);
  return asScraper === undefined ? await runSchedules(cloud) : `scraper: ${asScraper}`;
}

/** Reads metrics as a Prometheus of a namespace for monitoring does. */
async function scrape(cloud: Cloud): Promise<string | undefined> {
  const targets = portsOf(cloud, ({ name }) => name === 'prometheus' || name === 'metrics');
  if (targets.length === 0) return undefined;
  const metadata = { name: 'monitoring', labels: { 'openstack.k8s.io/monitoring': 'true' } };
  await cloud.settle(
    cloud.rehearsal.sandbox.client().create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata }),
  );
  await runUntil(cloud, () => cloud.get('ServiceAccount', 'default', metadata.name) !== undefined, minute);
  return await runPod(cloud, {
    name: 'scraper',
    namespace: metadata.name,
    labels: {},
    env: { TARGETS: targets.join(' ') },
  });
}

/** Runs each CronJob once, as `kubectl create job --from` does: none of them is due while a cloud is tried. */
async function runSchedules(cloud: Cloud): Promise<string | undefined> {
  const { sandbox } = cloud.rehearsal;
  for (const { metadata, spec } of cloud.list('CronJob')) {
    const { jobTemplate } = spec as { jobTemplate: { metadata?: object; spec: { template: object } } };
    const name = `${metadata.name}-now`;
    await cloud.settle(
      sandbox.client().create(Job, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { ...jobTemplate.metadata, name, namespace },
        spec: { ...jobTemplate.spec, backoffLimit: 0 },
      }),
    );
    const ended = (type: string) => {
      const job = cloud.get('Job', name);
      return job !== undefined && conditionOf(job, type)?.status === 'True';
    };
    await runUntil(cloud, () => ended('Complete') || ended('Failed'), 10 * minute);
    if (!ended('Complete')) return `schedule: Job ${name} did not complete`;
    // What is left when the cloud is deleted counts.
    await cloud.settle(sandbox.client().delete(Job, { namespace, name }, { propagationPolicy: 'Background' }));
  }
  return undefined;
}

/** What a guest is told of itself: its network's proxy asks the node's metadata agent over the socket of its settings. */
async function askAsGuest(cloud: Cloud): Promise<string | undefined> {
  const { sandbox } = cloud.rehearsal;
  const [, network] = /guests are on (\S+)/.exec(sandbox.pods.logs({ namespace, name: 'client' })) ?? [];
  const agent = cloud
    .list('Pod')
    .find(({ metadata }) => metadata.name.startsWith(`${cloudName}-neutron-metadata-agent`));
  if (network === undefined || agent === undefined) return undefined;
  const file = '/etc/neutron/neutron_ovn_metadata_agent.ini';
  const script = `
socket=$(grep '^metadata_proxy_socket' ${file} | cut -d = -f 2 | tr -d ' ')
curl -sSf --unix-socket "\${socket:-/var/lib/neutron/metadata_proxy}" -H 'X-OVN-Network-ID: ${network}' -H 'X-Forwarded-For: 192.0.2.5' http://169.254.169.254/latest/meta-data`;
  const asked = await cloud.settle(sandbox.pods.exec({ namespace, name: agent.metadata.name }, ['sh', '-c', script]));
  return asked.stdout.includes('instance-id') ? undefined : `no metadata: ${asked.stdout}${asked.stderr}`;
}

/** Every listening port behind a network policy, or that a Service offers, but those that are open to all. */
function innards(cloud: Cloud): string[] {
  // That with TLS is of 10000 above that without.
  const isOpen = (port: number) => open.has(port) || (open.has(port - 10_000) && !management.has(port));
  return portsOf(cloud, ({ containerPort }) => !isOpen(containerPort));
}

interface Port {
  readonly name?: string;
  readonly containerPort: number;
}

/** `host:port` of these ports of the cloud's pods. */
function portsOf(cloud: Cloud, isMeant: (port: Port) => boolean): string[] {
  return cloud.list('Pod').flatMap(({ metadata, spec, status }) => {
    const { containers = [], hostNetwork } = (spec ?? {}) as {
      containers?: { ports?: Port[] }[];
      hostNetwork?: boolean;
    };
    const { podIP } = (status ?? {}) as { podIP?: string };
    // Policies do not reach pods on the node's own network.
    if (metadata.namespace !== namespace || podIP === undefined || hostNetwork === true) return [];
    return containers
      .flatMap(({ ports = [] }) => ports)
      .filter(isMeant)
      .map(({ containerPort }) => `${podIP}:${containerPort}`);
  });
}

async function runPod(
  cloud: Cloud,
  options: { name: string; namespace?: string; labels: Record<string, string>; env: Record<string, string> },
): Promise<string | undefined> {
  const { name, namespace: ns = namespace, labels, env } = options;
  const { sandbox } = cloud.rehearsal;
  const container = {
    name,
    image: 'client',
    command: [name],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  };
  await cloud.settle(
    sandbox.client().create(Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: ns, labels },
      spec: { restartPolicy: 'Never', containers: [container] },
    }),
  );
  const phase = () => (cloud.get('Pod', name, ns)?.['status'] as { phase?: string } | undefined)?.phase ?? '';
  await runUntil(cloud, () => ['Succeeded', 'Failed'].includes(phase()), 10 * minute);
  if (phase() === 'Succeeded') return undefined;
  const lastWords = () => sandbox.pods.logs({ namespace: ns, name }).trim().split('\n').at(-1);
  return phase() === 'Failed' ? lastWords() : `still ${phase()} after 10 minutes`;
}

/** Runs until then, or until the time is over, which is no failure here. */
export async function runUntil(cloud: Cloud, until: () => boolean, limit: number): Promise<void> {
  const last = cloud.clock.now() + limit;
  const wake = cloud.clock.after(limit, () => {});
  await cloud.clock.run(() => until() || cloud.clock.now() >= last, { limit: limit + minute });
  wake.cancel();
}
