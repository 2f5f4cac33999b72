import { uuid } from '@openstack-operator/kube';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { hostOf, now } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { makeInDomain } from '../../oslo/domain-admin.ts';
import type { Catalog } from '../../oslo/keystone-session.ts';
import { endpointOf, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

export const magnumDatabase: ProjectDatabase = {
  heads: ['c0f832afc4fd'],
  tables: 'cluster cluster_template federation magnum_service nodegroup quotas x509keypair',
};

/** URL of another service, as a client of Magnum's looks for it in a catalogue. @throws PythonError EndpointNotFound */
export function urlFor({ config }: ServiceContext, catalog: Catalog, client: string, type: string): string {
  const kind = config.text(`${client}_client`, 'endpoint_type').replace(/URL$/, '');
  return endpointOf(catalog, { type, interfaces: [kind], region: config.optional(`${client}_client`, 'region_name') });
}

/** `magnum-conductor`: serves, and reports once a minute (magnum.cmd.conductor). */
export const magnumConductor: ServiceProgram = {
  takes: startTimes.magnumConductor,
  run: async (context) => {
    const messaging = new Messaging(context);
    const { config, process } = context;
    const database = new Database(context, magnumDatabase);
    await respawning(
      context,
      async () => {
        await Promise.race([
          messaging.serve(config.text('conductor', 'topic'), conductor(context, database)),
          terminated(process),
        ]);
        const host = hostOf(context);
        do {
          const row = { id: host, host, binary: 'magnum-conductor', disabled: false, updated_at: now(context) };
          await database.transaction('INSERT', (schema) => tableOf(schema, 'magnum_service').set(host, row));
        } while (await pause(process, 60_000));
      },
      { once: config.integer('conductor', 'workers') === 1 },
    );
    return 0;
  },
};

/** What the API tells about a cluster: who makes it, and what Keystone told him is where. */
interface ClusterCall {
  readonly id: string;
  readonly catalog: Catalog;
}

function conductor(context: ServiceContext, database: Database): RpcHandler {
  return async (method, parameters) => {
    if (method !== 'cluster_create') throw new PythonError('NotImplementedError', `no model knows ${method}`);
    const { id, catalog } = parameters as ClusterCall;
    const reason = await create(context, database, id, catalog).catch((error: unknown) => {
      if (!(error instanceof PythonError)) throw error;
      return error.message;
    });
    await database.transaction('UPDATE', (schema) =>
      Object.assign(tableOf(schema, 'cluster').get(id) ?? {}, { status: 'CREATE_FAILED', status_reason: reason }),
    );
  };
}

/**
 * A trustee in a domain of its own, certificates, then a stack of Heat: as far as a cloud goes from which nobody finds the
 * discovery service that the nodes of a cluster meet by. @returns why it failed @throws PythonError
 */
async function create(context: ServiceContext, database: Database, id: string, catalog: Catalog): Promise<string> {
  const { config, process } = context;
  const session = new KeystoneSession(process, config, 'keystone_auth');
  const trust = (option: string) => config.text('trust', `trustee_domain_${option}`);
  const uri = config.text('keystone_authtoken', 'www_authenticate_uri');
  const admin = { uri, domain: trust('name'), name: trust('admin_name'), password: trust('admin_password') };
  await makeInDomain(process, session, admin, 'user', { name: `${id}_project`, password: uuid(process.random) });
  const store = config.text('certificates', 'cert_manager_type');
  if (store === 'barbican') urlFor(context, catalog, 'barbican', 'key-manager');
  else if (store === 'x509keypair')
    await database.transaction('INSERT', (schema) => tableOf(schema, 'x509keypair').set(id, { uuid: id }));
  else throw new PythonError('NotImplementedError', `no model knows certificates in ${store}`);
  await session.token();
  for (const side of [config.text('trust', 'trustee_keystone_interface'), 'public'])
    endpointOf(catalog, {
      type: 'identity',
      interfaces: [side],
      region: config.optional('trust', 'trustee_keystone_region_name'),
    });
  urlFor(context, catalog, 'magnum', 'container-infra');
  urlFor(context, catalog, 'heat', 'orchestration');
  const endpoint = config.text('cluster', 'etcd_discovery_service_endpoint_format').replace('%(size)d', '1');
  return `Failed to get discovery url from '${endpoint}'.`;
}
