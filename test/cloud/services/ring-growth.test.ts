import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { type PodState, podOf } from '../pods.ts';
import { timed, until } from '../until.ts';
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

const swift = { name: 'ring-growth', policies: [1, 2], components: ['storage'] };
/** Containers, by the storage policy that each has: of two copies, of one, and of three fragments of which two are enough. */
const containers = { copies: 'Policy-0', single: 'single', fragments: 'fragments' } as const;
const names = Object.keys(containers);

test('one storage node becomes three while objects are written and read; nothing is lost, not by a lost device of a policy of fragments either', async () => {
  await makeSwift(swift, {
    storageNodes: 1,
    devicesPerNode: 3,
    storagePolicy: { replicaCount: 2, partitionPower: 4, minPartHours: 1 },
    storagePolicies: [
      { index: 1, name: 'single', replicaCount: 1 },
      { index: 2, name: 'fragments', erasureCoding: { dataFragments: 2, parityFragments: 1 } },
    ],
  });
  await ready(swift);
  const owner = await member();
  const user = owner.connectedAnew();
  const { status: proxy } = await podOf(labels(swift, 'proxy'));
  const account = `http://${proxy.podIP}:8080/v1/AUTH_${owner.projectId}`;
  for (const [container, policy] of Object.entries(containers)) {
    const headers = { 'X-Storage-Policy': policy };
    expect(await asked(user, 'put', `${account}/${container}`, { headers })).toMatchObject({ status: 201 });
  }
  const use = new Use(user, account, names);
  for (let turn = 0; turn < 30; turn += 1) for (const container of names) await use.write(container);
  expect(use.failures).toEqual([]);

  await use.during(async () => {
    await hoursPass(swift);
    await kubectl('patch', 'swift', swift.name, '--type', 'merge', '-p', JSON.stringify({ spec: { storageNodes: 3 } }));
    await ready(swift);
    await settled(swift);
    // One replica of each partition has moved: others may, once the first are where they belong.
    await hoursPass(swift);
    await moveOn(swift);
    await settled(swift);
  });
  console.log(`of ${use.size} objects, requests that failed meanwhile: ${JSON.stringify(counted(use.failures))}`);
  // Of what has another copy, or fragments enough, nothing is missed. Of a single copy reads fail, until it has arrived.
  expect(use.failures.filter(({ method, container }) => method === 'put' || container !== 'single')).toEqual([]);
  expect(use.failures.filter(({ status }) => status !== 404)).toEqual([]);
  expect(await use.missing()).toEqual([]);
  const nodes = await storageNodes(swift);
  expect(nodes).toHaveLength(3);
  for (const node of nodes)
    for (const folder of ['objects', 'objects-1', 'objects-2'])
      expect(await files(node, `/srv/node/*/${folder}`), `${folder} of ${node.metadata.name}`).toBeGreaterThan(0);

  const [lost] = nodes as [PodState];
  const folder = '/srv/node/d1/objects-2';
  const before = await files(lost, folder);
  expect(before).toBeGreaterThan(0);
  await inPod(lost, ['rm', '-r', folder]);
  expect(await use.missing(['fragments'])).toEqual([]);
  const seconds = await timed(() =>
    until({
      what: `all fragments to be on ${folder} of ${lost.metadata.name} again`,
      seconds: 600,
      probe: async () => (await files(lost, folder)) === before || undefined,
      explain: async () => `it has ${await files(lost, folder)} of ${before}`,
    }),
  );
  console.log(`${before} fragments of a lost device were made anew after ${Math.round(seconds)} s`);
  expect(await use.missing(['fragments'])).toEqual([]);
}, 2_400_000);
