import type { Release } from './release.ts';

/**
 * OpenStack 2025.1 (Epoxy). Kolla publishes `<branch>-<distribution>-<version>` tags, one per CPU architecture and
 * moving (kolla, tests/playbooks/run.yml); production pins digests through `spec.images`.
 */
export const epoxy: Release = {
  name: '2025.1',
  series: 'epoxy',
  registry: 'quay.io/openstack.kolla',
  tag: '2025.1-debian-bookworm',
  from: [],
};
