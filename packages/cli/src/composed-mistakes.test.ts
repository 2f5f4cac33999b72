import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composedMistakes } from './composed-mistakes.ts';
import { minimalControlPlane } from './minimal-control-plane.ts';
import { readResources } from './read-resources.ts';

const mistakes = (spec: Record<string, unknown>) => composedMistakes([{ ...minimalControlPlane, spec }]);
const title = `OpenStackControlPlane ${minimalControlPlane.metadata.namespace}/${minimalControlPlane.metadata.name}`;

test.each([
  [
    'an option that follows from a field',
    { nova: { config: { 'nova.conf': { libvirt: { virt_type: 'kvm' } } } } },
    'spec.nova.config["nova.conf"].libvirt.virt_type',
    'this option follows from other fields: set spec.nova.virtType or spec.nova.nodeGroups[].virtType instead',
  ],
  [
    'an option that follows from a field of another service',
    { nova: { config: { 'nova.conf': { neutron: { metadata_proxy_shared_secret: 'x' } } } } },
    'spec.nova.config["nova.conf"].neutron.metadata_proxy_shared_secret',
    'this option follows from other fields: set spec.metadataSecretName of the Neutron instead',
  ],
  [
    'a file that there is not',
    { keystone: { config: { 'keystne.conf': { DEFAULT: { debug: true } } } } },
    'spec.keystone.config["keystne.conf"]',
    'unknown file or component; known are keystone.conf, api',
  ],
  [
    'an option that the release does not have',
    { nova: { config: { 'nova.conf': { DEFAULT: { cpu_alocation_ratio: 4 } } } } },
    'spec.nova.config["nova.conf"].DEFAULT.cpu_alocation_ratio',
    'there is no such option; did you mean cpu_allocation_ratio? (spec.nova.unknownOptions: Allow lets in those of drivers of your own)',
  ],
  [
    'VLANs of a network that no bridge leads to',
    { neutron: { vlanRanges: [{ physicalNetwork: 'physnet9', minimum: 1, maximum: 2 }] } },
    'spec.neutron.vlanRanges[0].physicalNetwork',
    'no bridge leads to physnet9; known are physnet1: name one of them, or map it in spec.neutron.bridgeMappings or in those of a node group',
  ],
  [
    'a cell that there is not',
    { nova: { nodeGroups: [{ name: 'edge', cell: 'cell9' }] } },
    'spec.nova.nodeGroups[name=edge].cell',
    'there is no cell cell9; known are cell1',
  ],
  [
    'memory in thousandths of a byte',
    { keystone: { resources: { requests: { memory: '512m' } } } },
    'spec.keystone.resources.requests.memory',
    '512m is 512 thousandths of a byte; write 512Mi for 2^20 bytes each, or 512M for 10^6',
  ],
  [
    'a request above its limit',
    { nova: { components: { api: { resources: { requests: { cpu: 2 }, limits: { cpu: '1500m' } } } } } },
    'spec.nova.components.api.resources.requests.cpu',
    '2 is more than the limit of 1500m: lower it, or raise the limit',
  ],
  [
    'a range of cron the wrong way round',
    { keystone: { recordsAudit: { schedule: '10-5 * * * *' } } },
    'spec.keystone.recordsAudit.schedule',
    '"10-5 * * * *": minute 10-5 ends before it begins: write 5-10, or 10-59,0-5',
  ],
  [
    'a label that no node can have',
    { glance: { nodeSelector: { 'disk type': 'ssd' } } },
    'spec.glance.nodeSelector["disk type"]',
    "no label has such a name: expected up to 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends, and a domain and '/' before it if need be",
  ],
  [
    'a value that no label can have',
    { nova: { nodeGroups: [{ name: 'edge', nodeSelector: { 'example.com/role': 'edge!' } }] } },
    'spec.nova.nodeGroups[name=edge].nodeSelector["example.com/role"]',
    `no label has the value "edge!": expected up to 63 letters, digits, '-', '_' and '.', with a letter or a digit at both ends`,
  ],
  [
    'a group whose nodes another one takes',
    {
      nova: {
        nodeGroups: [
          { name: 'a', nodeSelector: { role: 'compute' } },
          { name: 'b', nodeSelector: { role: 'compute' } },
        ],
      },
    },
    'spec.nova.nodeGroups[name=b].nodeSelector',
    'group a claims every such node: give b other labels, or a replicas',
  ],
])('%s', (_what, spec, field, message) => {
  expect(mistakes(spec)).toEqual([{ title, field, message }]);
});

test('a file that no ConfigMap holds', () => {
  const config = { 'keystone.conf': { DEFAULT: { log_date_format: 'x'.repeat(1.1 * 2 ** 20) } } };
  const [mistake, ...others] = mistakes({ keystone: { config } });
  expect(mistake?.field).toBe('spec.keystone.config');
  expect(mistake?.message).toMatch(
    /^ConfigMap openstack\/.*-keystone-config-\w+ comes to 1\.\d+ MiB, most of it in .*keystone.*; the API server takes at most 1 MiB: shorten it$/u,
  );
  expect(others).toEqual([]);
});

test('two services of one public host name, where a Gateway would have to tell them apart', () => {
  const publicHostname = 'api.example.org';
  expect(mistakes({ keystone: { publicHostname }, glance: { publicHostname } })).toEqual([
    {
      title,
      field: 'spec.glance.publicHostname',
      message: `"api.example.org" is spec.publicHostname of the Keystone ${minimalControlPlane.metadata.namespace}/${minimalControlPlane.metadata.name}-keystone as well, and a Gateway tells APIs apart by their host names: give each its own`,
    },
  ]);
  const other = { ...minimalControlPlane, metadata: { ...minimalControlPlane.metadata, name: 'other' } };
  expect(composedMistakes([minimalControlPlane, other])).toEqual([]);
  const balanced = { publicHostname, exposure: 'LoadBalancer' };
  expect(mistakes({ keystone: balanced, glance: balanced })).toEqual([]);
});

test('what is stated for all services is told once, where it stands', () => {
  const wrong = { tolerations: [{ value: 'a' }] };
  expect(mistakes(wrong).map(({ field }) => field)).toEqual(['spec.tolerations[0]']);
  expect(mistakes({ keystone: wrong }).map(({ field }) => field)).toEqual(['spec.keystone.tolerations[0]']);
});

test('groups that share nodes by number', () => {
  const groups = [{ name: 'a', replicas: 2 }, { name: 'b' }];
  expect(mistakes({ nova: { nodeGroups: groups } })).toEqual([]);
});

test('two resources of one name', () => {
  const named = (kind: string) => ({
    apiVersion: 'openstack.k8s.io/v1alpha1',
    kind,
    metadata: { name: 'db', namespace: 'openstack' },
  });
  const [mistake, ...others] = composedMistakes([named('MariaDB'), named('RabbitMQ')]);
  expect(mistake?.title).toBe('RabbitMQ openstack/db');
  expect(mistake?.message).toMatch(
    /^MariaDB openstack\/db comes to objects of the same names \(.* openstack\/db.*\): give one of the two another name$/u,
  );
  expect(others).toEqual([]);
});

test('what works, and will not for ever, is a warning', () => {
  const config = { 'nova.conf': { DEFAULT: { rpc_thread_pool_size: 8 } } };
  expect(mistakes({ nova: { config } })).toEqual([
    {
      title,
      field: 'spec.nova.config["nova.conf"].DEFAULT.rpc_thread_pool_size',
      message: 'deprecated: it is called [DEFAULT] executor_thread_pool_size now; write that instead',
      isWarning: true,
    },
  ]);
});

test('sections and files that say nothing are none', () => {
  const config = { 'nova.conf': { DEFAULT: null }, scheduler: null };
  expect(mistakes({ nova: { config } })).toEqual([]);
});

test('a service alone in its file, which refers to others', () => {
  const [nova] = readResources(['config/samples/nova.yaml']);
  if (nova === undefined) throw new Error('no sample');
  const config = { 'nova.cnf': { DEFAULT: { debug: true } } };
  const [mistake, ...others] = composedMistakes([{ ...nova, spec: { ...(nova['spec'] as object), config } }]);
  expect(mistake?.field).toBe('spec.config["nova.cnf"]');
  expect(others).toEqual([]);
});

test('VLANs of a Neutron alone in its file: its OVNNetwork may have bridges of its own', () => {
  const [neutron] = readResources(['config/samples/neutron.yaml']);
  if (neutron === undefined) throw new Error('no sample');
  const vlanRanges = [{ physicalNetwork: 'physnet9', minimum: 1, maximum: 2 }];
  expect(composedMistakes([{ ...neutron, spec: { ...(neutron['spec'] as object), vlanRanges } }])).toEqual([]);
});

test('a service without one that it needs', () => {
  expect(mistakes({ rabbitmq: { enabled: false } }).map(({ message }) => message.split(',')[0])).toContain(
    'Neutron needs spec.rabbitmq',
  );
});

test.each(readdirSync('config/samples').filter((name) => !['gateway.yaml', 'kustomization.yaml'].includes(name)))(
  '%s has none',
  (name) => {
    expect(composedMistakes(readResources([`config/samples/${name}`]))).toEqual([]);
  },
);
