import { secretName } from '../../api/references.ts';
import { array, type Infer, object, required, string } from '../../api/schema.ts';
import type { ConfigFiles } from '../../engine/vocabulary/service.ts';
import { secretReference } from '../../oslo/references.ts';

/** The monitors of a Ceph cluster that this operator does not run, and as whom a service works with it. */
export const cephClient = (userName: string) =>
  object('The Ceph cluster, and the user that works with it.', {
    monitors: required(
      array(
        'Addresses of the monitors.',
        string('host, or host:port.', {
          maxLength: 259,
          form: {
            pattern: '^[A-Za-z0-9.:\\[\\]-]+$',
            expected: 'host or host:port, such as 10.0.0.1 or mon.example.com:6789',
          },
        }),
        { minItems: 1, maxItems: 16, unique: true },
      ),
    ),
    userName: string('Name of the user, without client.', { ...name, fallback: userName }),
    secretName: required(
      secretName('Secret with the key of the user (key key), as `ceph auth get-key client.<userName>` prints it.'),
    ),
    clusterName: string(
      'Name by which programs tell the cluster from others: it names their files. Two clusters of one cloud need two names.',
      { ...name, fallback: 'ceph' },
    ),
  });

const name = {
  maxLength: 64,
  form: { pattern: '^[A-Za-z0-9][-A-Za-z0-9_]*$', expected: "a name of letters, digits, '-' and '_'" },
};

/** Its value. */
export type CephClient = Infer<ReturnType<typeof cephClient>>;

/** The cluster's name, its file of configuration, and the user, as options of services name them. */
export function cephOf({ clusterName = 'ceph', userName }: CephClient, fallback: string) {
  return { cluster: clusterName, conf: `/etc/ceph/${clusterName}.conf`, user: userName ?? fallback };
}

/**
 * What a client of the cluster reads: where the monitors are, and the key of the user. os-brick looks for the keyring under
 * just this name, and knows no other place.
 */
export function cephFiles(client: CephClient, fallback: string): ConfigFiles {
  const { cluster, conf, user } = cephOf(client, fallback);
  return {
    [conf]: `[global]\nmon_host = ${client.monitors.join(',')}\n`,
    [`/etc/ceph/${cluster}.client.${user}.keyring`]: `[client.${user}]\n\tkey = ${secretReference(client.secretName, 'key')}\n`,
  };
}
