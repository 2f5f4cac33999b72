import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json, plain } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { magnumConductor, magnumDatabase, urlFor } from './magnum-conductor.ts';

const { start: takes, dbSync } = startTimes.magnumManage;

/** Magnum 20: templates of clusters, and clusters as far as they come here. */
export const magnum = model({
  project: 'magnum',
  images: { 'magnum-api': {}, 'magnum-conductor': {} },
  files: { '/etc/magnum/api-paste.ini': '[composite:main]\npaste.composite_factory = magnum.api:root_app_factory\n' },
  programs: {
    'magnum-db-manage': {
      takes,
      files: ['magnum'],
      commands: { upgrade: sync(magnumDatabase, dbSync), version: revisions(magnumDatabase) },
    },
    'magnum-status': {
      takes,
      files: ['magnum'],
      commands: {
        'upgrade check': upgradeCheck({ 'Policy File JSON to YAML Migration': () => Promise.resolve(undefined) }),
      },
    },
    'magnum-conductor': { ...magnumConductor, files: ['magnum', 'magnum-conductor'] },
  },
  applications: { 'magnum.api.app:build_wsgi_app()': { takes: startTimes.magnumApi, files: ['magnum.conf'], serves } },
});

/** The broker's URL is parsed with the configuration; then the pipeline is loaded. @throws PythonError */
function serves(context: ServiceContext): WsgiHandler {
  const messaging = new Messaging(context);
  const { files } = context.process;
  const paste = context.config.text('api', 'api_paste_config');
  if (!files.exists(paste.startsWith('/') ? paste : `/etc/magnum/${paste}`))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${paste}`);
  return apiHandler(context, {
    prefix: 'v1',
    open: { '/': versions(200, 'v1'), '/v1': json(200, { id: 'v1' }), '/healthcheck': plain(200, 'OK') },
    policies: { mservices: { roles: ['admin'], rule: 'magnum-service:get_all' } },
    words: { body: ({ status, title, message }) => ({ errors: [{ status, title, detail: message }] }) },
    database: magnumDatabase,
    collections: [
      { path: 'clustertemplates', table: 'cluster_template', id: 'uuid', required: ['coe', 'image_id'] },
      { path: 'clusters', table: 'cluster', id: 'uuid' },
      { path: 'mservices', table: 'magnum_service', readOnly: true },
    ],
    routes: {
      clustertemplates: (call) => validate(context, call),
      clusters: (call) => makeCluster(context, messaging, call),
    },
  });
}

/** Others are asked, as the user, for what a template names (magnum.api.attr_validator); then it is stored as any row. */
async function validate(context: ServiceContext, { request, identity, body }: Call): Promise<undefined> {
  if (request.method !== 'POST') return undefined;
  const session = new KeystoneSession(context.process, context.config, 'keystone_auth');
  const find = async (client: string, type: string, path: string, key: string, name: unknown) => {
    const url = `${urlFor(context, identity.catalog, client, type)}${path}`;
    const reply = await session.send('GET', url, { 'x-auth-token': identity.token });
    if (reply.status !== 200) throw httpError(reply, uuid(context.process.random));
    const rows = (JSON.parse(reply.body ?? '{}') as Record<string, Row[]>)[key] ?? [];
    return rows.find((row) => row['id'] === name || row['name'] === name);
  };
  const { image_id: image, external_network_id: network, flavor_id: flavor } = body as Record<string, string>;
  if (network !== undefined && (await find('neutron', 'network', '/v2.0/networks', 'networks', network)) === undefined)
    throw new Fault(400, `Unable to find external network ${network}.`);
  if (flavor !== undefined && (await find('nova', 'compute', '/flavors', 'flavors', flavor)) === undefined)
    throw new Fault(400, `Unable to find flavor ${flavor}.`);
  const found = await find('glance', 'image', '/v2/images', 'images', image);
  if (found === undefined) throw new Fault(400, `Image ${image} could not be found.`);
  // Which driver is meant is looked for first: seen on a real cloud.
  const { os_distro: os = 'None', coe } = { ...(found as { os_distro?: string }), coe: body['coe'] as string };
  const type = `(vm, ${os}, ${coe})`;
  if (type !== '(vm, fedora-coreos, kubernetes)') throw new Fault(400, `Cluster type ${type} not supported.`);
  return undefined;
}

/** A conductor makes it, after the answer. */
async function makeCluster(
  { process, config }: ServiceContext,
  messaging: Messaging,
  call: Call,
): Promise<HttpReply | undefined> {
  const { request, identity, body, store } = call;
  if (request.method !== 'POST') return undefined;
  const id = uuid(process.random);
  const template = String(body['cluster_template_id']);
  await store((schema) => {
    if (!rowsOf(schema, 'cluster_template').some((row) => row['uuid'] === template || row['name'] === template))
      throw new Fault(404, `ClusterTemplate ${template} could not be found.`);
    const row = {
      ...body,
      uuid: id,
      project_id: identity.projectId,
      status: 'CREATE_IN_PROGRESS',
      status_reason: null,
    };
    tableOf(schema, 'cluster').set(id, row);
  });
  messaging.cast(config.text('conductor', 'topic'), 'cluster_create', { id, catalog: identity.catalog });
  return json(202, { uuid: id });
}
