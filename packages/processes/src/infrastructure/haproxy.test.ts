import type { HttpMessage } from '@openstack-operator/sandbox';
import { expect, test } from 'vitest';
import { terminated } from '../program-support.ts';
import { baseCommands } from '../shell/system-commands.ts';
import { request, World } from '../testing/world.ts';
import { haproxy } from './haproxy.ts';

const file = '/etc/haproxy.cfg';
const configuration = `global
  ssl-load-extra-del-ext
defaults
  mode http
  option forwardfor if-none
frontend a
  bind *:8080
  monitor-uri /well
  http-request set-header X-Forwarded-Proto https unless { req.hdr(X-Forwarded-Proto) -m found }
  default_backend b
backend b
  server s 127.0.0.1:80
`;

/** A host with HAProxy, and a server that answers with what it is asked once it is let. */
async function host(text = configuration, script = `exec haproxy -W -f ${file}\n`) {
  const world = new World();
  const held = Promise.withResolvers<void>();
  const asked: HttpMessage[] = [];
  const container = world.container({
    host: 'c',
    files: { [file]: text, '/start.sh': script },
    programs: {
      ...baseCommands,
      haproxy,
      server: async (process) => {
        process.network.listen(80, 'http', () => ({
          receive: async (message) => {
            asked.push(message as HttpMessage);
            if ((message as HttpMessage).path === '/slow') await held.promise;
            return { status: 200, body: 'answer' };
          },
        }));
        await terminated(process);
        return 0;
      },
    },
  });
  const proxy = container.start([
    'dumb-init',
    '--single-child',
    '--rewrite',
    '15:10',
    '--',
    'bash',
    '-eu',
    '/start.sh',
  ]);
  await world.clock.advance(1000);
  return { world, container, proxy, asked, letGo: held.resolve };
}

test('requests are passed on with what the server has to know of their clients', async () => {
  const { world, container, asked } = await host();
  expect(await request(world, 'c', 8080, '/x')).toMatchObject({ status: 503 });
  expect(await request(world, 'c', 8080, '/well')).toMatchObject({ status: 200 });
  container.start(['server']);
  expect(await request(world, 'c', 8080, '/x')).toEqual({ status: 200, body: 'answer' });
  await request(world, 'c', 8080, '/x', { headers: { 'x-forwarded-proto': 'http', 'X-Forwarded-For': '192.0.2.1' } });
  expect(asked.map(({ headers }) => [headers['x-forwarded-proto'], Object.keys(headers).length])).toEqual([
    ['https', 3],
    ['http', 3],
  ]);
});

test('it ends when the requests have ended that are under way', async () => {
  const { world, container, proxy, letGo } = await host();
  container.start(['server']);
  await world.clock.advance(100);
  world.clock.after(1000, () => proxy.terminate());
  world.clock.after(5000, letGo);
  expect(await request(world, 'c', 8080, '/slow')).toMatchObject({ status: 200 });
  expect(await proxy.exit).toBe(0);
});

test.each([
  ['nosuch 1', "unknown keyword 'nosuch' in 'backend' section"],
  ['frontend f\n  bind *:1 ssl crt /x.pem', "unable to stat SSL certificate from file '/x.pem' : No such file"],
  ['frontend f\n  bind *:1 ssl crt /start.sh', "unable to load certificate from file '/start.sh'"],
  ['frontend f\n  bind *:1\n  default_backend nosuch', "Proxy 'f': unable to find required default_backend: 'nosuch'"],
])('a configuration with %j is refused at the start, and not taken over later', async (more, words) => {
  const wrong =
    more.startsWith('frontend') && !more.includes('default_backend') ? `${more}\n  default_backend b` : more;
  const { proxy } = await host(`${configuration}  ${wrong}\n`);
  expect(proxy.output()).toContain(words);
  expect(proxy.status()).toBe(1);

  const script = `while sleep 5; do kill -USR2 $$; done &\nexec haproxy -W -f ${file}\n`;
  const { world, container, proxy: going } = await host(configuration, script);
  container.asRoot.write(file, `${configuration}  ${wrong}\n`);
  await world.clock.advance(6000);
  expect(going.output()).toContain(words);
  expect(await request(world, 'c', 8080, '/well')).toMatchObject({ status: 200 });
});
