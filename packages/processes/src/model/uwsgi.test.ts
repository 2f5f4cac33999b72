import { describe, expect, it } from 'vitest';
import { cloud, ini } from '../testing/keystone.ts';
import type { Container } from '../testing/world.ts';

describe('uwsgi', () => {
  const start = async (text: string, change: (container: Container) => void = () => undefined) => {
    const { world, keystone } = await cloud({ files: { '/etc/keystone/uwsgi.ini': text } });
    change(keystone);
    const api = keystone.start(['uwsgi', '--ini', '/etc/keystone/uwsgi.ini']);
    await world.clock.advance(20_000);
    return { world, api, keystone };
  };

  it.each([
    [
      'unknown module',
      ini.replace('keystone.wsgi', 'keystone.nosuch'),
      "ModuleNotFoundError: No module named 'keystone.nosuch.api'",
      22,
    ],
    ['strict', `${ini}strict = true\nnosuch = 1\n`, '[strict-mode] unknown config directive: nosuch', 1],
    ['no socket', ini.replace('http-socket', 'nosuch'), 'The -s/--socket option is missing', 1],
    ['need-plugin', `${ini}need-plugin = python3\n`, 'UNABLE to load uWSGI plugin', 1],
  ])('refuses: %s', async (_name, text, words, status) => {
    const { api } = await start(text);
    expect(api.output()).toContain(words);
    expect(api.status()).toBe(status);
  });

  it('starts workers for ever when the fernet keys are missing, and answers nobody', async () => {
    const { api } = await start(ini, (container) => {
      for (const name of ['0', '1']) container.asRoot.remove(`/etc/keystone/fernet-keys/${name}`);
    });
    expect(api.status()).toBeUndefined();
    expect(api.output()).toContain('/etc/keystone/fernet-keys does not contain keys, use keystone-manage fernet_setup');
    expect(api.output()).toContain('DAMN ! worker 1');
  });

  it('does not end on SIGTERM without die-on-term', async () => {
    const { api, world } = await start(ini.replace('die-on-term = true', ''));
    void api.stop().catch(() => undefined);
    await world.clock.advance(60_000).catch(() => undefined);
    expect(api.status()).toBeUndefined();
  });
});
