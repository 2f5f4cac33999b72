import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientConfiguration, daemonConfiguration, setupCommands } from './configuration.ts';
import { administrator, daemons, type Identity, keyring, monitorKeyring, users } from './keys.ts';
import {
  clientConfigurationName,
  configurationName,
  identityName,
  keyringsName,
  labels,
  metadata,
  monitorService,
  namespace,
  scriptsName,
  usersName,
} from './names.ts';
import { type Cluster, claims, statefulSets } from './pods.ts';

const scripts = join(import.meta.dirname, 'scripts');

/** The namespace: nothing in it may be privileged, which the API server holds. */
export function namespaceObject(): object {
  const enforced = { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: enforced } };
}

/** A Service, and so an address that stays, for each monitor. */
export function monitorServices(names: readonly string[]): object[] {
  const ports = [
    { name: 'v2', port: 3300 },
    { name: 'v1', port: 6789 },
  ];
  return names.map((name) => service(monitorService(name), name, ports));
}

/** All else. `usersIn`: namespaces, besides its own, that get a client's ceph.conf and the keyrings of the services. */
export function objects(cluster: Omit<Cluster, 'mounted'>, usersIn: readonly string[]): object[] {
  const { identity, monitors, shape } = cluster;
  const texts = readdirSync(scripts).map((name) => [name, readFileSync(join(scripts, name), 'utf8')]);
  const commands = JSON.stringify(setupCommands(identity, shape));
  const mounted = [
    configMap(scriptsName, { ...Object.fromEntries(texts), 'commands.json': commands }),
    configMap(configurationName, { 'ceph.conf': daemonConfiguration(identity, monitors, shape) }),
    secret(keyringsName, {
      'monitor.keyring': monitorKeyring(identity),
      ...Object.assign({}, ...[...daemons, administrator].map((entity) => keyringFile(identity, entity))),
    }),
  ];
  return [
    secret(identityName, { fsid: identity.fsid, osd: identity.osd, ...identity.keys }),
    ...forClients(cluster, namespace, [administrator, ...users]),
    ...usersIn.flatMap((where) => [
      ...forClients(cluster, where, users),
      secret(usersName, Object.assign({}, ...users.map((user) => keyringFile(identity, user))), where),
    ]),
    ...mounted,
    ...claims(cluster),
    ...(shape.rgw ? [service('ceph-rgw', Object.keys(monitors)[0] ?? '', [{ name: 'http', port: 7480 }])] : []),
    ...statefulSets({ ...cluster, mounted }),
  ];
}

/** Name of the Secret with a user's keyring. */
export const userSecret = (name: string) => `ceph-${name.replace('.', '-')}`;

function forClients(cluster: Omit<Cluster, 'mounted'>, where: string, entities: readonly { name: string }[]): object[] {
  const { identity, monitors } = cluster;
  const text = clientConfiguration(identity, monitors);
  return [
    configMap(clientConfigurationName, { 'ceph.conf': text, fsid: identity.fsid }, where),
    ...entities.map((entity) => secret(userSecret(entity.name), keyringFile(identity, entity), where)),
  ];
}

/** Under the name by which Ceph's programs look for it in /etc/ceph. */
function keyringFile(identity: Identity, entity: { name: string }): Record<string, string> {
  return { [`ceph.${entity.name}.keyring`]: keyring(identity, entity) };
}

function configMap(name: string, data: Record<string, string>, where?: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(name, where), data };
}

function secret(name: string, texts: Record<string, string>, where?: string): object {
  const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata: metadata(name, where), data: Object.fromEntries(encoded) };
}

function service(name: string, monitor: string, ports: readonly object[]): object {
  const selected = { ...labels, 'tools-ceph/monitor': monitor };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(name),
    // Daemons reach the monitor before their pod is Ready.
    spec: { selector: selected, ports, publishNotReadyAddresses: true },
  };
}
