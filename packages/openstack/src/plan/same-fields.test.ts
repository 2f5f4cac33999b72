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

const service = (selector: object) => ({ apiVersion: 'v1', kind: 'Service', spec: { selector } });
const policy = (rule: object, podSelector: object = { matchLabels: { app: 'a' } }) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  spec: { podSelector, ingress: [rule] },
});
const rule = { from: [{ podSelector: { matchLabels: { app: 'b' } } }], ports: [{ port: 80 }] };

test.each([
  ['a label more in the selector of a Service', service({ app: 'a' }), service({ app: 'a', foo: 'bar' }), false],
  ['the same selector', service({ app: 'a', b: 'c' }), service({ b: 'c', app: 'a' }), true],
  [
    'the protocol that a port has by default',
    policy(rule),
    policy({ ...rule, ports: [{ port: 80, protocol: 'TCP' }] }),
    true,
  ],
  ['a port more', policy(rule), policy({ ...rule, ports: [{ port: 80 }, { port: 4444 }] }), false],
  ['namespaces more', policy(rule), policy({ ...rule, from: [{ ...rule.from[0], namespaceSelector: {} }] }), false],
  ['other pods', policy(rule), policy(rule, { matchLabels: { app: 'a', foo: 'bar' } }), false],
  ['all pods of the namespace', policy(rule, {}), policy(rule, {}), true],
  [
    'a node selector of a kind of ours, which others may add to',
    { apiVersion: 'openstack.k8s.io/v1alpha1', spec: { nodeSelector: { a: 'b' } } },
    { apiVersion: 'openstack.k8s.io/v1alpha1', spec: { nodeSelector: { a: 'b', c: 'd' } } },
    true,
  ],
])('what is atomic: %s', (_title, stated, live, expected) => {
  expect(sameFields(stated, live)).toBe(expected);
});
