import { label, nameLength } from './names.ts';
import { tolerations } from './scheduling.ts';
import { array, bool, type Infer, int, object, required, rule, string } from './schema.ts';

/** The name of an OVS bridge that carries a physical network. */
export const bridgeName = (what: string, options: { fallback?: string } = {}) =>
  string(what, {
    maxLength: 15,
    form: { pattern: '^[a-z][-a-z0-9_.]*$', expected: 'a name in lower case that begins with a letter, such as br-ex' },
    rules: [rule("self != 'br-int'", "br-int is OVN's own bridge: name another one, such as br-ex")],
    ...options,
  });

/** A Neutron physical network and the OVS bridge that carries it. */
export const bridgeMappings = (what: string) =>
  array(
    what,
    object('One physical network.', {
      physicalNetwork: required(
        string('Name of the physical network, as provider networks name it.', {
          maxLength: 64,
          form: {
            pattern: '^[A-Za-z0-9][-A-Za-z0-9_.]*$',
            expected: "a name of letters, digits, '-', '_' and '.', such as physnet1",
          },
        }),
      ),
      bridge: required(bridgeName('OVS bridge that carries it on the node, such as br-ex.')),
      interface: string(
        'Network interface of the node that is added to the bridge. If absent, the bridge has no uplink.',
        {
          maxLength: 15,
          form: {
            pattern: '^[A-Za-z0-9][-A-Za-z0-9_.@]*$',
            expected: 'the name of a network interface, such as eth1',
          },
        },
      ),
      allowNodeInterface: bool(
        'Whether the interface may carry an address of the node or its default route. Open vSwitch then uses it instead of the node, which is cut off unless it has another connection.',
        { fallback: false },
      ),
    }),
    {
      maxItems: 16,
      keys: ['physicalNetwork'],
      rules: [
        rule(
          'self.all(m, self.exists_one(n, n.bridge == m.bridge))',
          'a bridge carries one physicalNetwork: name each bridge once',
        ),
        rule(
          'self.all(m, self.all(n, !has(n.interface) || n.interface != m.bridge))',
          'bridge cannot be the name of an interface: name another one, such as br-ex',
        ),
      ],
    },
  );

/** Whether the nodes of a group are gateways. */
export const gateway = bool('Whether routers may send traffic to the outside through its nodes.', {
  otherwise: 'true, unless one of its bridgeMappings has no interface and another group names one for that network',
});

/** Taints that nodes of a group may have when they are claimed. */
export const groupTolerations = tolerations(
  'Taints that its nodes may have. A node with any other taint of effect NoSchedule or NoExecute is not claimed, such as a control-plane node. A toleration with tolerationSeconds does not count. What is claimed stays claimed, and its agents tolerate every taint that comes later: guests live there.',
);

/** How fast the agents of a group are replaced. */
export const groupMaxUnavailable = int(
  'How many of its nodes may be without an agent at once while agents are replaced. A node that is not Ready or is cordoned is left out, and does not hold up the others.',
  { minimum: 1, maximum: 5000, otherwise: 'one node of all groups that do not say' },
);

/** Where the tunnels of a group's nodes begin. */
export const tunnelNetwork = string(
  'Network of the tunnels between nodes, such as 192.0.2.0/24. Each node has an address in it. A change moves the tunnels of running guests. If absent, the address of the node in Kubernetes.',
  { maxLength: 64, form: { pattern: '^[0-9A-Fa-f.:]+/[0-9]{1,3}$', expected: 'a network such as 192.0.2.0/24' } },
);

/** The name of a cell or a node group, which becomes part of object names. */
export const partName = (what: string, options: { fallback?: string; immutable?: string } = {}) =>
  string(what, { minLength: 1, maxLength: nameLength.part, form: label, ...options });

export type BridgeMapping = Infer<ReturnType<typeof bridgeMappings>>[number];
