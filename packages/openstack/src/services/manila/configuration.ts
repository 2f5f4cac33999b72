import { authtoken, client, coordination, messaging, proxied, sections } from '../../engine/configuration/sections.ts';
import { digest } from '../../engine/names/digest.ts';
import { ownValue } from '../../engine/names/own-value.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Counting } from '../../engine/vocabulary/counting.ts';
import { cephClientFiles, cephConf, cephOf, clusterProblems } from '../../infrastructure/ceph/address.ts';
import type { Layer } from '../../oslo/layers.ts';
import { type BackendCounting, lastingBackends, removedBackends, servedBackends } from '../backend-memory.ts';
import {
  type BackendWords,
  backendLayer,
  backendProblems,
  backendSection,
  backendSets,
  backendsOf,
  common,
  fileOf,
  hostOf,
} from '../backends.ts';
import type { Backend, Manila } from './kind.ts';

/** How Manila words its backends. */
export const words: BackendWords = {
  project: 'manila',
  component: 'share',
  driver: 'share_driver',
  label: 'share_backend_name',
};

/** What a type of backends is: a driver, whether it makes share servers, and the protocols that clients speak. */
interface Driver {
  readonly share_driver?: string;
  readonly servers?: boolean;
  readonly protocols: readonly string[];
  /** Where shares are in a filesystem of Ceph: how they get out of it. */
  readonly helper?: 'CEPHFS' | 'NFS';
}

const drivers: Readonly<Record<Backend['type'], Driver>> = {
  cephfs: { share_driver: 'cephfs.driver.CephFSDriver', servers: false, protocols: ['CEPHFS'], helper: 'CEPHFS' },
  nfs: { share_driver: 'cephfs.driver.CephFSDriver', servers: false, protocols: ['NFS'], helper: 'NFS' },
  generic: { share_driver: 'generic.GenericShareDriver', servers: true, protocols: ['NFS', 'CIFS'] },
  netapp: { share_driver: 'netapp.common.NetAppDriver', protocols: ['NFS', 'CIFS'] },
  custom: { protocols: ['NFS', 'CIFS'] },
};

const hasServers = ({ type, shareServers = false }: Backend): boolean => drivers[type].servers ?? shareServers;

/** What a share type says beside the name of its backend; snapshots, of drivers that are known to make them. */
export function typeSpecs(backend: Backend): Record<string, string> {
  const snapshots = { snapshot_support: 'True', create_share_from_snapshot_support: 'True' };
  return {
    driver_handles_share_servers: hasServers(backend) ? 'True' : 'False',
    ...(backend.type === 'custom' ? {} : snapshots),
  };
}

const headers = { 'X-OpenStack-Manila-API-Version': '2.83' };
/** Each copy of a share lies somewhere, those in the recycle bin included. */
export const shares: Counting = {
  of: 'shares',
  lists: ['/share_instances'],
  items: 'share_instances',
  host: 'host',
  headers,
};

/** How shares of a backend are counted, and new ones kept away from it: reasons are taken from 2.83 on. */
export const counting: BackendCounting = {
  counts: [
    shares,
    // The process of their backend alone can remove them, some time after their last share.
    { of: 'share servers', lists: ['/share-servers'], items: 'share_servers', host: 'host', headers },
  ],
  scheduling: { path: '/services', disable: 'disable', headers },
};

/** What shares are recorded under, and where they lie. */
export function lasting(context: Context<Manila>): Record<string, string> {
  return lastingBackends(words, context, ({ type, shareServers = false, cephFSName: place }) => ({
    type: shareServers ? `${type}-with-share-servers` : type,
    place,
  }));
}

/** Whether a backend, stated or remembered, is in Ceph. */
export const isInCeph = (backend: unknown): boolean =>
  ownValue(drivers, (backend as Partial<Backend> | null)?.type ?? '')?.helper !== undefined;

const inCeph = (spec: Partial<Manila['spec']>): Backend[] => backendsOf(spec).filter(isInCeph);

/** Whether shares lie in Ceph. */
export const usesCeph = (spec: Partial<Manila['spec']>): boolean => inCeph(spec).length > 0;

/** Filesystems of a spec, as a CephStorage lists them. */
export function fileSystemsOf(spec: Partial<Manila['spec']>): { readonly name: string }[] {
  return inCeph(spec).flatMap(({ cephFSName: name }) => (name === undefined ? [] : [{ name }]));
}

/** Each process has a file of its own, so that a change of one backend stops no other. */
export function configSets(context: Context<Manila>): Record<string, ConfigFiles> {
  const { spec, named } = context;
  const backends = backendsOf(spec);
  const served = servedBackends(context);
  const protocols = [...new Set(served.flatMap(({ type }) => drivers[type].protocols))].join(',');
  const shares = backendSets(words, served, (backend) => ({
    ...fileOf(
      words,
      common(words, context, hostOf(context, backend), coordination(context), share(context, backend)),
      layer(backend),
    ),
    ...(drivers[backend.type].helper === undefined ? {} : cephClientFiles(context, 'manila')),
  }));
  const api = sections(proxied, authtoken(context), coordination(context), {
    DEFAULT: {
      default_share_type: spec.defaultShareType ?? spec.defaultBackend ?? backends[0]?.name ?? null,
      enabled_share_protocols: protocols || null,
    },
  });
  return {
    main: fileOf(words, common(words, context, named('api'), messaging(context, { pthreadHeartbeat: true }), api)),
    scheduler: fileOf(words, common(words, context, named('scheduler'), coordination(context))),
    data: fileOf(words, common(words, context, named('data'))),
    ...shares,
  };
}

/** CephFS asks no other service; drivers that make servers, and those of users, may ask all four. */
function share(context: Context<Manila>, backend: Backend): Layer {
  const { share_driver, helper } = drivers[backend.type];
  const login = { ...client(context), endpoint_type: 'internalURL' };
  const clients = { neutron: { ...login, endpoint_type: 'internal' }, nova: login, cinder: login, glance: login };
  return sections(
    { DEFAULT: { enabled_share_backends: backend.name } },
    helper === undefined ? clients : {},
    backendSection(words, backend, {
      ...(share_driver === undefined ? {} : { share_driver: `manila.share.drivers.${share_driver}` }),
      driver_handles_share_servers: hasServers(backend),
      ...(helper === undefined ? {} : cephfs(context, backend, helper)),
    }),
  );
}

function cephfs(context: Context<Manila>, { cephFSName = '' }: Backend, helper: string): Layer[string] {
  const ceph = cephOf(context);
  if (ceph === undefined) return {};
  return {
    cephfs_conf_path: cephConf,
    cephfs_cluster_name: 'ceph',
    cephfs_auth_id: ceph.user('manila'),
    cephfs_filesystem_name: cephFSName,
    cephfs_protocol_helper_type: helper,
    // Where a share is mounted from is recorded with it, and written anew when this value changes.
    ...(ceph.monitors === undefined ? {} : { cephfs_ensure_all_shares_salt: digest(ceph.monitors) }),
  };
}

const ownedByCluster = {
  cephfs_auth_id: 'spec.users of the CephStorage',
  cephfs_conf_path: 'spec.external of the CephStorage',
  cephfs_cluster_name: 'spec.cephStorageRef',
};

function layer(backend: Backend) {
  const { share_driver, servers, helper } = drivers[backend.type];
  const inCluster = { cephfs_filesystem_name: 'cephFSName', cephfs_protocol_helper_type: 'type' };
  return backendLayer(words, backend, {
    fields: {
      ...(share_driver === undefined ? {} : { share_driver: 'type' }),
      driver_handles_share_servers: servers === undefined ? 'shareServers' : 'type',
      ...(helper === undefined ? {} : inCluster),
    },
    elsewhere: helper === undefined ? {} : ownedByCluster,
  });
}

/** What is wrong with backends: drivers that nobody names, a filesystem whose cluster nobody names. */
export function problemsOf(context: Context<Manila>): string[] {
  const ofCluster = ({ type }: Backend, field: string) =>
    drivers[type].helper === undefined ? [] : clusterProblems(context, field);
  return [
    ...backendProblems(words, context, (backend, at) => ofCluster(backend, `${at}.type`)),
    ...removedBackends(context).flatMap((backend) =>
      ofCluster(backend, `spec.backends[name=${backend.name}], which was removed, and may have shares`),
    ),
  ];
}
