import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { services } from '../../services/index.ts';
import { composed, objectsOf, resource, samples, surroundings } from '../../testing/compositions.ts';
import { type Composition } from '../compose/compose.ts';
import type { Service } from '../vocabulary/service.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const world = surroundings(read);

interface Pod {
  readonly tolerations?: unknown;
  readonly priorityClassName?: string;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly command: readonly string[];
    readonly name: string;
    readonly imagePullPolicy?: string;
    readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    readonly livenessProbe?: unknown;
    readonly readinessProbe?: {
      readonly httpGet?: object;
      readonly periodSeconds: number;
      readonly failureThreshold: number;
    };
  }[];
}

function composition(sample: string, spec: Record<string, unknown> = {}): Composition {
  const base = resource(read(sample));
  return composed({ ...base, spec: { ...base.spec, ...spec } }, world);
}

/** Pods by `Kind name` of what makes them. */
function pods(sample: string, spec: Record<string, unknown> = {}): Record<string, Pod> {
  return Object.fromEntries(
    objectsOf(composition(sample, spec)).flatMap(({ object }) => {
      const template = (object as { spec?: { template?: { spec: Pod } } }).spec?.template;
      return template === undefined ? [] : [[`${object.kind} ${object.metadata.name}`, template.spec]];
    }),
  );
}

const control = [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }];

describe('where pods run', () => {
  test('tolerations and priority of the resource are those of its Jobs, too', () => {
    const all = pods('placement', { tolerations: control, priorityClassName: 'cloud' });
    expect(Object.keys(all)).toContain('Job placement-db-sync');
    for (const [name, pod] of Object.entries(all))
      expect([name, pod.tolerations, pod.priorityClassName]).toEqual([name, control, 'cloud']);
  });

  test('a component says otherwise for itself; Jobs follow the main one when the resource says nothing', () => {
    const all = pods('placement', { components: { api: { tolerations: control, priorityClassName: 'high' } } });
    expect(all['Job placement-db-sync']).toMatchObject({ tolerations: control, priorityClassName: 'high' });
    const other = pods('placement', { tolerations: [], components: { api: { tolerations: control } } });
    expect(other['Job placement-db-sync']?.tolerations).toEqual([]);
    expect(other['Deployment placement-api']?.tolerations).toEqual(control);
  });

  test('node agents stay what they are', () => {
    const plain = pods('nova')['DaemonSet nova-compute'];
    const set = pods('nova', { tolerations: control, priorityClassName: 'cloud' })['DaemonSet nova-compute'];
    expect(set).toEqual(plain);
  });
});

test('a pull policy is that of every container, and none is stated when nobody says one', () => {
  const policies = (spec: Record<string, unknown>) =>
    new Set(
      Object.values(pods('neutron', spec)).flatMap(({ containers }) => containers.map((one) => one.imagePullPolicy)),
    );
  expect(policies({ imagePullPolicy: 'Always' })).toEqual(new Set(['Always']));
  expect(policies({})).toEqual(new Set([undefined]));
});

test('what calls out to other servers has a deadline, a migration has none', () => {
  const deadlines = Object.fromEntries(
    objectsOf(composition('nova'))
      .filter(({ object }) => object.kind === 'Job')
      .map(({ object }) => [
        object.metadata.name,
        (object as { spec?: { activeDeadlineSeconds?: number } }).spec?.activeDeadlineSeconds,
      ]),
  );
  expect(deadlines).toEqual({
    'nova-db-create': 900,
    'nova-mq-create': 900,
    'nova-endpoint-create': 900,
    'nova-cell-setup': undefined,
    'nova-db-sync': undefined,
    'nova-host-discovery': undefined,
    'nova-member-create': 900,
  });
});

test('an API under uwsgi is not killed before its workers had their time', () => {
  const pod = pods('keystone')['Deployment keystone-api'];
  const [container] = pod?.containers ?? [];
  const ini = objectsOf(composition('keystone'))
    .flatMap(({ object }) => Object.values((object as { data?: Record<string, string> }).data ?? {}))
    .find((text) => text.includes('worker-reload-mercy'));
  const mercy = Number(/worker-reload-mercy = (\d+)/.exec(ini ?? '')?.[1]);
  const { seconds = 0 } = container?.lifecycle?.preStop.sleep ?? {};
  expect(seconds).toBeGreaterThan(0);
  expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(seconds + mercy);
});

test('processes and threads are those that are asked for', () => {
  const ini = (spec: Record<string, unknown>) =>
    objectsOf(composition('placement', spec))
      .flatMap(({ object }) => Object.values((object as { data?: Record<string, string> }).data ?? {}))
      .find((text) => text.startsWith('[uwsgi]'));
  expect(ini({})).toMatch(/^processes = 2\nthreads = 4$/m);
  expect(ini({ components: { api: { processes: 6, threads: 2 } } })).toMatch(/^processes = 6\nthreads = 2$/m);
});

test('every program of the control plane has probes', () => {
  // A loop of a shell: its command has a time limit, and the container ends with it.
  const isLoop = ({ name }: { name: string }) => name === 'certificate-reloader';
  const ofServices = samples.filter((name) => !name.startsWith('controlplane'));
  const without = ofServices.flatMap((sample) =>
    Object.entries(pods(sample))
      .filter(([name]) => /^(Deployment|StatefulSet) /.test(name))
      .filter(([, { containers }]) =>
        containers.some((one) => !isLoop(one) && (!one.livenessProbe || !one.readinessProbe)),
      )
      .map(([name]) => name),
  );
  expect(without).toEqual([]);
});

test('an API whose workers all wait for an agent stays in its Service', () => {
  const rpcResponseTimeout = 60;
  const held = samples.flatMap((sample) =>
    Object.entries(pods(sample)).flatMap(([name, { containers }]) =>
      containers.flatMap(({ readinessProbe }) => {
        if (readinessProbe?.httpGet === undefined) return [];
        return [{ name, seconds: readinessProbe.periodSeconds * (readinessProbe.failureThreshold - 1) }];
      }),
    ),
  );
  expect(held.length).toBeGreaterThan(10);
  expect(held.filter(({ seconds }) => seconds < rpcResponseTimeout)).toEqual([]);
});

describe('who may connect', () => {
  /** The last one has no account of its own, and Jobs that do what those of another service do. */
  const named = (has: (service: Service) => boolean) =>
    services.filter((one) => has(one) || one.name === 'openstackdataplane').map(({ name }) => name);
  const ingress = (sample: string, name: string, spec: Record<string, unknown> = {}) =>
    objectsOf(composition(sample, spec))
      .filter(({ object }) => object.kind === 'NetworkPolicy' && object.metadata.name === name)
      .flatMap(({ object }) => (object as { spec?: { ingress: unknown[] } }).spec?.ingress ?? []);
  const pods = (...services: string[]) => ({
    podSelector: {
      matchLabels: { 'app.kubernetes.io/part-of': 'openstack' },
      matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: services }],
    },
  });
  const monitoring = { namespaceSelector: { matchLabels: { 'openstack.k8s.io/monitoring': 'true' } } };

  test('the database: the services that have one', () => {
    expect(ingress('mariadb', 'mariadb')).toEqual([
      {
        ports: [{ port: 3306, protocol: 'TCP' }],
        from: [pods('mariadb', ...named(({ databases }) => databases !== undefined))],
      },
    ]);
  });

  test('the broker: agents on nodes, the services that use it, monitoring', () => {
    const clients = pods('rabbitmq', ...named(({ messaging }) => messaging !== undefined));
    const others = [
      { ports: [{ port: 15692, protocol: 'TCP' }], from: [clients, monitoring] },
      { ports: [15672, 15671].map((port) => ({ port, protocol: 'TCP' })), from: [clients] },
    ];
    const ports = [5672, 5671].map((port) => ({ port, protocol: 'TCP' }));
    expect(ingress('rabbitmq', 'rabbitmq')).toEqual([{ ports }, ...others]);
    expect(ingress('rabbitmq', 'rabbitmq', { nodeNetworks: ['10.0.0.0/16'] })).toEqual([
      { ports, from: [clients, { ipBlock: { cidr: '10.0.0.0/16' } }] },
      ...others,
    ]);
  });

  test("OVN's southbound database: agents on nodes and the cloud's pods, when their networks are known", () => {
    const [first] = ingress('ovn-network', 'ovn-sb-db', { nodeNetworks: ['10.0.0.0/16'] });
    expect(first).toMatchObject({ from: [{}, { ipBlock: { cidr: '10.0.0.0/16' } }] });
  });
});
