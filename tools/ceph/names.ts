/** Where Ceph runs. */
export const namespace = 'ceph';

/** Labels of all that belongs to it, in every namespace. */
export const labels = { 'app.kubernetes.io/name': 'ceph', 'app.kubernetes.io/managed-by': 'tools-ceph' } as const;

/** The same, as a selector. */
export const selector = Object.entries(labels)
  .map(([name, value]) => `${name}=${value}`)
  .join(',');

/** Secret: what the cluster is, and all keys. */
export const identityName = 'ceph-identity';

/** Secret: the keyrings of the daemons and the administrator, as files of /etc/ceph. */
export const keyringsName = 'ceph-keyrings';

/** ConfigMap: the daemons' ceph.conf. */
export const configurationName = 'ceph-daemons';

/** ConfigMap: what containers run. */
export const scriptsName = 'ceph-scripts';

/** ConfigMap: a client's ceph.conf, and the fsid. */
export const clientConfigurationName = 'ceph';

/** Name of a monitor's Service, and of what runs the monitor alone. */
export const monitorService = (monitor: string) => `ceph-mon-${monitor}`;

/** Metadata of an object of ours. */
export function metadata(name: string, where = namespace): object {
  return { name, namespace: where, labels };
}

/** Names of so many monitors. */
export const monitorNames = (monitors: 1 | 3): readonly string[] => ['a', 'b', 'c'].slice(0, monitors);

/** Where monitors are, for clients that resolve names of the cluster. */
export const monitorHosts = (names: readonly string[]): string =>
  names.map((name) => `${monitorService(name)}.${namespace}.svc:6789`).join(',');

/** Secret, where users are: the keyrings of the services, by the names that they have in /etc/ceph. */
export const usersName = 'ceph-keyrings';
