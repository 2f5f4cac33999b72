import { expect, test } from 'vitest';
import { clusterDomainOf } from './cluster-domain.ts';

test.each([
  [
    'search os.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n',
    'cluster.local',
  ],
  [
    'nameserver 10.0.0.10\nsearch ns.svc.k8s.example.org svc.k8s.example.org k8s.example.org corp.example.org',
    'k8s.example.org',
  ],
  ['search corp.example.org\nnameserver 192.0.2.1\n', undefined],
  ['', undefined],
])('%j', (text, expected) => {
  expect(clusterDomainOf(text)).toBe(expected);
});
