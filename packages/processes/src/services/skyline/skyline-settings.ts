import { type Process, SystemError } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { PythonError } from '../../oslo/python-error.ts';

const file = '/etc/skyline/skyline.yaml';

/** Options that the model reads, with their defaults, whose types they have (skyline_apiserver/config). */
const defaults = {
  default: {
    database_url: 'sqlite:////tmp/skyline.db',
    log_dir: './log',
    log_file: 'skyline.log',
    secret_key: 'aCtmgbcUqYUy_HNVg5BDXCaeJgJQzHJXwqbXr0Nmb2o',
    session_name: 'session',
    ssl_enabled: true,
  },
  openstack: {
    default_region: 'RegionOne',
    interface_type: 'public',
    keystone_url: 'http://127.0.0.1:5000/v3/',
    nginx_prefix: '/api/openstack',
    sso_region: 'RegionOne',
    system_project: 'service',
    system_project_domain: 'Default',
    system_user_domain: 'Default',
    system_user_name: 'skyline',
    system_user_password: '',
  },
};

export type Settings = typeof defaults;

/** Reads `skyline.yaml`. What is in it beside the options of a group is ignored. @throws PythonError */
export function readSettings(process: Process): Settings {
  const groups = (parseFile(process) ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  const group = <G extends keyof Settings>(name: G): Settings[G] =>
    Object.fromEntries(
      Object.entries(defaults[name]).map(([option, fallback]) => {
        const value = groups[name]?.[option] ?? fallback;
        if (typeof value !== typeof fallback) throw mistake(option, wrong[typeof fallback as 'string']);
        return [option, value];
      }),
    ) as Settings[G];
  const settings = { default: group('default'), openstack: group('openstack') };
  const { interface_type: kind, keystone_url: url } = settings.openstack;
  if (!['public', 'internal', 'admin'].includes(kind))
    throw mistake(
      'interface_type',
      "value is not a valid enumeration member; permitted: 'public', 'internal', 'admin'",
    );
  const [, host] = /^https?:\/\/([^/:]+)/u.exec(url) ?? [];
  if (host === undefined) throw mistake('keystone_url', 'invalid or missing URL scheme (type=value_error.url.scheme)');
  if (!host.includes('.'))
    throw mistake('keystone_url', 'URL host invalid, top level domain required (type=value_error.url.host)');
  return settings;
}

const wrong = {
  string: 'str type expected (type=type_error.str)',
  boolean: 'value is not a valid boolean (type=value_error.strictbool)',
};

function mistake(option: string, words: string): PythonError {
  return new PythonError(
    'pydantic.error_wrappers.ValidationError',
    `1 validation error for Opt(name='${option}')\nvalue\n  ${words}`,
  );
}

function parseFile(process: Process): unknown {
  try {
    return parse(process.files.read(file));
  } catch (error) {
    const isAbsent = error instanceof SystemError && error.code === 'ENOENT';
    throw new PythonError('ValueError', isAbsent ? `Not found config file: ${file}` : 'Load config file error');
  }
}
