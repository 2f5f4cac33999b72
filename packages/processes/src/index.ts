/** Make-believe processes: models of the real programs of an OpenStack cloud, as they behave in reality. */
export { imageName, openstackImages } from './images.ts';
export { mariadbClients } from './infrastructure/mariadb-client.ts';
export { mariadbInstallDb } from './infrastructure/mariadb-install-db.ts';
export { mariadbd, mariadbdSafe } from './infrastructure/mariadb-server.ts';
export { memcached } from './infrastructure/memcached.ts';
export { keystoneApi } from './openstack/keystone-api.ts';
export { keystoneManage } from './openstack/keystone-manage.ts';
export { uwsgi } from './openstack/uwsgi.ts';
export { baseCommands } from './shell/system-commands.ts';
