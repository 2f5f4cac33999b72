import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

interface Agent {
  readonly template: {
    readonly spec: {
      readonly volumes: readonly { readonly hostPath?: { readonly path: string; readonly type: string } }[];
    };
  };
}
const hostPaths = (daemonSet: { readonly [field: string]: unknown }) =>
  (daemonSet['spec'] as Agent).template.spec.volumes.flatMap(({ hostPath }) =>
    hostPath?.type === 'DirectoryOrCreate' && hostPath.path !== '/lib/modules' ? [hostPath.path] : [],
  );

test('all that agents keep on a node is cleaned', () => {
  const world = surroundings(read);
  const compositions = ['ovn-network', 'neutron', 'nova'].map((name) => composed(resource(read(name)), world));
  const agents = compositions.flatMap(objectsOf).flatMap(({ object }) => (object.kind === 'DaemonSet' ? [object] : []));
  const kept = new Set(agents.flatMap(hostPaths));
  const claims = compositions.flatMap(({ steps }) => steps.flatMap(({ objects }) => objects));
  const [cleaner] = claims.flatMap((desired) => (desired.verb === 'claim' ? [desired.cleaning.daemonSet] : []));
  expect(kept.size).toBeGreaterThan(8);
  expect(new Set(cleaner === undefined ? [] : hostPaths(cleaner))).toEqual(kept);
});
