import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { nodeGroupLabel } from '../../engine/names/names.ts';
import type { MemberList } from '../../engine/vocabulary/memberships.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

interface Status {
  readonly refusedMembers?: readonly string[];
  readonly lasting?: Readonly<Record<string, string>>;
}

/** What a Nova with these fields is composed to, with nodes of groups, by their names. */
function compose(spec: object, groups: Readonly<Record<string, string>> = {}, status?: Status) {
  const nova = resource(read('nova'));
  const known = surroundings(read);
  const [node] = known.nodes ?? [];
  const nodes = Object.entries(groups).map(([name, group]) => ({
    ...node,
    name,
    labels: { ...node?.labels, [nodeGroupLabel]: group },
  }));
  const composition = composed(
    { ...nova, spec: { ...nova.spec, ...spec }, ...(status === undefined ? {} : { status }) },
    {
      ...known,
      ...(status?.lasting !== undefined && { lasting: status.lasting }),
      nodes: nodes as never,
    },
  );
  const list = objectsOf(composition).find(
    ({ object: { metadata } }) => metadata.name === 'nova-member-create',
  )?.object;
  const text = (list?.['stringData'] as Record<string, string> | undefined)?.['records.json'];
  return { ...composition, text, list: text === undefined ? undefined : (JSON.parse(text) as MemberList) };
}

const groups = [
  { name: 'one', availabilityZone: 'east' },
  { name: 'two', nodeSelector: { rack: '2' }, availabilityZone: 'east' },
  { name: 'three', nodeSelector: { rack: '3' }, availabilityZone: 'west' },
  { name: 'four', nodeSelector: { rack: '4' } },
];

test('groups of one zone share its aggregate; nodes of a group without one are in none, those of a former group stay', () => {
  const { list } = compose({ nodeGroups: groups }, { a1: 'one', a2: 'two', a3: 'three', a4: 'four', a5: 'former' });
  expect(list).toMatchObject({ type: 'compute', mark: { 'openstack.k8s.io:nova': 'nova' } });
  expect(list?.items).toEqual([
    {
      name: 'nova-zone-east',
      attributes: { availability_zone: 'east' },
      members: { begin: 'a', between: '1 2', end: '' },
    },
    {
      name: 'nova-zone-west',
      attributes: { availability_zone: 'west' },
      members: { begin: 'a3', between: '', end: '' },
    },
  ]);
  expect(list?.unassigned).toEqual({ begin: 'a4', between: '', end: '' });
});

test('a host is in its zone before the scheduler knows it; where no zone was ever stated, none is kept or waited for', () => {
  const isKept = ({ steps }: ReturnType<typeof compose>) =>
    steps.some(({ condition }) => condition === 'ResourcesReady');
  const awaits = ({ steps }: ReturnType<typeof compose>) =>
    steps.find(({ condition }) => condition === 'HostsReady')?.needs.includes('ResourcesReady');
  const zoned = compose({ nodeGroups: groups });
  expect([isKept(zoned), awaits(zoned)]).toEqual([true, true]);
  for (const nodeGroups of [[{ name: 'one' }], undefined]) {
    const without = compose({ nodeGroups });
    expect([isKept(without), awaits(without), without.list]).toEqual([false, false, undefined]);
  }
});

test('where zones were stated once, hosts leave them when none is stated any more, whatever group they were of', () => {
  const { lasting } = compose({ nodeGroups: groups }).status as { lasting: Readonly<Record<string, string>> };
  expect(lasting).toMatchObject({ 'spec.nodeGroups[].availabilityZone': 'host aggregates' });
  for (const nodeGroups of [[{ name: 'one' }], undefined]) {
    const { list, steps } = compose({ nodeGroups }, { a1: 'one', a2: 'two' }, { lasting });
    expect(list).toMatchObject({ items: [], unassigned: { begin: 'a', between: '1 2', end: '' } });
    expect(steps.find(({ condition }) => condition === 'HostsReady')?.needs).not.toContain('ResourcesReady');
  }
});

test('zones that differ by case alone are refused by name', () => {
  const problem = (zone: string) =>
    compose({
      nodeGroups: [
        { name: 'one', availabilityZone: 'east' },
        { name: 'two', nodeSelector: { rack: '2' }, availabilityZone: zone },
      ],
    }).steps.find(({ condition }) => condition === 'ConfigReady');
  expect(JSON.stringify(problem('East'))).toContain(
    'spec.nodeGroups[name=two].availabilityZone: East differs from east of another group by case alone',
  );
  expect(JSON.stringify(problem('east'))).not.toContain('by case alone');
});

test('aggregates are mirrored in Placement as often as records are audited, where there are zones', () => {
  const schedule = (spec: object) =>
    objectsOf(compose(spec)).find(({ object: { metadata } }) => metadata.name === 'nova-aggregate-sync')?.object[
      'spec'
    ];
  const recordsAudit = { schedule: '1 2 * * *', suspend: true };
  expect(schedule({ nodeGroups: groups, recordsAudit })).toMatchObject(recordsAudit);
  expect(schedule({ nodeGroups: groups })).toMatchObject({ suspend: false });
  expect(schedule({ nodeGroups: [{ name: 'one' }], recordsAudit })).toBeUndefined();
});

test('5,000 hosts with names of 40 characters make no object above 256 KiB', () => {
  const names = Array.from({ length: 5000 }, (_, index) => `compute-${index}`.padEnd(23, 'x'));
  const hosts = Object.fromEntries(names.map((name) => [`${name}.rack.example.com`, 'one']));
  expect(Object.keys(hosts)[0]).toHaveLength(40);
  const { text = '' } = compose({ nodeGroups: groups }, hosts);
  // As base64.
  expect((text.length * 4) / 3).toBeLessThan(256 * 1024);
});

test('what becomes of hosts is read from the last run that came to its end, and told until another one says otherwise', () => {
  const { tells } = compose({ nodeGroups: groups });
  const tell = tells?.get('nova-member-create');
  expect(tells?.get('nova-records-audit')).toBe(tell);
  const refused = { refusedMembers: ['a1 stays in host aggregate nova-zone-east: it has servers'] };
  expect(tell?.(['{members refused: 1}', `{member ${refused.refusedMembers[0]}}`, 'changed something'], {})).toEqual(
    refused,
  );
  expect(tell?.(['keystone: does not answer'], refused)).toEqual(refused);
  expect(tell?.(['{members refused: 0}'], refused)).toEqual({});
  const { steps } = compose({ nodeGroups: groups }, {}, refused);
  expect(steps.find(({ condition }) => condition === 'ResourcesReady')?.degraded).toEqual([
    `${refused.refusedMembers[0]}; it is tried again by each run of the CronJob nova-records-audit`,
  ]);
  const suspended = compose({ nodeGroups: groups, recordsAudit: { suspend: true } }, {}, refused);
  expect(suspended.steps.find(({ condition }) => condition === 'ResourcesReady')?.degraded).toEqual([
    `${refused.refusedMembers[0]}; nothing tries it again while spec.recordsAudit.suspend is true: set it to false for the CronJob nova-records-audit to do so`,
  ]);
});

test('traits are a file of the agents of their group alone', () => {
  const nodeGroups = [
    { name: 'one', traits: ['CUSTOM_SSD', 'CUSTOM_RACK_1'] },
    { name: 'two', nodeSelector: { rack: '2' } },
  ];
  const config = (spec: object, group: string) =>
    objectsOf(compose(spec)).find(({ object: { metadata } }) =>
      metadata.name?.startsWith(`nova-compute-${group}-config`),
    )?.object['data'] as Record<string, string>;
  expect(config({ nodeGroups }, 'one')['traits.yaml']).toContain(
    'additional:\n        - CUSTOM_SSD\n        - CUSTOM_RACK_1',
  );
  expect(config({ nodeGroups }, 'two')).not.toHaveProperty(['traits.yaml']);
  const elsewhere = { config: { 'nova.conf': { compute: { provider_config_location: '/etc/mine' } } } };
  const refusal = (spec: object) => compose(spec).steps.find(({ condition }) => condition === 'ConfigReady')?.problem;
  expect(refusal({ nodeGroups, ...elsewhere })?.message).toBe(
    'spec.nodeGroups[name=one].traits: conflicts with [compute] provider_config_location of nova.conf; remove one of the two',
  );
  expect(refusal({ nodeGroups: nodeGroups.slice(1), ...elsewhere })).toBeUndefined();
});
