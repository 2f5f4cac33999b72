import { model } from '../../model/model.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { startTimes } from '../../start-times.ts';
import { agentNotification } from './notification-agent.ts';
import { polling } from './polling-agent.ts';
import { ask, metricEndpoint } from './publishing.ts';

/** What Gnocchi has to know before it takes resources of a cloud; there are more (ceilometer.gnocchi_client). */
const resourceTypes = ['image', 'instance', 'instance_disk', 'instance_network_interface', 'network', 'volume'];

/** Ceilometer 24: images and processors of servers are measured, and each notification becomes an event. */
export const ceilometer = model({
  project: 'ceilometer',
  images: { 'ceilometer-central': {}, 'ceilometer-notification': {}, 'ceilometer-compute': { root: true } },
  programs: {
    'ceilometer-upgrade': {
      takes: startTimes.ceilometerProgram,
      files: ['ceilometer'],
      flags: 'skip-gnocchi-resource-types',
      values: 'retry',
      run: async ({ process, config, line }) => {
        if (line.has('skip-gnocchi-resource-types')) return 0;
        const session = new KeystoneSession(process, config, 'service_credentials');
        const url = await metricEndpoint(session, config);
        for (const name of resourceTypes) {
          const known = await session.request('GET', `${url}/v1/resource_type/${name}`);
          if (known.status === 404) await ask(session, process, 'POST', `${url}/v1/resource_type`, { name });
        }
        return 0;
      },
    },
    'ceilometer-polling': polling,
    'ceilometer-agent-notification': agentNotification,
  },
});
