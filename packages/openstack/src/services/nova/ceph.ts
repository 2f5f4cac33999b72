import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { type Ceph, cephConf, cephFiles, cephOf, clusterProblems } from '../../infrastructure/ceph/address.ts';
import type { CephUser } from '../../infrastructure/ceph/kind.ts';
import type { Layer } from '../../oslo/layers.ts';
import { keepsVolumesInCeph } from '../cinder/configuration.ts';
import type { Nova } from './kind.ts';

/** Where libvirt's start finds the keys of users of Ceph. */
export const secretsDirectory = '/etc/openstack/secrets';

/** Whether disks of servers lie in Ceph. */
export const disksInCeph = ({ ephemeralStorage }: Partial<Nova['spec']>): boolean => ephemeralStorage === 'ceph';

/** Pool of the disks of servers. */
export const diskPool = ({ cephPoolName = 'vms' }: Partial<Nova['spec']>): string => cephPoolName;

/** The cluster that disks of servers lie in; undefined when they lie on the nodes. */
function diskCluster(context: Context<Nova>): Ceph | undefined {
  return disksInCeph(context.spec) ? cephOf(context) : undefined;
}

/** What nova-compute says of the disks of its servers: those in Ceph are clones of images. */
export function diskOptions(context: Context<Nova>): Layer[string] {
  const ceph = diskCluster(context);
  if (ceph === undefined) return { images_type: 'qcow2' };
  return {
    images_type: 'rbd',
    images_rbd_pool: diskPool(context.spec),
    images_rbd_ceph_conf: cephConf,
    rbd_user: ceph.user('nova'),
    rbd_secret_uuid: ceph.secretUuid('nova'),
    disk_cachemodes: 'network=writeback',
    hw_disk_discard: 'unmap',
  };
}

/** What nova-compute reads of the cluster of its servers' disks. */
export function diskFiles(context: Context<Nova>): ConfigFiles {
  const ceph = diskCluster(context);
  return ceph === undefined ? {} : cephFiles(ceph, 'nova');
}

/**
 * Whose keys libvirt has to know. Volumes are attached as Cinder's user, if Cinder keeps any in Ceph: its spec says so, or
 * what it remembers, as long as there are volumes in a backend that is stated no more, and those of a Cinder that is
 * disabled. What the Secret has of keys says nothing: one that was lost or emptied takes none from a node.
 */
function usersOf({ spec, surroundings }: Context<Nova>): CephUser[] {
  const attaches = keepsVolumesInCeph(surroundings.peerSpec('Cinder') ?? {}, surroundings.peerRemembered('Cinder'));
  return [...(attaches ? ['cinder' as const] : []), ...(disksInCeph(spec) ? ['nova' as const] : [])];
}

/** Whether libvirt has to know keys of users of Ceph. */
export function hasSecrets(context: Context<Nova>): boolean {
  return cephOf(context) !== undefined && usersOf(context).length > 0;
}

/** Those keys, as libvirt keeps them: two files for each (its driver reads them when it starts). */
export function libvirtSecrets(context: Context<Nova>): ConfigFiles {
  const ceph = cephOf(context);
  if (ceph === undefined) return {};
  const files = usersOf(context).flatMap((user) => {
    const path = `${secretsDirectory}/${ceph.secretUuid(user)}`;
    return [
      [`${path}.xml`, secretXml(ceph.secretUuid(user), `client.${ceph.user(user)}`)],
      [`${path}.base64`, ceph.key(user)],
    ];
  });
  return Object.fromEntries(files) as ConfigFiles;
}

const secretXml = (uuid: string, name: string) => `<secret ephemeral='no' private='yes'>
  <uuid>${uuid}</uuid>
  <usage type='ceph'>
    <name>${name} ${uuid}</name>
  </usage>
</secret>
`;

/** What is wrong with where disks are. */
export function diskProblems(context: Context<Nova>): string[] {
  if (!disksInCeph(context.spec)) return [];
  const sized = (context.spec.nodeGroups ?? []).filter(({ guests }) => guests?.disk !== undefined);
  return [
    ...clusterProblems(context, 'spec.ephemeralStorage'),
    ...sized.map(
      ({ name }) =>
        `spec.nodeGroups[name=${name}].guests.disk: disks of servers lie in Ceph (spec.ephemeralStorage), which all nodes share; remove it`,
    ),
  ];
}
