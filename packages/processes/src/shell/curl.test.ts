import type { HttpMessage, Program } from '@openstack-operator/sandbox';
import { describe, expect, it } from 'vitest';
import { terminated } from '../program-support.ts';
import { World } from '../testing/world.ts';
import { curl } from './curl.ts';
import { baseCommands } from './system-commands.ts';

/** Answers with what it was asked; /fail is 404. */
const server: Program = async (process) => {
  process.network.listen(80, 'http', () => ({
    receive: (message) => {
      const { method, path, headers, body } = message as HttpMessage;
      return Promise.resolve({
        status: path === '/fail' ? 404 : 200,
        body: `${method} ${path} ${headers['authorization'] ?? '-'} ${body}`,
      });
    },
  }));
  await terminated(process);
  return 0;
};

async function run(argv: readonly string[], stdin?: string) {
  const world = new World();
  world.container({ host: 'web', programs: { server } }).start(['server']);
  const client = world.container({
    host: 'client',
    programs: { ...baseCommands, curl },
    files: { '/body': 'from file' },
  });
  return client.run(['curl', ...argv], stdin === undefined ? {} : { stdin });
}

describe('curl', () => {
  it.each([
    [['-s', 'http://web/x?y=1'], 0, 'GET /x?y=1 - '],
    [['-sS', '-X', 'PUT', '-u', 'a:b', '-d', '@/body', 'http://web/'], 0, 'PUT / Basic YTpi from file'],
    [['-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://web/fail'], 0, '404'],
    [['-sSf', 'http://web/fail'], 22, 'curl: (22) The requested URL returned error: 404\n'],
    [['-s', 'http://nowhere/'], 6, ''],
    [['-sS', 'http://nowhere/'], 6, 'curl: (6) Could not resolve host: nowhere\n'],
    [['http://web:81/'], 7, 'curl: (7) Failed to connect to web port 81 after 0 ms: Could not connect to server\n'],
    [
      ['--nosuch'],
      2,
      "curl: option --nosuch: is unknown\ncurl: try 'curl --help' or 'curl --manual' for more information\n",
    ],
  ])('%j', async (argv, status, output) => expect(await run(argv)).toEqual({ status, output }));

  it('takes its secrets from a configuration on standard input', async () => {
    expect(await run(['-s', '-K', '-'], 'url = "http://web/api"\nuser = "a:b"\n')).toEqual({
      status: 0,
      output: 'GET /api Basic YTpi ',
    });
  });
});
