import { everyFiveMinutes } from '../../engine/objects/schedule.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Found, type GeneratedSecret, type Job } from '../../engine/vocabulary/service.ts';
import { secretReference } from '../../oslo/references.ts';
import {
  type CephFound,
  cephAddress,
  cephFiles,
  cephUsers,
  foundOf,
  gatewayKeySuffix,
  hasOwnGatewayUser,
  keyringFile,
  keyringOf,
  keysSuffix,
  monitorsOfRook,
  statedAddress,
} from './address.ts';
import { CephStorage, type CephStorageSpec } from './kind.ts';
import { isOfRook, nameProblem, rememberedParts, rookKinds, rookObjects, secretsOfRook } from './rook.ts';
import { tryAll } from './scripts.ts';
import { makeMissing } from './setup.ts';
import { capabilities, copiesOf, trialsOf, usersIn } from './trials.ts';
import { usageTold } from './usage.ts';

/** A Ceph cluster (architecture, section 6.1): one that exists already, or that Rook runs; its pools, filesystems and keys are tried. */
export const ceph = defineService<CephStorage>({
  kind: CephStorage,
  offers: {
    cephStorageRef: {
      address: (resource) => cephAddress(resource),
      lasting: (resource) => {
        const { external } = ((resource as { spec?: unknown }).spec ?? {}) as Partial<CephStorageSpec>;
        const fsid = external?.fsid ?? foundOf(resource).fsid;
        return fsid && `cluster ${fsid}`;
      },
    },
  },
  child: {
    field: 'cephStorage',
    suffix: 'ceph',
    phase: 'Infrastructure',
    description: 'The Ceph cluster that keeps volumes, images, disks of servers, shares and objects.',
    optional: true,
    fields: ({ own, asked }) => {
      const all = [own, ...asked] as readonly Partial<CephStorageSpec>[];
      const pools = distinct(all.flatMap((one) => one.pools ?? []));
      const fileSystems = distinct(all.flatMap((one) => one.fileSystems ?? []));
      return {
        ...(pools.length > 0 && { pools }),
        ...(fileSystems.length > 0 && { fileSystems }),
        ...(all.some((one) => one.objectGateway) && { objectGateway: true }),
      };
    },
  },
  // Its ceph.conf is that of nova-compute as well.
  usesNodes: true,
  name: 'ceph-storage',
  // Who runs what tries them.
  user: 'cinder',
  dependsOn: {},
  config: ({ resource, spec }) => {
    const users = [...new Set(trialsOf(spec).map(({ user }) => user))];
    if (users.length === 0) return {};
    const main = cephFiles(statedAddress(resource), ...users);
    const admin = adminOf(spec);
    return admin === undefined ? { main } : { main, setup: { ...main, ...admin.files } };
  },
  secrets: madeKeys,
  retainedSecrets: [keysSuffix, gatewayKeySuffix],
  components: () => ({}),
  jobs: (context) => {
    return trialsOf(context.spec).length === 0
      ? []
      : [
          ...setup(context),
          {
            suffix: 'pool-check',
            step: 'PoolsReady',
            needs: setup(context).map(({ step }) => step),
            image: 'cinder-volume',
            runs: [check('pool-check', context)],
            ...monitorsFor(context),
            finds: (words, before) => ({
              ...finds(words, before),
              ...(context.spec.objectGateway === true && { [gatewayFound]: 'tried' }),
            }),
            ...tellsOf(context),
          },
        ];
  },
  foreignKinds: rookKinds,
  foreignSecrets: secretsOfRook,
  objects: (context) => ({ RookReady: rookObjects(context) }),
  needs: { ConfigReady: ['RookReady'] },
  problems(context) {
    const problem = nameProblem(context);
    return problem === undefined ? {} : { RookReady: problem };
  },
  lasting: ({ resource, spec, surroundings }) => {
    // As long as no cluster has answered, what was stated may be corrected.
    const known = surroundings.lasting[fsidField] ?? foundOf(resource).fsid;
    const parts = Object.keys(rememberedParts(spec)).map((field) => [field, 'made by Rook'] as const);
    return {
      ...(known === undefined ? {} : { [fsidField]: spec.external?.fsid ?? known }),
      ...Object.fromEntries(parts),
    };
  },
  remembers: ({ spec }) => rememberedParts(spec),
  findings: ({ resource, spec }) => {
    const { fsid, monitorHosts } = foundOf(resource);
    const asked = spec.external?.monitorHosts;
    if (monitorHosts === undefined || asked === undefined || monitorHosts === asked) return {};
    const until = `until cluster ${fsid} has answered at ${asked} (condition PoolsReady)`;
    return { remarks: [`spec.external.monitorHosts: services use ${monitorHosts} ${until}`] };
  },
  schedules: (context) => {
    const { schedule, suspend = false } = context.spec.healthCheck ?? {};
    if (trialsOf(context.spec).length === 0) return [];
    const when = { cron: schedule ?? everyFiveMinutes(context, 'health-check'), suspend, deadlineSeconds: 280 };
    const runs = [check('health-check', context)];
    return [
      { suffix: 'health-check', image: 'cinder-volume', runs, ...monitorsFor(context), ...when, ...tellsOf(context) },
    ];
  },
});

const fsidField = 'spec.external.fsid';

/** Under what the status remembers that the cluster knows the user of object gateways. */
const gatewayFound = 'objectGateway';

/** How the check says which cluster has answered, and where. */
const answered = /^cluster ([0-9a-f-]{36}) at (\S+)$/;

function finds(words: readonly string[], before: CephFound & Found): Found {
  const [, fsid, monitorHosts] = words.map((line) => answered.exec(line)).findLast((match) => match !== null) ?? [];
  return fsid === undefined || monitorHosts === undefined ? before : { ...before, fsid, monitorHosts };
}

/** The id that monitors have to answer with: that of the spec, or of the cluster that has answered before. */
function expectedId({ resource, spec, surroundings }: Context<CephStorage>): string {
  return spec.external?.fsid ?? surroundings.lasting[fsidField] ?? foundOf(resource).fsid ?? '';
}

/** What runs of the check see of the cluster. */
function tellsOf({ spec }: Context<CephStorage>): Pick<Job, 'tells'> {
  return { tells: (words, before) => usageTold(spec, words, before) };
}

/** The variable that has the monitors that Rook names: their change runs the check again. */
function monitorsFor({ spec }: Context<CephStorage>) {
  return isOfRook(spec) ? { env: { MONITORS: monitorsOfRook } } : {};
}

/** The program that tries everything. */
function check(name: string, context: Context<CephStorage>) {
  const { resource, spec, namespace, named } = context;
  const { user: nameOf } = statedAddress(resource);
  const trials = trialsOf(spec).flatMap(({ user, what, name: where }) => [nameOf(user), where, what]);
  // The Job and the CronJob may run at once, and so may those of other clouds in the same pools.
  const probe = `openstack-operator-check-${namespace}-${named(name)}`;
  return {
    name,
    script: tryAll(
      isOfRook(spec) ? `Secret ${monitorsOfRook.secret}` : 'spec.external.monitorHosts',
      spec.objectGateway === true,
    ),
    // The kubelet puts the variable there.
    arguments: [probe, expectedId(context), spec.external?.monitorHosts ?? '$(MONITORS)', ...trials],
  };
}

/** Who makes what is missing, and where its keyring comes from; undefined where nothing is to be made. */
function adminOf({ mode, external }: CephStorageSpec) {
  const { keyringSecretName: secret, user = 'admin' } = external?.admin ?? {};
  if (mode === 'rook' || secret === undefined) return undefined;
  return { user, secret, files: keyringOf(user, secretReference(secret, keyringFile(user), 'cephkey')) };
}

/**
 * Keys of all users, where nobody brings any: of those that nothing is asked for yet, too, since once used it is never
 * completed. It goes on where its own name is stated, once nothing is made any more.
 */
function madeKeys({ resource, spec, named }: Context<CephStorage>): GeneratedSecret[] {
  const { mode, external } = spec;
  if (mode === 'rook' || (external?.keyringSecretName ?? named(keysSuffix)) !== named(keysSuffix)) return [];
  const { user } = statedAddress(resource);
  const isGatewayKnown = (foundOf(resource) as Found)[gatewayFound] !== undefined;
  const gatewayGuard = {
    kind: 'Job',
    name: named('pool-check'),
    data: 'the key that the cluster knows object gateways by',
  } as const;
  const keyFor = (one: (typeof cephUsers)[number]) => [keyringFile(user(one)), { type: 'cephKey' }] as const;
  return [
    {
      suffix: keysSuffix,
      values: Object.fromEntries(cephUsers.filter((one) => one !== 'swift').map(keyFor)),
      secretClass: 'keyMaterial',
      guards: { kind: 'Job', name: named('setup'), data: 'the keys that the cluster knows users by' },
    },
    ...(spec.objectGateway === true && hasOwnGatewayUser(spec.users)
      ? [
          {
            suffix: gatewayKeySuffix,
            values: Object.fromEntries([keyFor('swift')]),
            secretClass: 'keyMaterial',
            // The check has run before, where gateways come later.
            ...(isGatewayKnown && { guards: gatewayGuard }),
          } as const,
        ]
      : []),
  ];
}

/** What makes what is missing, before everything is tried. */
function setup(context: Context<CephStorage>): Job[] {
  const { resource, spec, named } = context;
  const admin = adminOf(spec);
  if (admin === undefined) return [];
  const { keyringSecretName, monitorHosts = '' } = spec.external ?? {};
  const { user } = statedAddress(resource);
  const trials = trialsOf(spec);
  const apart =
    keyringSecretName === named(keysSuffix) && hasOwnGatewayUser(spec.users)
      ? ` (that of client.${user('swift')} into ${named(gatewayKeySuffix)})`
      : '';
  const way =
    keyringSecretName === undefined
      ? `bring the keyrings that users have there in a Secret, and state it in spec.external.keyringSecretName`
      : `put what \`ceph auth get\` prints of it into Secret ${keyringSecretName}${apart}`;
  const asked = [
    ...[...copiesOf(spec)].flatMap(([name, copies]) => ['pool', name, String(copies ?? '')]),
    ...(spec.fileSystems ?? []).flatMap(({ name }) => ['filesystem', name]),
    ...usersIn(trials).flatMap((one) => {
      const { mon = '', osd = '', mgr = '' } = capabilities(trials.filter((trial) => trial.user === one));
      return ['user', user(one), mon, osd, mgr];
    }),
  ];
  return [
    {
      suffix: 'setup',
      step: 'SetupReady',
      image: 'cinder-volume',
      config: 'setup',
      runs: [
        {
          name: 'setup',
          script: makeMissing,
          arguments: [admin.user, admin.secret, way, expectedId(context), monitorHosts, ...asked],
        },
      ],
    },
  ];
}

/** Those of one purpose and name are one: what is stated first counts. */
function distinct<T extends { readonly name: string; readonly purpose?: string }>(all: readonly T[]): readonly T[] {
  const same = (one: T, other: T) => one.name === other.name && one.purpose === other.purpose;
  return all.filter((one, index) => all.findIndex((other) => same(one, other)) === index);
}
