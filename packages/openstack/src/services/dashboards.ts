import { hostname } from '../api/exposure.ts';
import { secretName } from '../api/references.ts';
import { string } from '../api/schema.ts';
import type { GeneratedSecret } from '../engine/vocabulary/service.ts';

/** Fields of a dashboard's spec: another host name, and the key of its cookies. */
export const dashboard = {
  hostname: hostname('Another host name of the dashboard from outside, in place of publicHostname.', {
    otherwise: 'publicHostname',
  }),
  secretKeySecretName: secretName(
    'Secret with the key that signs cookies (key secret-key: 32 characters or more). If absent, <name>-secret-key is generated. A change logs everybody out.',
  ),
};

/** Field of its status. */
export const dashboardUrl = {
  url: string('URL of the dashboard: from outside where it is exposed, else inside the cluster.', {
    maxLength: 2048,
  }),
};

/** Column of `kubectl get`. */
export const urlColumn = {
  name: 'URL',
  type: 'string',
  jsonPath: '.status.url',
  description: 'URL of the dashboard',
} as const;

/** The key of cookies, where the resource names no Secret with one. */
export function cookieKey({ secretKeySecretName }: { readonly secretKeySecretName?: string }): GeneratedSecret[] {
  if (secretKeySecretName !== undefined) return [];
  return [
    { suffix: 'secret-key', values: { 'secret-key': { type: 'password', length: 64 } }, secretClass: 'credential' },
  ];
}
