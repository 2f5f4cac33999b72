import type { StoredObject } from '@openstack-operator/kube';
import { fromSecret, hostOf, type IdentityAddress, literal } from '../../engine/vocabulary/addresses.ts';
import { apiUrl } from '../../engine/vocabulary/api-tls.ts';
import {
  authoritySuffix,
  certificateSeconds,
  certificateSuffix,
  issuerOf,
} from '../../engine/vocabulary/certificate.ts';
import { exposureOf } from '../../engine/vocabulary/exposure.ts';
import type { Surroundings } from '../../engine/vocabulary/surroundings.ts';
import type { KeystoneRef } from './reference.ts';

type External = NonNullable<KeystoneRef['external']>;

/** Address of a Keystone that this operator does not run. */
export function externalIdentity({ authURL, secretName, caSecretName }: External): IdentityAddress {
  return {
    ...(caSecretName === undefined ? {} : { trust: { secret: caSecretName } }),
    internalUrl: authURL,
    publicUrl: authURL,
    admin: {
      user: fromSecret(secretName, 'username'),
      password: fromSecret(secretName, 'password'),
      project: fromSecret(secretName, 'projectName'),
      userDomain: fromSecret(secretName, 'userDomainName'),
      projectDomain: fromSecret(secretName, 'projectDomainName'),
    },
  };
}

/** Address of a Keystone resource, as other services see it. */
export function identityAddress(keystone: StoredObject, surroundings: Surroundings): IdentityAddress {
  const spec = (keystone['spec'] ?? {}) as {
    adminPasswordSecretName?: string;
    adminUser?: string;
    adminProject?: string;
    tls?: { enabled?: boolean };
  };
  const issuer = issuerOf(keystone);
  // Where no authority is ours, the certificate of Keystone itself comes with that of who has signed it.
  const secret = `${keystone.metadata.name}-${issuer === undefined ? authoritySuffix : certificateSuffix(issuer)}`;
  const authority =
    spec.tls === undefined
      ? {}
      : {
          trust: { secret },
          apiAuthority: {
            secret,
            inCatalogue: spec.tls.enabled === true,
            seconds: certificateSeconds(keystone),
            ...(issuer && { issuer }),
          },
        };
  const internalUrl = `${apiUrl(authority, hostOf(keystone, '-api'), 5000)}/v3`;
  const namespace = keystone.metadata.namespace ?? 'default';
  const { url } = exposureOf({ namespace, spec: keystone['spec'] ?? {}, component: 'api', port: 5000 }, surroundings);
  return {
    ...authority,
    internalUrl,
    publicUrl: url === undefined ? internalUrl : `${url}/v3`,
    admin: {
      user: literal(spec.adminUser ?? 'admin'),
      password: fromSecret(spec.adminPasswordSecretName ?? `${keystone.metadata.name}-admin-password`, 'password'),
      project: literal(spec.adminProject ?? 'admin'),
      userDomain: literal('Default'),
      projectDomain: literal('Default'),
    },
  };
}
