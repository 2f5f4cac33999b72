import { expect, test } from 'vitest';
import type { Component } from './component.ts';
import { extraVolumeProblems } from './extra-volumes.ts';
import type { ExtraVolume } from './surroundings.ts';

const component: Component = {
  workload: 'Deployment',
  image: 'glance-api',
  runs: { command: ['true'] },
  mounts: [{ path: '/var/lib/glance', scratch: true }],
};
const problems = (volume: Omit<ExtraVolume, 'name'>, usesNodes?: true) =>
  extraVolumeProblems(
    'spec.components.api',
    { extraVolumes: [{ name: 'x', ...volume }] },
    { service: usesNodes === undefined ? {} : { usesNodes }, component },
  );
test('two volumes are not mounted at one path', () => {
  const extraVolumes = ['a', 'b'].map((name) => ({ name, mountPath: '/x', configMap: { name } }));
  expect(extraVolumeProblems('spec.components.api', { extraVolumes }, { service: {}, component })).toEqual([
    'spec.components.api.extraVolumes[name=b].mountPath: another of these volumes is mounted at /x; choose another',
  ]);
});

const nfs = { server: 'nfs.example.org', path: '/images' };

test('what reaches nodes or the network is for kinds that use nodes', () => {
  expect(problems({ mountPath: '/x', nfs })).toEqual([
    'spec.components.api.extraVolumes[name=x].nfs: this kind has no access to nodes; name a PersistentVolumeClaim instead',
  ]);
  expect(problems({ mountPath: '/x', hostPath: { path: '/srv' } }).join()).toContain('[name=x].hostPath: ');
  expect(problems({ mountPath: '/x', nfs }, true)).toEqual([]);
  expect(problems({ mountPath: '/x', persistentVolumeClaim: { claimName: 'images' } })).toEqual([]);
});

test.each(['/tmp', '/var/lib/glance'])('%s is mounted already', (mountPath) => {
  expect(problems({ mountPath, configMap: { name: 'x' } }).join()).toContain(`the operator mounts ${mountPath} itself`);
});
