import type { HttpReply } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { parseIni } from '../../oslo/ini-file.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { disabled, type ImageStore, StoreFault } from './image-store.ts';

const logger = 'glance_store._drivers.swift.store';
const exception = (type: string, message: string) => new PythonError(`glance_store.exceptions.${type}`, message);

/** Who logs in, and where: a section of `swift_store_config_file`. */
type Account = Readonly<Record<string, string>>;

/**
 * glance_store 4.9's driver of Swift with an account of its own (`SingleTenantStore`), and python-swiftclient 4.7. It connects
 * when an image is used, not when it is set up. An image is one object: the model knows the size of each.
 * @throws PythonError for what ends the program; gives `notLoaded` where its accounts cannot be read
 */
export function openSwift<N>(context: ServiceContext, group: string, notLoaded: N): ImageStore | undefined | N {
  const { process, config, log } = context;
  const option = (name: string, otherwise = '') => config.text(group, name, otherwise);
  const file = option('swift_store_config_file');
  if (file === '' || config.boolean(group, 'swift_store_multi_tenant'))
    throw new PythonError('NotImplementedError', 'no model knows a store in Swift without swift_store_config_file');
  if (!process.files.exists(file)) {
    const words = `{'conf': '${file}', 'exc': TypeError("'NoneType' object is not iterable")}`;
    log.error('glance_store._drivers.swift.utils', `('swift config file %(conf)s:%(exc)s not found', ${words})`);
    return notLoaded;
  }
  const accounts = accountsIn(context, file);
  const reference = option('default_swift_reference', 'ref1');
  if (!accounts.get(reference)?.['auth_address']) {
    const reason = 'A value for swift_store_auth_address is required.';
    log.error(logger, reason);
    return disabled(log, reason);
  }
  const container = option('swift_store_container', 'glance');
  const creates = config.boolean(group, 'swift_store_create_container_on_put');
  const kind = option('swift_store_endpoint_type', 'publicURL');
  const endpoint = {
    type: option('swift_store_service_type', 'object-store'),
    interfaces: [kind.replace(/URL$/u, '')],
    region: option('swift_store_region') || undefined,
    override: option('swift_store_endpoint'),
  };

  /** How a login fails: whoever asks the catalogue words it so, whatever it is. */
  const asLogin = (error: PythonError): PythonError =>
    endpoint.override === ''
      ? exception(
          'BackendException',
          `Cannot find swift service endpoint : ${error.message.replace(/^\w+(?= endpoint for )/u, kind)}`,
        )
      : error;

  /** Logs in with an account. @throws PythonError */
  const connect = async (name: string): Promise<SwiftConnection> => {
    const account = accounts.get(name);
    if (account === undefined)
      throw exception('BadStoreUri', 'Badly formed Swift URI. Credentials not found for account reference');
    const [project, user, ...more] = (account['user'] ?? '').split(':');
    if (user === undefined || more.length > 0)
      throw asLogin(exception('BadStoreUri', `Badly formed tenant:user '${account['user']}' in Swift URI`));
    const version = account['auth_version'] ?? option('swift_store_auth_version', '2');
    if (version !== '3')
      throw clientException(
        version === '2'
          ? 'Authorization Failure. Authorization Failed: The resource could not be found. (HTTP 404)'
          : `Unknown auth_version ${version} specified and no session found.`,
      );
    const login: Account = {
      ...domain('user', account),
      ...domain('project', account),
      auth_type: 'v3password',
      auth_url: account['auth_address'] ?? '',
      username: user,
      password: account['key'] ?? '',
      project_name: project ?? '',
    };
    const session = new KeystoneSession(process, { optional: (_group, option) => login[option] }, '');
    try {
      const { id } = await session.token();
      return new SwiftConnection(context, session, id, await session.endpoint(endpoint));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      throw asLogin(error);
    }
  };

  return {
    scheme: 'swift+config',
    add: async (id, data) => {
      const swift = await connect(reference);
      const found = await swift.call('HEAD', container);
      if (found.status === 404) {
        if (!creates)
          throw exception(
            'BackendException',
            `The container ${container} does not exist in Swift. Please set the swift_store_create_container_on_put option to add container to Swift automatically.`,
          );
        log.info(logger, `Creating swift container ${container}`);
        const made = await swift.call('PUT', container);
        if (isError(made)) throw failed('container', swift.refused('Container PUT', container, made));
      } else if (isError(found)) throw swift.refused('Container HEAD', container, found);
      const path = `${container}/${id}`;
      const stored = await swift.call('PUT', path, data);
      if (stored.status === 409) throw exception('Duplicate', 'Swift already has an image at this location');
      if (stored.status === 413)
        throw new StoreFault(
          plain(413, '413 Request Entity Too Large: Image storage media is full: Object PUT failed'),
        );
      if (isError(stored)) {
        const error = failed('object', swift.refused('Object PUT', path, stored));
        log.error(logger, error.message);
        throw error;
      }
      return { location: `swift+config://${reference}/${path}` };
    },
    read: async (row) => {
      const { account, path } = located(row);
      const swift = await connect(account);
      const found = await swift.call('GET', path);
      if (found.status === 404) {
        const message = `Swift could not find object ${path.slice(path.indexOf('/') + 1)}.`;
        log.warning(logger, message);
        throw exception('NotFound', message);
      }
      if (isError(found)) throw swift.refused('Object GET', path, found);
      return found.body ?? '';
    },
    remove: async (row) => {
      const { account, path } = located(row);
      const swift = await connect(account);
      const gone = await swift.call('DELETE', path);
      if (gone.status === 404) throw exception('NotFound', 'Swift could not find image at URI.');
      if (isError(gone)) throw swift.refused('Object DELETE', path, gone);
    },
  };
}

/** The domain of the user or of the project. */
function domain(whose: 'user' | 'project', account: Account): Account {
  const [id, name] = [account[`${whose}_domain_id`], account[`${whose}_domain_name`]];
  return {
    ...(id !== undefined && { [`${whose}_domain_id`]: id }),
    ...(name !== undefined && { [`${whose}_domain_name`]: name }),
    ...(id === undefined && name === undefined && { [`${whose}_domain_id`]: 'default' }),
  };
}

/** The accounts of a file, by section, as Python's configparser reads them; `%` is followed by another one. @throws PythonError */
function accountsIn({ process, log }: ServiceContext, file: string): ReadonlyMap<string, Account> {
  const text = process.files.read(file);
  const accounts = new Map<string, Record<string, string>>();
  for (const { section, key, value } of parseIni(file, text)) {
    const wrong = /%(?!%)(.*)/u.exec(value.replaceAll('%%', ''));
    if (wrong !== null)
      throw new PythonError(
        'configparser.InterpolationSyntaxError',
        `'%' must be followed by '%' or '(', found: '${wrong[0]}'`,
      );
    const account = accounts.get(section) ?? {};
    accounts.set(section, Object.assign(account, { [key]: value.replaceAll('%%', '%') }));
  }
  for (const [section, account] of accounts) {
    const lacking = ['auth_address', 'user', 'key'].find((name) => account[name] === undefined);
    if (lacking === undefined) continue;
    const error = new PythonError('configparser.NoOptionError', `No option '${lacking}' in section: '${section}'`);
    log.exception('glance_store._drivers.swift.utils', 'Invalid format of swift store config cfg', error);
    accounts.delete(section);
  }
  return accounts;
}

function located({ location }: Row): { readonly account: string; readonly path: string } {
  const [, account = '', path = ''] = /^swift\+config:\/\/([^/]+)\/(.+)$/u.exec(String(location)) ?? [];
  return { account, path };
}

const isError = ({ status }: HttpReply): boolean => status < 200 || status >= 300;

const clientException = (message: string) => new PythonError('swiftclient.exceptions.ClientException', message);

const failed = (what: string, { message }: PythonError) =>
  exception('BackendException', `Failed to add ${what} to Swift.\nGot error from Swift: ${message}.`);

/** swiftclient: what fails for reasons of the server is tried six times, with pauses that double. */
class SwiftConnection {
  readonly #context: ServiceContext;
  readonly #session: KeystoneSession;
  readonly #token: string;
  readonly #url: string;

  constructor(context: ServiceContext, session: KeystoneSession, token: string, url: string) {
    this.#context = context;
    this.#session = session;
    this.#token = token;
    this.#url = url;
  }

  /** Asks for something of the account. @throws PythonError when nothing answers */
  async call(method: string, path: string, data?: string): Promise<HttpReply> {
    const headers = { 'x-auth-token': this.#token, 'content-type': 'application/octet-stream' };
    for (let attempt = 0; ; attempt += 1) {
      try {
        const reply = await this.#session.send(method, `${this.#url}/${path}`, headers, data ?? '');
        if (reply.status < 500 || attempt === retries) return reply;
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        if (attempt === retries)
          throw new PythonError(
            'requests.exceptions.ConnectionError',
            error.message.replace(/^Unable to establish connection to \S+: /u, ''),
          );
      }
      await pause(this.#context.process, 1000 * 2 ** attempt);
    }
  }

  /** The exception for an answer. */
  refused(what: string, path: string, { status, body = '' }: HttpReply): PythonError {
    const shown = body.length <= 60 ? `   b'${body}'` : `  [first 60 chars of response] b'${body.slice(0, 60)}'`;
    const reason = `${status} ${reasons[status] ?? ''}`.trim();
    return clientException(`${what} failed: ${this.#url}/${path} ${reason}${body === '' ? '' : shown}`);
  }
}

const retries = 5;

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
};
