import { type Process, SystemError } from '@openstack-operator/sandbox';
import { osError, PythonError } from '../../oslo/python-error.ts';

/** Settings of Django, as far as a model reads them. */
export interface Settings {
  readonly ALLOWED_HOSTS?: readonly string[];
  readonly CACHES?: { readonly default?: { readonly BACKEND?: string; readonly LOCATION?: readonly string[] } };
  readonly COMPRESS_OFFLINE?: boolean;
  readonly CSRF_TRUSTED_ORIGINS?: readonly string[];
  readonly OPENSTACK_ENDPOINT_TYPE?: string;
  readonly OPENSTACK_KEYSTONE_URL?: string;
  readonly SECRET_KEY?: string;
  readonly SESSION_ENGINE?: string;
  readonly STATIC_ROOT?: string;
}

const local = '/etc/openstack-dashboard/local_settings.py';
const snippets = '/etc/openstack-dashboard/local_settings.d';

/** What Debian puts there: the settings make a key where a container may write nothing, the snippets go before them. */
export const distributed: Readonly<Record<string, string>> = {
  [local]: 'SECRET_KEY = None\n',
  [`${snippets}/_0003_debian_static_root.py`]: 'STATIC_ROOT = "/var/lib/openstack-dashboard/static"\n',
  [`${snippets}/_0006_debian_cache.py`]:
    'CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}\n',
};

/**
 * What `openstack_dashboard.settings` comes to: `local_settings.py`, then the snippets by name. One that fails is told and
 * left out.
 * @throws PythonError
 */
export function loadSettings(process: Process): Settings {
  if (process.env['DJANGO_SETTINGS_MODULE'] !== 'openstack_dashboard.settings')
    throw new PythonError(
      'django.core.exceptions.ImproperlyConfigured',
      'Requested setting INSTALLED_APPS, but settings are not configured. You must either define the environment variable DJANGO_SETTINGS_MODULE or call settings.configure() before accessing settings.',
    );
  const first = executed(process, local, {});
  const result: Settings = { ...first };
  for (const name of process.files.list(snippets)) {
    try {
      Object.assign(result, executed(process, `${snippets}/${name}`, first));
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stderr(`Can not exec settings snippet ${name}\n${error.lastLine}\n`);
    }
  }
  if (result.SECRET_KEY) return result;
  throw new PythonError('OSError', "[Errno 30] Read-only file system: '/var/lib/openstack-dashboard/secret-key'");
}

/** One assignment of a literal a line, or all settings of `local_settings.py` again. @throws PythonError */
function executed(process: Process, path: string, first: Settings): Settings {
  const result: Record<string, unknown> = {};
  for (const line of read(process, path).split('\n')) {
    const [, name = '', value = ''] = /^(\w+) = (.*)$/u.exec(line) ?? [];
    if (line === 'from local.local_settings import *') Object.assign(result, first);
    else if (line !== '') result[name] = literal(value);
  }
  return result;
}

function read(process: Process, path: string): string {
  try {
    return process.files.read(path);
  } catch (error) {
    throw error instanceof SystemError ? osError(error, path) : error;
  }
}

/** JSON, but for three words. @throws PythonError SyntaxError */
function literal(text: string): unknown {
  const words: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
  try {
    return JSON.parse(text.replaceAll(/"(?:[^"\\]|\\.)*"|\b[A-Z][a-z]+\b/gu, (word) => words[word] ?? word));
  } catch {
    throw new PythonError('SyntaxError', 'invalid syntax');
  }
}
