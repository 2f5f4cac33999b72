import { ovsControlCommands } from '../../infrastructure/ovs-vsctl.ts';
import { ovsdbCommands } from '../../infrastructure/ovsdb-server.ts';
import { upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import { broker } from '../../model/wsgi.ts';
import { startTimes } from '../../start-times.ts';
import { serveApi } from './neutron-api.ts';
import { neutronDbManage } from './neutron-db-manage.ts';
import { metadataAgent } from './neutron-metadata-agent.ts';
import { neutronServers } from './neutron-servers.ts';

// The ML2/OVN driver runs ovsdb-client when an API server starts.
const { 'ovsdb-client': ovsdbClient } = ovsdbCommands;
const image = {
  system: { '/usr/bin': { ...(ovsdbClient && { 'ovsdb-client': ovsdbClient }), ...ovsControlCommands } },
};

/** Neutron 26 with ML2/OVN. */
export const neutron = model({
  project: 'neutron',
  images: { 'neutron-server': image, 'neutron-metadata-agent': image, 'neutron-ovn-agent': image },
  files: {
    '/etc/neutron/api-paste.ini': '[composite:neutron]\nuse = egg:Paste#urlmap\n',
    '/etc/neutron/rootwrap.conf': '[DEFAULT]\nfilters_path=/etc/neutron/rootwrap.d\n',
  },
  programs: {
    'neutron-db-manage': neutronDbManage,
    'neutron-status': {
      takes: startTimes.neutronDbManage.start,
      commands: {
        'upgrade check': upgradeCheck({ 'Policy File JSON to YAML Migration': () => Promise.resolve(undefined) }),
      },
    },
    'neutron-ovn-metadata-agent': metadataAgent,
    ...neutronServers,
  },
  applications: {
    'neutron.wsgi.api:application': {
      files: ['neutron.conf', 'plugins/ml2/ml2_conf.ini'],
      takes: startTimes.neutronApi.imports,
      connects: [broker],
      serves: serveApi,
    },
  },
});
