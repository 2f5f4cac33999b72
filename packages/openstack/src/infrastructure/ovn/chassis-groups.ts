import type { BridgeMapping } from '../../api/node-groups.ts';
import type { CloudTemplates } from '../../engine/vocabulary/child.ts';
import type { ClaimedGroup } from '../../engine/vocabulary/node-groups.ts';
import type { ChassisGroup, OVNNetwork } from './kind.ts';

/**
 * Below a control plane the nodes of other services' groups are chassis as well, with their bridges; and where a group
 * maps a network itself, the others do not get the default for it, which would be a bridge that ends nowhere.
 */
export function chassisFields({ own, groups, bridges }: CloudTemplates): Readonly<Record<string, unknown>> {
  const { nodeGroups, bridgeMappings } = own as Partial<OVNNetwork['spec']>;
  const all = [...groups.map(chassisGroup), ...(nodeGroups ?? [])];
  const isSame = (one: BridgeMapping, other: BridgeMapping) =>
    one.physicalNetwork === other.physicalNetwork || one.bridge === other.bridge;
  const mapped = all.flatMap((group) => group.bridgeMappings ?? []);
  const isReplaced =
    bridges?.isDefault === true && mapped.some((one) => bridges.mappings.some((other) => isSame(one, other)));
  const isStated = groups.some(({ isDefault }) => isDefault !== true) || nodeGroups !== undefined;
  return {
    bridgeMappings: bridgeMappings ?? (isReplaced ? undefined : bridges?.mappings),
    nodeGroups: isStated ? all : undefined,
  };
}

/** Fields of a node group of another service that OVN is told. */
const told: ReadonlySet<string> = new Set<keyof ChassisGroup>([
  'name',
  'nodeSelector',
  'tolerations',
  'maxUnavailable',
  'bridgeMappings',
  'tunnelNetwork',
  'gateway',
]);

function chassisGroup(group: ClaimedGroup): ChassisGroup {
  return Object.fromEntries(Object.entries(group).filter(([name]) => told.has(name))) as unknown as ChassisGroup;
}
