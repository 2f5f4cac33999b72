import { expect, test } from 'vitest';
import { discoverHosts, hostDiscovery } from './scripts.ts';

const nodes = (count: number) => Array.from({ length: count }, (_, i) => `compute-${i}.rack-1.example.org`);

test('host discovery gets its nodes by a variable, unless the list is longer than the kernel takes', () => {
  expect(hostDiscovery(['a', 'b'])).toEqual({
    env: { NODES: 'a b' },
    runs: [{ name: 'host-discovery', script: discoverHosts() }],
  });
  const { env, runs } = hostDiscovery(nodes(5000));
  expect(env).toBeUndefined();
  const [run] = runs;
  const script = run !== undefined && 'script' in run ? run.script : '';
  expect(script.startsWith(`NODES='${nodes(5000).join(' ')}'\n`)).toBe(true);
  expect(script.endsWith(discoverHosts())).toBe(true);
  // A ConfigMap takes 1 MiB.
  expect(script.length).toBeLessThan(2 ** 20);
});

test('no variable comes near the 128 KiB of the kernel', () => {
  for (let count = 1000; count <= 5000; count += 250) {
    const { env = {} } = hostDiscovery(nodes(count));
    expect(`NODES=${JSON.stringify(env['NODES'])}`.length).toBeLessThan(2 ** 17);
  }
});
