import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { authorityKey } from '../../engine/vocabulary/trust.ts';
import { cephConf, cephFiles, cephOf, keyringFile } from '../../infrastructure/ceph/address.ts';
import { secretReference } from '../../oslo/references.ts';
import type { Swift, SwiftSpec } from './kind.ts';

/** Whether Ceph's object gateway (radosgw) serves in the place of proxies and storage nodes. */
export const isGateway = (spec: object): boolean => (spec as Pick<SwiftSpec, 'mode'>).mode === 'ceph-rgw';

const port = 8080;

/** It reads the password whenever it logs in, and expands nothing in it, as it would in ceph.conf. */
const passwordFile = '/etc/ceph/keystone-password';

/** Files of a gateway; none without a cluster, which is refused. */
export function gatewaySets(context: Context<Swift>, resellerAdmin: string): Record<string, ConfigFiles> {
  const ceph = cephOf(context);
  if (ceph === undefined) return { proxy: {} };
  const { login, secret } = context.user();
  const user = ceph.user('swift');
  const options = {
    keyring: `/etc/ceph/${keyringFile(user)}`,
    log_to_stderr: true,
    err_to_stderr: true,
    log_to_file: false,
    rgw_frontends: `beast port=${port}`,
    rgw_keystone_url: context.identity.internalUrl.replace(/\/v3\/?$/u, ''),
    rgw_keystone_api_version: 3,
    rgw_keystone_admin_user: login,
    rgw_keystone_admin_password_path: passwordFile,
    rgw_keystone_admin_domain: 'Default',
    rgw_keystone_admin_project: 'service',
    rgw_keystone_accepted_roles: 'admin, member',
    rgw_keystone_accepted_admin_roles: resellerAdmin,
    // Buckets of two projects may have one name.
    rgw_keystone_implicit_tenants: true,
    rgw_s3_auth_use_keystone: true,
    rgw_swift_account_in_url: true,
    rgw_swift_versioning_enabled: true,
  };
  const section = Object.entries(options).map(([option, value]) => `${option} = ${value}\n`);
  return {
    proxy: {
      ...cephFiles(ceph, 'swift'),
      // That of users need not end with a line.
      [cephConf]: `${ceph.conf}\n[client.${user}]\n${section.join('')}`,
      [passwordFile]: secretReference(secret, 'password'),
    },
  };
}

/** The pods of a gateway: they keep nothing themselves. */
export function gateway(context: Context<Swift>): Component {
  const user = cephOf(context)?.user('swift') ?? '';
  return {
    workload: 'Deployment',
    image: 'ceph',
    config: 'proxy',
    runs: { command: ['radosgw', '-f', '-n', `client.${user}`] },
    ports: { proxy: port },
    health: { get: '/swift/healthcheck', port: 'proxy' },
    exposed: 'proxy',
    reachable: 'anyone',
    mounts: [
      ...['/run/ceph', '/var/lib/ceph'].map((path): Mount => ({ path, scratch: true })),
      ...authorities(context),
    ],
    resources: { cpu: '50m', memory: '256Mi' },
  };
}

/**
 * Whom it trusts: it asks Keystone by libcurl, without an option for that. So what authorities the system has are replaced,
 * in images of Debian and of Red Hat.
 */
function authorities({ identity: { trust } }: Context<Swift>): readonly Mount[] {
  if (trust === undefined) return [];
  const places = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];
  return places.map((path) => ({ path, secret: trust.secret, key: authorityKey }));
}
