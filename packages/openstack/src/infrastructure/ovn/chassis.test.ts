import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const world = surroundings(read);

/** Whether the chassis of each group are gateways. */
function gateways(spec: object): Record<string, boolean> {
  const network = { ...resource(read('ovn-network')), spec: spec as never };
  const found = objectsOf(composed(network, world)).flatMap(({ object }) => {
    const { template } = (object['spec'] ?? {}) as {
      template?: { spec: { containers: { env?: { name: string; value?: string }[] }[] } };
    };
    const { env = [] } = template?.spec.containers[0] ?? {};
    const options = env.find(({ name }) => name === 'CMS_OPTIONS');
    return options === undefined
      ? []
      : [
          [
            object.metadata.name?.replace('ovn-ovs-settings-', '') ?? '',
            options.value === 'enable-chassis-as-gw',
          ] as const,
        ];
  });
  return Object.fromEntries(found);
}

const plain = { physicalNetwork: 'physnet1', bridge: 'br-ex' };
const wired = { ...plain, interface: 'eth1' };
const other = { physicalNetwork: 'physnet2', bridge: 'br-two', interface: 'eth2' };

test.each<[string, object, Record<string, boolean>]>([
  [
    'one group has an uplink',
    { nodeGroups: [{ name: 'a', bridgeMappings: [wired] }, { name: 'b' }] },
    { a: true, b: true },
  ],
  [
    'another network has an uplink in the other group',
    { bridgeMappings: [plain], nodeGroups: [{ name: 'a' }, { name: 'b', bridgeMappings: [other] }] },
    { a: true, b: true },
  ],
  [
    'one of the networks of a group has an uplink elsewhere',
    {
      bridgeMappings: [plain],
      nodeGroups: [
        { name: 'a', bridgeMappings: [plain, other] },
        { name: 'b', bridgeMappings: [wired] },
      ],
    },
    { a: false, b: true },
  ],
  [
    'the other one has a bridge that ends nowhere',
    { bridgeMappings: [plain], nodeGroups: [{ name: 'a', bridgeMappings: [wired] }, { name: 'b' }] },
    { a: true, b: false },
  ],
  [
    'the uplink is that of all but one, which has no bridge',
    { bridgeMappings: [wired], nodeGroups: [{ name: 'a' }, { name: 'b', bridgeMappings: [] }] },
    { a: true, b: true },
  ],
  [
    'nobody names an interface: uplinks may have been put in by hand',
    { bridgeMappings: [plain], nodeGroups: [{ name: 'a' }, { name: 'b', bridgeMappings: [] }] },
    { a: true, b: true },
  ],
  [
    'the groups say so themselves',
    {
      nodeGroups: [
        { name: 'a', gateway: false, bridgeMappings: [wired] },
        { name: 'b', gateway: true },
      ],
    },
    { a: false, b: true },
  ],
])('which groups are gateways where %s', (_where, spec, expected) => {
  expect(gateways(spec)).toEqual(expected);
});
