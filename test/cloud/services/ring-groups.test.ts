import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { podOf } from '../pods.ts';
import { until } from '../until.ts';
import {
  asked,
  counted,
  files,
  hoursPass,
  inPod,
  kubectl,
  labels,
  makeSwift,
  moveOn,
  ready,
  settled,
  storageNodes,
  Use,
} from './own-swift.ts';

const swift = { name: 'ring-groups', policies: [], components: ['storage', 'storage-b'] };
const group = { name: 'b', zone: 2, storageNodes: 1, devicesPerNode: 2, storage: { size: '1Gi' } };

const patch = (spec: object) =>
  kubectl('patch', 'swift', swift.name, '--type', 'merge', '-p', JSON.stringify({ spec }));

/** Prints the zones of the replicas of each partition, by the ring that a storage node has. */
const zonesScript = `
import json
from swift.common.ring import Ring
ring = Ring('/etc/swift/rings', ring_name='object')
print(json.dumps([sorted(one['zone'] for one in ring.get_part_nodes(part)) for part in range(ring.partition_count)]))
`;

/** In which zones each partition has replicas. */
async function zones(): Promise<readonly (readonly number[])[]> {
  const [pod] = await storageNodes(swift);
  if (pod === undefined) throw new Error(`no storage node of Swift ${swift.name} is Ready`);
  return JSON.parse(await inPod(pod, ['python3', '-c', zonesScript])) as readonly (readonly number[])[];
}

const conditions = () => kubectl('get', 'swift', swift.name, '-o', 'jsonpath={.status.conditions}');

/** Takes the group away, and does what is done every hour until its StatefulSet is gone. */
async function groupLeaves(): Promise<void> {
  await patch({ storageGroups: null });
  await until({
    what: 'the group to be told as leaving',
    seconds: 600,
    probe: async () => (await conditions()).includes(`${swift.name}-storage-b-0/d1`) || undefined,
    explain: conditions,
  });
  await settled(swift);
  const gone = async () =>
    (await kubectl('get', 'statefulset', `${swift.name}-storage-b`, '--ignore-not-found')) === '';
  for (let turn = 0; turn < 4 && !(await gone()); turn += 1) await moveOn(swift);
  await until({
    what: 'the StatefulSet of the group to be gone',
    seconds: 900,
    probe: async () => (await gone()) || undefined,
    explain: conditions,
  });
}

test('a group of storage nodes in a zone of its own gets a copy of each object, and leaves with none, while objects are written and read', async () => {
  await makeSwift(swift, {
    storageNodes: 1,
    devicesPerNode: 2,
    storagePolicy: { replicaCount: 2, partitionPower: 4, minPartHours: 1 },
  });
  await ready(swift);
  const owner = await member();
  const user = owner.connectedAnew();
  const { status: proxy } = await podOf(labels(swift, 'proxy'));
  const account = `http://${proxy.podIP}:8080/v1/AUTH_${owner.projectId}`;
  expect(await asked(user, 'put', `${account}/copies`)).toMatchObject({ status: 201 });
  const use = new Use(user, account, ['copies']);
  for (let turn = 0; turn < 60; turn += 1) await use.write('copies');
  expect(use.failures).toEqual([]);

  await use.during(async () => {
    await hoursPass(swift);
    await patch({ storageGroups: [group] });
    await ready(swift);
    await settled(swift);
    expect(new Set((await zones()).map(String))).toEqual(new Set(['1,2']));
    expect(await storageNodes(swift)).toHaveLength(2);
    for (const node of await storageNodes(swift))
      expect(await files(node, '/srv/node/*/objects'), node.metadata.name).toBeGreaterThan(0);

    // What lies in a zone is there twice, as it was before, when the other one has left.
    await hoursPass(swift);
    await groupLeaves();
    await ready(swift);
    await settled(swift);
  });
  console.log(`of ${use.size} objects, requests that failed meanwhile: ${JSON.stringify(counted(use.failures))}`);
  expect(use.failures).toEqual([]);
  expect(await use.missing()).toEqual([]);
  expect(new Set((await zones()).map(String))).toEqual(new Set(['1,1']));
  expect(await kubectl('get', 'pvc', `d1-${swift.name}-storage-b-0`, '-o', 'name')).not.toBe('');
}, 3_600_000);
