import { expect, test } from 'vitest';
import type { Component } from './component.ts';
import { takenMounts, volumeMistakes } from './extra-volumes.ts';
import type { ExtraVolume } from './surroundings.ts';

const component: Component = {
  workload: 'Deployment',
  image: 'glance-api',
  runs: { command: ['true'] },
  mounts: [{ path: '/var/lib/glance', scratch: true }],
};
const path = 'spec.components.api';
const mistakes = (volume: Omit<ExtraVolume, 'name'>, service: { readonly usesNodes?: true } = {}) =>
  volumeMistakes(path, { extraVolumes: [{ name: 'x', ...volume }] }, service);

test('two volumes are not mounted at one path', () => {
  const extraVolumes = ['a', 'b'].map((name) => ({ name, mountPath: '/x', configMap: { name } }));
  expect(takenMounts(path, { extraVolumes }, component)).toEqual([
    'spec.components.api.extraVolumes[name=b].mountPath: another of these volumes is mounted at /x; choose another',
  ]);
});

const nfs = { server: 'nfs.example.org', path: '/images' };

test('what reaches nodes or the network is for kinds that use nodes', () => {
  expect(mistakes({ mountPath: '/x', nfs })).toEqual([
    'spec.components.api.extraVolumes[name=x].nfs: this kind has no access to nodes; name a PersistentVolumeClaim instead',
  ]);
  expect(mistakes({ mountPath: '/x', hostPath: { path: '/srv' } }).join()).toContain('[name=x].hostPath: ');
  expect(mistakes({ mountPath: '/x', nfs }, { usesNodes: true })).toEqual([]);
  expect(mistakes({ mountPath: '/x', persistentVolumeClaim: { claimName: 'images' } })).toEqual([]);
});

test.each(['/tmp', '/var/lib/glance'])('%s is mounted already', (mountPath) => {
  const extraVolumes = [{ name: 'x', mountPath, configMap: { name: 'x' } }];
  expect(takenMounts(path, { extraVolumes }, component)).toEqual([
    `${path}.extraVolumes[name=x].mountPath: the operator mounts ${mountPath} itself; choose another`,
  ]);
});
