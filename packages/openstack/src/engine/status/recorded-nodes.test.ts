import { expect, test } from 'vitest';
import type { ClaimedNode } from '../../api/status.ts';
import { joinedNode, mostListed, recordedIn, recordOf } from './recorded-nodes.ts';

const nodes = (count: number): ClaimedNode[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `compute-${String(index).padStart(4, '0')}.rack-12.room-1.example.org`,
    group: 'default',
    phase: joinedNode,
  }));
const sorted = (some: readonly ClaimedNode[]) => [...some].sort((one, other) => (one.name < other.name ? -1 : 1));

test('of as many nodes as may be listed, nothing but the list is in the status', () => {
  const all = nodes(mostListed);
  expect(recordOf(all)).toEqual({ nodes: all });
  expect(recordOf([])).toEqual({});
});

test('of more nodes none is lost, and those to be looked at are listed', () => {
  const all: ClaimedNode[] = nodes(1000).map((node, index) => {
    if (index === 990) return { ...node, maintenance: { phase: 'Emptying' } };
    if (index === 995) return { ...node, phase: 'Lost' };
    const { group: _, ...bare } = node;
    return index > 500 ? node : bare;
  });
  const status = recordOf(all);
  expect(sorted(recordedIn(status))).toEqual(sorted(all));
  expect(status.nodes).toHaveLength(mostListed);
  expect(status.nodes).toEqual(expect.arrayContaining([all[990], all[995]]));
  expect(Object.keys(status.furtherNodes ?? {})).toEqual(['/Joined', 'default/Joined']);
});

test('all nodes in maintenance are listed', () => {
  const all = nodes(300).map((node): ClaimedNode => ({ ...node, maintenance: { phase: 'Emptied' } }));
  expect(recordOf([...all, { name: 'other', phase: joinedNode }])).toEqual({
    nodes: all,
    furtherNodes: { '/Joined': 'other' },
  });
});

test('5,000 nodes with names of 40 characters take less than 256 KiB, with who manages the fields of each', () => {
  const status = recordOf(nodes(5000));
  const managed = (status.nodes ?? []).map(({ name }) => ({
    [`k:${JSON.stringify({ name })}`]: { '.': {}, 'f:group': {}, 'f:name': {}, 'f:phase': {} },
  }));
  expect(Buffer.byteLength(JSON.stringify([status, managed]))).toBeLessThan(256 * 1024);
});
