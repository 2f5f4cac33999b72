import { trustByVariable } from '../../engine/configuration/sections.ts';
import { lastingSuffix } from '../../engine/names/names.ts';
import { publishing } from '../../engine/vocabulary/access.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type GeneratedSecret } from '../../engine/vocabulary/service.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import { clusterProblems } from '../../infrastructure/ceph/address.ts';
import { refusedBy } from '../backends.ts';
import { configSets, resellerAdmin } from './configuration.ts';
import { gateway, gatewaySets, isGateway } from './gateway.ts';
import { groupFindings, groupProblems } from './group-problems.ts';
import { claimedNodes } from './host-nodes.ts';
import { Swift } from './kind.ts';
import { lastingNodes, nodesField, rememberedNodes } from './nodes.ts';
import { firstDevice, policies, removal, rings } from './rings.ts';
import { mounts, storageNodes } from './storage-nodes.ts';

/**
 * Object storage on volumes of the cluster: proxies, and storage nodes with all three servers and their daemons. Or in Ceph, whose
 * gateway has the place of the proxies.
 */
export const swift = defineService<Swift>({
  kind: Swift,
  offers: { swiftRef: {} },
  child: { field: 'swift', phase: 'CoreServices', description: 'Object storage.', optional: true },
  name: 'swift',
  user: 'swift',
  nodeGroups: claimedNodes,
  usesNodes: true,
  dependsOn: {
    cacheRef: 'steps',
    keystoneRef: 'start',
    cephStorageRef: { stated: isGateway, start: true, onlyUsed: true, asks: () => ({ objectGateway: true }) },
  },
  identity: {
    users: [{ name: 'swift', roles: ['service'] }],
    roles: [resellerAdmin],
    catalogue: [
      {
        type: 'object-store',
        name: 'swift',
        description: 'OpenStack Object Storage',
        component: 'proxy',
        port: 'proxy',
        path: (spec) => `${isGateway(spec) ? '/swift' : ''}/v1/AUTH_%(project_id)s`,
      },
    ],
  },
  retainedSecrets: ['hash', 'rings', 'rings-policies'],
  secrets: (context) => (isGateway(context.spec) ? [] : [ends(context)]),
  config: (context) => (isGateway(context.spec) ? gatewaySets(context, resellerAdmin) : configSets(context)),
  components: (context) =>
    isGateway(context.spec)
      ? { proxy: proxies(context, gateway(context)) }
      : { proxy: proxies(context, proxy(context)), ...storageNodes(context) },
  jobs: (context) => (isGateway(context.spec) ? [] : [rings(context), policies(context), ...removal(context)]),
  lasting(context) {
    if (wasOther(context)) return {};
    return isGateway(context.spec) ? { [modeField]: 'ceph-rgw' } : lastingNodes();
  },
  remembers: (context) => (isGateway(context.spec) || wasOther(context) ? {} : rememberedNodes(context)),
  // The builders know the devices of groups that nobody remembers.
  prunedAfter: { storage: 'RingsReady' },
  access: { rings: [publishing('rings')], policies: [publishing('rings-policies', 'rings')] },
  needs: { DeploymentReady: ['PolicyRingsReady'] },
  findings: groupFindings,
  problems,
});

/** Told before it misses Secrets of the other mode. */
function problems(context: Context<Swift>): Readonly<Record<string, Problem>> {
  const isInCeph = isGateway(context.spec);
  if (!wasOther(context)) return isInCeph ? refusedBy(clusterProblems(context, 'spec.mode')) : groupProblems(context);
  const message = `spec.mode: it was ${isInCeph ? 'native' : 'ceph-rgw'} before (ConfigMap ${context.named(lastingSuffix)}), and objects are out of reach; state that again, or, to do without them, delete the Swift and this ConfigMap`;
  return { CredentialsReady: { reason: 'ConfigRefused', message } };
}

/** Whether objects are kept in the other way: what was first is remembered. */
const wasOther = ({ spec, surroundings }: Context<Swift>): boolean =>
  surroundings.lasting[isGateway(spec) ? nodesField : modeField] !== undefined;

const modeField = 'spec.mode';

/** What the names of objects are hashed with, at both ends. There are objects once there are rings, be it on volumes or on disks of nodes. */
const ends = (context: Context<Swift>): GeneratedSecret => ({
  suffix: 'hash',
  values: { prefix: { type: 'password', length: 32 }, suffix: { type: 'password', length: 32 } },
  secretClass: 'keyMaterial',
  guards: { kind: 'Job', name: context.named('rings'), volume: firstDevice(context), data: 'all objects' },
});

const proxy = (context: Context<Swift>): Component => ({
  workload: 'Deployment',
  image: 'swift-proxy-server',
  config: 'proxy',
  runs: { command: ['swift-proxy-server', '/etc/swift/proxy-server.conf', '-v'] },
  ports: { proxy: 8080 },
  health: { get: '/healthcheck', port: 'proxy' },
  exposed: 'proxy',
  reachable: 'anyone',
  mounts: mounts(context),
  // The middleware that Keystone's keys of S3 pass has no option for it.
  env: trustByVariable(context),
  resources: { cpu: '50m', memory: '256Mi' },
});

/** As many as `proxyReplicas` says, where nothing says `replicas`. */
const proxies = ({ spec: { proxyReplicas } }: Context<Swift>, component: Component): Component => ({
  ...component,
  ...(proxyReplicas === undefined ? {} : { replicas: proxyReplicas }),
});
