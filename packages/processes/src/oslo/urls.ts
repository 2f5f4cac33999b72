import { PythonError } from './python-error.ts';

/** An SQLAlchemy database URL. User and password are decoded. */
export interface DatabaseUrl {
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
  readonly database: string | undefined;
  readonly query: ReadonlyMap<string, string>;
}

const databasePattern =
  /^(?<name>[\w+]+):\/\/(?:(?<user>[^:/]*)(?::(?<password>[^@]*))?@)?(?:\[(?<ipv6>[^/?]+)\]|(?<host>[^/:?]+)?)?(?::(?<port>[^/?]*))?(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/;

/**
 * Parses a database URL as SQLAlchemy does.
 * @throws PythonError sqlalchemy.exc.ArgumentError, ValueError (port), NoSuchModuleError (driver)
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const groups = databasePattern.exec(text)?.groups;
  if (groups === undefined) {
    throw new PythonError('sqlalchemy.exc.ArgumentError', 'Could not parse SQLAlchemy URL from given URL string');
  }
  const {
    name = '',
    user,
    password,
    ipv6,
    host,
    port,
    database,
    query = '',
  } = groups as Record<string, string | undefined>;
  if (!['mysql+pymysql', 'mysql', 'mariadb+pymysql'].includes(name)) {
    throw new PythonError(
      'sqlalchemy.exc.NoSuchModuleError',
      `Can't load plugin: sqlalchemy.dialects:${name.replace('+', '.')}`,
    );
  }
  if (name === 'mysql') throw new PythonError('ModuleNotFoundError', "No module named 'MySQLdb'");
  if (port !== undefined && !/^\d+$/.test(port)) {
    throw new PythonError('ValueError', `invalid literal for int() with base 10: '${port}'`);
  }
  return {
    user: user === undefined ? undefined : decode(user),
    password: password === undefined ? undefined : decode(password),
    host: ipv6 ?? host ?? 'localhost',
    port: port === undefined ? undefined : Number(port),
    database: database === undefined || database === '' ? undefined : database,
    query: new Map(new URLSearchParams(query)),
  };
}

/** Undoes percent-encoding as Python's `unquote` does: what is no valid code stays. */
export function decode(text: string): string {
  return text.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (codes) =>
    Buffer.from(codes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

/** One broker of a transport URL. */
export interface BrokerHost {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** An oslo.messaging transport URL. */
export interface TransportUrl {
  readonly transport: string;
  readonly virtualHost: string;
  readonly hosts: readonly BrokerHost[];
}

/**
 * Parses a transport URL as `oslo_messaging.TransportURL.parse` does; several hosts with commas.
 * @throws PythonError InvalidTransportURL
 */
export function parseTransportUrl(text: string): TransportUrl {
  const match = /^([\w+.-]+):\/\/([^/?]*)(?:\/([^?]*))?(?:\?.*)?$/.exec(text);
  if (match === null) {
    throw new PythonError('oslo_messaging.transport.InvalidTransportURL', `No scheme specified in "${text}"`);
  }
  const [, transport = '', netloc = '', path = ''] = match;
  let user = '';
  let password = '';
  const hosts = netloc
    .split(',')
    .filter((host) => host !== '')
    .map((entry) => {
      const at = entry.lastIndexOf('@');
      if (at >= 0) {
        const [name = '', ...rest] = entry.slice(0, at).split(':');
        user = decode(name);
        password = decode(rest.join(':'));
      }
      const address = entry.slice(at + 1);
      const port = /:(\d+)$/.exec(address)?.[1];
      if (/:\D+$/.test(address))
        throw new PythonError(
          'oslo_messaging.transport.InvalidTransportURL',
          `Invalid transport URL: Port could not be cast to integer value`,
        );
      return {
        host: port === undefined ? address : address.slice(0, -port.length - 1),
        port: Number(port ?? 5672),
        user,
        password,
      };
    });
  return {
    transport: transport.split('+')[0] ?? transport,
    virtualHost: decode(path),
    hosts,
  };
}
