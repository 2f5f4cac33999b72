import { labelPattern, nameLength } from './names.ts';
import { array, type Infer, object, required, string } from './schema.ts';

/** A Neutron physical network and the OVS bridge that carries it. */
export const bridgeMappings = (what: string) =>
  array(
    what,
    object('One physical network.', {
      physicalNetwork: required(
        string('Name of the physical network, as provider networks name it.', {
          maxLength: 64,
          pattern: '^[A-Za-z0-9][-A-Za-z0-9_.]*$',
        }),
      ),
      bridge: required(
        string('OVS bridge that carries it on the node, such as br-ex.', {
          maxLength: 15,
          pattern: '^[a-z][-a-z0-9_.]*$',
        }),
      ),
      interface: string(
        'Network interface of the node that is added to the bridge. Absent: the bridge stays without uplink.',
        {
          maxLength: 15,
          pattern: '^[A-Za-z0-9][-A-Za-z0-9_.@]*$',
        },
      ),
    }),
    { maxItems: 16, keys: ['physicalNetwork'] },
  );

/** The name of a cell or a node group, which becomes part of object names. */
export const partName = (what: string, options: { fallback?: string; immutable?: string } = {}) =>
  string(what, { minLength: 1, maxLength: nameLength.part, pattern: labelPattern, ...options });

export type BridgeMapping = Infer<ReturnType<typeof bridgeMappings>>[number];
