import { hourly } from '../../engine/objects/schedule.ts';
import type { ResourceApi } from '../../engine/vocabulary/cloud-resources.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { MembersApi, Memberships } from '../../engine/vocabulary/memberships.ts';
import { nodeGroupOf } from '../../engine/vocabulary/node-groups.ts';
import type { Schedule } from '../../engine/vocabulary/service.ts';
import { cellsOf } from './cells.ts';
import { computeNodes, groupsOf } from './compute.ts';
import type { Nova } from './kind.ts';
import { mirrorOften } from './scripts.ts';

const members: MembersApi = {
  path: '/os-aggregates/{id}/action',
  add: 'add_host',
  remove: 'remove_host',
  as: 'host',
  shown: 'hosts',
};

/** How Nova keeps zones: as aggregates, whose metadata make hosts members of a zone. */
export const zoneApi: Readonly<Record<string, ResourceApi>> = {
  'host aggregate': { path: '/os-aggregates', item: 'aggregate', members },
};

/** Whether hosts may be in zones, or may have been. */
export const hasZones = ({ nodeGroups }: Pick<Nova['spec'], 'nodeGroups'>): boolean => nodeGroups !== undefined;

/**
 * The zones of node groups, each with its hosts. Nova refuses a host in two zones, and one with servers in another
 * (nova.compute.api, AggregateAPI). Nodes of a group that is stated no more, and those that are lost, stay as they are.
 */
export function zones(context: Context<Nova>): Memberships {
  const groups = groupsOf(context.spec);
  const nodes = computeNodes(context).flatMap(({ name, labels }) => {
    const group = groups.find((one) => one.name === nodeGroupOf(labels));
    return group === undefined ? [] : [{ name, zone: group.availabilityZone }];
  });
  const stated = [...new Set(groups.flatMap(({ availabilityZone: zone }) => zone ?? []))];
  const prefix = `${context.name}-zone-`;
  return {
    in: 'novaRef',
    kind: 'host aggregate',
    prefix,
    items: stated.map((zone) => ({
      name: `${prefix}${zone}`,
      attributes: { availability_zone: zone },
      members: nodes.flatMap((node) => (node.zone === zone ? [node.name] : [])),
    })),
    unassigned: nodes.flatMap(({ name, zone }) => (zone === undefined ? [name] : [])),
  };
}

/** Whether groups state zones. */
export const statesZones = ({ nodeGroups = [] }: Pick<Nova['spec'], 'nodeGroups'>): boolean =>
  nodeGroups.some(({ availabilityZone }) => availabilityZone !== undefined);

/** The mirror of the aggregates in Placement is brought up to date as often as records are audited. */
export function zoneSchedules(context: Context<Nova>): Schedule[] {
  if (!statesZones(context.spec)) return [];
  const { schedule, suspend = false } = context.spec.recordsAudit ?? {};
  const [cell] = cellsOf(context);
  const suffix = 'aggregate-sync';
  return [
    {
      suffix,
      image: 'nova-conductor',
      config: `${cell?.name}-manage`,
      mounts: [{ path: '/var/lib/nova', scratch: true }],
      runs: [{ name: suffix, script: mirrorOften }],
      cron: schedule ?? hourly(context, suffix),
      suspend,
      deadlineSeconds: 1800,
    },
  ];
}
