import { libvirtPrograms } from '../infrastructure/libvirt.ts';
import { mariadbClients } from '../infrastructure/mariadb-client.ts';
import { mariadbInstallDb } from '../infrastructure/mariadb-install-db.ts';
import { mariadbd } from '../infrastructure/mariadb-server.ts';
import { ovnCtl } from '../infrastructure/ovn-ctl.ts';
import { ovnDaemons } from '../infrastructure/ovn-daemons.ts';
import { ovsControlCommands } from '../infrastructure/ovs-vsctl.ts';
import { ovsdbCommands } from '../infrastructure/ovsdb-server.ts';
import { rabbitmqServer } from '../infrastructure/rabbitmq-server.ts';
import { uwsgi } from '../model/uwsgi.ts';
import { named, rndc } from '../services/designate/bind9.ts';
import { services } from '../services/index.ts';
import { baseCommands } from '../shell/system-commands.ts';
import { type ContainerOptions, request, World } from './world.ts';

const merged = <T>(parts: readonly Readonly<Record<string, T>>[]): Record<string, T> => Object.assign({}, ...parts);

export const cloudPrograms = {
  ...baseCommands,
  ...mariadbClients,
  ...ovsControlCommands,
  ...ovsdbCommands,
  mariadbd,
  'mariadb-install-db': mariadbInstallDb,
  'rabbitmq-server': rabbitmqServer,
  '/ovn-ctl': ovnCtl,
  ...libvirtPrograms,
  ...ovnDaemons,
  named,
  rndc,
  ...merged(services.map(({ programs }) => programs)),
  uwsgi: uwsgi(merged(services.map(({ modules }) => modules))),
};
const databases = [
  'keystone',
  'glance',
  'placement',
  'neutron',
  'nova',
  'nova_api',
  'nova_cell0',
  'barbican',
  'cinder',
  'manila',
  'watcher',
  'blazar',
  'designate',
  'octavia',
  'aodh',
  'cyborg',
  'cloudkitty',
  'vitrage',
  'adjutant',
  'freezer',
  'tacker',
  'zun',
  'venus',
];
const sql = databases
  .map((name) => `CREATE DATABASE ${name}; GRANT ALL ON ${name}.* TO '${name.split('_')[0]}'@'%' IDENTIFIED BY 'pw';`)
  .join('');
const key = Buffer.from('RHFuYk40d05BM21zZWs5QnhmNFpVVW9ub2stLVpjY3dEZGxmd0hCcTF6UT0=', 'base64').toString();
/** URL of a database. */
export const database = (name: string, user = name): string =>
  `mysql+pymysql://${user}:pw@mariadb/${name}?charset=utf8`;
const authtoken = (user: string): string => `[keystone_authtoken]
auth_url = http://keystone:5000/v3
auth_type = password
username = ${user}
password = pw
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
www_authenticate_uri = http://keystone:5000/v3
`;
const client = (section: string, user: string): string => authtoken(user).replace('keystone_authtoken', section);
const novaConf = `[DEFAULT]\nuse_stderr = true\nstate_path = /var/lib/nova\ncompute_driver = libvirt.LibvirtDriver\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n${client('placement', 'nova')}${client('service_user', 'nova')}send_service_user_token = true\n${client('neutron', 'nova')}service_metadata_proxy = true\nmetadata_proxy_shared_secret = metasecret\n`;
const ini = (module: string, port: number): string =>
  `[uwsgi]\nhttp-socket = 0.0.0.0:${port}\nmodule = ${module}\nmaster = true\nlazy-apps = true\nneed-app = true\ndie-on-term = true\nstart-time = %t\n`;

const files = {
  '/etc/keystone/keystone.conf': `[database]\nconnection = ${database('keystone')}\n`,
  '/etc/keystone/fernet-keys/0': key,
  '/etc/keystone/credential-keys/0': key,
  '/etc/glance/glance-api.conf': `[DEFAULT]\nuse_stderr = true\nenabled_backends = local:file\n[glance_store]\ndefault_backend = local\n[local]\nfilesystem_store_datadir = /var/lib/glance/images\n[os_glance_staging_store]\nfilesystem_store_datadir = /var/lib/glance/staging\n[os_glance_tasks_store]\nfilesystem_store_datadir = /var/lib/glance/tasks\n[paste_deploy]\nflavor = keystone\n[database]\nconnection = ${database('glance')}\n${authtoken('glance')}`,
  '/etc/glance/glance-api-paste.ini': '[composite:glance-api-keystone]\n',
  '/etc/placement/placement.conf': `[DEFAULT]\nuse_stderr = true\n[placement_database]\nconnection = ${database('placement')}\n${authtoken('placement')}`,
  '/etc/neutron/neutron.conf': `[DEFAULT]\nuse_stderr = true\ncore_plugin = ml2\nservice_plugins = ovn-router\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[database]\nconnection = ${database('neutron')}\n${authtoken('neutron')}${client('nova', 'neutron')}endpoint_type = internal\n`,
  '/etc/neutron/plugins/ml2/ml2_conf.ini':
    '[ml2_type_geneve]\nmax_header_size = 38\nvni_ranges = 1:65536\n[ml2]\nmechanism_drivers = ovn\ntype_drivers = geneve\ntenant_network_types = geneve\n[ovn]\novn_nb_connection = tcp:ovn-nb:6641\novn_sb_connection = tcp:ovn-sb:6642\n',
  '/etc/neutron/api-paste.ini': '[composite:neutron]\n',
  '/etc/nova/nova.conf': `${novaConf}[database]\nconnection = ${database('nova')}\n[api_database]\nconnection = ${database('nova_api', 'nova')}\n${authtoken('nova')}`,
  '/etc/nova/compute.conf': `${novaConf}[libvirt]\nvirt_type = qemu\n[os_vif_ovs]\novsdb_connection = unix:/run/openvswitch/db.sock\n`,
  '/etc/nova/api-paste.ini': '[composite:osapi_compute]\n',
  '/etc/barbican/barbican.conf': `[DEFAULT]\nuse_stderr = true\nhost_href =\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[queue]\nenable = true\n[keystone_notifications]\nenable = true\ntopic = gone\n[simple_crypto_plugin]\nkek = ${key}\n[database]\nconnection = ${database('barbican')}\n${authtoken('barbican')}`,
  '/etc/barbican/barbican-api-paste.ini': '[composite:main]\n',
  '/etc/cinder/cinder.conf': `[DEFAULT]\nuse_stderr = true\nenabled_backends = rbd\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[rbd]\nvolume_driver = cinder.volume.drivers.rbd.RBDDriver\nbackend_host = store\nrbd_user = cinder\nrbd_pool = volumes\nrbd_ceph_conf = /etc/ceph/ceph.conf\n[database]\nconnection = ${database('cinder')}\n${authtoken('cinder')}`,
  '/etc/ceph/ceph.conf': '[global]\nmon_host = 10.0.0.1\n',
  '/etc/ceph/ceph.client.cinder.keyring': `[client.cinder]\n\tkey = ${Buffer.alloc(28, 1).toString('base64')}\n`,
  '/etc/ceph/ceph.client.manila.keyring': `[client.manila]\n\tkey = ${Buffer.alloc(28, 2).toString('base64')}\n`,
  '/etc/manila/manila.conf': `[DEFAULT]\nuse_stderr = true\nhost = store\nenabled_share_backends = fs\nenabled_share_protocols = CEPHFS\ndefault_share_type = fs\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[fs]\nshare_driver = manila.share.drivers.cephfs.driver.CephFSDriver\nshare_backend_name = fs\ndriver_handles_share_servers = false\ncephfs_conf_path = /etc/ceph/ceph.conf\ncephfs_auth_id = manila\ncephfs_filesystem_name = cephfs\n[coordination]\nbackend_url = file:///var/lib/manila\n[database]\nconnection = ${database('manila')}\n${authtoken('manila')}`,
  '/etc/blazar/blazar.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\nos_auth_host = keystone\nos_auth_prefix = v3\nos_auth_version =\nos_admin_username = blazar\nos_admin_password = pw\nos_admin_project_name = service\nos_region_name = RegionOne\n[manager]\nplugins = physical.host.plugin\n[database]\nconnection = ${database('blazar')}\n${authtoken('blazar')}`,
  '/etc/cloudkitty/cloudkitty.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[orchestrator]\ncoordination_url = file:///var/lib/cloudkitty\n[fetcher_keystone]\nauth_section = keystone_authtoken\n[storage]\nbackend = sqlalchemy\nversion = 1\n[database]\nconnection = ${database('cloudkitty')}\n${authtoken('cloudkitty')}`,
  '/etc/cloudkitty/api_paste.ini': '[pipeline:cloudkitty+keystone]\n',
  '/etc/cloudkitty/metrics.yml': 'metrics: {cpu: {unit: instance, extra_args: {resource_type: instance}}}\n',
  '/etc/cyborg/cyborg.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[api]\napi_paste_config = /etc/cyborg/api-paste.ini\n[agent]\nenabled_drivers = fake_driver\n[database]\nconnection = ${database('cyborg')}\n${client('placement', 'cyborg')}${authtoken('cyborg')}`,
  '/etc/cyborg/api-paste.ini': '[pipeline:main]\n',
  '/etc/vitrage/vitrage.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[datasources]\ntypes =\n[database]\nconnection = ${database('vitrage')}\n${client('service_credentials', 'vitrage')}${authtoken('vitrage')}`,
  '/etc/vitrage/api-paste.ini': '[composite:vitrage+keystone]\n',
  '/etc/adjutant/adjutant.yaml':
    'django:\n  databases: {default: {ENGINE: django.db.backends.mysql, HOST: mariadb, PORT: 3306, NAME: adjutant, USER: adjutant, PASSWORD: pw}}\n  logging: {version: 1}\nidentity:\n  auth: {username: adjutant, password: pw, project_name: service, auth_url: "http://keystone:5000/v3"}\nworkflow: {horizon_url: "http://horizon"}\n',
  '/etc/freezer/freezer-api.conf': `[DEFAULT]\nuse_stderr = true\n[storage]\ndriver = sqlalchemy\n[database]\nconnection = ${database('freezer')}\n${authtoken('freezer')}`,
  '/etc/freezer/freezer-paste.ini': `[pipeline:main]
pipeline = authtoken context api
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
[filter:context]
paste.filter_factory = freezer_api.api.common.middleware:ContextMiddleware.factory
[composite:api]
paste.composite_factory = freezer_api.service:root_app_factory
/: versions
/v1: v1
/v2: v2
[app:versions]
paste.app_factory = freezer_api.api.versions:api_versions
[app:v1]
paste.app_factory = freezer_api.service:freezer_appv1_factory
[app:v2]
paste.app_factory = freezer_api.service:freezer_appv2_factory
`,
  '/etc/tacker/tacker.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[coordination]\nbackend_url = file:///var/lib/tacker\n[glance_store]\nfilesystem_store_datadir = /var/lib/tacker/csar_files\n[vnf_package]\nvnf_package_csar_path = /var/lib/tacker/\n[vim_keys]\nopenstack = /var/lib/tacker\n[database]\nconnection = ${database('tacker')}\n${authtoken('tacker')}`,
  '/etc/tacker/api-paste.ini':
    '[composite:tacker]\n/ = versions\n/v1.0 = vims\n/vnfpkgm/v1 = packages\n[pipeline:vims]\npipeline = authtoken vims_app\n',
  '/etc/zun/zun.conf': `[DEFAULT]\nuse_stderr = true\nauth_encryption_key = ${'k'.repeat(32)}\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[websocket_proxy]\nwsproxy_host = 0.0.0.0\n[placement_client]\nendpoint_type = internalURL\n[neutron_client]\nendpoint_type = internalURL\n[database]\nconnection = ${database('zun')}\n${client('keystone_auth', 'zun')}${authtoken('zun')}`,
  '/etc/zun/api-paste.ini':
    '[pipeline:main]\npipeline = authtoken api_v1\n[filter:authtoken]\npaste.filter_factory = zun.api.middleware.auth_token:AuthTokenMiddleware.factory\n[app:api_v1]\npaste.app_factory = zun.api.app:app_factory\n',
  '/etc/venus/venus.conf': `[DEFAULT]\nuse_stderr = true\napi_paste_config = /etc/venus/api-paste.ini\nosapi_venus_listen_port = 10010\n[elasticsearch]\nurl = http://elasticsearch:9200\n[database]\nconnection = ${database('venus')}\n${authtoken('venus')}`,
  '/etc/venus/api-paste.ini':
    '[composite:osapi_venus]\n/ = apiversions\n/v1 = v1\n[pipeline:apiversions]\npipeline = versions\n[pipeline:v1]\npipeline = authtoken api\n[filter:authtoken]\npaste.filter_factory = keystonemiddleware.auth_token:filter_factory\n[app:versions]\npaste.app_factory = venus.modules.version.versions:Versions.factory\n[app:api]\npaste.app_factory = venus.api.v1.router:APIRouter.factory\n',
  '/etc/watcher/watcher.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[database]\nconnection = ${database('watcher')}\n${client('watcher_clients_auth', 'watcher')}${authtoken('watcher')}`,
  '/etc/designate/designate.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[coordination]\nbackend_url = file:///var/lib/designate\n[service:mdns]\nlisten = 0.0.0.0:5354\n[storage:sqlalchemy]\nconnection = ${database('designate')}\n${authtoken('designate')}`,
  '/etc/designate/api-paste.ini': '[composite:osapi_dns]\n',
  '/etc/designate/rndc.key': 'key "designate" { algorithm hmac-sha256; secret "c2VjcmV0"; };\n',
  '/etc/designate/named.conf':
    'include "/etc/designate/rndc.key";\ncontrols { inet * port 953 allow { any; } keys { "designate"; }; };\noptions { directory "/var/lib/named"; listen-on port 53 { any; }; allow-new-zones yes; allow-notify { any; }; };\n',
  '/etc/designate/pools.yaml': `- name: default
  id: 794ccc2c-d751-44fe-b57f-8894c9f5c842
  ns_records: [{hostname: ns1.example.com., priority: 1}]
  nameservers: [{host: SERVER, port: 53}]
  targets:
    - type: bind9
      masters: [{host: MASTER, port: 5354}]
      options: {host: SERVER, port: 53, rndc_host: SERVER, rndc_port: 953, rndc_key_file: /etc/designate/rndc.key}
`,
  '/etc/octavia/octavia.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[api_settings]\nhealthcheck_enabled = true\nenabled_provider_drivers = ovn:OVN\ndefault_provider_driver = ovn\n[driver_agent]\nenabled_provider_agents = ovn\nstatus_socket_path = /run/octavia/status.sock\nstats_socket_path = /run/octavia/stats.sock\nget_socket_path = /run/octavia/get.sock\n[ovn]\novn_nb_connection = tcp:ovn-nb:6641\novn_sb_connection = tcp:ovn-sb:6642\n[database]\nconnection = ${database('octavia')}\n${authtoken('octavia')}${client('neutron', 'octavia')}endpoint_override = http://neutron:9696\n`,
  '/etc/aodh/aodh.conf': `[DEFAULT]\nuse_stderr = true\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\n[database]\nconnection = ${database('aodh')}\n${authtoken('aodh')}${client('service_credentials', 'aodh')}interface = internal\n`,
  '/usr/share/novnc/vnc_lite.html': '<title>noVNC</title>\n',
  '/keystone.ini': ini('keystone.wsgi.api:application', 5000),
  '/placement.ini': ini('placement.wsgi.api:application', 8778),
  '/nova.ini': ini('nova.wsgi.osapi_compute:application', 8774),
  '/metadata.ini': ini('nova.wsgi.metadata:application', 8775),
  '/barbican.ini': ini('barbican.api.app:get_api_wsgi_script()', 9311),
  '/cinder.ini': ini('cinder.wsgi.api:application', 8776),
  '/designate.ini': ini('designate.api.wsgi:init_application()', 9001),
  '/aodh.ini': ini('aodh.api.app:build_wsgi_app()', 8042),
  '/manila.ini': ini('manila.wsgi.wsgi:initialize_application()', 8786),
  '/blazar.ini': ini('blazar.api.wsgi_app:init_app()', 1234),
  '/cloudkitty.ini': ini('cloudkitty.api.app:build_wsgi_app()', 8889),
  '/freezer.ini': ini('freezer_api.service:initialize_app()', 9090),
  '/zun.ini': ini('zun.api.wsgi:init_application()', 9517),
  '/cyborg.ini': ini('cyborg.api.wsgi_app:init_application()', 6666),
  '/adjutant.ini': ini('adjutant.wsgi:application', 5051),
  '/watcher.ini': ini('watcher.api.wsgi:initialize_wsgi_app()', 9322),
  '/octavia.ini': ini('octavia.api.app:setup_app()', 9876),
  '/neutron.ini': ini('neutron.wsgi.api:application', 9696),
};
const endpoints = {
  placement: 'http://placement:8778',
  network: 'http://neutron:9696',
  compute: 'http://api:8774/v2.1',
  image: 'http://glance:9292',
};

/** A file of the cloud's configuration. */
export type CloudFile = keyof typeof files;

/** Changes of files: what a test breaks. */
export type Changes = Partial<Record<CloudFile, (text: string) => string>>;

/** Everything below the service: databases, broker, OVN, Keystone with the service's user. `more`: further files of its hosts. */
export async function ground(change: Changes = {}, more: Readonly<Record<string, string>> = {}) {
  const world = new World();
  const mariadb = world.container({
    host: 'mariadb',
    programs: cloudPrograms,
    uid: 42_434,
    directories: ['var/lib/mysql', 'run/mysqld'],
  });
  mariadb.start(['sh', '-ec', 'mariadb-install-db --auth-root-authentication-method=normal; exec mariadbd']);
  const broker = world
    .container({
      host: 'rabbitmq',
      programs: cloudPrograms,
      uid: 42_439,
      directories: ['var/lib/rabbitmq'],
      env: { RABBITMQ_DEFAULT_USER: 'openstack', RABBITMQ_DEFAULT_PASS: 'pw' },
    })
    .start(['rabbitmq-server']);
  for (const side of ['nb', 'sb'])
    world
      .container({ host: `ovn-${side}`, programs: cloudPrograms })
      .start(['/ovn-ctl', `--db-${side}-create-insecure-remote=yes`, `run_${side}_ovsdb`]);
  await world.clock.advance(8000);
  await mariadb.run(['mariadb', '-uroot', '-e', sql]);
  const all = {
    ...Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, change[name as CloudFile]?.(text) ?? text]),
    ),
    ...more,
  };
  const keystone = world.container({ host: 'keystone', programs: cloudPrograms, files: all });
  await keystone.run([
    'sh',
    '-ec',
    'keystone-manage db_sync; keystone-manage bootstrap --bootstrap-password adminpw --bootstrap-region-id RegionOne --bootstrap-public-url http://keystone:5000/v3 --bootstrap-internal-url http://keystone:5000/v3',
  ]);
  keystone.start(['uwsgi', '--ini', '/keystone.ini']);
  await world.clock.advance(4000);
  const login = (user: string, password: string, project: string) =>
    request(world, 'keystone', 5000, '/v3/auth/tokens', {
      method: 'POST',
      body: {
        auth: {
          identity: { methods: ['password'], password: { user: { name: user, domain: { id: 'default' }, password } } },
          scope: { project: { name: project, domain: { id: 'default' } } },
        },
      },
    });
  const token = (await login('admin', 'adminpw', 'admin')).headers?.['x-subject-token'] ?? '';
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'keystone', 5000, `/v3/${path}`, {
      method,
      headers: { 'x-auth-token': token },
      ...(body !== undefined && { body }),
    });
    return reply.body ? (JSON.parse(reply.body) as Record<string, { id: string } & { id: string }[]>) : {};
  };
  const project = (await send('POST', 'projects', { project: { name: 'service' } }))['project']?.id;
  const roles = (await send('GET', 'roles?name=admin'))['roles'];
  // Keystone has none, and those of Nova share one.
  const users = databases.filter((name) => name !== 'keystone' && !name.includes('_'));
  for (const user of users) {
    const id = (await send('POST', 'users', { user: { name: user, password: 'pw' } }))['user']?.id;
    await send('PUT', `projects/${project}/users/${id}/roles/${roles?.[0]?.id}`);
  }
  for (const [type, url] of Object.entries(endpoints)) {
    const service = (await send('POST', 'services', { service: { name: type, type } }))['service'];
    await send('POST', 'endpoints', {
      endpoint: { service_id: service?.id, interface: 'internal', region: 'RegionOne', url },
    });
  }
  const container = (host: string, more: Pick<ContainerOptions, 'uid'> = {}) =>
    world.container({
      host,
      ...more,
      programs: cloudPrograms,
      files: all,
      directories: ['run/ovn', 'run/octavia', 'var/lib/glance', 'var/lib/named', 'var/lib/nova', 'var/lib/tacker'],
    });
  return { world, token, container, broker };
}
