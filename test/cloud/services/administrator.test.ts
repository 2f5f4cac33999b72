import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../kubernetes/clients/command.ts';
import { controlPlane, program } from '../kubernetes.ts';

/** What the Secret of the administrator has, as files of a directory of its own. */
async function clientFiles(): Promise<string> {
  const { name, namespace } = (await controlPlane()).metadata;
  const secret = await program('kubectl', '-n', namespace, 'get', 'secret', `${name}-keystone-clouds`, '-o', 'json');
  const { data } = JSON.parse(secret) as { data: Record<string, string> };
  const directory = mkdtempSync(join(tmpdir(), 'clouds-'));
  for (const [key, value] of Object.entries(data)) writeFileSync(join(directory, key), Buffer.from(value, 'base64'));
  return directory;
}

test.each(['--os-cloud admin', '--os-cloud admin-internal', 'openrc'])('openstack logs in by %s', async (by) => {
  const directory = await clientFiles();
  const isShell = by === 'openrc';
  const { PATH = '', HOME = '/root' } = process.env;
  const environment = { PATH, HOME, ...(!isShell && { OS_CLIENT_CONFIG_FILE: join(directory, 'clouds.yaml') }) };
  const say = `openstack ${isShell ? '' : by} network list -f json`;
  const script = isShell ? `. '${directory}/openrc'; ${say}` : say;
  const { code, stdout, stderr } = await run('sh', ['-ec', script], { environment, limit: 120 });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toEqual(expect.any(Array));
});
