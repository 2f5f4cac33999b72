import {
  authtoken,
  client,
  database,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import { apiUrl } from '../../engine/vocabulary/api-tls.ts';
import { authoritySeconds } from '../../engine/vocabulary/certificate.ts';
import type { Mount } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { GeneratedSecret } from '../../engine/vocabulary/service.ts';
import { certificateOptions, ovnOf } from '../../infrastructure/ovn/address.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Octavia } from './kind.ts';

/** Where the API and its driver agent meet: what providers do goes through these sockets. */
export const socketFolder = '/run/octavia';
const certificates = '/etc/octavia/certs';
const daySeconds = 86_400;

/** Where servers of the provider amphora send their heartbeats to. */
export const heartbeatPort = 5555;

/** What all programs have, the file of the API and its agent, and that of what looks after servers of the provider amphora. */
export function configSets(context: Context<Octavia>): Readonly<Record<string, ConfigFiles>> {
  const file = (...more: readonly Layer[]): ConfigFiles => ({
    '/etc/octavia/octavia.conf': { oslo: sections(common(context), amphora(context), ...more) },
  });
  const { amphora: stated } = context.spec;
  return {
    main: file(authtoken(context), proxied, messaging(context, { pthreadHeartbeat: true }), api(context)),
    controller: {
      ...file(messaging(context), controller(context)),
      ...(stated === undefined ? {} : { [`${certificates}/client.pem`]: clientCertificate(context) }),
    },
  };
}

function common(context: Context<Octavia>): Layer {
  const { region_name: _region, ...login } = client(context);
  return sections(logging, database(context, 'octavia'), {
    service_auth: login,
    // The provider ovn asks the public endpoint unless it is told the URL: it reads neither interface nor region.
    neutron: { ...login, endpoint_override: apiUrl(context.identity, context.address('neutronRef') as string, 9696) },
  });
}

function api(context: Context<Octavia>): Layer {
  const { provider = 'ovn', amphora } = context.spec;
  const ovn = ovnOf(context);
  const socket = (name: string) => `${socketFolder}/${name}.sock`;
  const drivers = [
    'ovn:Load balancers of OVN',
    ...(amphora === undefined ? [] : ['amphora:Load balancers in servers']),
  ];
  return {
    api_settings: {
      healthcheck_enabled: true,
      enabled_provider_drivers: drivers.join(','),
      default_provider_driver: provider,
    },
    driver_agent: {
      enabled_provider_agents: 'ovn',
      status_socket_path: socket('status'),
      stats_socket_path: socket('stats'),
      get_socket_path: socket('get'),
    },
    ovn: {
      ovn_nb_connection: ovn.northbound,
      ovn_sb_connection: ovn.southbound,
      ...certificateOptions(ovn, 'nb', 'sb'),
    },
    // Octavia's own roles count beside those of Keystone (member, reader) only as long as former defaults do.
    oslo_policy: { enforce_new_defaults: false },
  };
}

function controller({ spec: { housekeeping: { purgeAfterDays = 7 } = {} } }: Context<Octavia>): Layer {
  const age = purgeAfterDays * daySeconds;
  return { house_keeping: { load_balancer_expiry_age: age, amphora_expiry_age: age } };
}

/** What the provider amphora needs; nothing without it. */
function amphora(context: Context<Octavia>): Layer {
  const { spec, named, region } = context;
  if (spec.amphora === undefined) return {};
  const found = { region_name: region, endpoint_type: 'internalURL' };
  const trusting = trustOfApis(context, 'ca_certificates_file');
  const { imageTag = 'amphora', topology = 'SINGLE', keyPairName, ...stated } = spec.amphora;
  const key = (name: string) => secretReference(named('amphora-keys'), name, 'oslo');
  return {
    nova: { ...found, ...trusting },
    glance: { ...found, ...trusting },
    certificates: {
      ...found,
      ...trusting,
      ca_certificate: `${certificates}/server-ca.pem`,
      ca_private_key: `${certificates}/server-ca.key`,
      server_certs_key_passphrase: key('passphrase'),
    },
    haproxy_amphora: { server_ca: `${certificates}/server-ca.pem`, client_cert: `${certificates}/client.pem` },
    health_manager: {
      bind_ip: '0.0.0.0',
      bind_port: heartbeatPort,
      heartbeat_key: key('heartbeat'),
      controller_ip_port_list: stated.controllerAddresses.join(','),
    },
    controller_worker: {
      client_ca: `${certificates}/client-ca.pem`,
      loadbalancer_topology: topology,
      amp_flavor_id: stated.flavorID,
      amp_image_tag: imageTag,
      amp_image_owner_id: stated.imageOwnerID,
      amp_boot_network_list: stated.managementNetworkID,
      amp_secgroup_list: stated.securityGroupIDs.join(','),
      amp_ssh_key_name: keyPairName ?? null,
    },
  };
}

/** Certificate and private key in one file: what controllers show to servers. */
function clientCertificate({ named }: Context<Octavia>): string {
  return ['client.crt', 'client.key'].map((key) => secretReference(named('client-ca'), key)).join('\n');
}

/** Files of what looks after servers of the provider amphora: who signs their certificates, and whom they trust. */
export function certificateMounts({ spec, named }: Context<Octavia>): readonly Mount[] {
  if (spec.amphora === undefined) return [];
  const file = (name: string, secret: string, key: string): Mount => ({
    path: `${certificates}/${name}`,
    secret: named(secret),
    key,
  });
  return [
    file('server-ca.pem', 'server-ca', 'ca.crt'),
    file('server-ca.key', 'server-ca', 'ca.key'),
    file('client-ca.pem', 'client-ca', 'ca.crt'),
  ];
}

/**
 * Authorities of the servers' certificates and of the controllers', and keys of heartbeats and of certificates in the
 * database. They are there from the beginning: made later, they could not be told from ones that were lost.
 */
export function keyMaterial({ named }: Context<Octavia>): readonly GeneratedSecret[] {
  const guards = { kind: 'Job', name: named('db-sync'), data: 'the servers of load balancers' } as const;
  const authority = (commonName: string) =>
    ({
      'ca.key': { type: 'privateKey' },
      'ca.crt': { type: 'certificate', key: 'ca.key', commonName, seconds: authoritySeconds, authority: true },
    }) as const;
  const secret = (suffix: string, values: GeneratedSecret['values']): GeneratedSecret => ({
    suffix,
    values,
    secretClass: 'keyMaterial',
    guards,
  });
  return [
    secret('server-ca', authority('octavia-server-ca')),
    secret('client-ca', {
      ...authority('octavia-client-ca'),
      'client.key': { type: 'privateKey' },
      'client.crt': {
        type: 'certificate',
        key: 'client.key',
        commonName: 'octavia-controller',
        seconds: 365 * 86_400,
        signedBy: { certificate: 'ca.crt', key: 'ca.key' },
      },
    }),
    secret('amphora-keys', {
      heartbeat: { type: 'password', length: 32 },
      passphrase: { type: 'password', length: 32 },
    }),
  ];
}
