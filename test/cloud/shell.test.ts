import { dirname, relative } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../tools/cloud/place.ts';
import { run } from '../kubernetes/clients/command.ts';

/** What the machine has without this repository: on the way of the suite its Node.js came first. */
function pathOfTheMachine(): string {
  const own = dirname(process.execPath);
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => relative(root, folder).startsWith('..'));
  const without = folders.filter((folder) => folder !== own);
  return (relative(root, own).startsWith('..') ? folders : without).join(':');
}

test('make cloud-shell has kubectl, openstack and a Node.js that is new enough, whatever the machine has', async () => {
  const { HOME = '/root', XDG_CACHE_HOME } = process.env;
  const environment = {
    PATH: pathOfTheMachine(),
    HOME,
    SHELL: '/bin/bash',
    SHLVL: '2', // else make's own bash takes a socket for a login
    ...(XDG_CACHE_HOME !== undefined && { XDG_CACHE_HOME }),
  };
  const script = [
    'echo node $(node -p process.versions.node)',
    'echo nodes $(kubectl get nodes --no-headers | wc -l)',
    'echo project $(openstack project show admin -f value -c name)',
    'echo server $(openstack server list --all-projects -f value -c ID >/dev/null && echo listed)',
    'kubectl openstack --help | head -n 1',
    'false', // the shell's own end is no failure of make
  ];
  const { code, stdout, stderr } = await run('make', ['--no-print-directory', '-C', root, 'cloud-shell'], {
    environment,
    stdin: `${script.join('\n')}\n`,
    limit: 240, // at first use the client is installed
  });
  expect(code, stderr).toBe(0);
  const said = Object.fromEntries(stdout.split('\n').map((line) => line.split(' ', 2)));
  expect(said, stderr).toMatchObject({ nodes: '1', project: 'admin', server: 'listed' });
  expect(Number(/^\d+/.exec(said['node'])?.[0]), stdout).toBeGreaterThanOrEqual(24);
  expect(stdout).toContain('kubectl openstack');
});
