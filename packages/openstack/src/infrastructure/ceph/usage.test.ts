import { expect, test } from 'vitest';
import { quantity, usageTold } from './usage.ts';

const spec = {
  mode: 'external',
  pools: [
    { name: 'volumes', purpose: 'cinder-volumes' },
    { name: 'images', purpose: 'glance-images' },
    { name: 'volumes', purpose: 'nova-ephemeral' },
  ],
  fileSystems: [{ name: 'cephfs' }],
} as const;
const words = [
  '{"fileSystem":"cephfs","pools":"data more"}',
  '{"pool":"volumes","stored":1073741824,"used":3221225472,"available":10995116277760}',
  '{"pool":"data","stored":1024,"used":3072,"available":4096}',
  '{"pool":"more","stored":1,"used":3,"available":5000}',
  '{"total":38482906972160,"used":3221225472,"available":38479685746688}',
  "HEALTH_WARN 1 pool(s) full; pool 'volumes' is full (running out of quota)",
  'client.cinder cannot write in pool volumes: no answer within 15 seconds',
];

test('figures are told by pool and filesystem, and who uses them', () => {
  expect(usageTold(spec, words, {})).toEqual({
    health: { status: 'HEALTH_WARN', message: "1 pool(s) full; pool 'volumes' is full (running out of quota)" },
    capacity: { total: '35Ti', used: '3Gi', available: '35Ti' },
    pools: [
      {
        name: 'volumes',
        purposes: ['cinder-volumes', 'nova-ephemeral'],
        stored: '1Gi',
        used: '3Gi',
        available: '10Ti',
      },
    ],
    fileSystems: [{ name: 'cephfs', stored: '1Ki', used: '3Ki', available: '4.88Ki' }],
  });
});

test('what no pod tells any more stays; of a cluster that gives no answer the figures do, and its health is not known', () => {
  const before = { ...usageTold(spec, words, {}), phase: 'Ready' };
  const { phase: _, ...told } = before;
  expect(usageTold(spec, [], before)).toEqual(told);
  const { health, ...figures } = told as { readonly health?: object };
  expect(health).toBeDefined();
  expect(usageTold(spec, ['the monitors give client.cinder no answer'], before)).toEqual(figures);
  expect(usageTold(spec, ['HEALTH_OK'], before)).toEqual({ ...figures, health: { status: 'HEALTH_OK' } });
});

test.each([
  [0, '0'],
  [1023, '1020'],
  [1024, '1Ki'],
  [1_300_000_000, '1.21Gi'],
  [2 ** 60 * 5000, '5000Ei'],
])('%d bytes are %s', (bytes, text) => {
  expect(quantity(bytes)).toBe(text);
});
