import type { StoredObject } from '@openstack-operator/kube';
import { imageProblem } from '../engine/objects/images.ts';
import type { BrokerAddress, IdentityAddress } from '../engine/vocabulary/addresses.ts';
import { type Context, externalOf } from '../engine/vocabulary/context.ts';
import { defineService, type Found, type Job } from '../engine/vocabulary/service.ts';
import { trustedBy } from '../engine/vocabulary/trust.ts';
import { ovnOf } from '../infrastructure/ovn/address.ts';
import { inactivityProbe } from '../infrastructure/ovn/ovs-settings.ts';
import { externalCompute } from '../services/nova/external.ts';
import type { Nova } from '../services/nova/kind.ts';
import { hostDiscovery } from '../services/nova/scripts.ts';
import { directories, hostProblems, hostsOf, inventory, keySecrets, knownHosts, servicesOf } from './hosts.ts';
import { OpenStackDataPlane } from './kind.ts';
import { deployHosts, playbook } from './playbook.ts';

/** The Debian that has the packages of a release. */
const distributions: Readonly<Record<string, string>> = { '2025.1': 'trixie' };

/** What the Nova refers to as well: it has to be the same. */
const shared = ['messageQueueRef', 'keystoneRef', 'databaseRef', 'cacheRef'] as const;

/** Hosts outside of the cluster (architecture, section 2: the data plane), configured by Ansible. */
export const dataplane = defineService<OpenStackDataPlane>({
  kind: OpenStackDataPlane,
  name: 'openstackdataplane',
  user: 'ansible',
  borrows: 'novaRef',
  // Hosts are found by a Job that asks Nova's database, as Nova's own Jobs do; no host is told of it.
  dependsOn: {
    novaRef: 'steps',
    ovnRef: 'steps',
    keystoneRef: 'steps',
    messageQueueRef: 'steps',
    databaseRef: 'steps',
    cacheRef: 'steps',
  },
  config: (context) => {
    const { spec } = context;
    const { compute, manage } = novaOf(context);
    return {
      main: {
        [`${directories.ansible}/inventory.yaml`]: { format: 'yaml', data: inventory(spec, variables(context)) },
        [`${directories.ansible}/extra-vars.json`]: { format: 'json', data: { ...spec.ansibleExtraVars } },
        [`${directories.ansible}/known_hosts`]: knownHosts(spec),
        [`${directories.ansible}/playbook.yaml`]: playbook,
        [`${directories.files}/nova.conf`]: { oslo: compute, whole: true },
      },
      discovery: { '/etc/nova/nova.conf': { oslo: manage } },
    };
  },
  components: () => ({}),
  jobs: (context) => [deploy(context), ...discovery(context)],
  problems: (context) => {
    const spec = [...referenceProblems(context), ...hostProblems(context.spec), ...deployImageProblem(context)];
    const messages = [...spec, ...exposureProblems(context), ...novaOf(context).problems];
    const reason = spec.length > 0 ? 'SpecRefused' : 'ExposureRefused';
    return messages.length === 0 ? {} : { ConfigReady: { reason, message: messages.join('; ') } };
  },
  status: ({ spec, resource }) => ({
    totalNodes: spec.nodes.length,
    ...deployedOf((resource as { status?: { found?: Found } }).status?.found),
  }),
});

/** Runs the playbook on all hosts, again whenever anything that it reads has changed, a key included. */
function deploy(context: Context<OpenStackDataPlane>): Job {
  const { spec } = context;
  const { ansiblePlaybook } = spec;
  const directory = ansiblePlaybook === undefined ? directories.ansible : directories.playbook;
  const keys = keySecrets(spec).map((secret, index) => ({
    path: `${directories.keys}/${index}`,
    secret,
    key: 'ssh-privatekey',
  }));
  return {
    suffix: 'deploy',
    step: 'DeploymentReady',
    asks: ['novaRef', 'ovnRef', 'keystoneRef', 'messageQueueRef'],
    image: 'ansible',
    runs: [{ name: 'deploy', script: deployHosts, arguments: [`${directory}/playbook.yaml`] }],
    mounts: [
      ...keys,
      ...(ansiblePlaybook === undefined ? [] : [{ path: directories.playbook, configMap: ansiblePlaybook }]),
    ],
    inputs: [
      inventory(spec, variables(context)),
      spec.ansibleExtraVars ?? {},
      knownHosts(spec),
      ansiblePlaybook ?? playbook,
    ],
    findsOfFailed: true,
    finds: (words, before) => {
      const [said] = words.flatMap((line) => /^deployed (\d+) of \d+$/.exec(line)?.[1] ?? []).slice(-1);
      return said === undefined ? before : { ...before, deployedNodes: said };
    },
  };
}

/** Makes the hosts known to Nova's cell, and waits until each has reported. */
function discovery({ spec }: Context<OpenStackDataPlane>): Job[] {
  const hosts = servicesOf(spec).novaCompute ? hostsOf(spec, 'compute').map(({ hostname }) => hostname) : [];
  if (hosts.length === 0) return [];
  return [
    {
      suffix: 'host-discovery',
      step: 'HostsReady',
      needs: ['DeploymentReady'],
      asks: ['novaRef', 'databaseRef'],
      image: 'nova-conductor',
      user: 'nova',
      config: 'discovery',
      mounts: [{ path: '/var/lib/nova', scratch: true }],
      ...hostDiscovery(hosts),
    },
  ];
}

function deployedOf(found: Found = {}): { readonly deployedNodes?: number } {
  const { deployedNodes } = found;
  return deployedNodes === undefined ? {} : { deployedNodes: Number(deployedNodes) };
}

/** Where hosts find what runs in the cluster; undefined for what nobody has exposed. */
function outside(context: Context<OpenStackDataPlane>) {
  const { spec } = context;
  const { messageQueue, southbound, identity } = spec.addresses ?? {};
  const broker = context.address('messageQueueRef') as BrokerAddress;
  const { publicUrl, internalUrl } = context.address('keystoneRef') as IdentityAddress;
  const isExternal = (field: 'messageQueueRef' | 'ovnRef' | 'keystoneRef') => externalOf(spec, field) !== undefined;
  const { southbound: clear, trust: trusted } = ovnOf(context);
  // One of the cloud is exposed without TLS.
  const { port, trust } = isExternal('messageQueueRef') ? broker : { port: 5672 };
  const secured = trust === undefined ? {} : { caSecretName: trust.secret };
  const host = messageQueue?.host ?? (isExternal('messageQueueRef') ? broker.host : undefined);
  return {
    broker: host === undefined ? undefined : { host, port: messageQueue?.port ?? port, ...secured },
    // Hosts have no certificate to show.
    southbound: southbound ?? (isExternal('ovnRef') && trusted === undefined ? clear : undefined),
    identityUrl: identity ?? (publicUrl !== internalUrl || isExternal('keystoneRef') ? publicUrl : undefined),
    inside: { broker: { host: broker.host, port: broker.port }, identityUrl: internalUrl },
  };
}

/** What hosts cannot reach, and how it is exposed. */
function exposureProblems(context: Context<OpenStackDataPlane>): string[] {
  const { broker, southbound, identityUrl } = outside(context);
  const { novaCompute, ovnController } = servicesOf(context.spec);
  const named = (field: 'messageQueueRef' | 'ovnRef' | 'keystoneRef') => context.reference(field)?.metadata.name ?? '';
  const { trust } = ovnOf(context);
  const service = (port: number, of: string, component: string) =>
    `a Service of type LoadBalancer or NodePort for port ${port} of its pods (app.kubernetes.io/instance=${of}, app.kubernetes.io/component=${component}), and state where it answers (docs/guides/external-hosts.md)`;
  const [queue, ovn, keystone] = [named('messageQueueRef'), named('ovnRef'), named('keystoneRef')];
  const unreachable = 'is reached inside the cluster only, and the hosts are outside';
  return [
    ...(novaCompute && broker === undefined
      ? [`spec.addresses.messageQueue: RabbitMQ ${queue} ${unreachable}; create ${service(5672, queue, 'server')}`]
      : []),
    ...(ovnController && southbound === undefined
      ? [
          externalOf(context.spec, 'ovnRef') !== undefined && trust !== undefined
            ? 'spec.addresses.southbound: hosts have no certificate for the southbound database of spec.ovnRef.external (ssl:); state where it answers without TLS (tcp:address:port)'
            : `spec.addresses.southbound: the southbound database of OVNNetwork ${ovn} ${unreachable}; create ${service(6642, ovn, 'sb-db')}`,
        ]
      : []),
    // Of one that is not there, as where a file is checked alone, nothing is known.
    ...(novaCompute && identityUrl === undefined && context.reference('keystoneRef')?.['spec'] !== undefined
      ? [
          `spec.addresses.identity: Keystone ${keystone} ${unreachable}; expose it and the other APIs (spec.exposure and publicHostname, docs/guides/expose.md)`,
        ]
      : []),
  ];
}

/** What of Nova its hosts outside have. */
function novaOf(context: Context<OpenStackDataPlane>) {
  const { spec, surroundings } = context;
  const { broker, identityUrl, inside } = outside(context);
  const resource = context.reference('novaRef') as StoredObject & Nova;
  return externalCompute(resource, surroundings, {
    ...(spec.virtType === undefined ? {} : { virtType: spec.virtType }),
    // Where it is not exposed, nothing is deployed.
    addresses: { broker: broker ?? inside.broker, identityUrl: identityUrl ?? inside.identityUrl },
  });
}

/** Where the Nova refers to something else than this resource does: a host would be told the wrong broker. */
function referenceProblems(context: Context<OpenStackDataPlane>): string[] {
  const nova = context.reference('novaRef');
  const stated = (nova?.['spec'] ?? {}) as Readonly<Record<string, { name?: string; external?: unknown } | undefined>>;
  return shared.flatMap((field) => {
    const { name, external } = stated[field] ?? {};
    const own = externalOf(context.spec, field);
    const isSame =
      external === undefined
        ? own === undefined && (name === undefined || name === context.reference(field)?.metadata.name)
        : JSON.stringify(own) === JSON.stringify(external);
    const what = name ?? 'an external one';
    return isSame ? [] : [`spec.${field}: Nova ${nova?.metadata.name} refers to ${what}; state the same here`];
  });
}

function deployImageProblem({ spec, release }: Context<OpenStackDataPlane>): string[] {
  const problem = imageProblem('ansible', { component: 'deploy', main: false, spec, release });
  return problem === undefined ? [] : [problem];
}

/** What playbooks know of the cloud. */
function variables(context: Context<OpenStackDataPlane>) {
  const { spec, release } = context;
  const { broker, southbound, identityUrl } = outside(context);
  const services = servicesOf(spec);
  const { bridgeMappings = [] } = (context.reference('ovnRef')?.['spec'] ?? {}) as {
    bridgeMappings?: readonly { physicalNetwork: string; bridge: string }[];
  };
  const { virtType } = (context.reference('novaRef')?.['spec'] ?? {}) as { virtType?: string };
  const remotes = (southbound ?? '').split(',').flatMap((remote) => {
    const [, host, port] = /^(?:tcp|ssl):\[?(.*?)\]?:(\d+)$/.exec(remote) ?? [];
    return host === undefined ? [] : [{ what: "OVN's southbound database", host, port: Number(port) }];
  });
  return {
    openstack_release: release.name,
    openstack_distribution: distributions[release.name] ?? '',
    openstack_region: context.region,
    openstack_services: services,
    openstack_virt_type: spec.virtType ?? virtType ?? 'kvm',
    openstack_identity_url: identityUrl ?? '',
    openstack_broker_authority: broker?.caSecretName === undefined ? '' : trustedBy('broker'),
    openstack_peers: [
      ...(services.novaCompute && broker !== undefined
        ? [{ what: 'the broker', host: broker.host, port: broker.port }]
        : []),
      ...(services.ovnController ? remotes : []),
    ],
    openstack_bridges: bridgeMappings.map(({ bridge }) => bridge),
    openstack_ovn: {
      hostname: '{{ inventory_hostname }}',
      'ovn-remote': southbound ?? '',
      'ovn-remote-probe-interval': String(inactivityProbe),
      'ovn-encap-type': 'geneve',
      'ovn-encap-ip': '{{ ansible_host }}',
      'ovn-bridge': 'br-int',
      'ovn-ofctrl-wait-before-clear': '8000',
      ...(bridgeMappings.length === 0
        ? {}
        : {
            'ovn-bridge-mappings': bridgeMappings
              .map(({ physicalNetwork, bridge }) => `${physicalNetwork}:${bridge}`)
              .join(','),
          }),
    },
  };
}
