import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

test('Neutron knows its own physical networks, and those that chassis of its OVNNetwork reach', () => {
  const world = surroundings(read);
  const mapping = (physicalNetwork: string) => ({ physicalNetwork, bridge: 'br-ex' });
  const spec = {
    bridgeMappings: [mapping('physnet2')],
    nodeGroups: [
      { name: 'a', bridgeMappings: [mapping('physnet1')] },
      { name: 'b', bridgeMappings: [mapping('lab')] },
    ],
  };
  const references = { ...world.references, ovnRef: { found: { ...resource(read('ovn-network')), spec } } };
  const neutron = resource(read('neutron'));
  const files = JSON.stringify(
    objectsOf(
      composed({ ...neutron, spec: { ...neutron.spec, bridgeMappings: undefined } as never }, { ...world, references }),
    ),
  );
  expect(files).toContain('flat_networks = physnet1,physnet2,lab\\');
  expect(files).toMatch(/network_vlan_ranges = [^\\]*\bphysnet2,lab\\/);
});

test('VLANs of a physical network that no bridge leads to are refused', () => {
  const world = surroundings(read);
  const neutron = resource(read('neutron'));
  const problem = (physicalNetwork: string) => {
    const vlanRanges = [{ physicalNetwork, minimum: 100, maximum: 200 }];
    const { steps } = composed({ ...neutron, spec: { ...neutron.spec, vlanRanges } as never }, world);
    return steps.find(({ condition }) => condition === 'ConfigReady')?.problem;
  };
  expect(problem('physnet1')).toBeUndefined();
  expect(problem('physnet9')).toEqual({
    reason: 'ConfigRefused',
    message:
      'spec.vlanRanges[0].physicalNetwork: no bridge leads to physnet9; known are physnet1: name one of them, or map it in spec.bridgeMappings or in those of a node group',
  });
});
