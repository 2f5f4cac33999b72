import { type Process, SystemError } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { osError, PythonError } from '../../oslo/python-error.ts';

/** What its file says, as far as the model reads it (adjutant/config of python-adjutant 10.0.0). */
export interface Settings {
  readonly allowedHosts: readonly string[];
  readonly database: Readonly<Record<'HOST' | 'NAME' | 'USER' | 'PASSWORD', string>> & {
    readonly PORT: number;
    readonly OPTIONS?: { readonly ssl?: { readonly ca?: string } };
  };
  readonly emailBackend: string;
  /** Options of a client of keystoneauth. */
  readonly auth: Readonly<Record<string, string>>;
  /** Endpoint at which tokens are validated. */
  readonly interface: string;
  readonly roleMapping: Readonly<Record<string, readonly string[]>>;
  readonly apis: readonly string[];
  /** What a group says of roles, such as `api.delegate_apis.UserList.blacklisted_roles`. */
  roles(path: string): readonly string[];
  readonly horizonUrl: string;
  /** Milliseconds that a token lives. */
  readonly tokenLife: number;
}

/** APIs that a deployer may choose (adjutant.core). */
const delegateApis = new Set(
  'CreateProjectAndUser InviteUser ResetPassword EditUser UpdateEmail UserList UserDetail UserRoles RoleList UserResetPassword UserUpdateEmail SignUp UpdateProjectQuotas'.split(
    ' ',
  ),
);

const managed = ['project_admin', 'project_mod', 'heat_stack_owner', 'member'];

/** The file, the variables where it says nothing, and upstream's defaults. @throws PythonError InvalidConf and others, as importing fails */
export function loadSettings(process: Process): Settings {
  const file = loadFile(process);
  const read = (path: string): unknown => {
    const found = path
      .split('.')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], file);
    return found ?? process.env[`ADJUTANT_${path.replaceAll('.', '_').toUpperCase()}`];
  };
  const text = (path: string, fallback: string): string => {
    const value = read(path);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : fallback;
  };
  const list = (path: string, fallback: readonly string[]) => (read(path) as readonly string[] | undefined) ?? fallback;
  const needed = ['username', 'password', 'project_name', 'auth_url'].map((name) => `identity.auth.${name}`);
  demand(read, needed);
  demand(read, ['workflow.horizon_url']);
  if (read('identity.username_is_email') === false || read('identity.can_edit_users') === false)
    throw new PythonError('NotImplementedError', 'no model knows Adjutant with other users than those of mails');
  const databases = (read('django.databases') ?? {}) as { default?: Settings['database'] & { ENGINE?: string } };
  const { ENGINE, ...database } = databases.default ?? ({} as Settings['database'] & { ENGINE?: string });
  if (ENGINE !== 'django.db.backends.mysql')
    throw new PythonError(
      'django.core.exceptions.ImproperlyConfigured',
      `'${ENGINE}' isn't an available database backend or couldn't be imported.`,
    );
  setUpLogging(process, read('django.logging') as Logging | undefined, text('django.log_file', 'adjutant.log'));
  const hosts = (file as { django?: { allowed_hosts?: unknown } } | null)?.django?.allowed_hosts;
  if (hosts !== undefined && !Array.isArray(hosts))
    throw new PythonError(
      'django.core.exceptions.ImproperlyConfigured',
      'The ALLOWED_HOSTS setting must be a list or a tuple.',
    );
  const apis = list('api.active_delegate_apis', 'UserRoles UserDetail UserResetPassword UserList RoleList'.split(' '));
  const unknown = apis.filter((name) => !delegateApis.has(name));
  if (unknown.length > 0)
    throw new PythonError(
      'adjutant.exceptions.DelegateAPINotRegistered',
      `Expected DelegateAPIs are unregistered: ['${unknown.join("', '")}']`,
    );
  return {
    allowedHosts: list('django.allowed_hosts', ['*']),
    database,
    emailBackend: text('django.email.email_backend', 'django.core.mail.backends.console.EmailBackend'),
    auth: {
      auth_type: 'password',
      ...Object.fromEntries(needed.map((path) => [path.slice(path.lastIndexOf('.') + 1), text(path, '')])),
      user_domain_id: text('identity.auth.user_domain_id', 'default'),
      project_domain_id: text('identity.auth.project_domain_id', 'default'),
    },
    interface: text('identity.auth.interface', 'public'),
    roleMapping: (read('identity.role_mapping') as Settings['roleMapping'] | undefined) ?? {
      admin: managed,
      project_admin: managed,
      project_mod: managed.slice(1),
    },
    apis,
    roles: (path) => list(path, []),
    horizonUrl: text('workflow.horizon_url', ''),
    tokenLife: Number(text('workflow.default_token_expiry', '86400')) * 1000,
  };
}

/** @throws PythonError */
function loadFile(process: Process): unknown {
  const named = process.env['ADJUTANT_CONFIG_FILE'];
  for (const path of [...(named === undefined ? [] : [named]), '/etc/adjutant/adjutant.yaml']) {
    process.stdout(`Checking for config at '${path}'\n`);
    try {
      return parse(process.files.read(path)) as unknown;
    } catch (error) {
      if (!(error instanceof SystemError)) throw new PythonError('yaml.scanner.ScannerError', (error as Error).message);
      process.stdout(`Conf file not found at '${path}', trying next possible location.\n`);
    }
  }
  process.stdout('No valid conf file not found, will rely on defaults and environment variables.\n');
  return {};
}

/** What a group cannot do without, and whether URLs are some. @throws PythonError InvalidConf */
function demand(read: (path: string) => unknown, paths: readonly string[]): void {
  const errors = paths.flatMap((path) => {
    const value = read(path);
    if (value === undefined) return `'adjutant.${path}': ['This conf is required.']`;
    const [, scheme = ''] = /^(\w+):/.exec(typeof value === 'string' ? value : '') ?? [];
    if (!path.endsWith('_url') || ['http', 'https'].includes(scheme)) return [];
    return `'adjutant.${path}': ["scheme was required to be one of ['http', 'https'] but was '${scheme}'"]`;
  });
  if (errors.length > 0)
    throw new PythonError('confspirator.exceptions.InvalidConf', `{'adjutant': {${errors.join(', ')}}}`);
}

interface Logging {
  readonly version?: unknown;
  readonly handlers?: Readonly<Record<string, { readonly class?: string }>>;
  readonly root?: { readonly handlers?: readonly string[]; readonly level?: string };
}

/** `logging.config.dictConfig`; without a setting upstream's, which writes to a file. @throws PythonError ValueError */
function setUpLogging(process: Process, logging: Logging | undefined, file: string): void {
  if (logging === undefined) {
    try {
      process.files.write(file.startsWith('/') ? file : `/${file}`, '', { append: true });
      return;
    } catch (error) {
      throw error instanceof SystemError
        ? new PythonError('ValueError', "Unable to configure handler 'file'", { cause: osError(error, file) })
        : error;
    }
  }
  const { version, handlers = {}, root = {} } = logging;
  if (version !== 1) throw new PythonError('ValueError', `Unsupported version: ${String(version)}`);
  const strange = Object.keys(handlers).find((name) => handlers[name]?.class !== 'logging.StreamHandler');
  if (strange !== undefined) throw new PythonError('ValueError', `Unable to configure handler '${strange}'`);
  const isSound =
    (root.handlers ?? []).every((name) => name in handlers) &&
    ['CRITICAL', 'ERROR', 'WARNING', 'INFO', 'DEBUG'].includes(root.level ?? 'INFO');
  if (!isSound) throw new PythonError('ValueError', 'Unable to configure root logger');
}
