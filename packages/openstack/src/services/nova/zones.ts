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
  mark: { act: 'set_metadata', as: 'metadata' },
  mirror: {
    type: 'placement',
    headers: { 'openstack-api-version': 'placement 1.19' },
    list: '/resource_providers?member_of={id}',
    items: 'resource_providers',
    path: '/resource_providers/{id}/aggregates',
    as: 'aggregates',
  },
};

/** How Nova keeps zones: as aggregates, whose metadata make hosts members of a zone. */
export const zoneApi: Readonly<Record<string, ResourceApi>> = {
  // From this version on aggregates show their `uuid`.
  'host aggregate': {
    path: '/os-aggregates',
    item: 'aggregate',
    headers: { 'openstack-api-version': 'compute 2.41' },
    members,
  },
};

/** Of metadata that Nova takes no slash (nova.api.validation.parameter_types). No filter of its scheduler reads this key. */
const markKey = 'openstack.k8s.io:nova';

/** By what is remembered that hosts were in zones: they leave them when no zone is stated any more. */
const zonesField = 'spec.nodeGroups[].availabilityZone';

type Groups = Pick<Nova['spec'], 'nodeGroups'>;

/** Whether groups state zones. */
export const statesZones = ({ nodeGroups = [] }: Groups): boolean =>
  nodeGroups.some(({ availabilityZone }) => availabilityZone !== undefined);

/** Whether hosts are in zones, or have been. */
export const keepsZones = (spec: Groups, lasting: Readonly<Record<string, string>>): boolean =>
  statesZones(spec) || lasting[zonesField] !== undefined;

/** `status.lasting`: that there are zones, or have been. */
export const lastingZones = (spec: Groups): Readonly<Record<string, string>> =>
  statesZones(spec) ? { [zonesField]: 'host aggregates' } : {};

/** Zones whose names differ by case alone: aggregates of both could not be told apart in the database. */
export function zoneMistakes({ spec }: Context<Nova>): string[] {
  const seen = new Map<string, string>();
  return groupsOf(spec).flatMap(({ name, availabilityZone: zone }) => {
    if (zone === undefined) return [];
    const other = seen.get(zone.toLowerCase());
    seen.set(zone.toLowerCase(), other ?? zone);
    if (other === undefined || other === zone) return [];
    return [
      `spec.nodeGroups[name=${name}].availabilityZone: ${zone} differs from ${other} of another group by case alone, and Nova takes the two for one; write it ${other}, or use another name`,
    ];
  });
}

/**
 * The zones of node groups, each with its hosts. Nova refuses a host in two zones, and one with servers in another
 * (nova.compute.api, AggregateAPI). Nodes of a group that is stated no more, and those that are lost, stay as they are; where no
 * group has a zone any more, all nodes leave theirs.
 */
export function zones(context: Context<Nova>): Memberships {
  const groups = groupsOf(context.spec);
  const nodes = computeNodes(context).flatMap(({ name, labels }) => {
    const group = groups.find((one) => one.name === nodeGroupOf(labels));
    return group === undefined && statesZones(context.spec) ? [] : [{ name, zone: group?.availabilityZone }];
  });
  const stated = [...new Set(groups.flatMap(({ availabilityZone: zone }) => zone ?? []))];
  const prefix = `${context.name}-zone-`;
  return {
    in: 'novaRef',
    kind: 'host aggregate',
    mark: { [markKey]: context.name },
    items: stated.map((zone) => ({
      name: `${prefix}${zone}`,
      attributes: { availability_zone: zone },
      members: nodes.flatMap((node) => (node.zone === zone ? [node.name] : [])),
    })),
    unassigned: nodes.flatMap(({ name, zone }) => (zone === undefined ? [name] : [])),
  };
}

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
