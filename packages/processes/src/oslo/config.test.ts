import { describe, expect, it } from 'vitest';
import { World } from '../testing/world.ts';
import { type Config, type ConfigSources, loadConfig } from './config.ts';
import { PythonError } from './python-error.ts';
import { parseDatabaseUrl, parseTransportUrl } from './urls.ts';

/** Reads a configuration in a process, and gives what `use` makes of it. */
async function read(
  options: { files?: Record<string, string>; env?: Record<string, string>; sources?: Partial<ConfigSources> },
  use: (config: Config) => unknown,
): Promise<unknown> {
  let result: unknown;
  const container = new World().container({
    host: 'c',
    ...(options.files && { files: options.files }),
    programs: {
      read: (process) => {
        try {
          result = use(loadConfig(process, { project: 'nova', programs: ['nova-api'], ...options.sources }));
        } catch (error) {
          if (!(error instanceof PythonError)) throw error;
          result = error.lastLine;
        }
        return Promise.resolve(0);
      },
    },
  });
  await container.run(['read'], { env: { HOME: '/root', ...options.env } });
  return result;
}

const file = (text: string) => ({ '/etc/nova/nova.conf': text });
const text = (group: string, name: string) => (config: Config) => config.text(group, name);

describe('loadConfig', () => {
  it.each<[string, Parameters<typeof read>[0], (config: Config) => unknown, unknown]>([
    ['a value', { files: file('[api]\nauth = keystone\n') }, text('api', 'auth'), 'keystone'],
    ['a colon', { files: file('[api]\nauth: keystone\n') }, text('api', 'auth'), 'keystone'],
    ['quotes', { files: file('[api]\nauth = " a b "\n') }, text('api', 'auth'), ' a b '],
    ['a value with # inside', { files: file('[api]\npassword = a#b;c\n') }, text('api', 'password'), 'a#b;c'],
    ['continuation lines', { files: file('[api]\na = x,\n  y\nb = 1\n') }, text('api', 'a'), 'x,\ny'],
    [
      'the last of several files',
      { files: { ...file('[api]\na = 1\n'), '/etc/nova/nova-api.conf': '[api]\na = 2\n' } },
      text('api', 'a'),
      '2',
    ],
    [
      'a default directory',
      { files: { ...file('[api]\na = 1\n'), '/etc/nova/nova.conf.d/90.conf': '[api]\na = 3\n' } },
      text('api', 'a'),
      '3',
    ],
    [
      'a directory beside an explicit file',
      {
        files: { '/x.conf': '[api]\na = 1\n', '/etc/nova/nova.conf.d/90.conf': '[api]\na = 3\n' },
        sources: { files: ['/x.conf'] },
      },
      text('api', 'a'),
      '3',
    ],
    [
      'the environment before files',
      { files: file('[keystone_authtoken]\npassword = file\n'), env: { OS_KEYSTONE_AUTHTOKEN__PASSWORD: 'env' } },
      text('keystone_authtoken', 'password'),
      'env',
    ],
    [
      'interpolation',
      { files: file('[DEFAULT]\nstate_path = /var/lib/nova\n[api]\ndir = $state_path/x\nother = ${api.dir}/y\n') },
      text('api', 'other'),
      '/var/lib/nova/x/y',
    ],
    ['escaped dollars', { files: file('[api]\npassword = a$$b\\$c$1\n') }, text('api', 'password'), 'a$b$c$1'],
    ['groups in any case', { files: file('[API]\na = 1\n') }, text('api', 'a'), '1'],
    [
      'several values',
      { files: file('[pci]\nalias = a\nalias = b\n') },
      (config) => config.all('pci', 'alias'),
      ['a', 'b'],
    ],
    [
      'several values from the environment, letter by letter',
      { env: { OS_PCI__ALIAS: 'ab' } },
      (config) => config.all('pci', 'alias'),
      ['a', 'b'],
    ],
    ['a boolean', { files: file('[DEFAULT]\ndebug = Yes\n') }, (config) => config.boolean('DEFAULT', 'debug'), true],
    ['a default', {}, (config) => config.integer('DEFAULT', 'rpc_response_timeout'), 60],
    [
      'a deprecated name',
      { files: file('[placement]\nauth_plugin = password\n') },
      (config) => config.text('placement', 'auth_type'),
      'password',
    ],
  ])('reads %s', async (_name, options, use, value) => expect(await read(options, use)).toEqual(value));

  it.each<[string, Parameters<typeof read>[0], (config: Config) => unknown, string]>([
    [
      'a missing file',
      { sources: { files: ['/nope.conf'] } },
      () => undefined,
      'oslo_config.cfg.ConfigFilesNotFoundError: Failed to find some config files: /nope.conf',
    ],
    [
      'a missing directory',
      { sources: { directories: ['/nope'] } },
      () => undefined,
      'Failed to read config file directory: /nope',
    ],
    [
      'a value before a section',
      { files: file('a = 1\n') },
      () => undefined,
      'Section must be started before assignment',
    ],
    ['an open section', { files: file('[api\n') }, () => undefined, 'Invalid section (must end with ])'],
    [
      'a wrong number',
      { files: file('[DEFAULT]\nreport_interval = many\n') },
      (config) => config.integer('DEFAULT', 'report_interval'),
      "Value for option report_interval from LocationInfo(location=<Locations.user: (4, True)>, detail='/etc/nova/nova.conf') is not valid: invalid literal for int() with base 10: 'many'",
    ],
    [
      'a number that is too small',
      { files: file('[DEFAULT]\nvif_plugging_timeout = -1\n') },
      (config) => config.integer('DEFAULT', 'vif_plugging_timeout'),
      'is not valid: Should be greater than or equal to 0',
    ],
    [
      'what is no choice',
      { files: file('[libvirt]\nvirt_type = qmeu\n') },
      text('libvirt', 'virt_type'),
      "is not valid: Valid values are [kvm, lxc, qemu, parallels], but found 'qmeu'",
    ],
    [
      'an unknown reference',
      { files: file('[api]\npassword = pa$word\n') },
      text('api', 'password'),
      'oslo_config.cfg.NoSuchOptError: no such option word in group [DEFAULT]',
    ],
  ])('refuses %s', async (_name, options, use, words) => expect(await read(options, use)).toContain(words));
});

describe('URLs', () => {
  it('of databases are decoded', () => {
    expect(parseDatabaseUrl('mysql+pymysql://no%40va:p%25w%2F@db:3307/nova?charset=utf8')).toMatchObject({
      user: 'no@va',
      password: 'p%w/',
      host: 'db',
      port: 3307,
      database: 'nova',
    });
    expect(() => parseDatabaseUrl('mysql+pymysql://u:p@db:port/x')).toThrow(
      "invalid literal for int() with base 10: 'port'",
    );
    expect(() => parseDatabaseUrl('nonsense')).toThrow('Could not parse SQLAlchemy URL');
  });

  it('of brokers name hosts and a virtual host', () => {
    expect(parseTransportUrl('rabbit://a:b%40@one:5673,c:d@two/vh%2F')).toMatchObject({
      virtualHost: 'vh/',
      hosts: [
        { host: 'one', port: 5673, user: 'a', password: 'b@' },
        { host: 'two', port: 5672, user: 'c', password: 'd' },
      ],
    });
    expect(() => parseTransportUrl('nonsense')).toThrow('No scheme specified in "nonsense"');
  });
});
