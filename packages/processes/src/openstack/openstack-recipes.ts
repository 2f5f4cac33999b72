import type { ImageEntry, Program } from '@openstack-operator/sandbox';
import type { Recipe } from '../images.ts';
import { ovsControlCommands } from '../infrastructure/ovs-vsctl.ts';
import { ovsdbCommands } from '../infrastructure/ovsdb-server.ts';
import { kollaId } from '../kolla-users.ts';
import { glanceApi } from './glance-api.ts';
import { glanceManage, neutronDbManage, placementManage, placementStatus } from './manage-commands.ts';
import { neutronApi } from './neutron-api.ts';
import { neutronServers } from './neutron-servers.ts';
import { novaMetadata, novaOsapi } from './nova-api.ts';
import { novaCompute } from './nova-compute.ts';
import { novaManage } from './nova-manage.ts';
import { novaConductor, novaNovncproxy, novaScheduler } from './nova-servers.ts';
import { novaStatus } from './nova-status.ts';
import { placementApi } from './placement-api.ts';
import { uwsgi } from './uwsgi.ts';

const { 'ovsdb-client': ovsdbClient } = ovsdbCommands;
const venv = '/var/lib/kolla/venv/bin';

/** What Kolla's images hold of `etc/` upstream. */
const pasteFiles = {
  glance: `${['', '-caching', '-cachemanagement', '-keystone', '-keystone+caching', '-keystone+cachemanagement']
    .map((flavor) => `[composite:glance-api${flavor}]\npaste.composite_factory = glance.api:root_app_factory\n`)
    .join('\n')}\n[app:healthcheck]\npaste.app_factory = oslo_middleware:Healthcheck.app_factory\n`,
  neutron: '[composite:neutron]\nuse = egg:Paste#urlmap\n',
  nova: '[composite:metadata]\nuse = egg:Paste#urlmap\n\n[composite:osapi_compute]\nuse = call:nova.api.openstack.urlmap:urlmap_factory\n',
};
const rootwrap = '[DEFAULT]\nfilters_path=/etc/$service/rootwrap.d\n';

/** Every image of a service carries its whole virtual environment. */
function serviceImage(options: {
  names: readonly string[];
  user: string;
  programs: Readonly<Record<string, Program>>;
  files?: Readonly<Record<string, string | ImageEntry>>;
  runsAsUser?: boolean;
  /** Programs by directory, besides those of the virtual environment. */
  system?: Recipe['programs'];
}): Recipe {
  const { names, user, programs, files = {}, runsAsUser = true, system } = options;
  return {
    names,
    user,
    runsAsUser,
    programs: { [venv]: programs, ...system },
    files: { [`/etc/${user}`]: { mode: 0o755, uid: kollaId(user), gid: kollaId(user) }, ...files },
  };
}

const nova = {
  'nova-manage': novaManage,
  'nova-status': novaStatus,
  'nova-conductor': novaConductor,
  'nova-scheduler': novaScheduler,
  'nova-compute': novaCompute,
  'nova-novncproxy': novaNovncproxy,
  uwsgi: uwsgi({
    'nova.wsgi.osapi_compute:application': novaOsapi,
    'nova.wsgi.metadata:application': novaMetadata,
  }),
};
const novaFiles = {
  '/etc/nova/api-paste.ini': pasteFiles.nova,
  '/etc/nova/rootwrap.conf': rootwrap.replace('$service', 'nova'),
};

/** Glance, Placement, Neutron and Nova of 2025.1. */
export const openstackRecipes: readonly Recipe[] = [
  serviceImage({
    names: ['glance-api'],
    user: 'glance',
    programs: { 'glance-api': glanceApi, 'glance-manage': glanceManage },
    files: {
      '/etc/glance/glance-api-paste.ini': pasteFiles.glance,
      // One of the dozens.
      '/etc/glance/metadefs/compute-libvirt.json':
        '{ "namespace": "OS::Compute::Libvirt", "display_name": "libvirt Driver Options", "visibility": "public" }\n',
    },
  }),
  serviceImage({
    names: ['placement-api'],
    user: 'placement',
    runsAsUser: false,
    programs: {
      'placement-manage': placementManage,
      'placement-status': placementStatus,
      uwsgi: uwsgi({ 'placement.wsgi.api:application': placementApi }),
    },
  }),
  serviceImage({
    names: ['neutron-server', 'neutron-metadata-agent', 'neutron-ovn-agent'],
    user: 'neutron',
    programs: {
      'neutron-db-manage': neutronDbManage,
      ...neutronServers,
      uwsgi: uwsgi({ 'neutron.wsgi.api:application': neutronApi }),
    },
    // The ML2/OVN driver runs ovsdb-client when an API server starts.
    system: { '/usr/bin': { ...(ovsdbClient && { 'ovsdb-client': ovsdbClient }), ...ovsControlCommands } },
    files: {
      '/etc/neutron/api-paste.ini': pasteFiles.neutron,
      '/etc/neutron/rootwrap.conf': rootwrap.replace('$service', 'neutron'),
    },
  }),
  serviceImage({ names: ['nova-api'], user: 'nova', runsAsUser: false, programs: nova, files: novaFiles }),
  serviceImage({
    names: ['nova-conductor', 'nova-scheduler', 'nova-compute'],
    user: 'nova',
    programs: nova,
    files: novaFiles,
  }),
  serviceImage({
    names: ['nova-novncproxy'],
    user: 'nova',
    programs: nova,
    files: { ...novaFiles, '/usr/share/novnc/vnc_lite.html': '<!DOCTYPE html>\n<title>noVNC</title>\n' },
  }),
];
