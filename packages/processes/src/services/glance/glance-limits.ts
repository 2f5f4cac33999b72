import { uuid } from '@openstack-operator/kube';
import { type Row, rowsOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { locationsOf } from './image-store.ts';

const group = 'oslo_limit';
const uploading = ['saving', 'uploading', 'importing'];

const sizeOf = ({ size }: Row): number => (typeof size === 'number' ? size : 0);
const isIn = ({ status }: Row): boolean => uploading.includes(String(status));
const isCopied = (row: Row): boolean => !isIn(row) && Boolean(row['os_glance_importing_to_stores']);
const mebibytes = (rows: readonly Row[], size: (row: Row) => number): number =>
  Math.floor(rows.reduce((sum, row) => sum + size(row), 0) / 2 ** 20);

/** What a project has of each resource, by its images (glance/db/sqlalchemy/api.py). */
const usages = {
  image_size_total: (rows: readonly Row[]) => mebibytes(rows, (row) => sizeOf(row) * locationsOf(row).length),
  image_stage_total: (rows: readonly Row[]) =>
    mebibytes(
      rows.filter((row) => row['status'] === 'uploading' || row['status'] === 'importing' || isCopied(row)),
      sizeOf,
    ),
  image_count_total: (rows: readonly Row[]) => rows.length,
  image_count_uploading: (rows: readonly Row[]) => rows.filter((row) => isIn(row) || isCopied(row)).length,
};

type Resource = keyof typeof usages;

/** Limits of projects, by what Keystone has of them. */
export interface ProjectLimits {
  /**
   * `delta`: what comes to what the project has; `entering`: the image that is in a state of upload from now on.
   * @throws Fault 413 beyond the limit, PythonError where Keystone cannot be asked
   */
  enforce(
    call: Call,
    resource: Resource,
    more?: { readonly delta?: number; readonly entering?: string | undefined },
  ): Promise<void>;
  /** What the caller's project has and may have; nothing where limits are not asked for. @throws PythonError */
  usage(call: Call): Promise<Record<string, { readonly limit: number; readonly usage: number }>>;
}

/**
 * oslo.limit 2.6 as Glance 30 calls it (glance/quota/keystone.py): it logs in where its options say, and asks Keystone at its
 * public endpoint, whatever they say of interfaces (ran against a server that tells). A limit that is not registered is 0.
 */
export function projectLimits(context: ServiceContext): ProjectLimits {
  const { process, config, log } = context;
  const isOn = (): boolean => config.boolean('DEFAULT', 'use_keystone_limits');
  let opened: KeystoneSession | undefined;
  const open = async (): Promise<{ readonly session: KeystoneSession; readonly url: string }> => {
    try {
      const session = (opened ??= new KeystoneSession(process, config, group));
      return { session, url: await session.endpoint({ type: 'identity', interfaces: ['public'], region: undefined }) };
    } catch (error) {
      throw error instanceof PythonError && isOfSession(error) ? notInitialized(context, error) : error;
    }
  };
  const get = async (path: string): Promise<Row | undefined> => {
    const { session, url } = await open();
    const reply = await session.request('GET', `${url}${path}`);
    if (reply.status === 404) return undefined;
    if (reply.status !== 200) throw httpError(reply, uuid(process.random));
    return JSON.parse(reply.body ?? '{}') as Row;
  };
  const first = async (kind: string, filter: Readonly<Record<string, string>>): Promise<Row | undefined> => {
    const found = await get(`/${kind}?${new URLSearchParams(filter).toString()}`);
    return ((found?.[kind] ?? []) as readonly Row[])[0];
  };
  const limitOf = async (resource: Resource, project: string): Promise<number> => {
    await get('/limits/model');
    const id = config.optional(group, 'endpoint_id');
    if (id === undefined) {
      if (!config.optional(group, 'endpoint_service_type') && !config.optional(group, 'endpoint_service_name'))
        throw new PythonError('ValueError', 'Either service_type or service_name should be set');
      throw new PythonError('TypeError', "object of type 'generator' has no len()");
    }
    const endpoint = (await get(`/endpoints/${id}`))?.['endpoint'] as Row | undefined;
    if (endpoint === undefined) throw new PythonError('ValueError', `Can't find endpoint for ${id}`);
    const [service, region] = [String(endpoint['service_id']), String(endpoint['region_id'])];
    const place = { service_id: service, region_id: region, resource_name: resource };
    const own = await first('limits', { ...place, project_id: project });
    if (own !== undefined) return Number(own['resource_limit']);
    const registered = await first('registered_limits', place);
    if (registered !== undefined) return Number(registered['default_limit']);
    log.error(
      'oslo_limit.limit',
      `Unable to find registered limit for resource ${resource} for ${service} in region ${region}.`,
    );
    return 0;
  };
  const used = ({ store, identity }: Call, resource: Resource, entering?: string): Promise<number> =>
    store((schema) => {
      const rows = rowsOf(schema, 'images', { owner: identity.projectId });
      return usages[resource](rows.map((row) => (row['id'] === entering ? { ...row, status: 'saving' } : row)));
    });
  const projectOf = ({ identity }: Call): string => identity.projectId ?? '';
  return {
    enforce: async (call, resource, { delta = 0, entering } = {}) => {
      if (!isOn()) return;
      const project = projectOf(call);
      const limit = await limitOf(resource, project);
      const usage = await used(call, resource, entering);
      if (usage + delta <= limit) return;
      const over = `Resource ${resource} is over limit of ${limit} due to current usage ${usage} and delta ${delta}`;
      throw new Fault(
        413,
        `The request returned a 413 Request Entity Too Large. This generally means that rate limiting or a quota threshold was breached.\n\nThe response body:\nProject ${project} is over a limit for [${over}]`,
      );
    },
    usage: async (call) => {
      if (!isOn()) return {};
      const all: Record<string, { limit: number; usage: number }> = {};
      for (const resource of Object.keys(usages) as Resource[])
        all[resource] = { usage: await used(call, resource), limit: await limitOf(resource, projectOf(call)) };
      return all;
    },
  };
}

/** What oslo.limit takes for a session that cannot be. */
const isOfSession = ({ type }: PythonError): boolean =>
  /\.(?:NoMatchingPlugin|MissingRequiredOptions|MissingAuthPlugin|DiscoveryFailure|Unauthorized)$/u.test(type);

function notInitialized({ log }: ServiceContext, { message }: PythonError): PythonError {
  log.error('oslo_limit.limit', `Unable to initialize OpenStackSDK session: ${message}`);
  return new PythonError('oslo_limit.exception.SessionInitError', `Can't initialise OpenStackSDK session: ${message}.`);
}
