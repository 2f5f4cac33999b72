import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CustomResourceDefinition, connect, realClock, sleep } from '@openstack-operator/kube';
import { createSandbox } from '@openstack-operator/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { websiteCrd } from '../../packages/kube/example/crd.ts';
import { Website } from '../../packages/kube/example/website.ts';
import { web } from '../../packages/sandbox/example/web.ts';
import { pack } from '../../tools/libraries/pack.ts';
import { type EmptyProject, emptyProject } from './empty-project.ts';

let tarballs: readonly string[];
let project: EmptyProject;

beforeAll(() => {
  tarballs = pack();
  project = emptyProject(['kube', 'sandbox']);
  project.install(tarballs);
});
afterAll(() => project[Symbol.dispose]());

test('the tarballs hold JavaScript and declarations, run no scripts, and know nothing of OpenStack', () => {
  for (const tarball of tarballs) {
    const manifest = JSON.parse(project.run('tar', 'xzfO', tarball, 'package/package.json')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      version: expect.any(String),
      repository: expect.any(Object),
    });
    expect(Object.keys(manifest)).not.toContain('scripts');
    expect(Object.keys(manifest)).not.toContain('private');
    const files = project.run('tar', 'tzf', tarball).trim().split('\n');
    expect(files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['package/README.md', 'package/LICENSE', 'package/dist/index.js']));
    const face = project.run(
      'tar',
      'xzfO',
      tarball,
      'package/README.md',
      ...files.filter((file) => file.endsWith('.d.ts')),
    );
    expect(face.replaceAll(/@openstack-operator\/|github\.com\/\S+/g, '').match(/.*openstack.*/gi)).toBeNull();
  }
});

/** What the README of each library leaves out of its first piece of code. */
const leftOut = {
  kube: "import { deploymentOf } from './example/website.ts';",
  sandbox: `import test from 'node:test';
import { websiteCrd } from '../kube/example/crd.ts';
import { Website, websites } from '../kube/example/website.ts';
import { web } from './example/web.ts';
const metadata = { namespace: 'default', name: 'home' };`,
};

test('in an empty project the examples and the READMEs compile in strict mode, and the tests of examples pass', async () => {
  for (const [name, before] of Object.entries(leftOut)) {
    const readme = await readFile(join(import.meta.dirname, `../../packages/${name}/README.md`), 'utf8');
    const [, code = ''] = /^```ts\n(import .*?)^```$/ms.exec(readme) ?? [];
    expect(code).toContain('run({');
    await writeFile(join(project.folder, name, 'readme.ts'), `${before}\n${code}`);
  }
  project.run(join(import.meta.dirname, '../../node_modules/.bin/tsc'), '--project', 'tsconfig.json');
  expect(project.run(process.execPath, '--test', 'sandbox/example/website.test.ts')).toContain('pass 3');
});

test('the example operator keeps a Website on a cluster that it reaches by a kubeconfig', async () => {
  await using sandbox = createSandbox({ images: [web] });
  await using listening = await sandbox.listen();
  const kubeconfig = join(project.folder, 'kubeconfig');
  await writeFile(kubeconfig, await listening.kubeconfig());
  const { client } = await connect({ kubeconfig, env: {} });
  await client.create(CustomResourceDefinition, websiteCrd);
  const operator = spawn(process.execPath, ['kube/example/main.ts'], {
    cwd: project.folder,
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => operator.on('exit', resolve));
  const metadata = { namespace: 'default', name: 'home' };
  await client.create(Website, {
    apiVersion: 'example.com/v1',
    kind: 'Website',
    metadata,
    spec: { page: 'hi', replicas: 2 },
  });
  const isReady = async () => (await client.get(Website, metadata)).status?.readyReplicas === 2;
  while (!(await isReady())) await sleep(realClock, 50);
  operator.kill('SIGTERM');
  expect(await ended).toBe(0);
  await client.close();
});
