import type { Image, ImageEntry, Program } from '@openstack-operator/sandbox';
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
import { accountFiles, kollaId } from './kolla-users.ts';
import { keystoneApi } from './openstack/keystone-api.ts';
import { keystoneManage } from './openstack/keystone-manage.ts';
import { openstackRecipes } from './openstack/openstack-recipes.ts';
import { unboundModule } from './openstack/ovn-client.ts';
import { uwsgi } from './openstack/uwsgi.ts';
import { CommandError, command } from './program-support.ts';
import { curl } from './shell/curl.ts';
import { baseCommands } from './shell/system-commands.ts';

/** What distinguishes one image from the others. */
export interface Recipe {
  /** Kolla's names for it: the last part of the reference, without tag. */
  readonly names: readonly string[];
  /** The service user: owns /var/lib/<user>. */
  readonly user: string;
  /** The image's USER line is that user; root otherwise. */
  readonly runsAsUser?: boolean;
  /** Programs by directory. */
  readonly programs: Readonly<Record<string, Readonly<Record<string, Program>>>>;
  readonly files?: Readonly<Record<string, string | ImageEntry>>;
}

const venv = '/var/lib/kolla/venv/bin';

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
        'mariadb-install-db': mariadbInstallDb,
        mysql_install_db: mariadbInstallDb,
        'mariadbd-safe': mariadbdSafe,
        mysqld_safe: mariadbdSafe,
      },
      '/usr/sbin': { mariadbd, mysqld: mariadbd },
    },
    files: { '/run/mysqld': owned('mysql'), '/var/lib/mysql': owned('mysql') },
  },
  { names: ['memcached'], user: 'memcached', runsAsUser: true, programs: { '/usr/bin': { memcached } } },
  {
    names: ['rabbitmq', 'rabbitmq-4-1'],
    user: 'rabbitmq',
    runsAsUser: true,
    programs: {
      '/usr/sbin': { ...rabbitmqCommands, 'rabbitmq-server': rabbitmqServerWrapper },
      '/usr/lib/rabbitmq/bin': { ...rabbitmqCommands, 'rabbitmq-server': rabbitmqServer },
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
  {
    names: ['keystone'],
    user: 'keystone',
    programs: {
      [venv]: { 'keystone-manage': keystoneManage, uwsgi: uwsgi({ 'keystone.wsgi.api:application': keystoneApi }) },
    },
  },
  ...openstackRecipes,
];

/** `kolla_start` wants Kolla's own contract, which nobody here meets. */
const kollaStart = command((process) => {
  process.stdout('+ sudo -E kolla_set_configs\n');
  if (process.uid !== 0)
    throw new CommandError('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.');
  throw new CommandError('ERROR:__main__:KOLLA_CONFIG_STRATEGY is not set properly');
});

/**
 * Images of an OpenStack 2025.1 cloud: known by Kolla's image names, whatever the registry, the tag or the digest.
 * `resolver`: their Python has `unbound`, as in Debian's images; Kolla's have none (default).
 */
export function openstackImages({ resolver = false }: { resolver?: boolean } = {}): Image[] {
  return recipes.map((recipe) => imageOf(recipe, resolver ? { [unboundModule]: '' } : {}));
}

function imageOf(recipe: Recipe, more: Readonly<Record<string, string>>): Image {
  const { names, user, runsAsUser = false } = recipe;
  const isOpenstack = recipe.programs[venv] !== undefined;
  const base = Object.entries({ ...baseCommands, curl });
  const programs: Record<string, Program> = {
    ...Object.fromEntries(
      base.flatMap(([name, program]) => [
        [name, program],
        [`/bin/${name}`, program],
        [`/usr/bin/${name}`, program],
      ]),
    ),
    kolla_start: kollaStart,
  };
  for (const [directory, contents] of Object.entries(recipe.programs)) {
    for (const [name, program] of Object.entries(contents)) {
      // Directories outside of PATH are known by the whole path only.
      if ([venv, '/usr/bin', '/usr/sbin', '/bin', '/usr/local/bin'].includes(directory)) programs[name] = program;
      programs[`${directory}/${name}`] = program;
    }
  }
  return {
    matches: (reference) => names.includes(imageName(reference)),
    programs,
    entrypoint: ['dumb-init', '--single-child', '--', 'kolla_start'],
    files: {
      ...accountFiles,
      [`/var/lib/${user}`]: owned(user),
      '/var/log/kolla': { mode: 0o2775, gid: kollaId('kolla') },
      ...more,
      ...recipe.files,
    },
    ...(runsAsUser && { user: kollaId(user) }),
    env: {
      LANG: 'en_US.UTF-8',
      KOLLA_BASE_DISTRO: 'debian',
      PATH: `${isOpenstack ? `${venv}:` : ''}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    },
  };
}

/** Some programs of a group. */
function pick(programs: Readonly<Record<string, Program>>, names: readonly string[]): Record<string, Program> {
  return Object.fromEntries(Object.entries(programs).filter(([name]) => names.includes(name)));
}

function owned(user: string): ImageEntry {
  return { mode: 0o755, uid: kollaId(user), gid: kollaId(user) };
}

/** `registry:5000/a/keystone:2025.1@sha256:...` -> `keystone`. */
export function imageName(reference: string): string {
  const [path = ''] = reference.split('@');
  return (path.split('/').at(-1) ?? '').split(':')[0] ?? '';
}
