import type { Image, Program } from '@openstack-operator/sandbox';
import { ansiblePlaybook } from './infrastructure/ansible.ts';
import { bootRecipes } from './infrastructure/boot-servers.ts';
import { cephClients } from './infrastructure/ceph.ts';
import { cephMonitor } from './infrastructure/ceph-monitor.ts';
import { ip } from './infrastructure/ip-command.ts';
import { libvirtPrograms } from './infrastructure/libvirt.ts';
import { mariadbClients } from './infrastructure/mariadb-client.ts';
import { mariadbInstallDb } from './infrastructure/mariadb-install-db.ts';
import { mariadbd, mariadbdSafe } from './infrastructure/mariadb-server.ts';
import { memcached } from './infrastructure/memcached.ts';
import { ovnCtl } from './infrastructure/ovn-ctl.ts';
import { ovnDaemons } from './infrastructure/ovn-daemons.ts';
import { ovsControlCommands } from './infrastructure/ovs-vsctl.ts';
import { ovsdbCommands } from './infrastructure/ovsdb-server.ts';
import { rabbitmqCommands } from './infrastructure/rabbitmq-commands.ts';
import { rabbitmqServer, rabbitmqServerWrapper } from './infrastructure/rabbitmq-server.ts';
import { radosgw } from './infrastructure/radosgw.ts';
import { socat } from './infrastructure/socat.ts';
import { tgtRecipe } from './infrastructure/tgt.ts';
import { valkeyServer } from './infrastructure/valkey.ts';
import { unboundModule } from './oslo/ovsdbapp.ts';
import { imageOf, owned, type Recipe } from './recipe.ts';
import { services } from './services/index.ts';

const openvswitch = {
  '/usr/bin': {
    ...ovsControlCommands,
    ...pick(ovnDaemons, ['ovs-appctl']),
    ...pick(ovsdbCommands, ['ovsdb-tool', 'ovsdb-client']),
  },
};
const schemas: Recipe['files'] = {
  '/usr/share/openvswitch/vswitch.ovsschema': '{"name":"Open_vSwitch"}\n',
  '/usr/share/ovn/ovn-nb.ovsschema': '{"name":"OVN_Northbound"}\n',
  '/usr/share/ovn/ovn-sb.ovsschema': '{"name":"OVN_Southbound"}\n',
};

const recipes: readonly Recipe[] = [
  {
    names: ['mariadb-server'],
    user: 'mysql',
    runsAsUser: true,
    programs: {
      '/usr/bin': {
        ...mariadbClients,
        socat,
        'mariadb-install-db': mariadbInstallDb,
        mysql_install_db: mariadbInstallDb,
        'mariadbd-safe': mariadbdSafe,
        mysqld_safe: mariadbdSafe,
      },
      '/usr/sbin': { mariadbd, mysqld: mariadbd },
    },
    files: {
      '/run/mysqld': owned('mysql'),
      '/var/lib/mysql': owned('mysql'),
      '/usr/lib/galera/libgalera_smm.so': '',
    },
  },
  ...bootRecipes,
  { names: ['ansible'], user: 'ansible', programs: { '/usr/bin': { 'ansible-playbook': ansiblePlaybook } } },
  { names: ['memcached'], user: 'memcached', runsAsUser: true, programs: { '/usr/bin': { memcached } } },
  {
    names: ['valkey-server'],
    user: 'valkey',
    runsAsUser: true,
    programs: { '/usr/bin': { 'valkey-server': valkeyServer } },
    files: { '/etc/valkey': owned('valkey'), '/var/lib/valkey': owned('valkey') },
  },
  {
    names: ['rabbitmq', 'rabbitmq-4-1'],
    user: 'rabbitmq',
    runsAsUser: true,
    programs: {
      '/usr/sbin': { ...rabbitmqCommands, 'rabbitmq-server': rabbitmqServerWrapper },
      '/usr/lib/rabbitmq/bin': { ...rabbitmqCommands, 'rabbitmq-server': rabbitmqServer },
      '/usr/bin': { socat },
    },
    files: {
      '/etc/rabbitmq/enabled_plugins': '[rabbitmq_management,rabbitmq_prometheus].\n',
      '/var/log/rabbitmq': owned('rabbitmq'),
    },
  },
  {
    names: ['openvswitch-db-server', 'openvswitch-vswitchd'],
    user: 'openvswitch',
    programs: {
      ...openvswitch,
      '/usr/sbin': { ip, ...pick(ovsdbCommands, ['ovsdb-server']), ...pick(ovnDaemons, ['ovs-vswitchd']) },
    },
    files: schemas,
  },
  {
    names: ['ovn-nb-db-server', 'ovn-sb-db-server', 'ovn-northd', 'ovn-controller', 'ovn-sb-db-relay'],
    user: 'openvswitch',
    programs: {
      '/usr/bin': { ...openvswitch['/usr/bin'], ...pick(ovnDaemons, ['ovn-northd', 'ovn-controller', 'ovn-appctl']) },
      '/usr/sbin': pick(ovsdbCommands, ['ovsdb-server']),
      '/usr/share/ovn/scripts': { 'ovn-ctl': ovnCtl },
    },
    files: schemas,
  },
  {
    names: ['nova-libvirt'],
    user: 'nova',
    programs: {
      '/usr/sbin': pick(libvirtPrograms, ['libvirtd', 'virtlogd']),
      '/usr/bin': pick(libvirtPrograms, ['virsh']),
    },
  },
  { names: ['ceph'], user: 'swift', programs: { '/usr/bin': { ...cephClients, 'ceph-mon': cephMonitor, radosgw } } },
  tgtRecipe,
  ...services.flatMap(({ recipes }) => recipes),
];

/**
 * Images of an OpenStack 2025.1 cloud: known by Kolla's image names, whatever the registry, the tag or the digest.
 * `resolver`: their Python has `unbound`, as in Debian's images; Kolla's have none (default).
 */
export function openstackImages({ resolver = false }: { resolver?: boolean } = {}): Image[] {
  return recipes.map((recipe) => imageOf(recipe, resolver ? { [unboundModule]: '' } : {}));
}

/** Some programs of a group. */
function pick(programs: Readonly<Record<string, Program>>, names: readonly string[]): Record<string, Program> {
  return Object.fromEntries(Object.entries(programs).filter(([name]) => names.includes(name)));
}
