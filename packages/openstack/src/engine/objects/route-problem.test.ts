import type { StoredObject } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Observe } from '../vocabulary/step.ts';
import { routeProblem } from './route-problem.ts';

const stored = (kind: string, spec: object, status: object): StoredObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
  metadata: {
    name: kind === 'Gateway' ? 'edge' : 'api',
    namespace: 'ns',
    uid: kind,
    resourceVersion: '1',
    generation: 2,
  },
  spec,
  status,
});
const condition = (type: string, status: string, reason = type, observedGeneration = 2) => ({
  type,
  status,
  reason,
  message: `about ${reason}`,
  observedGeneration,
});
const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' };
const accepted = [condition('Accepted', 'True'), condition('ResolvedRefs', 'True')];
const listeners = [
  { name: 'web', protocol: 'HTTP', port: 80 },
  { name: 'secure', protocol: 'HTTPS', port: 443 },
];
const programmed = [condition('Programmed', 'True')];

function problem(
  answers: readonly object[] | undefined,
  status: object = { conditions: programmed },
  wanted: object = parentRef,
) {
  const parents = answers === undefined ? [] : [{ parentRef: { ...wanted, namespace: 'ns' }, conditions: answers }];
  const route = stored('HTTPRoute', { parentRefs: [wanted] }, { parents });
  const observe = (() => stored('Gateway', { listeners }, status)) as unknown as Observe;
  const found = routeProblem(route, observe);
  return found && [found.reason, found.message.replace('HTTPRoute api: Gateway ns/edge', '')];
}

const silent = ['RoutePending', ' has not answered; see whether the controller of its GatewayClass runs'];
const expired = [
  condition('ResolvedRefs', 'False', 'InvalidCertificateRef'),
  condition('Programmed', 'False', 'Invalid'),
];

test.each<[string, Parameters<typeof problem>, string[] | undefined]>([
  ['taken, and the Gateway says nothing of itself', [accepted, {}], undefined],
  ['taken', [accepted], undefined],
  ['not answered', [undefined], silent],
  ['answered before it was changed', [[condition('Accepted', 'True', 'Accepted', 1)]], silent],
  ['not judged yet', [[condition('Accepted', 'Unknown', 'Pending')]], silent],
  [
    'refused',
    [[condition('Accepted', 'False', 'NotAllowedByListeners')]],
    ['RouteRefused', ' says Accepted is False, NotAllowedByListeners: about NotAllowedByListeners'],
  ],
  [
    'taken without its Service',
    [[condition('Accepted', 'True'), condition('ResolvedRefs', 'False', 'BackendNotFound')]],
    ['RouteRefused', ' says ResolvedRefs is False, BackendNotFound: about BackendNotFound'],
  ],
  [
    'taken by a listener without a certificate',
    [accepted, { conditions: programmed, listeners: [{ name: 'secure', conditions: expired }] }],
    [
      'GatewayNotReady',
      ', listener secure, says ResolvedRefs is False, InvalidCertificateRef: about InvalidCertificateRef',
    ],
  ],
  [
    'taken by a listener beside one without a certificate',
    [accepted, { listeners: [{ name: 'secure', conditions: expired }] }, { ...parentRef, sectionName: 'web' }],
    undefined,
  ],
  [
    'taken by a Gateway without an address',
    [accepted, { conditions: [condition('Programmed', 'False', 'AddressNotAssigned')] }],
    ['GatewayNotReady', ' says Programmed is False, AddressNotAssigned: about AddressNotAssigned'],
  ],
])('a route that is %s', (_title, input, expected) => {
  expect(problem(...input)).toEqual(expected);
});
