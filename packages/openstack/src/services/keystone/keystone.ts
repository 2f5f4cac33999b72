import { cache, database, logging, proxied, sections, sending } from '../../engine/configuration/sections.ts';
import { sharedAuthority } from '../../engine/vocabulary/certificate.ts';
import type { Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type GeneratedSecret } from '../../engine/vocabulary/service.ts';
import { externalIdentity, identityAddress } from './address.ts';
import { login } from './client-options.ts';
import { clientFiles } from './clouds.ts';
import { Keystone } from './kind.ts';
import { identityRecords } from './records.ts';
import { identityApi } from './resources.ts';

/** Identity (phase 1 plan, task 13). */
export const keystone = defineService<Keystone>({
  kind: Keystone,
  offers: {
    keystoneRef: {
      capability: 'identity',
      address: identityAddress,
      external: externalIdentity,
      keeps: identityRecords,
      clientOptions: [login],
      resources: identityApi,
    },
  },
  child: { field: 'keystone', phase: 'Identity', description: 'The identity service.', clientsTrustFirst: true },
  name: 'keystone',
  user: 'keystone',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: { stated: ({ messageQueueRef }) => messageQueueRef !== undefined },
    cacheRef: 'steps',
  },
  databases: [{ name: 'keystone' }],
  messaging: 'notifications',
  connections: () => ({ api: { pools: 1 } }),
  identity: {
    users: [],
    catalogue: [
      {
        type: 'identity',
        name: 'keystone',
        description: 'OpenStack Identity',
        component: 'api',
        port: 'api',
        path: '/v3',
      },
    ],
  },
  owned: {
    token: { provider: 'nothing: only Fernet tokens are offered', expiration: 'spec.tokenExpiration' },
    fernet_tokens: {
      key_repository: 'spec.fernetKeysSecretName',
      max_active_keys: 'spec.fernetMaxActiveKeys',
    },
    fernet_receipts: {
      key_repository: 'spec.fernetKeysSecretName',
      max_active_keys: 'spec.fernetMaxActiveKeys',
    },
    credential: { key_repository: 'spec.credentialKeysSecretName' },
  },
  retainedSecrets: ['admin-password', 'credential-keys'],
  secrets: (context) => [
    ...(context.spec.tls === undefined || context.spec.tls.issuerRef !== undefined ? [] : [sharedAuthority(context)]),
    ...keysOf(context),
  ],
  config: (context) => ({ main: { '/etc/keystone/keystone.conf': { oslo: configuration(context) } } }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'keystone',
      // One thread: of several, the second one to ask may find the policy without its rules while the first one reads
      // them (keystone.common.rbac_enforcer makes its enforcer at the first request). Seen: an administrator refused
      // right after a start.
      runs: { wsgi: 'keystone.wsgi.api:application', threads: 1 },
      ports: { api: 5000 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      mounts: keys(context),
      resources: { cpu: '50m', memory: '256Mi' },
    },
  }),
  migrate: (context) => ({
    image: 'keystone',
    mounts: keys(context),
    sync: ['keystone-manage', 'db_sync'],
    expand: [['keystone-manage', 'db_sync', '--expand']],
    check: ['keystone-status'],
    contract: [['keystone-manage', 'db_sync', '--contract']],
  }),
  jobs: (context) => [
    {
      suffix: 'bootstrap',
      step: 'BootstrapReady',
      needs: ['MigrationReady'],
      image: 'keystone',
      // Every run sets the administrator's password to the Secret's: one that was changed in Keystone must stay.
      once: true,
      mounts: keys(context),
      // Only what bootstrap must know: endpoints are the records' affair, because bootstrap never changes one.
      env: {
        OS_BOOTSTRAP_USERNAME: context.spec.adminUser ?? 'admin',
        OS_BOOTSTRAP_PROJECT_NAME: context.spec.adminProject ?? 'admin',
        OS_BOOTSTRAP_ROLE_NAME: 'admin',
        OS_BOOTSTRAP_SERVICE_NAME: 'keystone',
        OS_BOOTSTRAP_REGION_ID: context.region,
        OS_BOOTSTRAP_INTERNAL_URL: context.identity.internalUrl,
        OS_BOOTSTRAP_PASSWORD: {
          secret: context.spec.adminPasswordSecretName ?? context.named('admin-password'),
          key: 'password',
        },
      },
      runs: [{ name: 'bootstrap', command: ['keystone-manage', 'bootstrap'] }],
    },
  ],
  objects: (context) => ({ ConfigReady: [clientFiles(context)] }),
});

/** The administrator's password, and keys, but for those that users bring. */
function keysOf({ spec, named }: Context<Keystone>): readonly GeneratedSecret[] {
  return [
    ...(spec.adminPasswordSecretName === undefined
      ? [
          {
            suffix: 'admin-password',
            values: { password: { type: 'password' as const, length: 32 } },
            secretClass: 'credential' as const,
          },
        ]
      : []),
    ...(spec.fernetKeysSecretName === undefined
      ? [
          {
            suffix: 'fernet-keys',
            // Losing them ends all tokens, and nothing else: they may be made anew.
            values: { '0': { type: 'fernetKey' as const }, '1': { type: 'fernetKey' as const } },
            secretClass: 'credential' as const,
            rotation: { intervalSeconds: rotationHours(spec) * 3600, maxActiveKeys: maxActiveKeys(spec) },
          },
        ]
      : []),
    ...(spec.credentialKeysSecretName === undefined
      ? [
          {
            suffix: 'credential-keys',
            values: { '0': { type: 'fernetKey' as const }, '1': { type: 'fernetKey' as const } },
            secretClass: 'keyMaterial' as const,
            guards: { kind: 'Job' as const, name: named('db-sync'), data: 'the credentials stored in Keystone' },
          },
        ]
      : []),
  ];
}

function configuration(context: Context<Keystone>) {
  const { spec } = context;
  return sections(
    logging,
    proxied,
    database(context, 'keystone'),
    cache(context),
    sending(context, { pthreadHeartbeat: true }),
    {
      // Plain bcrypt takes 72 bytes, and the secrets of application credentials have 86. Hashes tell by their prefix how
      // they were made, so those that are there stay valid. What is longer than 4096 bytes is refused, not cut silently.
      DEFAULT: { strict_password_check: true },
      identity: { password_hash_algorithm: 'bcrypt_sha256' },
      token: { provider: 'fernet', expiration: spec.tokenExpiration ?? 3600 },
      fernet_tokens: { key_repository: '/etc/keystone/fernet-keys', max_active_keys: maxActiveKeys(spec) },
      fernet_receipts: { key_repository: '/etc/keystone/fernet-keys', max_active_keys: maxActiveKeys(spec) },
      credential: { key_repository: '/etc/keystone/credential-keys' },
    },
  );
}

/** Keys are directories: rotated Secrets reach running pods without a restart. */
function keys({ spec, named }: Context<Keystone>): Mount[] {
  return [
    { path: '/etc/keystone/fernet-keys', secret: spec.fernetKeysSecretName ?? named('fernet-keys'), follows: true },
    {
      path: '/etc/keystone/credential-keys',
      secret: spec.credentialKeysSecretName ?? named('credential-keys'),
      follows: true,
    },
  ];
}

function rotationHours(spec: Keystone['spec']): number {
  return spec.fernetKeyRotationInterval ?? 24;
}

/** Default of `[token] allow_expired_window`: so long services may use an expired token, as in an upload of hours. */
const expiredWindow = 172_800;

/** Keys must outlive tokens (production rule 24): life and window / interval, and two more for the primary and the staged key. */
function maxActiveKeys(spec: Keystone['spec']): number {
  if (spec.fernetMaxActiveKeys !== undefined) return spec.fernetMaxActiveKeys;
  return Math.ceil(((spec.tokenExpiration ?? 3600) + expiredWindow) / (rotationHours(spec) * 3600)) + 2;
}
