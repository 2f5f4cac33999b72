import { uuid } from '@openstack-operator/kube';
import { type HttpReply, SystemError } from '@openstack-operator/sandbox';
import { json, locationOf, plain } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, type Route, versions } from '../../model/api.ts';
import type { Collection } from '../../model/collection.ts';
import { bindPatiently } from '../../model/eventlet-server.ts';
import { Fault } from '../../model/fault.ts';
import { revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { parseIni } from '../../oslo/ini-file.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { tackerConductor } from './tacker-conductor.ts';
import { openStore, tackerDatabase, topic } from './tacker-store.ts';
import { registerVim } from './tacker-vims.ts';

const { start: takes, dbSync } = startTimes.tackerManage;

/** `tacker-server` (tacker.service): the broker's URL is parsed, then the pipelines are loaded, and then it listens. */
const tackerServer: ServiceProgram = {
  takes: startTimes.tackerServer,
  files: ['tacker'],
  run: async (context) => {
    const { config, log, process } = context;
    const messaging = new Messaging(context);
    const [host, port] = [config.text('DEFAULT', 'bind_host'), config.integer('DEFAULT', 'bind_port')];
    const run = async () => {
      await bindPatiently(process, { host, port }, await loaded(context, messaging));
      log.info('tacker.service', `Tacker service started, listening on ${host}:${port}`);
      await terminated(process);
      return true;
    };
    await respawning(context, run, { once: true });
    return 0;
  },
};

/** Tacker 13: packages and VIMs; no model deploys what is in a package. */
export const tacker = model({
  project: 'tacker',
  images: { 'tacker-server': {}, 'tacker-conductor': {} },
  programs: {
    'tacker-db-manage': {
      takes,
      commands: {
        'upgrade head': sync(tackerDatabase, dbSync),
        current: revisions(tackerDatabase),
      },
    },
    'tacker-status': {
      takes,
      files: ['tacker'],
      commands: {
        'upgrade check': upgradeCheck({ 'Policy File JSON to YAML Migration': () => Promise.resolve(undefined) }),
      },
    },
    'tacker-server': tackerServer,
    'tacker-conductor': tackerConductor,
  },
});

/** What is below a path of the paste file. */
interface Served {
  readonly prefix: string;
  readonly collection: Collection;
  readonly route: Route;
}

/** The pipelines of its paste file: its programs open the store, and read the database as they are made. @throws PythonError */
async function loaded(context: ServiceContext, messaging: Messaging): Promise<WsgiHandler> {
  const { process, config } = context;
  const stated = config.text('DEFAULT', 'api_paste_config');
  const file = stated.startsWith('/') ? stated : `/etc/tacker/${stated}`;
  if (!process.files.exists(file))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${stated}`);
  const sections = parseIni(file, process.files.read(file));
  const paths = sections.flatMap(({ section, key }) =>
    section === 'composite:tacker' && key.startsWith('/') ? [key] : [],
  );
  if (paths.length === 0)
    throw new PythonError('RuntimeError', `Unable to load tacker from configuration file ${file}.`);
  const served = (prefix: string): boolean => paths.includes(prefix);
  if (served('/vnfpkgm/v1')) openStore(context);
  if (served('/v1.0'))
    await new Database(context, tackerDatabase).transaction('SELECT', (schema) => tableOf(schema, 'vnf').size);
  const known: readonly Served[] = [
    {
      prefix: '/v1.0',
      collection: { path: 'v1.0/vims', item: 'vim' },
      route: (call) => (call.request.method === 'POST' ? registerVim(context, call) : undefined),
    },
    {
      prefix: '/vnfpkgm/v1',
      collection: { path: 'vnfpkgm/v1/vnf_packages' },
      route: (call) => packages(context, messaging, call),
    },
    {
      prefix: '/vnflcm/v1',
      collection: { path: 'vnflcm/v1/vnf_instances' },
      route: ({ store }) => store((schema) => json(200, rowsOf(schema, 'vnf_instances'))),
    },
  ];
  const apis = known.filter(({ prefix }) => served(prefix));
  const handler = apiHandler(context, {
    open: served('/') ? { '/': versions(200, 'v1.0') } : {},
    unauthenticated: () => !sections.some(({ value }) => value.split(' ').includes('authtoken')),
    words: { body: ({ message, type }) => ({ TackerError: { message, type, detail: '' } }) },
    database: tackerDatabase,
    collections: apis.map(({ collection }) => collection),
    routes: Object.fromEntries(apis.map(({ prefix, route }) => [prefix.split('/')[1], route])),
  });
  // What no path leads to is answered by who tells the versions, before anybody is asked for a token.
  const isKnown = (path: string) => path === '/' || paths.some((one) => one !== '/' && path.startsWith(`${one}/`));
  return (request) =>
    isKnown(locationOf(request).path) ? handler(request) : Promise.resolve(plain(404, 'Unknown API version specified'));
}

/** A package as bodies have it. */
function shown({ id, onboarding_state, operational_state, usage_state, user_data }: Row): Row {
  const self = `/vnfpkgm/v1/vnf_packages/${String(id)}`;
  return {
    id,
    onboardingState: onboarding_state,
    operationalState: operational_state,
    usageState: usage_state,
    userDefinedData: user_data,
    _links: { self: { href: self }, packageContent: { href: `${self}/package_content` } },
  };
}

/** Packages are recorded, and then sent: a conductor unpacks what the server has kept (tacker.api.vnfpkgm.v1). @throws Fault */
async function packages(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { request, id, part, body, identity, store } = call;
  if (id === undefined) {
    if (request.method === 'GET') return json(200, await store((schema) => rowsOf(schema, 'vnf_packages').map(shown)));
    const row = {
      id: uuid(context.process.random),
      onboarding_state: 'CREATED',
      operational_state: 'DISABLED',
      usage_state: 'NOT_IN_USE',
      user_data: body['userDefinedData'] ?? {},
      tenant_id: identity.projectId,
    };
    await store((schema) => tableOf(schema, 'vnf_packages').set(row.id, row));
    return json(201, shown(row));
  }
  const row = await store((schema) => tableOf(schema, 'vnf_packages').get(id));
  if (row === undefined) throw new Fault(404, `Can not find requested vnf package: ${id}`);
  if (part === undefined && request.method === 'GET') return json(200, shown(row));
  if (part !== 'package_content' || request.method !== 'PUT')
    throw new Fault(405, `no model knows ${request.method} of a package's ${part}`);
  if (row['onboarding_state'] !== 'CREATED') throw new Fault(409, `VNF Package ${id} onboarding state is not CREATED`);
  const location = `${openStore(context)}/${id}`;
  try {
    context.process.files.write(location, request.body);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new PythonError(
      'tacker.common.exceptions.UploadFailedToGlanceStore',
      `VNF package ${id} failed to upload to glance store: ${error.message}`,
    );
  }
  const told = { onboarding_state: 'UPLOADING', location_glance_store: `file://${location}` };
  await store((schema) => Object.assign(tableOf(schema, 'vnf_packages').get(id) ?? {}, told));
  messaging.cast(topic, 'upload_vnf_package_content', { id, location: told.location_glance_store });
  return { status: 202 };
}
