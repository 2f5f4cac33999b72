import type { HttpReply } from '@openstack-operator/sandbox';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { endpointFilter, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

const logger = 'nova.scheduler.client.report';

/** What the log says of a failure to reach Placement, by the exception. */
const complaints: readonly (readonly [string, string])[] = [
  ['EndpointNotFound', 'The placement API endpoint was not found.'],
  ['MissingAuthPlugin', 'No authentication information found for placement API.'],
  ['Unauthorized', 'Placement service credentials do not work.'],
  ['DiscoveryFailure', 'Discovering suitable URL for placement API failed.'],
  ['ConnectFailure', 'Placement API service is not responding.'],
  ['ConnectTimeout', 'Placement API service is not responding.'],
];

/** The complaint that fits an exception of keystoneauth. */
function complaintOf(error: PythonError): string {
  return (
    complaints.find(([name]) => error.type.endsWith(name))?.[1] ??
    'Failed to initialize placement client (is keystone available?)'
  );
}

/** Nova's report client: Placement with the user of `[placement]`. */
export class PlacementClient {
  readonly #context: ServiceContext;
  readonly #session: KeystoneSession;

  /** @throws PythonError for a plugin that keystoneauth does not know */
  constructor(context: ServiceContext) {
    this.#context = context;
    this.#session = new KeystoneSession(context.process, context.config, 'placement');
  }

  /** Logs in and finds the endpoint, as the client does when it is made. @throws PythonError */
  open(): Promise<string> {
    return this.#session.endpoint(endpointFilter(this.#context.config, 'placement', 'placement'));
  }

  /**
   * As a service tries it when it starts: what may heal is warned of, wrong credentials end the service. `then`: what
   * will not be possible.
   * @throws PythonError
   */
  async test(manager: string, then: string): Promise<void> {
    const { log } = this.#context;
    try {
      await this.open();
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.error(logger, complaintOf(error));
      if (/MissingAuthPlugin$|Unauthorized$/.test(error.type)) {
        log.error(
          manager,
          `Fatal error initializing placement client; config is incorrect or incomplete: ${error.message}`,
        );
        throw error;
      }
      if (!/EndpointNotFound$|DiscoveryFailure$|Timeout$|ConnectFailure$/.test(error.type)) {
        log.error(manager, `Fatal error initializing placement client: ${error.message}`);
        throw error;
      }
      log.warning(
        manager,
        `Unable to initialize placement client (${error.message}); Continuing with startup, but ${then} will not be possible.`,
      );
    }
  }

  /** Puts the provider of that name into an aggregate. @throws PythonError */
  addToAggregate(name: string, aggregate: string): Promise<void> {
    return this.#changeAggregates(name, (before) => [...new Set([...before, aggregate])]);
  }

  /** Takes the provider of that name out of an aggregate. @throws PythonError */
  removeFromAggregate(name: string, aggregate: string): Promise<void> {
    return this.#changeAggregates(name, (before) => before.filter((one) => one !== aggregate));
  }

  async #changeAggregates(name: string, change: (before: readonly string[]) => string[]): Promise<void> {
    const found = await this.#request('GET', `/resource_providers?name=${name}`);
    if (found.status >= 400)
      this.#context.log.warning(
        logger,
        `Failed to retrieve resource provider information by name for resource provider ${name}. Got ${found.status}: ${found.body ?? ''}`,
      );
    const { resource_providers: [provider] = [] } = JSON.parse(found.body ?? '{}') as { resource_providers?: Row[] };
    if (provider === undefined)
      throw new PythonError('nova.exception.ResourceProviderNotFound', `No such resource provider ${name}.`);
    const path = `/resource_providers/${String(provider['uuid'])}/aggregates`;
    const { body = '{}' } = await this.#request('GET', path);
    const { aggregates: before = [], ...generation } = JSON.parse(body) as { aggregates?: string[] };
    const aggregates = change(before);
    if (aggregates.length !== before.length) await this.#request('PUT', path, { ...generation, aggregates });
  }

  /** Deletes the provider of a compute node, with what is claimed of it. @throws PythonError of keystoneauth */
  async remove(provider: string): Promise<void> {
    const reply = await this.#request('DELETE', `/resource_providers/${provider}`);
    if (reply.status >= 400 && reply.status !== 404) throw httpError(reply, '0');
  }

  async #request(method: string, path: string, body?: unknown): Promise<HttpReply> {
    return this.#session.request(method, `${await this.open()}${path}`, body);
  }

  /** Providers that have room, in one of these aggregates where there are any. @throws PythonError of keystoneauth */
  async candidates(aggregates: readonly string[] = []): Promise<string[]> {
    const members = aggregates.length === 0 ? '' : `&member_of=in:${aggregates.join(',')}`;
    const reply = await this.#request('GET', `/allocation_candidates?resources=VCPU:1${members}`);
    if (reply.status >= 400) throw httpError(reply, '0');
    const { provider_summaries: summaries } = JSON.parse(reply.body ?? '{}') as { provider_summaries: Row };
    return Object.keys(summaries);
  }

  /** Claims a provider for a server. @throws PythonError of keystoneauth */
  async allocate(consumer: string, provider: string): Promise<void> {
    const allocations = { [provider]: { resources: { VCPU: 1 } } };
    const reply = await this.#request('PUT', `/allocations/${consumer}`, { allocations });
    if (reply.status >= 400) throw httpError(reply, '0');
  }

  /** Those that it has stay, whoever has put them there. */
  async #addTraits(provider: string, traits: readonly string[]): Promise<void> {
    const { body = '{}' } = await this.#request('GET', `${provider}/traits`);
    const { traits: before = [], ...generation } = JSON.parse(body) as { traits?: string[] };
    const all = [...new Set([...before, ...traits])];
    if (all.length > before.length) await this.#request('PUT', `${provider}/traits`, { ...generation, traits: all });
  }

  /** Makes or updates the provider of a compute node. Told whether Placement took it; reasons are in the log. */
  async update(
    provider: { uuid: string; name: string },
    inventories: Row,
    traits: readonly string[],
  ): Promise<boolean> {
    const { log } = this.#context;
    const { uuid, name } = provider;
    const path = `/resource_providers/${uuid}`;
    const fail = ({ status, body = '' }: HttpReply, what: string, error: string, words: string): never => {
      log.error(logger, `[req-0] Failed to ${what} placement API for UUID ${uuid}. Got ${status}: ${body}.`);
      throw new PythonError(`nova.exception.ResourceProvider${error}Failed`, `Failed to ${words}`);
    };
    try {
      let reply = await this.#request('GET', path);
      if (reply.status === 404) {
        reply = await this.#request('POST', '/resource_providers', provider);
        if (reply.status === 409)
          fail(reply, 'create resource provider record in', 'Creation', `create resource provider ${name}`);
        if (reply.status < 300)
          log.info(
            logger,
            `[req-0] Created resource provider record via placement API for resource provider with UUID ${uuid} and name ${name}.`,
          );
      }
      if (reply.status >= 400)
        fail(reply, 'retrieve resource provider tree from', 'Retrieval', `get resource provider with UUID ${uuid}`);
      const { body = '{}' } = await this.#request('GET', `${path}/inventories`);
      const { inventories: known, ...generation } = JSON.parse(body) as Row;
      if (traits.length > 0) await this.#addTraits(path, traits);
      if (JSON.stringify(known) === JSON.stringify(inventories)) return true;
      return (await this.#request('PUT', `${path}/inventories`, { ...generation, inventories })).status < 300;
    } catch (error) {
      // `safe_connect`: a failure to reach Placement is a warning, not an error.
      if (!(error instanceof PythonError) || !complaints.some(([name]) => error.type.endsWith(name))) throw error;
      log.warning(logger, complaintOf(error));
      return false;
    }
  }
}
