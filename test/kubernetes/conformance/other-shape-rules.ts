import { Barbican, CephStorage, Manila, Octavia, Storlets } from '@openstack-operator/openstack';
import { notYet, type RefusedSpec, refused } from './refused-spec.ts';

const backends = [{ name: 'fast', type: 'cephfs', cephFSName: 'files' }];
const manila = (field: string, words: string, wrong: object, instead: object = {}): RefusedSpec =>
  refused(Manila, `spec.${field}`, words, { backends, ...wrong }, { backends, ...instead });
const storlets = (field: string, value: unknown): RefusedSpec =>
  refused(Storlets, `spec.${field}`, `${field} ${notYet}: Storlets has no pods`, { [field]: value }, {});
const octavia = (field: string, words: string): RefusedSpec =>
  refused(Octavia, `spec.${field}`, words, { [field]: 'x' }, {});
const rook = (field: string, value: unknown, words: string): RefusedSpec => {
  const cluster = { external: undefined, mode: 'rook' };
  return refused(CephStorage, `spec.rook.${field}`, words, { ...cluster, rook: { [field]: value } }, cluster);
};

/** Fields that have another shape here: they say what to state instead, or mean what another field does. */
export const otherShapeRules: readonly RefusedSpec[] = [
  manila('backend', 'state a list, such as backends:', { backend: 'cephfs' }),
  manila('cephFSPoolName', 'state cephFSName of an entry of backends', { cephFSPoolName: 'manila-data' }),
  manila('shareReplicas', 'at most 1 in this version', { shareReplicas: 2 }, { shareReplicas: 1 }),
  refused(Barbican, 'spec.secretStore', notYet, { secretStore: 'vault' }, { secretStore: 'simple_crypto' }),
  octavia('managementNetworkCIDR', 'state its identifier in amphora.managementNetworkID'),
  octavia('amphoraImageSecretName', 'upload the image to Glance with the tag amphora.imageTag'),
  storlets('replicas', 1),
  storlets('image', 'registry.example.com/storlets:1'),
  storlets('resources', { requests: { cpu: '1' } }),
  storlets('nodeSelector', { disk: 'fast' }),
  rook('namespace', 'rook-ceph', 'the CephCluster is in the namespace of this resource'),
  rook('monCount', 3, 'state cluster.monCount'),
  rook('osdCount', 3, 'state cluster.osds.count'),
  rook('storageDeviceFilter', '^sd.', 'state cluster.storageDeviceFilter'),
];
