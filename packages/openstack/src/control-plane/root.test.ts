import { apiVersionOf } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { isRoot } from '../engine/names/roots.ts';
import { rootNamed, roots } from './root.ts';

test('the engine knows every root, in whatever version; what follows from its spec is known of this version', () => {
  for (const root of roots) {
    const { kind } = root.kind;
    expect(isRoot({ apiVersion: `${root.kind.group}/v1`, kind })).toBe(true);
    expect(rootNamed({ apiVersion: apiVersionOf(root.kind), kind })).toBe(root);
    expect(rootNamed({ apiVersion: `${root.kind.group}/v1`, kind })).toBeUndefined();
    expect(rootNamed({ apiVersion: 'example.com/v1alpha1', kind })).toBeUndefined();
  }
});
