import { expect, test } from 'vitest';
import { sameFields } from './same-fields.ts';

test.each([
  ['what others added does not count', { a: 1 }, { a: 1, b: 2 }, true],
  ['a changed value counts', { a: { b: 1 } }, { a: { b: 2 } }, false],
  ['a missing field counts', { a: 1 }, {}, false],
  ['quantities by value', { memory: '2048Mi', cpu: '0.1' }, { memory: '2Gi', cpu: '100m' }, true],
  ['quantities with an exponent', { storage: '2G' }, { storage: '2e9' }, true],
  ['other quantities', { memory: '2049Mi' }, { memory: '2Gi' }, false],
  [
    'containers by name, whatever was injected',
    [{ name: 'a', image: 'x' }],
    [{ name: 'sidecar' }, { name: 'a', image: 'x', tty: false }],
    true,
  ],
  [
    'ports by number and protocol',
    [{ port: 80, protocol: 'TCP', targetPort: 'http' }],
    [{ port: 80, protocol: 'UDP' }],
    false,
  ],
  [
    'mounts by path, though one volume is mounted twice',
    [
      { name: 'v', mountPath: '/a' },
      { name: 'v', mountPath: '/b' },
    ],
    [
      { name: 'v', mountPath: '/b' },
      { name: 'v', mountPath: '/a' },
    ],
    true,
  ],
  ['plain lists as a whole', ['a', 'b'], ['b', 'a'], false],
  ['a shorter plain list', ['a'], ['a', 'b'], false],
  ['an empty list is none', [], [1], false],
  ['an empty list that the server omits', { ingress: [] }, {}, true],
  ['a list that is gone', { a: [1] }, {}, false],
  ['what the server omits when it is zero', { paused: false, suffix: '' }, {}, true],
  ['an emptyDir of nothing', { emptyDir: {} }, {}, true],
  ['a text that looks like a number is a text', { value: 'abc' }, { value: 'abd' }, false],
])('%s', (_title, stated, live, expected) => {
  expect(sameFields(stated, live)).toBe(expected);
});
