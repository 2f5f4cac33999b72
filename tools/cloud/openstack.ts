import { Resolver } from 'node:dns';
import { createReadStream } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import type { LookupFunction } from 'node:net';
import { StepError } from './step.ts';

/** Who asks, and where. */
export interface Credentials {
  /** Address of the server that knows the names of the catalogue. */
  readonly dns: string;
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly project: string;
}

/** The JSON of an answer; empty where it has no body. */
export type Answer = Record<string, unknown>;

/** OpenStack's public APIs, as a user with a token sees them. */
export interface OpenStack {
  /** By type of the service in the catalogue, such as `compute`. */
  readonly endpoints: ReadonlyMap<string, string>;
  /** Sends a request to a service by its type. @throws StepError that names the request and the answer */
  readonly call: (service: string, method: string, path: string, body?: unknown) => Promise<Answer>;
  /** PUTs a file of this machine. @throws StepError */
  readonly upload: (service: string, path: string, file: string) => Promise<void>;
}

/** Signs in. @throws StepError that names the request and the answer */
export async function signIn({ dns, url, username, password, project }: Credentials): Promise<OpenStack> {
  const send = sender(dns);
  const domain = { name: 'Default' };
  const auth = {
    identity: { methods: ['password'], password: { user: { name: username, domain, password } } },
    scope: { project: { name: project, domain } },
  };
  const { headers, body } = await send('POST', `${url}/auth/tokens`, { body: JSON.stringify({ auth }) });
  const token = String(headers['x-subject-token']);
  const { token: said } = JSON.parse(body) as { token: { catalog: Service[] } };
  const endpoints = new Map(
    said.catalog.map(({ type, endpoints }) => [
      type,
      endpoints.find((endpoint) => endpoint.interface === 'public')?.url ?? '',
    ]),
  );
  const urlOf = (service: string, path: string) => {
    const endpoint = endpoints.get(service);
    if (!endpoint) throw new StepError(`the catalogue has no public endpoint of a service of type ${service}`);
    return `${endpoint}${path}`;
  };
  return {
    endpoints,
    call: async (service, method, path, body) => {
      const answer = await send(method, urlOf(service, path), {
        token,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return answer.body === '' ? {} : (JSON.parse(answer.body) as Answer);
    },
    upload: async (service, path, file) => {
      await send('PUT', urlOf(service, path), { token, file });
    },
  };
}

interface Service {
  readonly type: string;
  readonly endpoints: readonly { readonly interface: string; readonly url: string }[];
}

/** Names end in `.svc`, as pods use them: their search list adds the cluster's domain. */
const lookupAt =
  (dns: string): LookupFunction =>
  (hostname, _options, callback) => {
    const resolver = new Resolver({ timeout: 2000, tries: 3 });
    resolver.setServers([dns]);
    const name = hostname.endsWith('.svc') ? `${hostname}.cluster.local` : hostname;
    resolver.resolve4(name, (error, addresses) => {
      if (error !== null) callback(error, '');
      else
        callback(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        );
    });
  };

interface Request {
  readonly token?: string;
  readonly body?: string;
  readonly file?: string;
}

interface Reply {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const sender =
  (dns: string) =>
  async (method: string, url: string, { token, body, file }: Request): Promise<Reply> => {
    const headers = {
      'Content-Type': file === undefined ? 'application/json' : 'application/octet-stream',
      Accept: 'application/json',
      ...(token === undefined ? {} : { 'X-Auth-Token': token }),
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, { method, headers, lookup: lookupAt(dns), timeout: 120_000 }, resolve);
      sent.on('timeout', () => sent.destroy(new Error('no answer within 120 s')));
      sent.on('error', (error) => reject(new StepError(`${method} ${url}: ${error.message}`)));
      if (file === undefined) sent.end(body);
      else {
        createReadStream(file)
          .on('error', (error) => sent.destroy(error))
          .pipe(sent);
      }
    });
    const text = Buffer.concat(await response.toArray()).toString();
    const status = response.statusCode ?? 0;
    if (status >= 400) throw new StepError(`${method} ${url}: ${status} ${text.slice(0, 500)}`);
    return { headers: response.headers, body: text };
  };
