import type { HttpRequest } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { HollowNodes } from '../../../bench/hollow-nodes.ts';
import { startingWith } from '../../../bench/large-cloud/scenarios.ts';
import { type Cloud, controlPlane, createCloud } from './cloud.ts';

/** The most nodes of a cloud, and bytes of an object with so many. */
const most = 5000;
const largest = 256 * 1024;

/** A minimal cloud on so many nodes that run nothing, at rest; `during` tells what the operator asks for meanwhile. */
async function largeCloud(nodes: number) {
  const requests: HttpRequest[] = [];
  const cloud = await createCloud({
    nodes: [],
    wire: (transport) => ({
      ...transport,
      request(request, signal) {
        if (!/\/leases|accessreviews|watch=/.test(request.path)) requests.push(request);
        return transport.request(request, signal);
      },
    }),
  });
  const hollow = new HollowNodes(cloud.rehearsal.sandbox, cloud.clock);
  await cloud.settle(hollow.add(startingWith(nodes)));
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  await cloud.ready();
  await cloud.clock.advance(120_000);
  const during = async (change: Promise<void>) => {
    requests.length = 0;
    await cloud.settle(change);
    await cloud.clock.advance(120_000);
    return requests.map(({ method, path }) => `${method} ${pathOf(path)}`).sort(byText);
  };
  return { cloud, hollow, during };
}

/** Without its query, and without what tells events apart. */
const pathOf = (path: string) => path.replace(/\?.*/, '').replace(/\.[0-9a-f]{16}$/, '');
const byText = (one: string, other: string) => (one < other ? -1 : 1);

/** Bytes of each object, by kind and name. */
function sizes(cloud: Cloud): Map<string, number> {
  return new Map(
    cloud.rehearsal
      .objects()
      .map((object) => [
        `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`,
        Buffer.byteLength(JSON.stringify(object)),
      ]),
  );
}

test('what a node changes costs as many requests with 220 nodes as with 20, and no object grows beyond 256 KiB', async () => {
  const [small, large] = [await largeCloud(20), await largeCloud(220)];
  for (const change of ['a node joins', 'a node is lost', 'it is back']) {
    const [few, many] = [await played(small, change), await played(large, change)];
    expect(many, change).toEqual(few);
    expect(few.length, change).toBeGreaterThan(0);
    expect(few.length, change).toBeLessThan(60);
  }
  const before = sizes(large.cloud);
  const added = 80;
  await large.during(large.hollow.add(Array.from({ length: added }, (_, index) => `compute-1${100 + index}`)));
  // The status of the control plane lists 500 nodes at most (control-plane-status.test.ts): it does not grow in a line. How
  // large definitions may be is said in kind.test.ts.
  const others = [...sizes(large.cloud)].filter(
    ([name]) => !/^(OpenStackControlPlane|CustomResourceDefinition) /.test(name),
  );
  const grown = others.map(([name, bytes]) => {
    const forNode = (bytes - (before.get(name) ?? bytes)) / added;
    return { name, bytes: bytes + forNode * (most - 300) };
  });
  expect(grown.filter(({ bytes }) => bytes > largest)).toEqual([]);
  expect(JSON.stringify(large.cloud.get('Nova', 'my-cloud-nova')?.['status'])).toContain('compute-1179');
}, 120_000);

/** Has something happen to a node of a cloud. */
async function played({ hollow, during }: Awaited<ReturnType<typeof largeCloud>>, change: string): Promise<string[]> {
  const [name = ''] = hollow.withoutControlPlane();
  if (change === 'a node joins') return await during(hollow.add(['compute-new']));
  return await during(change === 'a node is lost' ? hollow.silence([name]) : hollow.restore([name]));
}
